"""The AMQP frames that a client of the benchmark writes, and the fields of the frames that it reads."""

from __future__ import annotations

from functools import cache
from typing import Final

from msgspec import Struct

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import frame
from assay_sdk.amqp.types import Described

OPEN, BEGIN, ATTACH, FLOW, TRANSFER, DISPOSITION, _, _, CLOSE = range(0x10, 0x19)
SOURCE, TARGET, ACCEPTED = 0x28, 0x29, 0x24
SENDER, RECEIVER = types.boolean(value=False), types.boolean(value=True)
_SOURCE_CAPABILITIES, _TARGET_CAPABILITIES = 10, 6

WINDOW: Final = 0x7FFFFFFF
"""The session window of the clients: so large that it never limits them."""

READ: Final = 262_144


class WireError(Exception):
    """An answer of a broker that ends the measurement; the text names the broker and the answer."""


class Role(Struct, frozen=True):
    """The link of a connection.

    Args:
        address: The link's address.
        sends: Whether the link is a sender.
        settled: Whether transfers are settled when they are sent (at most once).
        durable: The durable field in the header of the messages.
        credit: For a receiver, the number of messages that may be in transit.
        stomp: Whether the connection speaks STOMP.
    """

    address: str
    sends: bool
    settled: bool = False
    durable: bool = True
    credit: int = 1_000
    stomp: bool = False


def open_frame(name: str) -> bytes:
    """Return an Open frame with this container id."""
    fields = types.string(name), types.string("127.0.0.1"), types.uint(READ)
    return frame(types.described(OPEN, types.fields(fields)))


@cache
def begin_frame(remote: bytes) -> bytes:
    """Return a Begin frame.

    Args:
        remote: The encoded channel of the other side's session; null if the other side has not begun one.
    """
    fields = remote, types.uint(0), types.uint(WINDOW), types.uint(WINDOW), types.uint(7)
    return frame(types.described(BEGIN, types.fields(fields)))


@cache
def attach_frame(name: str, role: Role) -> bytes:
    """Return the Attach frame of a link with this name and role."""
    ours, theirs = types.string(name), types.string(role.address)
    # Without the capability, Artemis treats an unknown name as the name of a topic.
    source = _terminus(ours if role.sends else theirs, _SOURCE_CAPABILITIES)
    target = _terminus(theirs if role.sends else ours, _TARGET_CAPABILITIES)
    fields = [
        types.string(name),
        types.uint(0),
        SENDER if role.sends else RECEIVER,
        types.ubyte(1 if role.settled else 0),
        types.ubyte(0),
        types.described(SOURCE, source),
        types.described(TARGET, target),
        types.null(),
        types.null(),
        types.uint(0) if role.sends else types.null(),
    ]
    return frame(types.described(ATTACH, types.fields(fields)))


def sasl_frame(descriptor: int, *fields: bytes) -> bytes:
    """Return a SASL frame with this descriptor and these encoded fields."""
    return frame(types.described(descriptor, types.fields(fields)), sasl=True)


def _terminus(address: bytes, capabilities: int) -> bytes:
    return types.fields([address, *[types.null()] * (capabilities - 1), types.symbol("queue")])


def fields_of(value: object) -> list[object]:
    """Return the fields of a performative."""
    inner = value.value if isinstance(value, Described) else None
    return inner if isinstance(inner, list) else []


def field_of(fields: list[object], index: int) -> object:
    """Return a field by its index; None if the performative lacks the field."""
    return fields[index] if index < len(fields) else None


def number_of(fields: list[object], index: int, default: int | None = None) -> int:
    """Return a numeric field by its index, or the default if the performative lacks the field.

    Raises:
        WireError: The field is missing and has no default.
    """
    value = field_of(fields, index)
    if isinstance(value, int):
        return value
    if default is None:
        raise WireError(f"a number is missing in {fields!r}")
    return default
