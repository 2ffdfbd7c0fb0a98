"""Protocol errors of a client, found before the engine sees them."""

from __future__ import annotations


class ProtocolError(Exception):
    """A protocol error for which the connection is closed.

    Args:
        condition: The error condition that says so.
        text: What is wrong.
    """

    def __init__(self, condition: str, text: str) -> None:
        super().__init__(text)
        self.condition = condition
        self.text = text
