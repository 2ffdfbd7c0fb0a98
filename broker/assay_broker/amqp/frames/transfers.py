"""The reading and checking of a transfer's delivery fields (OASIS AMQP 1.0, 2.7.5).

The engine reports neither the message-format of a delivery nor a missing field.  Nearly every transfer is *plain*: a
whole delivery with a delivery-id, a delivery-tag and message-format 0.  Compiled patterns recognise these transfers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from assay_broker.amqp.frames.fields import HEAD_SIZE, is_short
from assay_sdk.amqp.types import DecodeError
from assay_sdk.amqp.values import skip

LONGEST_TAG = 32
"""The most octets of a delivery-tag (AMQP 1.0, 2.8.7)."""

_LIST8 = 0xC0
_HANDLE, _ID, _TAG, _FORMAT, _SETTLED, _, _RCV_MODE, _STATE, _, _, _BATCHABLE = range(11)
_NOTHING = (None,) * (_BATCHABLE + 1)
_NUMBERS = frozenset((_HANDLE, _ID, _FORMAT))
_WIDTHS: Mapping[int, int] = {0x43: 0, 0x52: 1, 0x70: 4}
"""The octets of an unsigned number after its format code, by format code."""
_FALSE, _TRUE = frozenset((b"\x40", b"\x42", b"\x56\x00")), frozenset((b"\x41", b"\x56\x01"))
_FIRST_MODE, _SECOND_MODE = frozenset((b"\x40", b"\x50\x00")), frozenset((b"\x50\x01",))
_NULL, _BINARY8, _BINARY32 = 0x40, 0xA0, 0xB0

_PLAIN_ID = rb"(?:\x43|\x52.|\x70.{4})"
_PLAIN_TAG = rb"\xa0(?:%b)" % b"|".join(re.escape(bytes((size,))) + b".{%d}" % size for size in range(LONGEST_TAG + 1))
_PLAIN_FORMAT = rb"(?:\x43|\x52\x00|\x70\x00{4})"
_NO_MORE = rb"[\x40\x42]"
_PLAIN = tuple(
    re.compile(_PLAIN_ID + _PLAIN_TAG + _PLAIN_FORMAT + rest, re.DOTALL).match
    for rest in (b"", rb"[\x40-\x42]", rb"[\x40-\x42]" + _NO_MORE)
)
_PLAIN_HANDLE = re.compile(rb"\x00\x53\x14\xc0.([\x04-\x06])(\x43|\x52.|\x70.{4})", re.DOTALL).match

Match = Callable[[bytes, int, int], object]
"""A function that takes octets and two offsets, and matches the fields of a plain transfer after the handle.

It returns None for no match.
"""


class DeliveryStart(Struct, frozen=True):
    """The delivery fields of a transfer.

    Args:
        number: The delivery-id; None if the transfer does not have it.
        tag: The delivery-tag; None if the transfer does not have it.
        form: The message-format; None if the transfer does not have it.
    """

    number: int | None
    tag: bytes | None
    form: int | None


class Transfer(Struct, frozen=True):
    """The fields of a transfer, without its message.

    Args:
        handle: The link's handle; None if the transfer does not have it.
        delivery: The delivery fields.
        more: Whether another transfer of the same delivery follows.
        aborted: Whether the sender aborts the delivery.
        second: Whether the transfer asks for the rcv-settle-mode *second*.
        resume: Whether the sender resumes a delivery that began before the link was attached.
    """

    handle: int | None
    delivery: DeliveryStart
    more: bool = False
    aborted: bool = False
    second: bool = False
    resume: bool = False


def plain(count: int) -> Match:
    """Return the matching function for plain transfers with this number of fields (4, 5 or 6)."""
    return _PLAIN[count - _SETTLED]


def handle_of_plain(data: bytes, body: int, end: int) -> int | None:
    """Return the handle of a plain transfer.

    Args:
        data: Octets that contain the frame.
        body: The offset of the performative.
        end: The offset of the frame's end.

    Returns:
        The handle; None if the transfer is not plain.
    """
    found = _PLAIN_HANDLE(data, body, end)
    if found is None or _PLAIN[data[body + HEAD_SIZE + 2] - _SETTLED](data, found.end(), end) is None:
        return None
    return int.from_bytes(found[2][1:])


def scan(data: bytes, body: int, end: int) -> Transfer | None:
    """Read a transfer without decoding its state.

    Args:
        data: Octets that contain the frame.
        body: The offset of the performative.
        end: The offset of the frame's end.

    Returns:
        The transfer; None if it must be decoded, because it is long, malformed, or has a field of a wrong type.
    """
    at = body + HEAD_SIZE
    if end - at < HEAD_SIZE or not is_short(data, at):
        return None
    many, at = (data[at + 2], at + 3) if data[at] == _LIST8 else (int.from_bytes(data[at + 5 : at + 9]), at + 9)
    if many > _BATCHABLE + 1:
        return None
    found: list[object] = []
    try:
        for position in range(many):
            begin, at = at, skip(data, at)
            if at > end:
                return None
            found.append(_value(position, data[begin:at]))
    except (DecodeError, IndexError, KeyError):
        return None
    return of(found)


def of(fields: Sequence[Any]) -> Transfer:
    """Return a transfer from its decoded fields; the caller has checked their types."""
    values: list[Any] = [*fields, *_NOTHING]
    handle, number, tag, form, _, more, second, _, resume, aborted, *_ = values
    return Transfer(
        handle=handle,
        delivery=DeliveryStart(number, tag, form),
        more=bool(more),
        aborted=bool(aborted),
        second=bool(second),
        resume=bool(resume),
    )


def flaw(said: DeliveryStart, begun: DeliveryStart | None) -> str | None:
    """Return the mistake in a transfer's delivery fields (AMQP 1.0, 2.7.5, 2.8.7).

    A mistake is a missing field, a tag that is too long, or another value than in the delivery's first transfer.

    Args:
        said: The transfer's delivery fields.
        begun: The delivery fields of the delivery's first transfer; None if this transfer is the first.

    Returns:
        A sentence that describes the mistake; None if the transfer has no mistake.
    """
    return _missing(said) if begun is None else _contradiction(said, begun)


def _missing(said: DeliveryStart) -> str | None:
    if said.tag is None:
        return "The first transfer of a delivery has no delivery-tag (AMQP 1.0, 2.7.5)."
    if len(said.tag) > LONGEST_TAG:
        return f"A delivery-tag has {len(said.tag)} octets, and {LONGEST_TAG} are allowed (AMQP 1.0, 2.8.7)."
    if said.form is None:
        return "The first transfer of a delivery has no message-format (AMQP 1.0, 2.7.5)."
    return None


def _contradiction(said: DeliveryStart, begun: DeliveryStart) -> str | None:
    if said.tag not in {None, begun.tag}:
        return "A transfer has another delivery-tag than the first transfer of its delivery (AMQP 1.0, 2.7.5)."
    if said.form not in {None, begun.form}:
        return f"A transfer has message-format {said.form}, and its delivery began with {begun.form} (AMQP 1.0, 2.7.5)."
    return None


def _value(position: int, encoded: bytes) -> object:
    """Decode the field at a position of a transfer; return None for null, and for the delivery state.

    Raises:
        KeyError: The field is of a wrong type.
    """
    code = encoded[0]
    if position == _STATE or code == _NULL:
        return None
    if position in _NUMBERS:
        if len(encoded) != 1 + _WIDTHS[code]:
            raise KeyError(code)
        return int.from_bytes(encoded[1:])
    if position == _TAG:
        return encoded[{_BINARY8: 2, _BINARY32: 5}[code] :]
    yes, no = (_SECOND_MODE, _FIRST_MODE) if position == _RCV_MODE else (_TRUE, _FALSE)
    if encoded not in yes and encoded not in no:
        raise KeyError(code)
    return encoded in yes
