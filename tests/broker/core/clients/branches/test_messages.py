"""Tests of the messages that a branch has put and got."""

from __future__ import annotations

import pytest
from tests.broker.core.clients.branches.work import worked
from tests.broker.core.harness import Bench, alias, limited, message, queue
from tests.broker.core.managers import XID, Manager, back_with, prepared

from assay_broker.core import commands
from assay_broker.core.administration.changes import ClearQueue
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.records import MessageStored
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused
from assay_sdk.model.xa import XaVote


def full(refused: Refused | None) -> bool:
    """Check whether a put was refused because its queue is full."""
    return refused is not None and refused.mqrc == Mqrc.Q_FULL


def test_places_of_a_branch_in_doubt_are_kept_and_counted() -> None:
    bench = Bench(limited(MAXDEPTH=2))
    bench.connect(1)
    bench.sender(1, 1)
    manager = Manager(bench)
    worked(bench, manager, "a", "b")
    manager.end()
    manager.prepare()
    assert full(manager.put(message("c")))
    manager = back_with(bench, kill=True)
    bench.sender(9, 1)
    assert full(manager.put(message("c")))
    manager.back_out()
    assert manager.put(message("c")) is None
    bench.at_rest()


def test_a_queue_with_messages_in_doubt_is_not_cleared_or_deleted(bench: Bench, manager: Manager) -> None:
    prepared(bench, manager)
    manager = back_with(bench, kill=True)
    assert bench.administer(ClearQueue("Q")).refused is not None
    manager.commit()
    assert bench.administer(ClearQueue("Q")).refused is None


@pytest.mark.parametrize("commits", [True, False])
@pytest.mark.parametrize("kill", [True, False])
def test_a_delayed_message_in_doubt_is_not_staged_and_has_its_place(*, commits: bool, kill: bool) -> None:
    bench = Bench(limited(staged=1))
    bench.connect(1)
    bench.sender(1, 1)
    manager = Manager(bench)
    unit = manager.start()
    bench.put(1, 1, message("slow", delivery_time_ms=bench.now + 100), unit=unit)
    manager.end()
    manager.prepare()
    if kill:
        manager = back_with(bench, kill=True)
        bench.sender(9, 1)
    connection = manager.connection
    assert bench.browse(Address(AddressKind.QUEUE, STAGING_QUEUE)) == []
    assert full(manager.put(message("no room", delivery_time_ms=bench.now + 100)))
    bench.tick(bench.now + 1_000)
    assert bench.browse(connection=connection) == []
    assert (manager.commit() if commits else manager.back_out()) is None
    bench.tick(bench.now)
    assert bench.browse(connection=connection) == (["slow"] if commits else [])
    bench.at_rest()


def test_what_is_not_persistent_ends_with_the_queue_manager_and_not_before(bench: Bench, manager: Manager) -> None:
    unit = manager.start()
    bench.put(1, 1, message("kept"), unit=unit)
    bench.put(1, 1, message("light", durable=False), unit=unit)
    manager.end()
    manager.prepare()
    bench.disconnect(1, clean=False)
    assert all(one.message.body != "light" for one in bench.disk if isinstance(one, MessageStored))
    bench.connect(9)
    manager = Manager(bench, 9)
    manager.commit()
    assert bench.browse(connection=9) == ["kept", "light"]


def test_a_kill_takes_what_is_not_persistent_out_of_a_branch(bench: Bench, manager: Manager) -> None:
    unit = manager.start()
    bench.put(1, 1, message("light", durable=False), unit=unit)
    manager.end()
    assert manager.prepare() is XaVote.PREPARED
    manager = back_with(bench, kill=True)
    assert manager.recover() == (XID,)
    assert manager.commit() is None
    assert bench.browse(connection=9) == []
    bench.at_rest()


def test_sends_of_a_branch_come_in_their_order_also_where_some_went_by_an_alias(bench: Bench) -> None:
    bench.define(queue("Q"), alias("FRONT", "Q"))
    bench.sender(1, 5, Address(AddressKind.QUEUE, "FRONT"))
    manager = Manager(bench)
    unit = manager.start()
    for number in range(6):
        bench.tick(bench.now + 1)
        bench.put(1, 5 if number % 2 == 0 else 1, message(str(number)), unit=unit)
    manager.end()
    manager.prepare()
    manager = back_with(bench, kill=True)
    manager.commit()
    assert bench.browse(connection=9) == list("012345")


def test_what_a_branch_has_put_and_got_itself_is_gone_either_way(bench: Bench, manager: Manager) -> None:
    for end in (manager.commit, manager.back_out):
        unit = manager.start()
        link = 10 + unit
        bench.receiver(1, link, credit=9, session=3)
        bench.put(1, 1, message("own"), unit=unit)
        delivery = bench.delivered[-1].delivery
        bench.settle(1, link, delivery, unit=unit)
        manager.end()
        assert manager.prepare() is XaVote.PREPARED
        assert bench.browse() == []
        assert end() is None
        bench.handle(commands.Detach(1, None, link))
        assert bench.browse() == []
    bench.at_rest()


def test_what_its_own_session_was_handed_of_a_branch_and_has_not_accepted_is_called_in(
    bench: Bench, manager: Manager
) -> None:
    unit = manager.start()
    bench.receiver(1, 4, credit=9, session=3)
    bench.put(1, 1, message("own"), unit=unit)
    delivery = bench.delivered[-1].delivery
    manager.end()
    manager.prepare()
    refused = bench.answers[bench.settle(1, 4, delivery)].refused
    assert refused is not None
    assert refused.kind is JmsErrorKind.ILLEGAL_STATE
    bench.handle(commands.Detach(1, None, 4))
    assert bench.browse() == []
    manager.commit()
    assert bench.browse() == ["own"]
    bench.at_rest()


def test_what_expires_in_doubt_is_found_expired_afterwards(bench: Bench, manager: Manager) -> None:
    bench.put(1, 1, message("in", expiry_ms=bench.now + 50))
    bench.receiver(1, 2, credit=1)
    unit = manager.start()
    bench.settle(1, 2, 1, unit=unit)
    bench.put(1, 1, message("out", expiry_ms=bench.now + 50), unit=unit)
    manager.end()
    manager.prepare()
    bench.tick(bench.now + 100)
    manager.back_out()
    bench.tick(bench.now)
    assert bench.browse() == []
    bench.at_rest()


def test_maxumsgs_counts_in_branches_too() -> None:
    bench = Bench(limited(units=2))
    bench.connect(1)
    bench.sender(1, 1)
    manager = Manager(bench)
    unit = worked(bench, manager, "a", "b")
    refused = manager.put(message("c"), unit)
    assert refused is not None
    assert refused.mqrc == Mqrc.SYNCPOINT_LIMIT_REACHED
    manager.end()
    assert manager.commit(one_phase=True) is None
    assert bench.browse() == ["a", "b"]
