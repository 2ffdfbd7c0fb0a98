from __future__ import annotations

import pytest

from assay_evidence.concluding.weighing import (
    HELD_UP_NS,
    TABLE,
    Circumstance,
    Kind,
    client_raised,
    deciding,
    foreign_kit,
    held_up,
    session_ended,
    unfinished,
    weigh,
)
from assay_evidence.verdicts import Finding, Verdict

CLAIM = Circumstance(Kind.DAMAGED_CLAIM, "A line is missing.")
HISTORY = Circumstance(Kind.DAMAGED_HISTORY, "A line is missing.")
UNFINISHED = unfinished()
FOREIGN_KIT = foreign_kit("kit", "client+broker", ("client",))
SESSION_ENDED = session_ended("client", ("client",), "No. (amqp:internal-error)")
BROKER_LOST = Circumstance(Kind.BROKER_LOST, "The broker lost them; the finding was")
CLIENT_RAISED = client_raised("broker", ("client",), lambda: "KeyError: 'm1'.")
SLOW_PAIR = Circumstance(Kind.SLOW_PAIR, "The pair was too slow; the finding was")
HELD_UP = held_up(HELD_UP_NS + 1, 2_000_000_000)
assert FOREIGN_KIT is not None
assert SESSION_ENDED is not None
assert CLIENT_RAISED is not None
assert HELD_UP is not None
STAYS = {verdict: verdict for verdict in Verdict}


def found(verdict: Verdict, *, certain: bool = False) -> Finding:
    return Finding(claim="w:7", verdict=verdict, reason="It came late.", observed="2 s", certain=certain)


@pytest.mark.parametrize(
    ("circumstance", "becomes"),
    [
        (CLAIM, dict.fromkeys(set(Verdict) - {Verdict.ERROR}, Verdict.INCONCLUSIVE)),
        (HISTORY, dict.fromkeys(Verdict, Verdict.INCONCLUSIVE)),
        (UNFINISHED, {Verdict.FAIL: Verdict.ERROR}),
        (FOREIGN_KIT, {Verdict.FAIL: Verdict.UNSUPPORTED}),
        (SESSION_ENDED, {Verdict.FAIL: Verdict.INCONCLUSIVE}),
        (BROKER_LOST, {Verdict.FAIL: Verdict.INCONCLUSIVE}),
        (CLIENT_RAISED, {Verdict.FAIL: Verdict.INCONCLUSIVE}),
        (SLOW_PAIR, {Verdict.FAIL: Verdict.INCONCLUSIVE}),
        (HELD_UP, {Verdict.PASS: Verdict.INCONCLUSIVE, Verdict.FAIL: Verdict.INCONCLUSIVE}),
    ],
    ids=lambda value: value.kind.name if isinstance(value, Circumstance) else "",
)
def test_each_circumstance_changes_what_the_table_says(
    circumstance: Circumstance, becomes: dict[Verdict, Verdict]
) -> None:
    assert {verdict: weigh(found(verdict), [circumstance]).verdict for verdict in Verdict} == {**STAYS, **becomes}


def test_the_table_knows_every_kind_and_makes_no_pass() -> None:
    assert {kind for kind, _ in TABLE} == set(Kind)
    assert Verdict.PASS not in TABLE.values()


def test_without_circumstances_a_finding_stays() -> None:
    finding = found(Verdict.FAIL)
    assert weigh(finding, []) is finding


@pytest.mark.parametrize(
    ("circumstances", "verdict", "reason"),
    [
        ([HELD_UP, FOREIGN_KIT, UNFINISHED, CLAIM], Verdict.INCONCLUSIVE, "A line is missing."),
        (
            [HELD_UP, FOREIGN_KIT, UNFINISHED],
            Verdict.ERROR,
            "The scenario began and did not end; the finding was: It came late.",
        ),
        (
            [HELD_UP, SESSION_ENDED, FOREIGN_KIT],
            Verdict.UNSUPPORTED,
            "No document demands this of a broker that is not ours: It came late.",
        ),
        (
            [HELD_UP, SESSION_ENDED],
            Verdict.INCONCLUSIVE,
            (
                "The broker ended a session of the client with an error, which may have caused the finding"
                " (No. (amqp:internal-error)); the finding was: It came late."
            ),
        ),
        (
            [HELD_UP],
            Verdict.INCONCLUSIVE,
            (
                "The machine was too busy: the harness was 1.5 s late in 2.0 s (use fewer --workers);"
                " the finding was: It came late."
            ),
        ),
    ],
)
def test_the_first_circumstance_of_the_table_decides(
    circumstances: list[Circumstance], verdict: Verdict, reason: str
) -> None:
    weighed = weigh(found(Verdict.FAIL), circumstances)
    assert (weighed.verdict, weighed.reason) == (verdict, reason)


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.FAIL])
def test_what_is_certain_stays_with_delays_only(verdict: Verdict) -> None:
    certain = found(verdict, certain=True)
    assert weigh(certain, [HELD_UP, SLOW_PAIR, CLIENT_RAISED]) == certain
    assert weigh(certain, [HELD_UP, CLAIM]).verdict is Verdict.INCONCLUSIVE


def test_a_rule_of_the_kit_that_a_foreign_part_breaks_is_disclosed() -> None:
    assert weigh(found(Verdict.FAIL), [FOREIGN_KIT]).disclosed == "not kept: 2 s"


@pytest.mark.parametrize(
    ("strength", "judged", "ours", "foreign"),
    [
        ("kit", "broker", ("client",), "a broker "),
        ("kit", "client+broker", (), "a client or broker "),
        ("kit", "client", ("client",), ""),
        ("must", "broker", (), ""),
        ("may", "broker", (), ""),
    ],
)
def test_only_the_kits_own_rules_ask_whose_a_part_is(
    strength: str, judged: str, ours: tuple[str, ...], foreign: str
) -> None:
    circumstance = foreign_kit(strength, judged, ours)
    assert (foreign in circumstance.text) if circumstance else not foreign


@pytest.mark.parametrize(
    ("judged", "ours", "error", "applies"),
    [
        ("client", ("client",), "No.", True),
        ("client", (), "", True),
        ("client", ("client",), None, False),
        ("client", ("client", "broker"), "No.", False),
        ("client+broker", ("client",), "No.", False),
        ("broker", ("client",), "No.", False),
    ],
)
def test_an_ended_session_counts_only_if_a_foreign_broker_ended_it_and_the_client_alone_is_judged(
    judged: str, ours: tuple[str, ...], error: str | None, *, applies: bool
) -> None:
    assert (session_ended(judged, ours, error) is not None) is applies


@pytest.mark.parametrize(
    ("judged", "ours", "error", "applies"),
    [
        ("broker", ("client",), "KeyError", True),
        ("broker", ("client",), None, False),
        ("broker", ("client", "broker"), "KeyError", False),
        ("broker", (), "KeyError", False),
        ("client+broker", ("client",), "KeyError", False),
        ("client", ("client",), "KeyError", False),
    ],
)
def test_an_exception_of_the_kits_client_counts_only_if_a_foreign_broker_alone_is_judged(
    judged: str, ours: tuple[str, ...], error: str | None, *, applies: bool
) -> None:
    assert (client_raised(judged, ours, lambda: error) is not None) is applies


def test_a_fail_after_an_ended_session_is_open_however_certain_and_is_not_tried_again() -> None:
    weighed = weigh(found(Verdict.FAIL, certain=True), [SESSION_ENDED])
    assert (weighed.verdict, weighed.delayed) == (Verdict.INCONCLUSIVE, False)


def test_a_harness_that_was_late_for_no_longer_than_a_silence_was_not_held_up() -> None:
    assert held_up(HELD_UP_NS, 2_000_000_000) is None
    assert held_up(0, 0) is None


def test_the_first_of_the_worst_findings_decides() -> None:
    first, second = Finding("w:1", Verdict.FAIL), Finding("w:2", Verdict.FAIL)
    assert deciding([found(Verdict.PASS), first, found(Verdict.ERROR), second]) is first
    assert deciding([]) is None
