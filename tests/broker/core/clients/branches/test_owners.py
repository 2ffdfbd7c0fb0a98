"""Tests of a branch's owner: its connection, its session, and sessions that join it."""

from __future__ import annotations

import pytest
from tests.broker.core.clients.branches.work import worked
from tests.broker.core.harness import Bench, message
from tests.broker.core.managers import XID, Manager, code

from assay_broker.core import commands
from assay_sdk.driver import Outcome
from assay_sdk.model.reasons import JmsErrorKind
from assay_sdk.model.xa import XaCode, XaEnd, XaStart, XaVote


@pytest.mark.parametrize("ended", [None, XaEnd.SUCCESS, XaEnd.FAIL, XaEnd.SUSPEND])
@pytest.mark.parametrize("clean", [True, False])
def test_a_branch_that_is_not_prepared_is_backed_out_with_its_connection(
    bench: Bench, manager: Manager, ended: XaEnd | None, *, clean: bool
) -> None:
    bench.put(1, 1, message("in"))
    bench.receiver(1, 2, credit=1)
    unit = worked(bench, manager, "out")
    bench.settle(1, 2, 1, unit=unit)
    if ended is not None:
        manager.end(end=ended)
    bench.disconnect(1, clean=clean)
    bench.connect(9)
    manager = Manager(bench, 9)
    assert manager.recover() == ()
    assert code(manager.prepare()) is XaCode.XAER_NOTA
    assert bench.browse(connection=9) == ["in"]
    bench.at_rest()


def test_a_joined_branch_belongs_to_the_connection_that_joined_it(bench: Bench, manager: Manager) -> None:
    worked(bench, manager, "a")
    manager.end()
    bench.connect(2)
    bench.sender(2, 1)
    other = Manager(bench, 2)
    unit = other.start(how=XaStart.JOIN)
    bench.put(2, 1, message("b"), unit=unit)
    assert code(manager.end()) is XaCode.XAER_PROTO
    bench.disconnect(1)
    other.end()
    assert other.prepare() is XaVote.PREPARED
    assert other.commit() is None
    assert bench.browse(connection=2) == ["a", "b"]


def test_a_suspended_branch_is_resumed_by_its_own_connection_alone(bench: Bench, manager: Manager) -> None:
    worked(bench, manager, "a")
    manager.end(end=XaEnd.SUSPEND)
    bench.connect(2)
    token = bench.token()
    refused = bench.ask(commands.Begin(2, token, 1, None, XID, XaStart.RESUME), token)
    assert code(refused) is XaCode.XAER_PROTO
    unit = manager.start(how=XaStart.RESUME)
    bench.put(1, 1, message("b"), unit=unit)
    manager.end()
    assert manager.commit(one_phase=True) is None
    assert bench.browse() == ["a", "b"]


def test_a_rollback_before_prepare_gives_back_over_links_that_stay_open(bench: Bench, manager: Manager) -> None:
    bench.put(1, 1, message("in"))
    bench.receiver(1, 2, credit=2)
    unit = manager.start()
    bench.settle(1, 2, 1, unit=unit)
    manager.end()
    assert manager.back_out() is None
    assert [(one.message.body, one.redelivered) for one in bench.delivered] == [("in", False), ("in", True)]


@pytest.mark.parametrize("command", [commands.Commit, commands.Backout])
def test_a_branch_is_not_ended_as_a_local_unit(
    bench: Bench, manager: Manager, command: type[commands.Commit | commands.Backout]
) -> None:
    unit = worked(bench, manager, "a")
    token = bench.token()
    refused = bench.ask(command(1, token, unit), token)
    if command is commands.Commit:
        assert refused is not None
        assert refused.kind is JmsErrorKind.ILLEGAL_STATE
        assert manager.end() is None
    else:  # the session that works in the branch ends
        assert refused is None
        assert code(manager.end()) is XaCode.XAER_NOTA


@pytest.mark.parametrize("outcome", [Outcome.REJECTED, Outcome.RELEASED, Outcome.MODIFIED])
def test_a_branch_gives_nothing_back(bench: Bench, manager: Manager, outcome: Outcome) -> None:
    bench.put(1, 1, message("a"))
    bench.receiver(1, 2)
    unit = worked(bench, manager)
    refused = bench.answers[bench.settle(1, 2, 1, unit=unit, outcome=outcome)].refused
    assert refused is not None
    assert refused.kind is JmsErrorKind.ILLEGAL_STATE
    bench.settle(1, 2, 1)
    assert bench.browse() == []
