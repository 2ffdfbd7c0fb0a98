"""Tests of the undo functions that a turn collects."""

from __future__ import annotations

import pytest
from tests.broker.core.harness import T0, message

from assay_broker.core.messages.entries import Entry
from assay_broker.core.records import MessageRemoved
from assay_broker.core.turn import Turn


def test_a_block_that_fails_keeps_the_undo_of_all_its_changes() -> None:
    turn = Turn(T0, 1, {})
    entry = Entry(
        key=1, home="Q", message=message(), priority=4, recorded=False, arrived_ms=T0, expires_ms=None, due_ms=None
    )
    undone: list[str] = []

    def fail() -> None:
        with turn.together():
            turn.unrecorded(entry, lambda _turn: undone.append("unrecorded"))
            turn.record(MessageRemoved(2), lambda _turn: undone.append("recorded"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    for undo in reversed(turn.batch.undo):
        undo(turn)
    assert undone == ["unrecorded", "recorded"]
    assert entry.batch == turn.number
