"""Frames, and the commands that they may have (STOMP 1.2, STOMP Frames)."""

from __future__ import annotations

from msgspec import Struct


class Frame(Struct, frozen=True, gc=False):
    """A frame: a command, headers and a body.

    Args:
        command: The command.
        headers: The headers by name, decoded, in their order.  Of a repeated header only the first counts (STOMP 1.2,
            Repeated Header Entries).
        body: The body's octets; only SEND, MESSAGE and ERROR have a body.
    """

    command: str
    headers: dict[str, str] = {}
    body: bytes = b""

    @property
    def receipt(self) -> str | None:
        """The receipt that the frame asks for; None if it asks for none."""
        return self.headers.get("receipt")


UNESCAPED = frozenset(("CONNECT", "STOMP", "CONNECTED"))
"""The commands whose headers are never escaped, as STOMP 1.0 clients expect (STOMP 1.2, Value Encoding)."""

BODY_COMMANDS = frozenset(("SEND", "MESSAGE", "ERROR"))
"""The commands that may have a body."""

CLIENT_COMMANDS = frozenset(
    ("CONNECT", "STOMP", "SEND", "SUBSCRIBE", "UNSUBSCRIBE", "ACK", "NACK", "BEGIN", "COMMIT", "ABORT", "DISCONNECT")
)
"""The commands of clients."""

SERVER_COMMANDS = frozenset(("CONNECTED", "MESSAGE", "RECEIPT", "ERROR"))
"""The commands of servers."""
