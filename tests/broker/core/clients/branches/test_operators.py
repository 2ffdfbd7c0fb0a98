"""Tests of an operator's display and resolution of branches."""

from __future__ import annotations

import pytest
from tests.broker.core.clients.branches.work import failing
from tests.broker.core.harness import Bench, message
from tests.broker.core.managers import OTHER, XID, Manager, back_with, code, prepared

from assay_broker.core import commands
from assay_broker.core.administration.changes import DisplayThreads, ResolveIndoubt
from assay_broker.core.objects.status import ThreadStatus
from assay_sdk.driver import Outcome
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.xa import XaCode

NAME = XID.hex().upper()


def threads(bench: Bench, *, indoubt: bool | None = True) -> list[ThreadStatus]:
    """Return the rows of DISPLAY THREAD."""
    value = bench.administer(DisplayThreads("*", indoubt)).value or ()
    return [one for one in value if isinstance(one, ThreadStatus)]


def test_a_branch_whose_manager_does_not_come_back_is_shown(bench: Bench, manager: Manager) -> None:
    manager.start(OTHER)
    (active,) = threads(bench, indoubt=False)
    assert (active.name, active.attributes["STATE"]) == (OTHER.hex().upper(), "ACTIVE")
    assert threads(bench) == []
    manager.end(OTHER)
    prepared(bench, manager)
    since = bench.now
    bench.tick(bench.now + 1_000_000)
    manager = back_with(bench, kill=True)
    (shown,) = threads(bench)
    assert shown.name == NAME
    assert shown.attributes == {
        "TYPE": "INDOUBT", "STATE": "PREPARED", "OUTCOME": "", "PUTS": 1, "GETS": 1, "SINCE": since,
    }  # fmt: skip
    assert threads(bench, indoubt=None) == [shown]


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("ask", ["commit", "back_out"])
@pytest.mark.parametrize("kill", [True, False])
def test_an_operators_decision_is_remembered_until_it_is_forgotten(
    bench: Bench, manager: Manager, ask: str, *, committed: bool, kill: bool
) -> None:
    prepared(bench, manager)
    assert bench.administer(ResolveIndoubt(NAME, committed)).refused is None
    if kill:
        manager = back_with(bench, kill=True)
    assert bench.browse(connection=manager.connection) == (["out"] if committed else ["in"])
    expected = XaCode.XA_HEURCOM if committed else XaCode.XA_HEURRB
    for _ in range(2):
        assert code(getattr(manager, ask)()) is expected
    assert manager.recover() == (XID,)
    (shown,) = threads(bench)
    assert (shown.attributes["STATE"], shown.attributes["OUTCOME"]) == (
        "COMPLETED", "COMMIT" if committed else "BACKOUT",
    )  # fmt: skip
    token = bench.token()
    assert code(failing(bench, commands.ForgetBranch(manager.connection, token, XID), token)) is XaCode.XAER_RMFAIL
    assert code(getattr(manager, ask)()) is expected
    assert manager.forget() is None
    assert code(getattr(manager, ask)()) is XaCode.XAER_NOTA
    manager = back_with(bench, kill=True)
    assert (manager.recover(), threads(bench)) == ((), [])
    assert bench.browse(connection=9) == (["out"] if committed else ["in"])
    bench.at_rest()


@pytest.mark.parametrize("committed", [True, False])
def test_an_operators_decision_that_cannot_be_stored_has_not_been_made(
    bench: Bench, manager: Manager, *, committed: bool
) -> None:
    prepared(bench, manager)
    bench.auto = False
    token = bench.handle_as_administrator(ResolveIndoubt(NAME, committed))
    bench.fail()
    bench.auto = True
    bench.flush()
    refused = bench.answers[token].refused
    assert refused is not None
    assert (refused.xa, refused.mqrc) == (None, Mqrc.STORAGE_MEDIUM_FULL)
    assert bench.browse() == []
    assert manager.back_out() is None
    assert bench.browse() == ["in"]
    bench.at_rest()


def test_an_operator_resolves_what_is_in_doubt_and_nothing_else(bench: Bench, manager: Manager) -> None:
    manager.start(OTHER)
    for name in (OTHER.hex().upper(), "00", "FF" * 20):
        refused = bench.administer(ResolveIndoubt(name, committed=True)).refused
        assert refused is not None
        assert name in refused.text
    manager.end(OTHER)
    prepared(bench, manager)
    bench.administer(ResolveIndoubt(NAME, committed=True))
    assert bench.administer(ResolveIndoubt(NAME, committed=False)).refused is not None
    assert bench.browse() == ["out"]


def test_a_rejected_delivery_of_a_branch_counts_as_accepted(bench: Bench, manager: Manager) -> None:
    bench.put(1, 1, message("in"))
    bench.receiver(1, 2, credit=1)
    unit = manager.start()
    bench.settle(1, 2, 1, outcome=Outcome.ACCEPTED, unit=unit)
    manager.end()
    assert manager.commit(one_phase=True) is None
    assert bench.browse() == []
