from __future__ import annotations

from assay_evidence.concluding.clients import client_title, clients_of, faces_sentence
from assay_evidence.verdicts import ScenarioVerdict, Verdict

LIGHT = "Assay SDK 0.1.0 (mqlight)"
SIMPLE = "Assay SDK 0.1.0 (simplified)"


def scenarios(*clients: str) -> list[ScenarioVerdict]:
    return [
        ScenarioVerdict(f"a/b.feature::{number}", ("DD-02",), Verdict.PASS, "must", "broker", client=client)
        for number, client in enumerate(clients)
    ]


def test_clients_are_counted_the_asked_one_first() -> None:
    counted = clients_of(SIMPLE, scenarios(LIGHT, SIMPLE, LIGHT))
    assert list(counted.items()) == [(SIMPLE, 1), (LIGHT, 2)]


def test_an_asked_client_that_ran_nothing_is_counted() -> None:
    assert clients_of(LIGHT, scenarios(SIMPLE)) == {LIGHT: 0, SIMPLE: 1}


def test_a_scenario_without_a_client_is_not_counted() -> None:
    assert clients_of(SIMPLE, scenarios("", SIMPLE)) == {SIMPLE: 1}
    assert clients_of(SIMPLE, scenarios("")) == {}


def test_a_title_names_every_face_that_ran_a_scenario() -> None:
    assert client_title(LIGHT, scenarios(SIMPLE, LIGHT)) == "Assay SDK 0.1.0 (mqlight, simplified)"
    assert client_title(LIGHT, scenarios(SIMPLE)) == SIMPLE
    assert client_title(LIGHT, []) == LIGHT
    assert client_title("It 1", scenarios("It 1", SIMPLE)) == f"It 1, {SIMPLE}"


def test_the_sentence_counts_each_face() -> None:
    assert faces_sentence({LIGHT: 2, SIMPLE: 1}) == (
        "face mqlight (2 scenarios), simplified (1 scenario that mqlight cannot run)"
    )


def test_one_face_needs_no_sentence() -> None:
    assert faces_sentence({LIGHT: 2}) == faces_sentence({}) == ""
