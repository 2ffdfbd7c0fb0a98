"""Tests of converters: the body of each type, and the errors for values that have no body."""

from __future__ import annotations

import dataclasses
from typing import Any, Optional, Union

import pytest
from msgspec import Struct

from assay_sdk.model.converters import ConversionError, NoConverterError, converter_for
from assay_sdk.model.message import Body


class Order(Struct, frozen=True):
    number: str
    pieces: int


class Recursive(Struct):
    inner: Recursive | None = None


@dataclasses.dataclass
class Point:
    x: int
    y: float


@dataclasses.dataclass
class Unreadable:
    what: Missing  # type: ignore[name-defined]  # noqa: F821 - the name is missing on purpose


@pytest.mark.parametrize(
    ("kind", "value", "body", "content_type"),
    [
        (str, "grün", "grün", "text/plain"),
        (str, "", "", "text/plain"),
        (bytes, b"\x00\xff", b"\x00\xff", "application/octet-stream"),
        (dict, {"a": [1, None]}, '{"a":[1,null]}', "application/json"),
        (dict[str, int], {"a": 1}, '{"a":1}', "application/json"),
        (Order, Order("1", 2), '{"number":"1","pieces":2}', "application/json"),
        (Point, Point(1, 2.5), '{"x":1,"y":2.5}', "application/json"),
    ],
)
def test_a_value_becomes_a_body_and_comes_back(kind: Any, value: object, body: Body, content_type: str) -> None:
    converter = converter_for(kind)
    assert converter.encode(value) == (body, content_type)
    assert converter.decode(body, content_type) == value
    assert converter.decode(body, None) == value


@pytest.mark.parametrize("kind", [Order, Point, dict])
def test_json_is_read_from_bytes_as_well(kind: Any) -> None:
    body = {Order: b'{"number":"1","pieces":2}', Point: b'{"x":1,"y":2}', dict: b'{"x":1}'}[kind]
    converter = converter_for(kind)
    assert converter.decode(body, "application/octet-stream") == converter.decode(body.decode(), None)


def test_bytes_that_say_they_are_text_are_read_as_text() -> None:
    converter = converter_for(str)
    assert converter.decode("grün".encode(), "text/plain; charset=utf-8") == "grün"
    with pytest.raises(ConversionError, match="can't decode"):
        converter.decode(b"\xff", "text/plain")


@pytest.mark.parametrize(
    ("kind", "body", "content_type", "came", "remedy"),
    [
        (str, b"ab", None, "bytes of length 2 came", "a destination of bytes"),
        (str, None, None, "no body came", "a destination of another type"),
        (bytes, "ab", "text/plain", "text of length 2 (text/plain) came", "a destination of str"),
        (bytes, None, None, "no body", "another type"),
        (Order, None, None, "no body", "converter"),
        (Order, "", None, "text of length 0 came: Input data was truncated", "a destination of str"),
        (Order, "{", None, "truncated", "converter"),
        (Order, '{"number":"1","pieces":"2"}', None, "Expected `int`, got `str`", "converter"),
        (Order, b"\xff", None, "bytes of length 1", "a destination of bytes"),
        (Order, '{"number":"\ud800","pieces":1}', None, "text of length", "converter"),
        (dict, "[1]", None, "Expected `object`, got `array`", "converter"),
        (dict[str, int], '{"a":"b"}', None, "Expected `int`, got `str`", "converter"),
        (dict, '{"a":' * 100_000, None, "recursion", "converter"),
    ],
)
def test_a_body_that_does_not_fit_is_named(
    kind: Any, body: Body, content_type: str | None, came: str, remedy: str
) -> None:
    with pytest.raises(ConversionError) as caught:
        converter_for(kind).decode(body, content_type)
    error = caught.value
    name = getattr(kind, "__name__", "") if isinstance(kind, type) else str(kind)
    assert name in error.type_name
    assert came in error.came
    assert remedy in error.remedy
    assert str(error) == f"A message could not be read as {error.type_name}: {error.came}; {error.remedy}."


@pytest.mark.parametrize(
    ("kind", "value"),
    [(str, b"x"), (str, None), (bytes, "x"), (dict, [1]), (Order, Point(1, 2)), (Point, {"x": 1, "y": 2})],
)
def test_a_value_of_another_type_is_not_sent(kind: Any, value: object) -> None:
    with pytest.raises(ConversionError, match="cannot be sent: it is of type"):
        converter_for(kind).encode(value)


WRONG: Any = "many"


@pytest.mark.parametrize(("kind", "value"), [(dict[str, int], {"a": WRONG}), (Order, Order("1", WRONG))])
def test_the_values_within_a_body_are_checked_by_its_reader_only(kind: Any, value: object) -> None:
    converter = converter_for(kind)
    body, content_type = converter.encode(value)
    with pytest.raises(ConversionError, match="Expected `int`, got `str`"):
        converter.decode(body, content_type)


def test_a_value_that_json_cannot_hold_is_not_sent() -> None:
    endless = Recursive()
    endless.inner = endless
    values: list[Any] = [{"a": object()}, {"a": "\ud800"}, {(1, 2): 3}, {"a": 10**5000}, {10**5000: None}, endless]
    for value in values:
        with pytest.raises(ConversionError, match="could not be written as JSON"):
            converter_for(type(value)).encode(value)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (Order | Point, "which member of a union"),
        (Union[Order, Point], "which member of a union"),  # noqa: UP007 - the old spelling is what is tried
        (Optional[Order], "which member of a union"),  # noqa: UP045 - the old spelling is what is tried
        (dict[int, str], "keys of a JSON object are strings"),
        (int, "none of str, bytes, dict"),
        (list[Order], "none of str, bytes, dict"),
        (None, "none of str"),
        (Any, "none of str"),
        ("Order", "none of str"),
        (Order("1", 2), "none of str"),
        (Point(1, 2), "none of str"),
        (Unreadable, "msgspec cannot read it"),
    ],
)
def test_a_type_without_a_converter_of_its_own_is_named(kind: object, why: str) -> None:
    with pytest.raises(NoConverterError) as caught:
        converter_for(kind)
    assert why in caught.value.came
    assert str(caught.value).endswith("; give the destination converter=.")
