"""Encoding of driver commands and events, for a client and a broker in two processes of one machine.

A frame is the length of its body (four octets, big-endian) and the body, one MessagePack value.  The client first sends
a `Hello` and then `DriverCommand` values; the broker sends `DriverEvent` values.  The receiver decodes frames into
these types only, so a peer cannot send code.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TypeVar, cast

import msgspec
from msgspec import Struct

from assay_sdk import driver
from assay_sdk.driver import DriverCommand, DriverEvent, PeerProperties
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Message

VERSION = 1
"""Version of this protocol; the broker refuses other versions."""

MAX_FRAME = 128 << 20
"""Largest body of a frame, in octets: enough for a message of 100 MB with its headers and properties."""

_HEAD = 4
T = TypeVar("T")


class FrameError(Exception):
    """The error for a frame that breaks this protocol, or a value that cannot be encoded.

    Args:
        why: One sentence that says what is wrong.
    """


class FrameTooLongError(FrameError):
    """The error for a frame that is longer than the limit."""


class Hello(Struct, frozen=True, tag=True, kw_only=True):
    """The first frame of a client.

    Args:
        version: `VERSION`.
        client_id: JMS client id; None for a connection without a client id.
        login: User and password; None for an anonymous login.
    """

    version: int
    client_id: str | None = None
    login: driver.Login | None = None


class _Answered(Struct, frozen=True, tag="Done", omit_defaults=True):
    """The encoded form of `assay_sdk.driver.Done`, with one field for each type that `Done.value` can have."""

    token: int
    xids: tuple[bytes, ...] | None = None
    messages: tuple[Message, ...] | None = None
    text: str | None = None
    properties: PeerProperties = {}
    capabilities: frozenset[Capability] = frozenset()


FromClient = Hello | DriverCommand
_FromBroker = (
    driver.Opened
    | _Answered
    | driver.Failed
    | driver.Arrived
    | driver.Drained
    | driver.LinkClosed
    | driver.SessionClosed
    | driver.Closed
    | driver.Frame
)
_ENCODER = msgspec.msgpack.Encoder()
_COMMANDS: msgspec.msgpack.Decoder[FromClient] = msgspec.msgpack.Decoder(FromClient)
_EVENTS: msgspec.msgpack.Decoder[_FromBroker] = msgspec.msgpack.Decoder(_FromBroker)
_SCALAR = (str, int, float, bool, bytes, type(None))


def encode_command(command: FromClient) -> bytes:
    """Encode a command or a hello as a frame.

    Raises:
        FrameError: The command has a value that cannot be encoded, such as an integer of more than 64 bits, or the
            frame is too long.
    """
    return _encode(command)


def decode_command(octets: bytes) -> FromClient:
    """Decode a client's command or hello from a frame's body.

    Raises:
        FrameError: The octets are neither a command nor a hello.
    """
    command = _decode(_COMMANDS, octets)
    if isinstance(command, driver.Send):
        _check(command.message)
    return command


def encode_event(event: DriverEvent) -> bytes:
    """Encode an event as a frame.

    Raises:
        FrameError: The event has a value that cannot be encoded, or the frame is too long.
    """
    return _encode(_answered(event) if isinstance(event, driver.Done) else event)


def decode_event(octets: bytes) -> DriverEvent:
    """Decode a broker's event from a frame's body.

    Raises:
        FrameError: The octets are not an event.
    """
    event = _decode(_EVENTS, octets)
    if not isinstance(event, _Answered):
        return event
    listed = event.messages if event.xids is None else event.xids
    value = event.text if event.text is not None else listed
    return driver.Done(event.token, value, event.properties, event.capabilities)


class LocalFrameSplitter:
    """An object that cuts a stream of octets into the bodies of frames.

    Args:
        limit: Largest body of a frame, in octets.
    """

    def __init__(self, limit: int = MAX_FRAME) -> None:
        self._limit = limit
        self._rest = bytearray()

    def feed(self, octets: bytes) -> list[bytes]:
        """Return the bodies that these octets complete.

        Raises:
            FrameTooLongError: A frame's length exceeds the limit; raised as soon as the length has arrived.
        """
        self._rest += octets
        bodies: list[bytes] = []
        start = 0
        while len(self._rest) - start >= _HEAD:
            begin = start + _HEAD
            size = int.from_bytes(self._rest[start:begin], "big")
            if size > self._limit:
                raise FrameTooLongError(f"A frame has {size} octets; the limit is {self._limit}.")
            if len(self._rest) < begin + size:
                break
            start = begin + size
            bodies.append(bytes(self._rest[begin:start]))
        del self._rest[:start]
        return bodies


def _answered(event: driver.Done) -> _Answered:
    answered = partial(_Answered, event.token, properties=event.properties, capabilities=event.capabilities)
    value = event.value
    if value is None or isinstance(value, str):
        return answered(text=value)
    xids = tuple(one for one in value if isinstance(one, bytes))
    if xids:
        return answered(xids=xids)
    return answered(messages=tuple(one for one in value if isinstance(one, Message)))


def _check(message: Message) -> None:
    """Check the types of a message's body and properties, because the decoder does not check these types.

    A property is a scalar, and a body is text, bytes or None.

    Raises:
        FrameError: The message has a value of another type.
    """
    if not isinstance(cast("object", message.body), str | bytes | None):
        raise FrameError("A message's body is neither text nor bytes.")
    for name, value in cast("Mapping[str, object]", message.properties).items():
        if not isinstance(value, _SCALAR):
            raise FrameError(f"The property {name!r} of a message is not text, bytes, a number or a boolean.")


def _encode(value: object) -> bytes:
    try:
        body = _ENCODER.encode(value)
    except (OverflowError, TypeError, ValueError) as error:
        raise FrameError(f"{type(value).__name__} cannot be encoded: {error}.") from error
    if len(body) > MAX_FRAME:
        raise FrameTooLongError(f"A frame has {len(body)} octets; the limit is {MAX_FRAME}.")
    return len(body).to_bytes(_HEAD, "big") + body


def _decode(decoder: msgspec.msgpack.Decoder[T], octets: bytes) -> T:
    try:
        return decoder.decode(octets)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FrameError(f"A frame of {len(octets)} octets does not belong to this protocol: {error}.") from error
