"""Read single fields of performatives, encoded or decoded.

Of flows and dispositions only the first fields are read, without decoding the rest: a handle, a range, credit.
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
_WIDTHS = {0x40: 0, 0x41: 0, 0x42: 0, 0x43: 0, 0x52: 1, 0x56: 1, 0x70: 4}
"""Widths of the values at the beginning of frequent performatives, by their format codes."""
_VALUES = {0x40: None, 0x41: True, 0x42: False, 0x43: 0}
"""Values that are encoded in their format code."""
_MOST = 10
_PROPERTIES_OF_FLOW = 10


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


def acquires(fields: Sequence[object]) -> Acquires | None:
    """Return what a flow's properties say of a transaction (4.4.3); None if they say nothing of one."""
    properties = fields[_PROPERTIES_OF_FLOW]
    if not isinstance(properties, dict) or "txn-id" not in properties:
        return None
    return Acquires(cast("dict[object, object]", properties)["txn-id"])


def is_short(data: bytes, at: int) -> bool:
    """Whether the list of a transfer's fields is short; the message after it does not count."""
    return data[at] == _LIST8 or (data[at] == _LIST32 and int.from_bytes(data[at + 1 : at + 5]) <= SHORT)


def leading(data: bytes, body: int) -> tuple[list[int | None], bool]:
    """Return the first fields of a performative, up to ten and as far as they are nulls, numbers and booleans.

    Returns:
        The fields, with None for all others, and whether there are no others.
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
