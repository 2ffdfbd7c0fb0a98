"""Converters between the application's values and message bodies.

| type | body | content type |
|---|---|---|
| str | text | text/plain |
| bytes | bytes | application/octet-stream |
| dict, dict[str, ...] | text: JSON | application/json |
| msgspec Struct, dataclass | text: JSON | application/json |

The SDK writes JSON as text, which a JMS client receives as a TextMessage, and reads JSON from text and bytes.  JSON has
no NaN and no infinity, so the SDK refuses a value that contains one; msgspec alone would write null.  The SDK has
no converter for a union, because a body does not say to which member of the union it belongs; pass a converter with
``converter=``.
"""

from __future__ import annotations

import dataclasses
import math
from types import NoneType, UnionType
from typing import Any, Generic, Protocol, TypeVar, Union, cast, get_args, get_origin, overload

import msgspec

from assay_sdk.model.message import Body

T = TypeVar("T")

TEXT = "text/plain"
OCTETS = "application/octet-stream"
JSON = "application/json"


class ConversionError(ValueError):
    """The error for a value that cannot be converted to a body, or a body that cannot be converted to a value.

    Attributes:
        type_name: Name of the Python type of the destination's messages.
        came: What is wrong with the value or body; a part of the error's text.
        remedy: Advice to the application; the end of the error's text.
    """

    def __init__(self, doing: str, *, type_name: str, came: str, remedy: str) -> None:
        self.type_name = type_name
        self.came = came
        self.remedy = remedy
        super().__init__(f"{doing}: {came}; {remedy}.")


class NoConverterError(ConversionError):
    """The error for a body type for which the SDK has no converter."""


class Converter(Protocol[T]):
    """A converter between values of one type and message bodies."""

    def encode(self, value: T) -> tuple[Body, str | None]:
        """Convert a value to a message body.

        Returns:
            The body, and its content type; None for no content type.

        Raises:
            ConversionError: The value cannot be converted.
        """
        ...

    def decode(self, body: Body, content_type: str | None) -> T:
        """Convert a message body to a value.

        Args:
            body: The received body.
            content_type: Content type that the sender gave; None if it gave none.

        Raises:
            ConversionError: The body is not a value of this type.
        """
        ...


class _Plain(Generic[T]):
    """The converter of text or bytes, which are bodies without a conversion."""

    def __init__(self, kind: type[T], content_type: str) -> None:
        self._kind = kind
        self._content_type = content_type

    def encode(self, value: T) -> tuple[Body, str | None]:
        """Return the value as the body, with its content type."""
        _of_type(value, self._kind)
        return cast("Body", value), self._content_type

    def decode(self, body: Body, content_type: str | None) -> T:
        """Return the body; for a destination of text, decode bytes whose content type is ``text/...``."""
        if isinstance(body, self._kind):
            return body
        if self._kind is str and isinstance(body, bytes) and (content_type or "").startswith("text/"):
            try:
                return cast("T", body.decode())
            except UnicodeDecodeError as error:
                raise _unreadable(self._kind, body, content_type, str(error)) from error
        raise _unreadable(self._kind, body, content_type, None)


class _Any:
    """The converter for bodies of any type: text and bytes stay unchanged, other values are JSON."""

    def encode(self, value: object) -> tuple[Body, str | None]:
        """Return text and bytes unchanged, no body for None, and JSON text for any other value."""
        if value is None:
            return None, None
        if isinstance(value, str):
            return value, TEXT
        if isinstance(value, bytes):
            return value, OCTETS
        return _JSON.encode(value)

    def decode(self, body: Body, content_type: str | None) -> Any:
        """Return the value of a body whose content type is JSON; return any other body unchanged."""
        return _JSON.decode(body, content_type) if content_type == JSON else body


class _Json(Generic[T]):
    """The converter of a type whose values are written as JSON."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind
        self._shell = cast("type[object]", get_origin(kind) or kind)
        try:
            self._decoder = msgspec.json.Decoder(kind)
        except (TypeError, NameError) as error:
            raise _no_converter(kind, f"msgspec cannot read it ({error})") from error

    def encode(self, value: T) -> tuple[Body, str | None]:
        """Return the value as JSON text, with the content type of JSON."""
        _of_type(value, self._shell)
        try:
            return json_text(value), JSON
        except (TypeError, ValueError, RecursionError) as error:
            name = _name(self._kind)
            raise ConversionError(
                f"A {name} could not be written as JSON",
                type_name=name,
                came=_clause(error),
                remedy="leave that out of the value, or give the destination a converter",
            ) from error

    def decode(self, body: Body, content_type: str | None) -> T:
        """Return the value of a JSON text, or of its UTF-8 bytes."""
        if body is None:
            raise _unreadable(self._kind, body, content_type, None)
        try:
            return self._decoder.decode(body)
        except (ValueError, RecursionError) as error:
            raise _unreadable(self._kind, body, content_type, _clause(error)) from error


_ENCODER = msgspec.json.Encoder()


def json_text(value: object) -> str:
    """Return a value as JSON text.

    Raises:
        TypeError: JSON cannot represent the value.
        ValueError: A number in the value is NaN or infinite, an integer has too many digits, or UTF-8 cannot encode a
            text.
        RecursionError: The value is nested too deeply.
    """
    octets = _ENCODER.encode(value)
    if b"null" in octets:  # msgspec writes null for None, NaN and infinity
        _check_numbers(msgspec.to_builtins(value))
    return octets.decode()


def _check_numbers(value: object) -> None:
    """Check that a value of dicts and lists has no NaN and no infinity.

    Raises:
        ValueError: A number in the value is NaN or infinite; the error's text says where it is.
    """
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        where, found = waiting.pop()
        if isinstance(found, float) and not math.isfinite(found):
            raise ValueError(f"{where or 'the value'} is {found}, which is no JSON number")
        if isinstance(found, dict):
            inner = cast("dict[object, object]", found).items()
            waiting.extend((f"{where}[{key!r}]", one) for key, one in inner)
        elif isinstance(found, list | tuple):
            waiting.extend((f"{where}[{at}]", one) for at, one in enumerate(cast("list[object]", found)))


@overload
def converter_for(kind: type[T]) -> Converter[T]: ...
@overload
def converter_for(kind: object) -> Converter[Any]: ...
def converter_for(kind: object) -> Converter[Any]:
    """Return the SDK's converter for a body type.

    Args:
        kind: str, bytes, dict, dict[str, ...], a msgspec Struct type or a dataclass.

    Raises:
        NoConverterError: The SDK has no converter for the type, so the application must pass one.
    """
    plain = _PLAIN.get(kind) if isinstance(kind, type) else None
    if plain is not None:
        return plain
    origin = get_origin(kind)
    if origin is Union or isinstance(kind, UnionType):
        raise _no_converter(kind, "a body does not say which member of a union it is")
    if origin is dict and get_args(kind)[0] not in (str, Any):
        raise _no_converter(kind, "the keys of a JSON object are strings")
    shell = origin or kind
    if isinstance(shell, type) and (
        shell is dict or issubclass(shell, msgspec.Struct) or dataclasses.is_dataclass(shell)
    ):
        return _Json(cast("type[Any]", kind))
    raise _no_converter(kind, "it is none of str, bytes, dict, a msgspec Struct and a dataclass")


_JSON: Converter[Any] = _Json(object)
ANY: Converter[Any] = _Any()
"""Converter for destinations whose body type is unknown, such as the reply-to of a received message."""

_PLAIN: dict[type, Converter[Any]] = {str: _Plain(str, TEXT), bytes: _Plain(bytes, OCTETS)}


def _of_type(value: object, kind: type[object]) -> None:
    if not isinstance(value, kind):
        name = _name(kind)
        raise ConversionError(
            f"A value for a destination of {name} cannot be sent",
            type_name=name,
            came=f"it is of type {_name(type(value))}",
            remedy=f"send a {name}, or use a destination of the other type",
        )


def _unreadable(kind: object, body: Body, content_type: str | None, why: str | None) -> ConversionError:
    name = _name(kind)
    shape = "no body" if body is None else f"{'text' if isinstance(body, str) else 'bytes'} of length {len(body)}"
    said = f" ({content_type})" if content_type else ""
    return ConversionError(
        f"A message could not be read as {name}",
        type_name=name,
        came=f"{shape}{said} came" + (f": {why}" if why else ""),
        remedy=f"use a destination of {_FITTING[type(body)]}, or give this one a converter",
    )


_FITTING: dict[type, str] = {str: "str", bytes: "bytes", NoneType: "another type"}
"""The destination type that an error recommends, by the type of the received body."""


def _no_converter(kind: object, why: str) -> NoConverterError:
    name = _name(kind)
    return NoConverterError(
        f"{name} has no converter of its own", type_name=name, came=why, remedy="give the destination converter="
    )


def _clause(error: BaseException) -> str:
    return str(error).rstrip(".")


def _name(kind: object) -> str:
    return kind.__qualname__ if isinstance(kind, type) and get_origin(kind) is None else str(kind)
