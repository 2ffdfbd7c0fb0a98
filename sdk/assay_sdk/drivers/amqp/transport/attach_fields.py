"""Fields of an attach that Proton cannot set: desired capabilities, and a source's default outcome.

This module adds them to the encoded frame (OASIS AMQP 1.0, 2.7.3, 3.5.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from msgspec import Struct

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import frame

ATTACH = 0x12
_SOURCE_IN_ATTACH, _DESIRED_IN_ATTACH = 5, 12
_OUTCOME_IN_SOURCE = 8
_MODIFIED = 0x27


class AttachFields(Struct, frozen=True):
    """The fields to add to one attach.

    Args:
        desired: Desired capabilities of the link.
        modified: Whether the source's default outcome is modified(delivery-failed), as in Qpid JMS.
    """

    desired: tuple[str, ...] = ()
    modified: bool = False


def with_attach_fields(octets: bytes, attach_fields: dict[str, AttachFields]) -> bytes:
    """Return an outgoing frame, with the added fields if it is the attach of a link in `attach_fields`.

    The function removes that link's entry from `attach_fields`.

    Args:
        octets: Any complete frame.
        attach_fields: Fields to add, by the name of the link.
    """
    begin = octets[4] * 4
    if octets[begin : begin + 3] != bytes((0, 0x53, ATTACH)):
        return octets
    items = _items(octets[begin + 3 :])
    name = cast("str", types.decode(items[0]))
    wanted = attach_fields.pop(name, None)
    if wanted is None:
        return octets
    if wanted.modified and items[_SOURCE_IN_ATTACH] != types.null():
        items[_SOURCE_IN_ATTACH] = _with_outcome(items[_SOURCE_IN_ATTACH])
    if wanted.desired:
        items += [types.null()] * (_DESIRED_IN_ATTACH + 1 - len(items))
        items[_DESIRED_IN_ATTACH] = types.symbols(wanted.desired)
    performative = types.described(ATTACH, types.fields(items))
    return frame(performative, channel=int.from_bytes(octets[6:8]))


def _with_outcome(source: bytes) -> bytes:
    """Return an encoded source with modified(delivery-failed=true) as its default outcome."""
    head = len(types.described(0x28, b""))
    items = _items(source[head:])
    items += [types.null()] * (_OUTCOME_IN_SOURCE + 1 - len(items))
    items[_OUTCOME_IN_SOURCE] = types.described(_MODIFIED, types.fields((types.boolean(value=True),)))
    return source[:head] + types.fields(items)


def _items(octets: bytes) -> list[bytes]:
    """Return the encoded items of an encoded list."""
    spans: list[bytes] = []
    head = {0x45: 1, 0xC0: 3, 0xD0: 9}[octets[0]]
    reader = types.Reader(octets)
    reader.at = head
    count = _count(octets)
    while len(spans) < count:
        begin = reader.at
        reader.value()
        spans.append(octets[begin : reader.at])
    return spans


def _count(octets: Sequence[int]) -> int:
    match octets[0]:
        case 0xC0:
            return octets[2]
        case 0xD0:
            return int.from_bytes(bytes(octets[5:9]))
        case _:
            return 0
