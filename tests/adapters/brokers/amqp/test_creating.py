"""Tests of the creation of queues before their first use."""

from __future__ import annotations

from typing import Any, cast

from assay_adapters.brokers.amqp.creating import QueuesOnUse
from assay_adapters.ports.administration import Admin, Define, ObjectKind
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Outcome, Refused, refused
from assay_sdk.model.message import Address, AddressKind

ORDERS = Address(AddressKind.QUEUE, "ORDERS")


class Fake:
    """An administrator of a broker with some queues.

    Args:
        there: The names of the queues.
        answer: The answer to a definition; None to define the queue.
        meanwhile: Whether another process defines the queue just before the definition.
    """

    def __init__(self, *there: str, answer: Refused | None = None, meanwhile: bool = False) -> None:
        self.there = set(there)
        self.calls: list[str] = []
        self._answer = answer
        self._meanwhile = meanwhile

    def inspect(self, kind: ObjectKind, name: str) -> Outcome[Any]:
        """Return whether there is a queue."""
        self.calls.append("inspect")
        assert kind is ObjectKind.QUEUE
        return Ok({}) if name in self.there else refused(Mqrc.UNKNOWN_OBJECT_NAME, "no queue", name)

    def execute(self, change: Define) -> Outcome[None]:
        """Define a queue."""
        self.calls.append("define")
        if self._answer is None or self._meanwhile:
            self.there.add(change.name)
        return self._answer or Ok(None)


def on_use(fake: Fake) -> QueuesOnUse:
    return QueuesOnUse(cast("Admin", fake))


def test_a_queue_is_defined_once() -> None:
    fake = Fake()
    queues = on_use(fake)
    assert queues.wants(ORDERS)
    assert queues.create(ORDERS) is None
    assert queues.create(ORDERS) is None
    assert not queues.wants(ORDERS)
    assert fake.calls == ["inspect", "define"]


def test_a_queue_that_exists_is_not_defined() -> None:
    fake = Fake("ORDERS")
    assert on_use(fake).create(ORDERS) is None
    assert fake.calls == ["inspect"]


def test_a_refusal_counts_only_if_the_queue_is_not_there() -> None:
    exists = Refused(JmsErrorKind.MESSAGING, "AMQ8150E: exists")
    assert on_use(Fake(answer=exists, meanwhile=True)).create(ORDERS) is None
    assert on_use(Fake(answer=exists)).create(ORDERS) == exists


def test_only_queues_are_defined() -> None:
    kinds = [kind for kind in AddressKind if on_use(Fake()).wants(Address(kind, "X"))]
    assert kinds == [AddressKind.QUEUE]
