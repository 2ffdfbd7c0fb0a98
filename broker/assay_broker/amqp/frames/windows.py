"""The windows of a connection's sessions: how many transfers the client may send (OASIS AMQP 1.0, 2.5.6)."""

from __future__ import annotations

import struct

from assay_sdk.amqp.frames import HEADER_SIZE

_SHORTEST_TRANSFER = 15
"""Octets of a transfer that has a handle only."""
_LENGTH = struct.Struct(">I").unpack_from


class IncomingWindows:
    """How many transfers the engine takes of the client's next octets.

    Args:
        session_frames: The window of a session that has just been opened fully, in transfers.
    """

    def __init__(self, session_frames: int) -> None:
        self._surely_taken = session_frames // 2
        """How many transfers the engine takes of any session at least: it opens the window before fewer are left."""
        self.left: dict[int, int] | None = None
        """How many transfers it takes, by channel; None if the next octets cannot exceed a window."""
        self.fresh: set[int] = set()
        """Channels of sessions that began within the present octets: their clients know of no window yet."""

    def may_be_exceeded(self, rest: bytes, octets: bytes, at: int) -> bool:
        """Whether octets may hold more transfers than a session's window has room for.

        Args:
            rest: Octets before them, of a frame that is not complete.
            octets: The octets.
            at: Where the first frame begins.
        """
        if len(rest) + len(octets) <= self._surely_taken * _SHORTEST_TRANSFER:
            return False
        data, frames = rest + octets, 0
        while len(data) - at >= HEADER_SIZE and frames <= self._surely_taken:
            (length,) = _LENGTH(data, at)
            at += max(length, HEADER_SIZE)
            frames += 1
        return frames > self._surely_taken

    def has_room(self, channel: int) -> bool:
        """Whether the window of a session has room for one more transfer, which is then counted."""
        if channel in self.fresh:
            return False
        if self.left is None:
            return True
        left = self.left.get(channel, 0)
        self.left[channel] = left - 1
        return left > 0
