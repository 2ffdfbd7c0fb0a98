"""Protocol errors of a client, which the server finds before the engine gets the input."""

from __future__ import annotations


class ProtocolError(Exception):
    """A protocol error for which the server closes the connection.

    Args:
        condition: The symbol of the error condition.
        text: A phrase that describes the mistake, without a full stop.
    """

    def __init__(self, condition: str, text: str) -> None:
        super().__init__(text)
        self.condition = condition
        self.text = text
