"""Tests of the annotations that receivers add to returned messages (OASIS AMQP 1.0, 3.4.5)."""

from __future__ import annotations

import pytest
from tests.broker.core.harness import Bench, message

from assay_broker.core.effects import Deliver
from assay_broker.core.messages.bodies import opened
from assay_sdk.amqp import types
from assay_sdk.amqp.sections import MESSAGE_ANNOTATIONS, VALUE, simple_entries, split
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address, AddressKind, Message


def ready() -> Bench:
    bench = Bench()
    bench.connect(1)
    bench.sender(1, 1)
    return bench


def told(delivery: Deliver) -> dict[object, object]:
    """Return the annotations of a message that was delivered."""
    octets = delivery.message.encoded or b""
    found = [simple_entries(octets, span, 9) for span in split(octets) if span.code == MESSAGE_ANNOTATIONS]
    return {**found[0]} if found else {}


def annotations(**values: int | str) -> bytes:
    return types.mapping(
        {
            types.symbol(key): types.integer(value) if isinstance(value, int) else types.string(value)
            for key, value in values.items()
        }
    )


def sent(text: str, *, durable: bool = True) -> Message:
    """Return a message as an AMQP client sends it."""
    return message(text, durable=durable, encoded=types.described(VALUE, types.string(text)))


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("outcome", [Outcome.MODIFIED, Outcome.RELEASED])
def test_what_a_receiver_adds_to_a_message_is_there_when_it_comes_again(outcome: Outcome, durable: bool) -> None:
    bench = ready()
    bench.put(1, 1, sent("a", durable=durable))
    bench.receiver(1, 2)
    before = bench.core.octets
    bench.settle(1, 2, 1, outcome=outcome, annotations=annotations(tries=1, why="no room"))
    again = bench.delivered[-1]
    assert told(again) == {"tries": 1, "why": "no room"}
    assert bench.core.octets > before
    bench.settle(1, 2, again.delivery, outcome=outcome, annotations=annotations(tries=2))
    again = bench.delivered[-1]
    assert told(again) == {"tries": 2, "why": "no room"}
    assert opened(again.message).body == "a"
    bench.at_rest()


def test_a_restart_forgets_what_a_receiver_has_added() -> None:
    bench = ready()
    bench.put(1, 1, sent("a"))
    bench.receiver(1, 2)
    bench.settle(1, 2, 1, outcome=Outcome.MODIFIED, annotations=annotations(tries=1))
    bench.restart()
    bench.connect(1)
    bench.receiver(1, 2)
    again = bench.delivered[-1]
    assert (told(again), again.count) == ({}, 1)


def test_what_receivers_add_to_a_message_has_an_end() -> None:
    bench = ready()
    bench.put(1, 1, sent("a"))
    bench.receiver(1, 2)
    for number in range(1, 100):
        bench.settle(
            1, 2, number, outcome=Outcome.RELEASED, annotations=annotations(**{f"k{number}": "x" * 100, "last": number})
        )
        found = told(bench.delivered[-1])
    assert f"k{found['last']}" in found  # all annotations of an outcome, or none
    assert 30 < len(found) < 40


def test_what_a_receiver_adds_to_its_copy_is_in_no_other() -> None:
    bench = ready()
    topic = Address(AddressKind.TOPIC, "T")
    for link in (2, 3):
        bench.receiver(1, link, topic)
    bench.sender(1, 4, topic)
    bench.put(1, 4, sent("a"))
    bench.settle(1, 2, 1, outcome=Outcome.RELEASED, annotations=annotations(tries=1))
    bench.settle(1, 3, 2, outcome=Outcome.RELEASED)
    assert {one.link: told(one).get("tries") for one in bench.delivered[2:]} == {2: 1, 3: None}


def test_a_message_that_came_another_way_stays_as_it_is() -> None:
    bench = ready()
    bench.put(1, 1, message("a"))
    bench.receiver(1, 2)
    bench.settle(1, 2, 1, outcome=Outcome.RELEASED, annotations=annotations(tries=1))
    assert bench.delivered[-1].message is bench.delivered[0].message


def test_what_a_receiver_adds_stays_with_a_message_of_its_own_unit() -> None:
    bench = ready()
    bench.begin(1, 5, session=1)
    bench.put(1, 1, sent("a"), unit=5)
    bench.receiver(1, 2, credit=1, session=1)
    assert bench.bodies() == ["a"]
    bench.settle(1, 2, 1, outcome=Outcome.RELEASED, annotations=annotations(tries=1))
    bench.commit(1, 5)
    bench.at_rest()
    bench.receiver(1, 3)
    assert [told(one).get("tries") for one in bench.delivered if one.link == 3] == [1]
    bench.settle(1, 3, bench.delivered[-1].delivery)
    assert bench.core.octets == 0
