"""Tests of refused commands on branches."""

from __future__ import annotations

import pytest
from tests.broker.core.clients.branches.work import worked
from tests.broker.core.harness import Bench, limited, message
from tests.broker.core.managers import OTHER, XID, Manager, back_with, code

from assay_broker.core import commands
from assay_broker.core.settings import Settings
from assay_sdk.model.reasons import JmsErrorKind
from assay_sdk.model.xa import XID_BYTES, XaCode, XaEnd, XaVote


def test_a_name_is_used_once_and_has_a_length(bench: Bench, manager: Manager) -> None:
    manager.start()
    for xid, expected in (
        (XID, XaCode.XAER_DUPID),
        (b"", XaCode.XAER_INVAL),
        (b"x" * (XID_BYTES + 1), XaCode.XAER_INVAL),
    ):
        token = bench.token()
        assert code(bench.ask(commands.Begin(1, token, 1, None, xid), token)) is expected
    manager.end()
    manager.back_out()
    manager.start()


def test_there_is_a_limit_to_branches_and_those_in_doubt_count() -> None:
    bench = Bench(limited(settings=Settings(max_branches=1)))
    bench.connect(1)
    bench.sender(1, 1)
    manager = Manager(bench)
    worked(bench, manager, "a")
    manager.end()
    manager.prepare()
    manager = back_with(bench, kill=True)
    token = bench.token()
    refused = bench.ask(commands.Begin(9, token, 1, None, OTHER), token)
    assert code(refused) is XaCode.XAER_RMERR
    manager.commit()
    manager.start(OTHER)


def test_what_is_asked_in_the_wrong_order_is_a_protocol_error_and_changes_nothing(
    bench: Bench, manager: Manager
) -> None:
    unit = worked(bench, manager, "a")
    for refused in (manager.prepare(), manager.commit(), manager.commit(one_phase=True), manager.back_out()):
        assert code(refused) is XaCode.XAER_PROTO
    manager.end()
    assert code(manager.end()) is XaCode.XAER_PROTO
    assert code(manager.commit()) is XaCode.XAER_PROTO
    assert code(manager.forget()) is XaCode.XAER_PROTO
    late = manager.put(message("late"), unit)
    assert late is not None
    assert late.kind is JmsErrorKind.ILLEGAL_STATE
    assert manager.prepare() is XaVote.PREPARED
    for again in (manager.prepare(), manager.commit(one_phase=True), manager.forget(), manager.end()):
        assert code(again) is XaCode.XAER_PROTO
    assert manager.commit() is None
    assert code(manager.commit()) is XaCode.XAER_NOTA
    assert bench.browse() == ["a"]


def test_a_branch_that_did_nothing_is_read_only_and_over(bench: Bench, manager: Manager) -> None:
    manager.start()
    manager.end()
    assert manager.prepare() is XaVote.READ_ONLY
    assert (manager.recover(), bench.disk) == ((), [])
    assert code(manager.commit()) is XaCode.XAER_NOTA


@pytest.mark.parametrize("ask", ["prepare", "commit"])
@pytest.mark.parametrize("bodies", [(), ("a",)])
def test_a_branch_whose_work_failed_is_backed_out_whatever_is_asked(
    bench: Bench, manager: Manager, ask: str, bodies: tuple[str, ...]
) -> None:
    worked(bench, manager, *bodies)
    manager.end(end=XaEnd.FAIL)
    refused = manager.prepare() if ask == "prepare" else manager.commit(one_phase=True)
    assert code(refused) is XaCode.XA_RBROLLBACK
    assert bench.browse() == []
    assert code(manager.back_out()) is XaCode.XAER_NOTA
    bench.at_rest()
