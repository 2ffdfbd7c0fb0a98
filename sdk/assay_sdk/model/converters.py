"""From values to message bodies and back.

| type | body | content type |
|---|---|---|
| str | text | text/plain |
| bytes | bytes | application/octet-stream |
| dict, dict[str, ...] | text: JSON | application/json |
| msgspec Struct, dataclass | text: JSON | application/json |

JSON is written as text, which a JMS client sees as a TextMessage, and read from text and bytes alike.  JSON has no NaN
and no infinity: msgspec writes them as null.  A union gets no converter by itself, because nothing in the body would
say which member it is; give one with ``converter=``.
"""

from __future__ import annotations

import dataclasses
from types import NoneType, UnionType
from typing import Any, Generic, Protocol, TypeVar, Union, cast, get_args, get_origin, overload

import msgspec

from assay_sdk.model.message import Body

T = TypeVar("T")

TEXT = "text/plain"
OCTETS = "application/octet-stream"
JSON = "application/json"


class ConversionError(ValueError):
    """A value cannot become a body, or a body cannot become a value.

    Attributes:
        type_name: The type that the destination asks for.
        came: What was there instead.
        remedy: What to do.
    """

    def __init__(self, doing: str, *, type_name: str, came: str, remedy: str) -> None:
        self.type_name = type_name
        self.came = came
        self.remedy = remedy
        super().__init__(f"{doing}: {came}; {remedy}.")


class NoConverterError(ConversionError):
    """A type has no converter of its own."""


class Converter(Protocol[T]):
    """Turns values of one type into message bodies and back."""

    def encode(self, value: T) -> tuple[Body, str | None]:
        """The body for a value, and its content type (None to say nothing).

        Raises:
            ConversionError: The value cannot be written.
        """
        ...

    def decode(self, body: Body, content_type: str | None) -> T:
        """The value in a body.

        Args:
            body: As it came.
            content_type: What the sender said it is; None when nothing.

        Raises:
            ConversionError: The body is not such a value.
        """
        ...


class _Plain(Generic[T]):
    """A body that is its own value."""

    def __init__(self, kind: type[T], content_type: str) -> None:
        self._kind = kind
        self._content_type = content_type

    def encode(self, value: T) -> tuple[Body, str | None]:
        """The value itself."""
        _of_type(value, self._kind)
        return cast("Body", value), self._content_type

    def decode(self, body: Body, content_type: str | None) -> T:
        """The body itself; text in bytes is read where the content type says that it is text."""
        if isinstance(body, self._kind):
            return body
        if self._kind is str and isinstance(body, bytes) and (content_type or "").startswith("text/"):
            try:
                return cast("T", body.decode())
            except UnicodeDecodeError as error:
                raise _unreadable(self._kind, body, content_type, str(error)) from error
        raise _unreadable(self._kind, body, content_type, None)


class _Any:
    """A body whose type nothing says: text and bytes stay as they are, everything else is JSON."""

    def encode(self, value: object) -> tuple[Body, str | None]:
        """Return text and bytes as they are, and the JSON text of anything else."""
        if value is None:
            return None, None
        if isinstance(value, str):
            return value, TEXT
        if isinstance(value, bytes):
            return value, OCTETS
        return _JSON.encode(value)

    def decode(self, body: Body, content_type: str | None) -> Any:
        """Read JSON where the content type says so; return any other body as it is."""
        return _JSON.decode(body, content_type) if content_type == JSON else body


class _Json(Generic[T]):
    """A body that is a JSON text."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind
        self._shell = cast("type[object]", get_origin(kind) or kind)
        try:
            self._decoder = msgspec.json.Decoder(kind)
        except (TypeError, NameError) as error:
            raise _no_converter(kind, f"msgspec cannot read it ({error})") from error
        self._encoder = msgspec.json.Encoder()

    def encode(self, value: T) -> tuple[Body, str | None]:
        """The value as JSON text."""
        _of_type(value, self._shell)
        try:
            return self._encoder.encode(value).decode(), JSON
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            name = _name(self._kind)
            raise ConversionError(
                f"A {name} could not be written as JSON",
                type_name=name,
                came=_clause(error),
                remedy="leave that out of the value, or give the destination a converter",
            ) from error

    def decode(self, body: Body, content_type: str | None) -> T:
        """The value that a JSON text, or its UTF-8 bytes, stands for."""
        if body is None:
            raise _unreadable(self._kind, body, content_type, None)
        try:
            return self._decoder.decode(body)
        except (ValueError, RecursionError) as error:
            raise _unreadable(self._kind, body, content_type, _clause(error)) from error


@overload
def converter_for(kind: type[T]) -> Converter[T]: ...
@overload
def converter_for(kind: object) -> Converter[Any]: ...
def converter_for(kind: object) -> Converter[Any]:
    """The converter that a type has by itself.

    Args:
        kind: str, bytes, dict (with or without its types), a msgspec Struct type or a dataclass.

    Raises:
        NoConverterError: Any other type; give the destination a converter.
    """
    plain = _PLAIN.get(kind) if isinstance(kind, type) else None
    if plain is not None:
        return plain
    origin = get_origin(kind)
    if origin is Union or isinstance(kind, UnionType):
        raise _no_converter(kind, "nothing in a body says which member of a union it is")
    if origin is dict and get_args(kind)[0] not in (str, Any):
        raise _no_converter(kind, "the keys of a JSON object are strings")
    shell = origin or kind
    if isinstance(shell, type) and (
        shell is dict or issubclass(shell, msgspec.Struct) or dataclasses.is_dataclass(shell)
    ):
        return _Json(cast("type[Any]", kind))
    raise _no_converter(kind, "it is none of str, bytes, dict, msgspec Struct and dataclass")


_JSON: Converter[Any] = _Json(object)
ANY: Converter[Any] = _Any()
"""The converter of a destination that came with a message, which says nothing of its bodies' type."""

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
"""What a destination is made of to see a body as it is."""


def _no_converter(kind: object, why: str) -> NoConverterError:
    name = _name(kind)
    return NoConverterError(
        f"{name} has no converter of its own", type_name=name, came=why, remedy="give the destination converter="
    )


def _clause(error: BaseException) -> str:
    return str(error).rstrip(".")


def _name(kind: object) -> str:
    return kind.__qualname__ if isinstance(kind, type) and get_origin(kind) is None else str(kind)
