"""Tests of the broker's log, past and inspections in the journal of a scenario that did not pass."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay_adapters.ports.administration import ObjectKind, Scalar
from assay_adapters.ports.outcome import Ok, Outcome, Refused
from assay_adapters.ports.traces import Deed, LogLine
from assay_evidence import events
from assay_evidence.history import visible_to
from assay_evidence.writer import JournalWriter
from assay_sdk.model.reasons import JmsErrorKind
from assay_sdk.runners.machine_clock import MachineClock
from assay_steps.cast.background import DEEDS, Background, Periods
from assay_steps.cast.inspections import FIELDS
from assay_steps.cast.journal import ScenarioJournal, instant

CLOCK = MachineClock()


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[ScenarioJournal]:
    with JournalWriter(tmp_path / "main.jsonl", run="r", writer="main") as writer:
        pair = {"backend": "b", "client": "c", "ours": (), "environment": {}, "catalogue_hash": "", "seed": 0}
        writer.write(events.Begin, instant(CLOCK), **pair)
        yield ScenarioJournal(writer, "a.feature::b", CLOCK)


class FakeTrace:
    """The trace of a broker, with these lines of its log and these starts and faults (`deeds`)."""

    name = "container 3f2a of acme/mq:1"

    def __init__(self, lines: tuple[LogLine, ...] = (), deeds: tuple[Deed, ...] = ()) -> None:
        self._lines, self._deeds = lines, deeds

    def past(self) -> tuple[Deed, ...]:
        return self._deeds

    def log_from_now(self) -> Callable[[], tuple[LogLine, ...]]:
        return lambda: self._lines


def written(journal: ScenarioJournal, trace: object, periods: Periods | None = None, admin: object = None) -> list[Any]:
    instance: Any = SimpleNamespace(clock=CLOCK, trace=trace, admin=admin)
    Background(instance, journal, periods or Periods()).write()
    return list(journal.events)


def test_each_line_has_its_time_or_that_of_the_line_before(journal: ScenarioJournal) -> None:
    at_ns = time.time_ns() + 10**9
    lines = (LogLine("first"), LogLine("second", at_ns), LogLine("third", None, 7), LogLine("of another clock", 1))
    first, second, third, fourth = written(journal, FakeTrace(lines))
    assert isinstance(first, events.Log)
    assert [one.text for one in (first, second, third, fourth)] == [line.text for line in lines]
    assert (first.untimed, second.untimed, third.untimed) == (True, False, True)
    assert second.wall_ns == third.wall_ns == at_ns
    assert second.mono_ns - first.mono_ns == second.wall_ns - first.wall_ns
    assert fourth.wall_ns == first.wall_ns
    assert (third.omitted, third.source) == (7, FakeTrace.name)


def test_each_deed_names_the_scenario_in_which_it_happened(journal: ScenarioJournal) -> None:
    before_ns = time.time_ns()
    periods = Periods()
    periods.begin("a.feature::a")
    within_ns = time.time_ns()
    periods.begin("a.feature::b")
    first, second = written(journal, FakeTrace((), (Deed("started", before_ns), Deed("killed", within_ns))), periods)
    assert isinstance(first, events.Past)
    assert (first.what, first.happened_ns, first.during) == ("started", before_ns, None)
    assert (second.what, second.during) == ("killed", "a.feature::a")


def test_of_a_long_past_the_end_is_kept_with_the_number_before(journal: ScenarioJournal) -> None:
    deeds = tuple(Deed(str(number), number) for number in range(DEEDS + 3))
    found = written(journal, FakeTrace((), deeds))
    assert [one.what for one in found] == [str(number) for number in range(3, DEEDS + 3)]
    assert [one.omitted for one in found if one.omitted] == [3]


def test_a_trace_that_fails_is_told_and_ends_nothing(journal: ScenarioJournal) -> None:
    class Broken(FakeTrace):
        def past(self) -> tuple[Deed, ...]:
            raise KeyError("State")

    (told,) = written(journal, Broken())
    assert told.text == "its log cannot be read: KeyError: 'State'"


@pytest.mark.parametrize(
    "instance", [SimpleNamespace(clock=CLOCK, admin=None), SimpleNamespace(clock=CLOCK, trace=None, admin=None)]
)
def test_without_a_trace_nothing_is_written(journal: ScenarioJournal, instance: Any) -> None:
    Background(instance, journal, Periods()).write()
    assert journal.events == []


class FakeAdmin:
    """The administration of a broker with one queue and one topic, to which two subscriptions exist."""

    def inspect(self, kind: ObjectKind, name: str) -> Outcome[dict[str, Scalar]]:
        assert kind is ObjectKind.QUEUE
        if name == "gone":
            return Refused(JmsErrorKind.INVALID_DESTINATION, "no such queue")
        return Ok({"DESCR": "x", "CURDEPTH": 2} | {f"A{number}": number for number in range(FIELDS)})

    def subscriptions(self, topic: str) -> Outcome[tuple[dict[str, Scalar], ...]]:
        if topic == "silent":
            return Refused(JmsErrorKind.UNSUPPORTED, "not by this product")
        return Ok(({"SUB": "one", "DURABLE": "YES"}, {"SUB": "two", "DURABLE": "NO"}))


def call(journal: ScenarioJournal, destination: str) -> None:
    journal.write(events.Call, id="1", actor="sender", op="send", destination=destination)


def inspected(journal: ScenarioJournal, *destinations: str, admin: object) -> list[events.Inspected]:
    for destination in destinations:
        call(journal, destination)
    return [one for one in written(journal, None, admin=admin) if isinstance(one, events.Inspected)]


def test_the_broker_is_asked_about_each_queue_once(journal: ScenarioJournal) -> None:
    found = inspected(journal, "queue://Q", "queue://Q", "queue://gone", admin=FakeAdmin())
    assert [(one.object, one.refusal) for one in found] == [("queue Q", ""), ("queue gone", "no such queue")]
    assert list(found[0].fields)[:2] == ["CURDEPTH", "DESCR"]
    assert len(found[0].fields) == FIELDS


def test_a_topic_is_shown_with_its_subscriptions(journal: ScenarioJournal) -> None:
    found = inspected(journal, "topic://T", "topic://silent", admin=FakeAdmin())
    assert [one.object for one in found] == ["topic T", "subscription 1 to topic T", "subscription 2 to topic T"]
    assert [one.fields.get("SUB") for one in found] == [None, "one", "two"]
    assert found[0].fields == {"subscriptions": 2}


def test_an_inspection_that_raises_is_told_and_ends_nothing(journal: ScenarioJournal) -> None:
    (told,) = inspected(journal, "queue://Q", admin=object())
    assert told.refusal.startswith("AttributeError")


def test_no_claim_is_decided_from_log_past_or_inspection(journal: ScenarioJournal) -> None:
    written(journal, FakeTrace((LogLine("x"),), (Deed("started", 1),)))
    journal.write(events.Inspected, object="queue Q", fields={"CURDEPTH": 1})
    claim = journal.write(events.Claim, rule="DD-02", predicate="not-before")
    assert visible_to(claim, journal.events) == []
