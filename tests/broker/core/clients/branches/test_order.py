"""Tests of the order of a branch's messages among other messages, before and after a restart."""

from __future__ import annotations

import pytest
from tests.broker.core.clients.branches.work import GoOn, failing
from tests.broker.core.harness import Bench, alias, message, queue
from tests.broker.core.managers import XID, Manager, back_with

from assay_broker.core import commands
from assay_broker.core.effects import Persist
from assay_broker.core.records import MessageRemoved, MessageStored, Record, UnitResolved
from assay_sdk.model.message import Address, AddressKind


def committing(bench: Bench, manager: Manager) -> list[Record]:
    """Commit the branch, and return the records of the commit."""
    effects = bench.handle(commands.CommitBranch(manager.connection, bench.token(), XID, one_phase=False))
    return [record for effect in effects if isinstance(effect, Persist) for record in effect.records]


@pytest.mark.parametrize("ms", [0, 1])
@pytest.mark.parametrize("kill", [True, False])
def test_a_restart_keeps_the_order_of_the_commit(
    bench: Bench, manager: Manager, later: GoOn, ms: int, *, kill: bool
) -> None:
    def put(text: str, connection: int = 1, unit: int | None = None) -> None:
        bench.tick(bench.now + ms)
        bench.put(connection, 1, message(text), unit=unit)

    unit = manager.start()
    put("first of the branch", unit=unit)
    put("before the prepare")
    put("second of the branch", unit=unit)
    manager.end()
    manager.prepare()
    put("before the commit")
    manager = later(manager)
    assert manager.commit() is None
    if manager.connection != 1:
        bench.sender(manager.connection, 1)
    put("after the commit", manager.connection)
    order = bench.browse(connection=manager.connection)
    assert order == [
        "before the prepare",
        "before the commit",
        "first of the branch",
        "second of the branch",
        "after the commit",
    ]
    back_with(bench, kill=kill)
    assert bench.browse(connection=9) == order
    bench.at_rest()


def test_a_restart_keeps_the_order_of_sends_by_an_alias_and_not(bench: Bench, manager: Manager) -> None:
    bench.define(queue("Q"), alias("FRONT", "Q"))
    bench.sender(1, 5, Address(AddressKind.QUEUE, "FRONT"))
    unit = manager.start()
    for number in range(6):
        bench.tick(bench.now + 1)
        bench.put(1, 5 if number % 2 == 0 else 1, message(str(number)), unit=unit)
    manager.end()
    manager.prepare()
    manager.commit()
    assert bench.browse() == list("012345")
    back_with(bench, kill=True)
    assert bench.browse(connection=9) == list("012345")


@pytest.mark.parametrize("others", ["none", "before the prepare", "on another queue"])
def test_a_commit_stores_no_message_again_if_none_has_come_behind_it(
    bench: Bench, manager: Manager, others: str
) -> None:
    bench.define(queue("Q"), queue("R"))
    bench.sender(1, 5, Address(AddressKind.QUEUE, "R"))
    bench.put(1, 1, message("earliest"))
    unit = manager.start()
    bench.put(1, 1, message("a"), unit=unit)
    if others == "before the prepare":
        bench.put(1, 1, message("between"))
    bench.put(1, 1, message("b"), unit=unit)
    manager.end()
    manager.prepare()
    if others == "on another queue":
        bench.put(1, 5, message("elsewhere"))
    assert [type(record) for record in committing(bench, manager)] == [UnitResolved]
    order = ["earliest", *(["between"] if others == "before the prepare" else []), "a", "b"]
    assert bench.browse() == order
    back_with(bench, kill=True)
    assert bench.browse(connection=9) == order


def test_a_commit_stores_only_persistent_messages_again(bench: Bench, manager: Manager) -> None:
    unit = manager.start()
    bench.put(1, 1, message("light", durable=False), unit=unit)
    bench.put(1, 1, message("kept"), unit=unit)
    manager.end()
    manager.prepare()
    bench.put(1, 1, message("between"))
    records = committing(bench, manager)
    assert [type(record) for record in records] == [UnitResolved, MessageRemoved, MessageStored]
    assert bench.browse() == ["between", "light", "kept"]


@pytest.mark.parametrize("end", [commands.CommitBranch, commands.BackOutBranch])
def test_a_commit_after_a_refused_commit_or_backout_has_its_place_too(
    bench: Bench, manager: Manager, end: type[commands.CommitBranch | commands.BackOutBranch]
) -> None:
    unit = manager.start()
    bench.put(1, 1, message("a"), unit=unit)
    bench.put(1, 1, message("b"), unit=unit)
    manager.end()
    manager.prepare()
    bench.put(1, 1, message("between"))
    token = bench.token()
    failing(bench, end(1, token, XID), token)
    assert bench.browse() == ["between"]
    assert manager.commit() is None
    assert bench.browse() == ["between", "a", "b"]
    back_with(bench, kill=True)
    assert bench.browse(connection=9) == ["between", "a", "b"]
    bench.at_rest()


def test_a_kill_after_a_refused_commit_leaves_each_message_once(bench: Bench, manager: Manager) -> None:
    unit = manager.start()
    bench.put(1, 1, message("a"), unit=unit)
    manager.end()
    manager.prepare()
    bench.put(1, 1, message("between"))
    token = bench.token()
    failing(bench, commands.CommitBranch(1, token, XID), token)
    manager = back_with(bench, kill=True)
    assert manager.commit() is None
    back_with(bench, kill=True)
    assert bench.browse(connection=9) == ["between", "a"]
    bench.at_rest()
