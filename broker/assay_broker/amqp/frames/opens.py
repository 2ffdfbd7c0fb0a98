"""The check of a client's open, and the reading of the fields that the engine does not report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay_broker.amqp.conditions import BAD_FIELD, FRAMING_ERROR, RESOURCE_LIMIT
from assay_broker.amqp.frames.errors import ProtocolError
from assay_broker.amqp.frames.fields import symbols

_CONTAINER, _MAX_FRAME_SIZE, _IDLE_TIMEOUT, _DESIRED = 0, 2, 4, 8
_LEAST_FRAME = 512
_LEAST_IDLE_MS = 100
"""The shortest idle time-out that the server accepts, in milliseconds (AMQP 1.0, 2.4.5).

A shorter one would demand heartbeats so often that they cost too much.
"""


def desired_of(channel: int, fields: Sequence[Any]) -> tuple[str, ...]:
    """Check an open, and return the capabilities that the client desires.

    Args:
        channel: The channel of the frame.
        fields: The fields of the open; None for a missing one.

    Raises:
        ProtocolError: The server does not accept the open.
    """
    if channel:
        raise ProtocolError(FRAMING_ERROR, f"an open on channel {channel} instead of 0")
    most = fields[_MAX_FRAME_SIZE]
    if most is not None and most < _LEAST_FRAME:
        raise ProtocolError(FRAMING_ERROR, f"a max-frame-size of {most} octets, and the lowest is {_LEAST_FRAME}")
    container = fields[_CONTAINER]
    if "\0" in container:
        # The engine's C code would cut the id at the NUL, so two clients could seem to have the same container id.
        at = container.index("\0") + 1
        raise ProtocolError(BAD_FIELD, f"a container id whose character {at} is U+0000; leave it out")
    return symbols(fields[_DESIRED])


def check_idle_timeout(fields: Sequence[Any]) -> None:
    """Check the idle time-out of an open.

    Raises:
        ProtocolError: The client asks for more frequent heartbeats than the server sends.
    """
    if 0 < (fields[_IDLE_TIMEOUT] or 0) < _LEAST_IDLE_MS:
        raise ProtocolError(RESOURCE_LIMIT, f"an idle time-out of less than {_LEAST_IDLE_MS} ms")
