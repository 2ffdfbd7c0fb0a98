"""Tests of branches in doubt after a kill, after a restart and over another connection."""

from __future__ import annotations

from tests.broker.core.clients.branches.work import GoOn
from tests.broker.core.harness import Bench
from tests.broker.core.managers import XID, Manager, back_with, code, prepared

from assay_sdk.model.xa import XaCode


def test_a_message_in_doubt_cannot_be_got_and_is_kept(bench: Bench, manager: Manager, later: GoOn) -> None:
    prepared(bench, manager)
    manager = later(manager)
    bench.connect(5)
    assert bench.browse(connection=5) == []
    seen = len(bench.delivered)
    bench.receiver(5, 6)
    assert len(bench.delivered) == seen
    assert manager.recover() == (XID,)


def test_a_commit_after_the_prepare_makes_everything_so(bench: Bench, manager: Manager, later: GoOn) -> None:
    prepared(bench, manager)
    manager = later(manager)
    assert manager.commit() is None
    assert bench.browse(connection=manager.connection) == ["out"]
    assert manager.recover() == ()
    manager = back_with(bench, kill=True)
    assert bench.browse(connection=9) == ["out"]
    assert manager.recover() == ()
    assert code(manager.commit()) is XaCode.XAER_NOTA
    bench.at_rest()


def test_a_rollback_after_the_prepare_undoes_everything(bench: Bench, manager: Manager, later: GoOn) -> None:
    prepared(bench, manager)
    manager = later(manager)
    assert manager.back_out() is None
    assert bench.browse(connection=manager.connection) == ["in"]
    manager = back_with(bench, kill=True)
    assert manager.recover() == ()
    bench.receiver(9, 2)
    again = bench.delivered[-1]
    assert (again.message.body, again.redelivered, again.count) == ("in", True, 1)
    bench.at_rest()
