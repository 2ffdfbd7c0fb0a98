"""Tests of a session's get of its own uncommitted messages (DD-25), except delayed ones (DD-26)."""

from __future__ import annotations

import pytest
from tests.broker.core.harness import QUEUE, T0, TOPIC, Bench, alias, limited, message, queue

from assay_broker.core import commands
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc

STAGED = Address(AddressKind.QUEUE, STAGING_QUEUE)
REPLY = Address(AddressKind.QUEUE, "REPLY")
OURS, OTHERS = 1, 2


@pytest.fixture
def bench() -> Bench:
    return opened()


def opened(depth: int = 100) -> Bench:
    """Return a bench on which session 1 of connection 1 has a unit of work, sender 1 and receiver 2."""
    made = Bench(limited(MAXDEPTH=depth))
    made.connect(1)
    made.sender(1, 1)
    made.receiver(1, 2, session=OURS)
    made.begin(1, 1, OURS)
    return made


def stranger(bench: Bench, connection: int = 2) -> list[str]:
    """Return the messages that another client gets."""
    bench.connect(connection)
    bench.receiver(connection, 9, session=OURS)
    return [str(one.message.body) for one in bench.delivered if one.connection == connection]


def test_a_session_gets_what_its_unit_has_put_and_nobody_else_sees_it(bench: Bench) -> None:
    bench.receiver(1, 3, session=OTHERS)
    bench.receiver(1, 4)
    bench.put(1, 1, message("a"), unit=1)
    assert (bench.bodies(2), bench.bodies(3), bench.bodies(4)) == (["a"], [], [])
    assert (bench.browse(), stranger(bench)) == ([], [])
    assert bench.disk == []


def test_a_session_that_nobody_names_gets_nothing_before_the_commit() -> None:
    bench = Bench()
    bench.connect(1)
    bench.sender(1, 1)
    bench.receiver(1, 2)
    bench.begin(1, 1)
    bench.put(1, 1, message("a"), unit=1)
    assert bench.bodies() == []
    bench.commit(1, 1)
    assert bench.bodies() == ["a"]


@pytest.mark.parametrize("got", [True, False])
@pytest.mark.parametrize("lost", [True, False])
def test_backing_out_leaves_none(bench: Bench, *, got: bool, lost: bool) -> None:
    if not got:
        bench.handle(commands.Detach(1, None, 2))
    bench.put(1, 1, message("a"), unit=1)
    if lost:
        bench.disconnect(1, clean=False)
    else:
        bench.back_out(1, 1)
        if got:
            assert bench.answers[bench.settle(1, 2, 1)].refused is None
    bench.at_rest() if got and not lost else None
    assert stranger(bench) == []
    assert bench.disk == []


def test_what_the_unit_has_put_and_consumed_is_never_stored(bench: Bench) -> None:
    bench.put(1, 1, message("a"), unit=1)
    bench.settle(1, 2, 1, unit=1)
    bench.commit(1, 1)
    assert (bench.disk, bench.browse(), stranger(bench)) == ([], [], [])
    bench.at_rest()


def test_a_message_consumed_outside_the_unit_is_removed_too(bench: Bench) -> None:
    bench.put(1, 1, message("a"), unit=1)
    bench.settle(1, 2, 1)
    bench.commit(1, 1)
    assert (bench.disk, stranger(bench)) == ([], [])


@pytest.mark.parametrize("outcome", [Outcome.ACCEPTED, Outcome.RELEASED])
def test_what_is_held_at_the_commit_stays_with_its_holder(bench: Bench, outcome: Outcome) -> None:
    bench.put(1, 1, message("a"), unit=1)
    bench.commit(1, 1)
    assert (bench.bodies(), stranger(bench)) == (["a"], [])
    bench.handle(commands.Detach(1, None, 1))
    bench.settle(1, 2, 1, outcome=outcome)
    assert bench.bodies()[1:] == ([] if outcome is Outcome.ACCEPTED else ["a"])
    bench.at_rest()


def test_what_is_held_at_the_commit_survives_a_kill(bench: Bench) -> None:
    bench.put(1, 1, message("a"), unit=1)
    bench.commit(1, 1)
    bench.restart()
    assert stranger(bench, 1) == ["a", "a"]  # the first by its own session, before the kill


def test_what_was_given_back_waits_for_the_commit_again(bench: Bench) -> None:
    bench.put(1, 1, message("a"), unit=1)
    bench.handle(commands.Detach(1, None, 2))
    assert (stranger(bench), bench.browse()) == ([], [])
    bench.commit(1, 1)
    (delivery,) = (one for one in bench.delivered if one.connection == 2)
    assert (delivery.message.body, delivery.redelivered, delivery.count) == ("a", True, 1)


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("got", [True, False])
def test_a_commit_that_the_store_refuses_leaves_none(*, durable: bool, got: bool) -> None:
    bench = opened(depth=2)
    bench.auto = False
    if not got:
        bench.handle(commands.Detach(1, None, 2))
    bench.put(1, 1, message("a", durable=durable), unit=1)
    bench.put(1, 1, message("b"), unit=1)
    token = bench.commit(1, 1)
    bench.fail()
    bench.auto = True
    refused = bench.answers[token].refused
    assert refused is not None
    assert refused.mqrc == Mqrc.BACKED_OUT
    if got:
        bench.settle(1, 2, 1, 2)
    assert (bench.browse(), bench.disk) == ([], [])
    bench.at_rest()
    for text in "cd":
        assert bench.answers[bench.put(1, 1, message(text))].refused is None  # the queue has room again
    assert bench.answers[bench.put(1, 1, message("e"))].refused is not None


@pytest.mark.parametrize("end", ["backout", "loss", "store", "expiry"])
def test_what_is_not_committed_takes_a_place_and_gives_it_back(end: str) -> None:
    bench = opened(depth=1)
    bench.handle(commands.Detach(1, None, 2))
    lifetime = 10 if end == "expiry" else None
    assert bench.answers[bench.put(1, 1, message("a", ttl_ms=lifetime), unit=1)].refused is None
    refused = bench.answers[bench.put(1, 1, message("b"), unit=1)].refused
    assert refused is not None
    assert refused.mqrc == Mqrc.Q_FULL
    if end == "backout":
        bench.back_out(1, 1)
    elif end == "loss":
        bench.disconnect(1, clean=False)
        bench.connect(1)
        bench.sender(1, 1)
    elif end == "store":
        bench.auto = False
        bench.commit(1, 1)
        bench.fail()
        bench.auto = True
    else:
        bench.tick(T0 + 10)
        bench.commit(1, 1)
        bench.tick(T0 + 10)
    assert bench.answers[bench.put(1, 1, message("c"))].refused is None
    assert bench.browse() == ["c"]
    bench.at_rest()


def test_a_delayed_message_is_on_no_queue_before_the_commit(bench: Bench) -> None:
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 10), unit=1)
    assert bench.browse(STAGED) == []
    bench.tick(T0 + 100)
    assert (bench.bodies(), bench.browse(STAGED), bench.browse()) == ([], [], [])
    bench.commit(1, 1)
    assert bench.browse(STAGED) + bench.bodies() == ["a"]
    bench.tick(T0 + 100)
    assert bench.bodies() == ["a"]


def test_a_delayed_message_of_a_unit_that_is_backed_out_is_nowhere(bench: Bench) -> None:
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 10), unit=1)
    bench.back_out(1, 1)
    bench.tick(T0 + 100)
    assert (bench.bodies(), bench.browse(STAGED), bench.disk) == ([], [], [])
    bench.at_rest()


def test_a_place_on_the_staging_queue_is_kept_for_the_commit() -> None:
    bench = Bench(limited(staged=1))
    bench.connect(1)
    bench.sender(1, 1)
    bench.begin(1, 1, OURS)
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 10), unit=1)
    late = message("b", delivery_time_ms=T0 + 10)
    refused = bench.answers[bench.put(1, 1, late)].refused
    assert refused is not None
    assert refused.objects == (STAGING_QUEUE,)
    bench.back_out(1, 1)
    assert bench.answers[bench.put(1, 1, late)].refused is None
    bench.at_rest()


def test_a_publication_is_nobodys_before_the_commit(bench: Bench) -> None:
    bench.sender(1, 5, TOPIC)
    bench.receiver(1, 6, TOPIC, session=OURS)
    bench.put(1, 5, message("a"), unit=1)
    assert bench.bodies() == []
    bench.commit(1, 1)
    assert bench.bodies() == ["a"]


def test_an_own_message_comes_in_its_order_among_everybodys(bench: Bench) -> None:
    bench.handle(commands.Detach(1, None, 2))
    bench.put(1, 1, message("old, low", priority=1))
    bench.put(1, 1, message("own, high", priority=5), unit=1)
    bench.put(1, 1, message("own, low", priority=1), unit=1)
    bench.put(1, 1, message("new, high", priority=9))
    bench.receiver(1, 3, session=OURS)
    assert bench.bodies() == ["new, high", "own, high", "old, low", "own, low"]


def test_a_selector_selects_among_own_messages(bench: Bench) -> None:
    bench.handle(commands.Detach(1, None, 2))
    bench.put(1, 1, message("red", properties={"colour": "red"}), unit=1)
    bench.put(1, 1, message("blue", properties={"colour": "blue"}), unit=1)
    bench.receiver(1, 3, session=OURS, selector="colour = 'blue'")
    assert bench.bodies() == ["blue"]


def test_an_own_message_is_not_handed_out_at_most_once(bench: Bench) -> None:
    """After a delivery at most once, the core could not return the message if its unit of work is backed out."""
    bench.handle(commands.Detach(1, None, 2))
    bench.receiver(1, 3, session=OURS, settled=True)
    bench.put(1, 1, message("a"), unit=1)
    assert bench.bodies() == []
    bench.commit(1, 1)
    assert bench.bodies() == ["a"]


def test_an_alias_is_no_hindrance(bench: Bench) -> None:
    bench.define(queue("Q"), alias("A", "Q"))
    bench.sender(1, 5, Address(AddressKind.QUEUE, "A"))
    bench.put(1, 5, message("a"), unit=1)
    assert bench.bodies(2) == ["a"]


@pytest.mark.parametrize("commit", [True, False])
def test_an_own_message_that_has_expired_is_not_got_and_is_reported_only_if_it_was_sent(*, commit: bool) -> None:
    bench = opened()
    bench.handle(commands.Detach(1, None, 2))
    asked = {"JMS_IBM_Report_Expiration": 0x200000}
    bench.put(1, 1, message("a", ttl_ms=10, reply_to=REPLY, properties=asked), unit=1)
    bench.tick(T0 + 10)
    bench.receiver(1, 3, session=OURS)
    assert (bench.bodies(), bench.browse(REPLY)) == ([], [])
    if commit:
        bench.commit(1, 1)
        bench.tick(T0 + 10)
    else:
        bench.back_out(1, 1)
    assert (bench.bodies(), len(bench.browse(REPLY))) == ([], int(commit))
    bench.handle(commands.Detach(1, None, 3))
    bench.handle(commands.Detach(1, None, 1))
    bench.at_rest()


def test_an_own_message_that_expires_while_it_is_held_is_reported_only_if_it_was_sent(bench: Bench) -> None:
    asked = {"JMS_IBM_Report_Expiration": 0x200000}
    bench.put(1, 1, message("a", ttl_ms=10, reply_to=REPLY, properties=asked), unit=1)
    bench.tick(T0 + 10)
    bench.settle(1, 2, 1, outcome=Outcome.RELEASED)
    assert (bench.bodies(), bench.browse(REPLY)) == (["a"], [])
    bench.back_out(1, 1)
    assert (bench.browse(), bench.browse(REPLY)) == ([], [])
    assert stranger(bench) == []


def test_two_units_of_two_sessions_do_not_see_each_other(bench: Bench) -> None:
    bench.begin(1, 2, OTHERS)
    bench.receiver(1, 3, session=OTHERS)
    bench.put(1, 1, message("ours"), unit=1)
    bench.put(1, 1, message("theirs"), unit=2)
    assert (bench.bodies(2), bench.bodies(3)) == (["ours"], ["theirs"])
    bench.back_out(1, 1)
    bench.settle(1, 3, 2, unit=2)
    bench.commit(1, 2)
    assert bench.browse(QUEUE) == []
    bench.at_rest()


@pytest.mark.parametrize("commit", [True, False])
def test_what_another_unit_has_taken_comes_back_to_its_own_when_the_store_refuses_that(
    bench: Bench, *, commit: bool
) -> None:
    bench.begin(1, 2, OURS)
    bench.put(1, 1, message("ours"), unit=1)
    bench.settle(1, 2, 1, unit=2)
    bench.put(1, 1, message("refused"), unit=2)
    bench.auto = False
    bench.commit(1, 2)
    bench.fail()
    bench.auto = True
    bench.handle(commands.Detach(1, None, 2))
    assert bench.browse() == []
    bench.commit(1, 1) if commit else bench.back_out(1, 1)
    assert stranger(bench) == (["ours"] if commit else [])
    bench.at_rest()
