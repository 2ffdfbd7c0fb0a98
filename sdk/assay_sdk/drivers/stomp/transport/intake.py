"""Conversion of a broker's octets to frames."""

from __future__ import annotations

from collections.abc import Iterator

from assay_sdk.stomp import SERVER_COMMANDS, Frame, FrameLimits, FrameReader, RemoteError, Version

_MOST_HEAD = 1 << 28
"""The most octets of a frame's headers: brokers allow 100 MiB for a message, and escapes can double its length."""
_LIMITS = FrameLimits(max_line=_MOST_HEAD, max_headers=10_000, max_head=_MOST_HEAD, max_body=1 << 30)
"""Limits above those of brokers on the number and length of headers and on the length of a body.  The client therefore
refuses no message that a broker accepts."""

Item = Frame | RemoteError | None
"""A frame of the broker; an error for octets that are no frame; None for the end of the connection."""


class Intake:
    """The reader of a connection's frames."""

    def __init__(self) -> None:
        self._reader = FrameReader(SERVER_COMMANDS, _LIMITS)

    def frames(self, octets: bytes) -> Iterator[Frame | RemoteError]:
        """Yield the frames that these octets complete; if the last item is an error, the caller ends the connection."""
        reader = self._reader
        reader.feed(octets)
        try:
            while (frame := reader.next()) is not None:
                if frame.command == "CONNECTED":
                    reader.version = _version(frame)
                yield frame
        except RemoteError as error:
            yield error


def _version(connected: Frame) -> Version:
    """Return the version of CONNECTED; for an unknown one return 1.2, because the wire ends the connection anyway."""
    said = connected.headers.get("version", Version.V1_0.value)
    return Version(said) if said in {one.value for one in Version} else Version.V1_2
