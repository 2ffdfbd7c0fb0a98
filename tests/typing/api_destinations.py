"""The types of destinations and converters, as a user's type checker infers them; mypy and pyright check this file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_type

from msgspec import Struct

from assay_sdk.model.converters import Converter, converter_for
from assay_sdk.model.destinations import Destination, Queue, TemporaryQueue, TemporaryTopic, Topic
from assay_sdk.model.message import Address, Body


class Order(Struct):
    """A struct for message bodies."""

    number: str


class Refund(Struct):
    """A second struct for message bodies."""

    number: str


@dataclass
class Point:
    """A dataclass for message bodies."""

    x: int


class Either:
    """A converter of an application for a union."""

    def encode(self, value: Order | Refund) -> tuple[Body, str | None]:
        """Return the body and the content type of a value."""
        return value.number, type(value).__name__

    def decode(self, body: Body, content_type: str | None) -> Order | Refund:
        """Return the value, by the content type."""
        return Order(str(body)) if content_type == "Order" else Refund(str(body))


assert_type(Queue("A"), Queue[str])
assert_type(Queue("A", str), Queue[str])
assert_type(Queue("A", bytes), Queue[bytes])
assert_type(Queue("A", Order), Queue[Order])
assert_type(Topic("A"), Topic[str])
assert_type(Topic("A", Point), Topic[Point])
assert_type(TemporaryQueue("A", Order), TemporaryQueue[Order])
assert_type(TemporaryTopic("A"), TemporaryTopic[str])
assert_type(Queue("A", dict[str, int]), Queue[dict[str, int]])
assert_type(Queue("A", converter=Either()), Queue[Order | Refund])
assert_type(Queue("A", Order).converter, Converter[Order])
assert_type(Queue("A", Order).address, Address)
assert_type(Queue("A", Order).name, str)
assert_type(converter_for(Order), Converter[Order])
assert_type(converter_for(Order).decode("", None), Order)

annotated: Queue[Order] = Queue("ORDERS", Order)
union: Queue[Order | Refund] = Queue("BOTH", converter=Either())
base: Destination[Order] = TemporaryQueue("REPLIES", Order)
queue: Queue[Order] = TemporaryQueue("REPLIES", Order)
wrong_type: Queue[Order] = Queue("ORDERS", Refund)  # type: ignore[arg-type]  # pyright: ignore[reportAssignmentType, reportArgumentType] - must be seen
wrong_kind: Topic[Order] = Queue("ORDERS", Order)  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType] - must be seen
wrong_default: Queue[Order] = Queue("ORDERS")  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType] - must be seen
