"""The incoming windows of a connection's sessions, in transfers (OASIS AMQP 1.0, 2.5.6)."""

from __future__ import annotations

import struct

from assay_sdk.amqp.frames import HEADER_SIZE

_SHORTEST_TRANSFER = 15
"""The octets of the shortest transfer: its only field is a handle."""
_LENGTH = struct.Struct(">I").unpack_from


class IncomingWindows:
    """A counter that compares a client's transfers with the incoming windows of its sessions.

    Args:
        session_frames: The window of a session that is fully open, in transfers.
    """

    def __init__(self, session_frames: int) -> None:
        self._surely_taken = session_frames // 2
        """The number of transfers that every window allows at any time, because the engine opens a window again before
        fewer transfers are left."""
        self.left: dict[int, int] | None = None
        """The transfers that each window still allows, by channel; None if the next octets cannot exceed a window."""
        self.fresh: set[int] = set()
        """The channels of sessions whose begin is in the current octets; the client does not know their windows yet."""

    def may_be_exceeded(self, rest: bytes, octets: bytes, at: int) -> bool:
        """Return whether octets may contain more transfers than the window of a session allows.

        Args:
            rest: Earlier octets: the beginning of a frame that is not complete.
            octets: The octets.
            at: The offset of the first frame in ``rest + octets``.
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
        """Count one more transfer, and return whether the session's window allows it."""
        if channel in self.fresh:
            return False
        if self.left is None:
            return True
        left = self.left.get(channel, 0)
        self.left[channel] = left - 1
        return left > 0
