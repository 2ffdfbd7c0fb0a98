"""Tests of the record of client events."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Literal

import pytest

from assay_adapters.ports.client import ClientEvent, Seen
from assay_steps.cast.sightings import Sightings


class NoJournal:
    """A journal that drops all events."""

    def write(self, _kind: type, **_fields: object) -> None:
        """Drop an event."""


class Recording(NoJournal):
    """A journal that returns each event's place and time."""

    def write(self, _kind: type, **_fields: object) -> SimpleNamespace:  # type: ignore[override]  # as the real journal
        """Return the place and time of an event."""
        return SimpleNamespace(ref="main:1", mono_ns=1)


def seen(key: str) -> Seen:
    return Seen(key=key, handle=1, body="", message_id=None, count=1, redelivered=False, fields={})


@pytest.fixture
def sightings() -> Sightings:
    journal: Any = NoJournal()
    runner: Any = None
    return Sightings(journal, runner, lambda _actor: None)


def test_a_transfer_counts_for_its_own_actor_and_message_only(sightings: Sightings) -> None:
    sightings.tell(ClientEvent(what="transfer", actor="s", key="m1", direction="in"))
    assert sightings.transferred("s", "m1")
    assert not sightings.transferred("s", "m2")
    assert not sightings.transferred("another", "m1")


def test_a_disposition_is_no_transfer(sightings: Sightings) -> None:
    sightings.tell(ClientEvent(what="disposition", actor="s", key="m1", outcome="accepted", settled=True))
    assert not sightings.transferred("s", "m1")
    assert sightings.disposed("s", "m1", settled=True)
    assert not sightings.disposed("s", "m2", settled=True)


@pytest.mark.parametrize("what", ["transfer", "disposition"])
def test_a_step_sees_a_frame_only_after_the_journal_has_it(what: Literal["transfer", "disposition"]) -> None:
    known: list[bool] = []

    class Journal(NoJournal):
        def write(self, _kind: type, **_fields: object) -> None:
            known.append(record.transferred("s", "m1") or record.disposed("s", "m1", settled=True))

    journal: Any = Journal()
    runner: Any = None
    record = Sightings(journal, runner, lambda _actor: None)
    record.tell(ClientEvent(what=what, actor="s", key="m1", outcome="accepted", settled=True))
    assert known == [False]


def test_a_completion_is_true_when_the_actors_together_have_received_each_message_often_enough() -> None:
    journal: Any = Recording()
    runner: Any = None
    record = Sightings(journal, runner, lambda _actor: None)
    twice = record.completion(["a", "b"], ["m1", "m2"], 2)
    for actor, key in (("a", "m2"), ("b", "m2"), ("a", "m1"), ("other", "m1"), ("b", "m3")):
        record.tell(ClientEvent(what="seen", actor=actor, key=key, seen=seen(key)))
        assert not twice()
    record.tell(ClientEvent(what="seen", actor="b", key="m1", seen=seen("m1")))
    assert twice()
    assert record.completion(["a"], [])()
