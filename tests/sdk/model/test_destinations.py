"""Tests of destinations: names, kinds, types and equality."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from msgspec import Struct

from assay_sdk.model.converters import NoConverterError, converter_for
from assay_sdk.model.destinations import (
    DestinationError,
    Queue,
    TemporaryQueue,
    TemporaryTopic,
    Topic,
    destination,
)
from assay_sdk.model.message import Address, AddressKind, Body
from assay_sdk.model.texts import LONGEST_NAME

Kind = type[Queue[Any]] | type[Topic[Any]]
KINDS: list[tuple[Kind, AddressKind]] = [
    (Queue, AddressKind.QUEUE),
    (Topic, AddressKind.TOPIC),
    (TemporaryQueue, AddressKind.TEMPORARY_QUEUE),
    (TemporaryTopic, AddressKind.TEMPORARY_TOPIC),
]


class Order(Struct):
    number: str


class Shouting:
    """A user's own converter."""

    def encode(self, value: int | str) -> tuple[Body, str | None]:
        return f"{value}!", None

    def decode(self, body: Body, content_type: str | None) -> int | str:
        del content_type
        return str(body).rstrip("!")


@pytest.mark.parametrize(("kind", "address_kind"), KINDS)
def test_a_destination_has_an_address(kind: Kind, address_kind: AddressKind) -> None:
    one = kind("ORDERS/x y", Order)
    assert one.address == Address(address_kind, "ORDERS/x y")
    assert one.name == "ORDERS/x y"
    assert str(one) == f"{address_kind.value}://ORDERS/x y"
    assert repr(one) == f"{kind.__name__}('ORDERS/x y')"
    assert destination(one.address) == one
    assert type(destination(one.address)) is kind
    assert copy.copy(one) == one


@pytest.mark.parametrize(("kind", "_kind"), KINDS)
@pytest.mark.parametrize(("other", "_other"), KINDS)
def test_destinations_are_equal_by_kind_and_name(
    kind: Kind, _kind: AddressKind, other: Kind, _other: AddressKind
) -> None:
    assert (kind("A") == other("A", bytes)) is (kind is other)
    assert len({kind("A"), other("A", bytes), kind("B")}) == (2 if kind is other else 3)
    assert kind("A") != "A"


def test_without_a_type_it_carries_texts() -> None:
    assert Queue("A").converter is converter_for(str)
    assert pickle.loads(pickle.dumps(Queue("A"))) == Queue("A")  # noqa: S301 - our own bytes


def test_with_a_type_it_carries_that() -> None:
    assert Queue("A", Order).converter.decode('{"number":"1"}', None) == Order("1")
    assert Queue[Order]("A", Order) == Queue("A")


def test_a_converter_of_ones_own_comes_first() -> None:
    converter = Shouting()
    assert Queue("A", converter=converter).converter is converter
    union: Queue[int | str] = Queue("A", converter=converter)
    assert union.converter.encode(5) == ("5!", None)


def test_a_union_without_a_converter_is_refused() -> None:
    kind: Any = Order | str
    with pytest.raises(NoConverterError, match="give the destination converter="):
        Queue("A", kind)


def test_a_destination_cannot_be_changed() -> None:
    one: Any = Queue("A")
    for attribute in ("name", "address", "converter", "other"):
        with pytest.raises(AttributeError):
            setattr(one, attribute, "B")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "The name of a temporary topic is empty"),
        ("a\nb", "character 2 is U+000A"),
        ("\x7f", "character 1 is U+007F"),
        ("a\x85", "character 2 is U+0085"),
        ("\ud800", "character 1 is U+D800"),
        ("x" * (LONGEST_NAME + 1), "10241 bytes of UTF-8, and 10240 are allowed"),
        ("ä" * (LONGEST_NAME // 2) + "x", "10241 bytes"),
        (None, "The name of a temporary topic is None; give a string"),
        (b"A", "give a string"),
    ],
)
def test_a_name_that_cannot_be_one_is_refused(name: Any, said: str) -> None:
    with pytest.raises(DestinationError) as caught:
        TemporaryTopic(name)
    assert said in str(caught.value)
    assert caught.value.name == name


def test_the_longest_name_is_taken() -> None:
    assert Topic("ä" * (LONGEST_NAME // 2)).name
