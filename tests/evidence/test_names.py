from __future__ import annotations

import pytest

from assay_evidence.names import plain, token_in_run, token_of

SCENARIO = "delay/early.feature::A browser does not find it early"
TOKEN = token_of(SCENARIO)


@pytest.mark.parametrize(
    ("full", "name"),
    [
        (f"assay.{TOKEN}.ORDERS", "ORDERS"),
        (f"queue://assay.{TOKEN}.ORDERS", "queue://ORDERS"),
        (f"assay-{TOKEN}-steady", "steady"),
        (f"{TOKEN}/slow, {TOKEN}/fast", "slow, fast"),
        (f"{TOKEN}/", ""),
        (f"assay.{token_in_run(SCENARIO, 'run')}.ORDERS", "ORDERS"),
        (f"assay-{token_in_run(SCENARIO, 'run')}-steady", "steady"),
        (f"{token_in_run(SCENARIO, 'run')}/slow", "slow"),
        (f"x{TOKEN}/slow", f"x{TOKEN}/slow"),
        ("ORDERS", "ORDERS"),
    ],
)
def test_names_are_shown_as_the_feature_has_them(full: str, name: str) -> None:
    assert plain(full, SCENARIO) == name


def test_the_token_of_another_scenario_stays() -> None:
    assert plain(f"assay.{token_of('another')}.ORDERS", SCENARIO) == f"assay.{token_of('another')}.ORDERS"


def test_two_runs_have_different_tokens_for_one_scenario() -> None:
    assert token_in_run(SCENARIO, "one") != token_in_run(SCENARIO, "two")


def test_half_a_surrogate_pair_has_a_token() -> None:
    assert len(token_of("half \ud800 of a pair")) == len(TOKEN)
