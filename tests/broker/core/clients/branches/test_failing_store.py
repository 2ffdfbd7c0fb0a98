"""Tests of branches with a failing store."""

from __future__ import annotations

import pytest
from tests.broker.core.clients.branches.work import failing, worked
from tests.broker.core.harness import QUEUE, TOPIC, Bench, message
from tests.broker.core.managers import XID, Manager, back_with, code, prepared

from assay_broker.core import commands
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.xa import XaCode


def got_and_put(bench: Bench, manager: Manager, *, durable: bool = True) -> None:
    """Let a branch get "in", put "out", "later" (delayed) and a publication; then end the branch's work."""
    bench.sender(1, 7, TOPIC)
    bench.receiver(1, 8, TOPIC, durable="sub", credit=0)
    bench.put(1, 1, message("in"))
    bench.put(1, 1, message("light", durable=False))
    bench.receiver(1, 2, credit=2)
    unit = manager.start()
    bench.settle(1, 2, *(one.delivery for one in bench.delivered), unit=unit)
    bench.put(1, 1, message("out", durable=durable), unit=unit)
    bench.put(1, 1, message("later", delivery_time_ms=bench.now + 50, durable=durable), unit=unit)
    bench.put(1, 7, message("news", durable=durable), unit=unit)
    manager.end()


def whole(bench: Bench) -> tuple[list[str], list[str], int]:
    """Return the waiting messages, the staged messages and the number of messages for a subscriber."""
    (sub,) = (one for one in bench.core._state.queues if one.home.startswith("subscription://"))
    staged = bench.browse(Address(AddressKind.QUEUE, STAGING_QUEUE))
    waiting = sorted(bench.browse(connection=1))
    return waiting, staged, len(sub.waiting())


BEFORE = (["in", "light"], [], 0)
AFTER = (["out"], ["later"], 1)
DOUBT: tuple[list[str], list[str], int] = ([], [], 0)


@pytest.mark.parametrize("durable", [True, False])
def test_a_branch_that_cannot_be_prepared_is_backed_out(bench: Bench, manager: Manager, *, durable: bool) -> None:
    got_and_put(bench, manager, durable=durable)
    token = bench.token()
    assert code(failing(bench, commands.PrepareBranch(1, token, XID), token)) is XaCode.XA_RBOTHER
    assert whole(bench) == BEFORE
    assert manager.recover() == ()
    bench.handle(commands.Flow(1, None, 2, 9))
    assert [one.redelivered for one in bench.delivered[-2:]] == [True, True]
    bench.at_rest()


def test_a_branch_that_cannot_be_committed_in_one_phase_is_backed_out(bench: Bench, manager: Manager) -> None:
    got_and_put(bench, manager)
    token = bench.token()
    assert code(failing(bench, commands.CommitBranch(1, token, XID, one_phase=True), token)) is XaCode.XA_RBOTHER
    assert whole(bench) == BEFORE
    bench.at_rest()


@pytest.mark.parametrize(
    ("command", "expected"),
    [(commands.CommitBranch, XaCode.XA_RETRY), (commands.BackOutBranch, XaCode.XAER_RMFAIL)],
)
@pytest.mark.parametrize("end", ["commit", "back_out"])
@pytest.mark.parametrize("kill", [True, False])
def test_a_branch_that_cannot_be_resolved_stays_in_doubt(
    bench: Bench,
    manager: Manager,
    command: type[commands.CommitBranch | commands.BackOutBranch],
    expected: XaCode,
    end: str,
    *,
    kill: bool,
) -> None:
    got_and_put(bench, manager)
    manager.prepare()
    assert whole(bench) == DOUBT
    for _ in range(2):
        token = bench.token()
        assert code(failing(bench, command(1, token, XID), token)) is expected
        assert whole(bench) == DOUBT
    if kill:
        manager = back_with(bench, kill=True)
        bench.connect(1, "client")
    assert manager.recover() == (XID,)
    assert getattr(manager, end)() is None
    waiting, staged, news = AFTER if end == "commit" else BEFORE
    assert whole(bench) == ([one for one in waiting if one != "light"] if kill else waiting, staged, news)
    bench.at_rest()


def test_nothing_that_was_prepared_leaves_before_the_commit_is_stored(bench: Bench, manager: Manager) -> None:
    worked(bench, manager, "a")
    manager.end()
    manager.prepare()
    bench.receiver(1, 2)
    bench.auto = False
    token = bench.token()
    bench.handle(commands.CommitBranch(1, token, XID))
    assert bench.bodies() == []
    bench.flush()
    assert bench.bodies() == ["a"]
    assert bench.answers[token].refused is None


def test_requests_while_the_store_writes_are_refused(bench: Bench, manager: Manager) -> None:
    worked(bench, manager, "a")
    manager.end()
    bench.auto = False
    tokens = [bench.token() for _ in range(3)]
    bench.handle(commands.PrepareBranch(1, tokens[0], XID))
    bench.handle(commands.CommitBranch(1, tokens[1], XID))
    bench.flush()
    assert code(bench.answers[tokens[1]].refused) is XaCode.XAER_PROTO
    bench.handle(commands.CommitBranch(1, tokens[2], XID))
    again = bench.token()
    bench.handle(commands.BackOutBranch(1, again, XID))
    bench.flush()
    assert code(bench.answers[again].refused) is XaCode.XAER_PROTO
    assert bench.answers[tokens[2]].refused is None


def test_others_who_wait_for_the_same_batch_are_not_told_of_xa(bench: Bench, manager: Manager) -> None:
    prepared(bench, manager)
    bench.auto = False
    token, other = bench.token(), bench.token()
    bench.handle(commands.CommitBranch(1, token, XID))
    bench.handle(commands.Browse(1, other, QUEUE))
    bench.fail()
    assert code(bench.answers[token].refused) is XaCode.XA_RETRY
    refused = bench.answers[other].refused
    assert refused is not None
    assert (refused.xa, refused.mqrc) == (None, Mqrc.STORAGE_MEDIUM_FULL)
