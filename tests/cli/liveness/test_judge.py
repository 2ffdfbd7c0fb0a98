"""Tests of the verdicts of stomp-liveness, with records made by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from assay.liveness.defects import DEFECTS
from assay.liveness.judge import Verdict, judge
from assay.liveness.record import Event, Mark, Record
from assay.liveness.rules import BY_ID, RULES, Side

PASS, FAIL, NONE, OPEN = Verdict.PASS, Verdict.FAIL, Verdict.NOT_PROMISED, Verdict.INCONCLUSIVE
CLIENT, SERVER = Side.CLIENT, Side.SERVER
FIRST = {CLIENT: ("SL-07", "SL-08", "SL-10", "SL-11", "SL-12"), SERVER: ("SL-01", "SL-02", "SL-03", "SL-04", "SL-05")}
"""The ids of the rules for each end, in the order: header, sends, keeps, waits, notices."""
HEADER, SENDS, KEEPS, WAITS, NOTICES = range(5)


def opened(side: Side, header: str | None) -> bytes:
    command = "CONNECT" if side is CLIENT else "CONNECTED"
    line = "" if header is None else f"heart-beat:{header}\n"
    return f"{command}\nversion:1.2\n{line}\n\0".encode()


def record(  # noqa: PLR0917  the parts of a record
    side: Side,
    mine: Iterable[float] = (),
    other: Iterable[float] = (),
    end: tuple[Side, float] | None = None,
    headers: Sequence[str | None] = ("1000,1000", "1000,1000"),
    late_ms: float = 0.0,
) -> Record:
    """Return a record of 6 s: the times at which the judged end and the other end send ends of lines."""
    events = [Event(0.0, side, opened(side, headers[0])), Event(0.0, side.other, opened(side.other, headers[1]))]
    events += [Event(at, side, b"\n") for at in mine]
    events += [Event(at, side.other, b"\n") for at in other]
    if end is not None:
        events.append(Event(end[1], end[0], b""))
    return Record("s", sorted(events, key=lambda event: event.at_ms), Mark(0.0, 6_000.0), late_ms)


EVERY = tuple(range(500, 6_000, 500))


@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize(
    ("header", "verdict"),
    [
        ("0,0", PASS),
        ("1000, 500", PASS),
        (None, PASS),
        ("1000", FAIL),
        ("-1,5", FAIL),
        ("1s,1s", FAIL),
        ("1,2,3", FAIL),
        ("", FAIL),
    ],
)
def test_the_form_of_the_header(side: Side, header: str | None, verdict: Verdict) -> None:
    assert judge(BY_ID[FIRST[side][HEADER]], record(side, headers=(header, "0,0"))).verdict is verdict


@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({"mine": EVERY}, PASS),
        ({"mine": (1_000, 2_400, 3_000, 4_000, 5_000)}, PASS),
        ({"mine": (1_000, 2_600, 3_000, 4_000, 5_000)}, FAIL),
        ({"mine": (1_000, 2_600, 3_000, 4_000, 5_000), "late_ms": 200.0}, OPEN),
        ({}, FAIL),
        ({"mine": (1_000,), "end": (SERVER, 1_200.0)}, OPEN),
        ({"end": (SERVER, 2_000.0)}, FAIL),
        ({"end": (CLIENT, 2_000.0)}, FAIL),
        ({"headers": ("9000,9000", "9000,9000")}, OPEN),
        ({"headers": ("0,1000", "1000,1000")}, NONE),
        ({"headers": ("1000,1000", "1000,0")}, NONE),
        ({"headers": ("1000,1000", "5000,5000"), "mine": (4_000,)}, PASS),
        ({"headers": ("5000,1000", "1000,1000"), "mine": (4_000,)}, PASS),
        ({"headers": ("often", "1000,1000")}, OPEN),
    ],
)
def test_an_end_sends_as_often_as_it_has_promised(side: Side, given: dict[str, object], verdict: Verdict) -> None:
    assert judge(BY_ID[FIRST[side][SENDS]], record(side, **given)).verdict is verdict  # type: ignore[arg-type]  # parts of a record by name


@pytest.mark.parametrize("side", list(Side))
def test_an_end_keeps_the_connection_of_one_that_keeps_its_promise(side: Side) -> None:
    rule = BY_ID[FIRST[side][KEEPS]]
    assert judge(rule, record(side, other=EVERY)).verdict is PASS
    assert judge(rule, record(side, other=EVERY, end=(side, 3_000.0))).verdict is FAIL
    assert judge(rule, record(side, other=(500, 1_000), end=(side, 3_000.0))).verdict is OPEN
    assert judge(rule, record(side, other=EVERY, end=(side.other, 3_000.0))).verdict is OPEN
    assert judge(rule, record(side, other=EVERY, headers=("0,0", "0,0"), end=(side, 3_000.0))).verdict is FAIL


@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize(
    ("end_ms", "waits", "notices"),
    [(900.0, FAIL, PASS), (1_600.0, PASS, PASS), (5_400.0, PASS, PASS), (5_900.0, PASS, FAIL), (None, PASS, FAIL)],
)
def test_an_end_notices_a_silent_one_after_an_interval(
    side: Side, end_ms: float | None, waits: Verdict, notices: Verdict
) -> None:
    seen = record(side, mine=EVERY, other=(500.0,), end=None if end_ms is None else (side, end_ms))
    assert judge(BY_ID[FIRST[side][WAITS]], seen).verdict is waits
    assert judge(BY_ID[FIRST[side][NOTICES]], seen).verdict is notices


def test_an_early_end_is_no_breach_if_the_kit_may_have_been_late() -> None:
    assert judge(BY_ID["SL-04"], record(SERVER, other=(500.0,), end=(SERVER, 1_400.0), late_ms=150.0)).verdict is OPEN


def test_a_server_expects_nothing_from_a_client_that_promises_nothing() -> None:
    rule, headers = BY_ID["SL-06"], ("1000,1000", "0,1000")
    assert judge(rule, record(SERVER, headers=headers)).verdict is PASS
    assert judge(rule, record(SERVER, headers=headers, end=(SERVER, 2_000.0))).verdict is FAIL
    assert judge(rule, record(SERVER, headers=headers, end=(CLIENT, 2_000.0))).verdict is OPEN


def test_the_error_of_a_server_is_told() -> None:
    seen = record(SERVER, other=(500.0,))
    error = Event(2_500.0, SERVER, b"ERROR\nmessage:too quiet\n\n\0")
    ended = Record("s", [*seen.events, error, Event(2_500.0, SERVER, b"")], seen.phase)
    assert "too quiet" in judge(BY_ID["SL-05"], ended).text


def test_each_rule_has_one_defect_of_its_end() -> None:
    assert [defect.rule for defect in DEFECTS] == [rule.id for rule in RULES]
    for defect in DEFECTS:
        assert BY_ID[defect.rule].judged.value in defect.name or defect.name.startswith("garbled")


def test_a_record_on_disk_hides_the_password(tmp_path: Path) -> None:
    seen = Record(
        "s", [Event(0.0, CLIENT, b"CONNECT\nlogin:app\npasscode:open sesame\n\n\0")], Mark(0.0, 1.0), late_ms=0.0
    )
    seen.write(tmp_path / "wire.jsonl")
    assert "passcode:***" in (tmp_path / "wire.jsonl").read_text("utf-8")
    assert "sesame" not in (tmp_path / "wire.jsonl").read_text("utf-8")
