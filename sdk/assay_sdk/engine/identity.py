"""Message ids (JMS 2.0, 3.4.3): ``ID:`` and 48 hexadecimal digits, the form of a MsgId in IBM MQ.

The first 16 bytes are random for each connection, the last 8 count its messages.  An administrator therefore finds a
message under the id that the client has, and a delayed message by its CorrelId on the staging queue (DD-37).
"""

from __future__ import annotations

import os

_RANDOM_BYTES = 16
_HEX = frozenset("0123456789ABCDEF")


def fresh_prefix() -> str:
    """Make a prefix of message ids for one connection: 32 random hexadecimal digits."""
    return os.urandom(_RANDOM_BYTES).hex().upper()


def message_id(prefix: str, number: int) -> str:
    """Make a message id.

    Args:
        prefix: Result of `fresh_prefix`, or an application's own text, which stays readable: ``ID:desk-7``.
        number: The message's number on its connection, from 1.
    """
    if len(prefix) == 2 * _RANDOM_BYTES and _HEX.issuperset(prefix):
        return f"ID:{prefix}{number:016X}"
    return f"ID:{prefix}-{number}"
