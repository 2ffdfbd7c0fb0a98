"""Message ids (JMS 2.0, 3.4.3): ``ID:`` and 48 hexadecimal digits, which are the 24 bytes of a MsgId in IBM MQ.

The first 16 bytes are random for each connection, and the last 8 count the connection's messages.  An MQ Light client
keeps its 16 bytes when it reconnects.  An administrator finds a message by the id from the client: the id is the MsgId
on a queue, and the CorrelId on the staging queue (DD-37).
"""

from __future__ import annotations

import os

_RANDOM_BYTES = 16
_HEX = frozenset("0123456789ABCDEF")


def fresh_prefix() -> str:
    """Return a new prefix for the message ids of one connection: 32 random hexadecimal digits."""
    return os.urandom(_RANDOM_BYTES).hex().upper()


def message_id(prefix: str, number: int) -> str:
    """Return the id of a message.

    Args:
        prefix: Result of `fresh_prefix`, or an application's own text.  With the text ``desk``, the id of the seventh
            message is ``ID:desk-7``.
        number: Number of the message on its connection, or within its MQ Light client, from 1.
    """
    if len(prefix) == 2 * _RANDOM_BYTES and _HEX.issuperset(prefix):
        return f"ID:{prefix}{number:016X}"
    return f"ID:{prefix}-{number}"
