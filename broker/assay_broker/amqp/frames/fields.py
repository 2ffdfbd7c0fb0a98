"""Read single fields of performatives, encoded or decoded.

Of frequent frames only the first fields are read, without decoding the rest: a handle, a range, credit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from msgspec import Struct

HEAD_SIZE = 3
"""Octets before the fields: a small numeric descriptor, as all clients write it."""
SHORT = 160
"""Octets of a performative that cannot be nested too deeply."""
_LIST8, _LIST32 = 0xC0, 0xD0
_TRUE, _LONG_TRUE = b"\x41", b"\x56\x01"
_WIDTHS = {0x40: 0, 0x41: 0, 0x42: 0, 0x43: 0, 0x52: 1, 0x56: 1, 0x70: 4}
"""Widths of the values at the beginning of frequent performatives, by their format codes."""
_VALUES = {0x40: None, 0x41: 1, 0x42: 0, 0x43: 0}
"""Values that are encoded in their format code."""
_ZERO, _SMALL = 0x43, 0x52
_FIRST = 6
"""Where the first field of a performative with a short list is: after descriptor, format code, size and count."""
_MOST = 10
_NOT_TRUE = frozenset((0x40, 0x42, 0x56))
_PROPERTIES_OF_FLOW = 10
_TAG, _RCV_MODE, _RESUME = 2, 6, 8
_NULL, _MODE_FIRST = 0x40, b"\x50\x00"


class Acquires(Struct, frozen=True):
    """A flow's wish that deliveries belong to a transaction from now on (OASIS AMQP 1.0, 4.4.3).

    Args:
        txn_id: The transaction's id, or whatever stands in its place; None for no transaction.
    """

    txn_id: object


def symbols(value: object) -> tuple[str, ...]:
    """Return the symbols of a field that may hold one or several."""
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    return tuple(str(one) for one in values if isinstance(one, str))


def plain_number(fields: Sequence[object], position: int) -> int | None:
    """Return a number from decoded fields; None if the field is none."""
    value = fields[position] if position < len(fields) else None
    return value if isinstance(value, int) else None


def flag(fields: Sequence[object], position: int) -> bool:
    """Return whether a decoded field is true."""
    return position < len(fields) and fields[position] is True


def acquires(fields: Sequence[object]) -> Acquires | None:
    """Return what a flow's properties say of a transaction (4.4.3); None if they say nothing of one."""
    properties = fields[_PROPERTIES_OF_FLOW] if len(fields) > _PROPERTIES_OF_FLOW else None
    if not isinstance(properties, dict) or "txn-id" not in properties:
        return None
    return Acquires(cast("dict[object, object]", properties)["txn-id"])


def is_short(data: bytes, at: int) -> bool:
    """Whether the list of a transfer's fields is short; the message after it does not count."""
    return data[at] == _LIST8 or (data[at] == _LIST32 and int.from_bytes(data[at + 1 : at + 5]) <= SHORT)


def number(data: bytes, body: int, position: int) -> int | None:
    """Return a number from the first fields of a performative; None if the frame must be decoded for it.

    Where there is none the frame is looked at in full.
    """
    at = _place(data, body, position)
    code = data[at] if 0 <= at < len(data) else 0
    if code == _ZERO:
        return 0
    width = _WIDTHS.get(code, 0)
    return int.from_bytes(data[at + 1 : at + 1 + width]) if width else None


def numbers(data: bytes, body: int) -> list[int | None] | None:
    """Return the fields of a performative of up to ten nulls, numbers and booleans; None for any other."""
    at = body + HEAD_SIZE
    if data[at] != _LIST8 or not (size := data[at + 2 : at + 3]) or size[0] > _MOST:
        return None
    found: list[int | None] = []
    many, at = size[0], at + 3
    try:
        for _ in range(many):
            code = data[at]
            width = _WIDTHS[code]
            at += 1 + width
            found.append(int.from_bytes(data[at - width : at]) if width else _VALUES[code])
    except (KeyError, IndexError):
        return None
    found += [None] * (_MOST - many)
    return found


def _place(data: bytes, body: int, position: int) -> int:
    """Return where one of the first fields of a performative is; -1 if it is missing or follows another type."""
    at = body + HEAD_SIZE
    if data[at] == _LIST8:
        many, at = data[at + 2 : at + 3], at + 3
    elif data[at] == _LIST32:
        many, at = data[at + 5 : at + 9], at + 9
    else:
        return -1
    if int.from_bytes(many) <= position:
        return -1
    for _ in range(position):
        width = _WIDTHS.get(data[at]) if at < len(data) else None
        if width is None:
            return -1
        at += 1 + width
    return at
