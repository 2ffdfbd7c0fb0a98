"""Message ids (JMS 3.4.3): ``ID:`` and 48 hexadecimal digits, so that an IBM MQ queue manager takes them as its MsgId.

The first 16 bytes are random for each connection, the last 8 count its messages.  What a client sent is found by an
administrator under the very id that the client has, and a delayed message by its CorrelId on the staging queue (DD-37).
"""

from __future__ import annotations

import os

_RANDOM_BYTES = 16
_HEX = frozenset("0123456789ABCDEF")


def fresh_prefix() -> str:
    """Make the beginning of a connection's message ids: 32 hexadecimal digits that no other connection has."""
    return os.urandom(_RANDOM_BYTES).hex().upper()


def message_id(prefix: str, number: int) -> str:
    """Make a message id.

    Args:
        prefix: What `fresh_prefix` made, or a text that a caller chose, which is kept readable: ``ID:desk-7``.
        number: The message's number on its connection, from 1.
    """
    if len(prefix) == 2 * _RANDOM_BYTES and _HEX.issuperset(prefix):
        return f"ID:{prefix}{number:016X}"
    return f"ID:{prefix}-{number}"
