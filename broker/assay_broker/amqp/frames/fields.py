"""The reading of single fields of performatives, encoded or decoded.

For most flows and dispositions the first fields (a handle, a range, credit) suffice, so the rest is not decoded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from msgspec import Struct

HEAD_SIZE = 3
"""The number of octets before a performative's fields: a small numeric descriptor, which all clients write."""
SHORT = 160
"""A performative of at most this many octets cannot be nested too deeply for the engine."""
_LIST8, _LIST32 = 0xC0, 0xD0
_WIDTHS = {0x40: 0, 0x41: 0, 0x42: 0, 0x43: 0, 0x52: 1, 0x56: 1, 0x70: 4}
"""The widths, in octets, of the values at the beginning of frequent performatives, by format code."""
_VALUES = {0x40: None, 0x41: True, 0x42: False, 0x43: 0}
"""The values that are encoded in the format code itself."""
_MOST = 10
_PROPERTIES_OF_FLOW = 10


class Acquires(Struct, frozen=True):
    """A flow's request to acquire deliveries in a transaction from now on (OASIS AMQP 1.0, 4.4.3).

    Args:
        txn_id: The transaction's id, not checked yet; None for no transaction.
    """

    txn_id: object


def symbols(value: object) -> tuple[str, ...]:
    """Return the symbols of a decoded field that may hold one symbol or an array of symbols."""
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    return tuple(str(one) for one in values if isinstance(one, str))


def acquires(fields: Sequence[object]) -> Acquires | None:
    """Return a flow's request to acquire in a transaction (AMQP 1.0, 4.4.3); None without a property ``txn-id``."""
    properties = fields[_PROPERTIES_OF_FLOW]
    if not isinstance(properties, dict) or "txn-id" not in properties:
        return None
    return Acquires(cast("dict[object, object]", properties)["txn-id"])


def is_short(data: bytes, at: int) -> bool:
    """Return whether a transfer's list of fields is short: a list8, or a list32 of at most `SHORT` octets."""
    return data[at] == _LIST8 or (data[at] == _LIST32 and int.from_bytes(data[at + 1 : at + 5]) <= SHORT)


def leading(data: bytes, body: int) -> tuple[list[int | None], bool]:
    """Return the first fields of a performative, up to the first that is not a null, a uint or a boolean.

    Args:
        data: Octets that contain the performative.
        body: The offset of the performative.

    Returns:
        Ten fields, with None for each field that was not read; and whether all fields of the performative were read.
    """
    at, many = body + HEAD_SIZE, -1
    found: list[int | None] = []
    try:
        if data[at] == _LIST8:
            many, at = data[at + 2], at + 3
        elif data[at] == _LIST32:
            many, at = int.from_bytes(data[at + 5 : at + 9]), at + 9
        for _ in range(min(many, _MOST)):
            code = data[at]
            width = _WIDTHS[code]
            at += 1 + width
            found.append(int.from_bytes(data[at - width : at]) if width else _VALUES[code])
    except (KeyError, IndexError):
        pass
    is_all = len(found) == many
    found += [None] * (_MOST - len(found))
    return found, is_all
