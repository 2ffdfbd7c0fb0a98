"""The rows and columns of a log, as `docs/import.md` documents them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum

from msgspec import Struct


class Kind(StrEnum):
    """The kinds of rows; the values are the words of the column ``event``."""

    SEND = "send"
    RECEIVE = "receive"
    OPEN = "open"
    CLOSE = "close"
    LOST = "lost"
    COMMIT = "commit"
    ROLLBACK = "rollback"
    FAULT = "fault"
    COMMAND = "command"


class Type(Enum):
    """The types of columns; the values are the words of the documentation."""

    TEXT = "text"
    WHOLE = "whole number"
    TRUTH = "true or false"
    TIME = "time"
    DURATION = "duration"
    MODE = "persistent or non-persistent"
    PLACE = "queue or topic"


class Column(Struct, frozen=True):
    """The type of a column, and the kinds of rows that have it.

    Args:
        type: The type of the values.
        rows: The kinds of rows that may have the column; all other rows ignore it.
        needed: The kinds of rows that cannot be imported without it.
    """

    type: Type
    rows: frozenset[Kind]
    needed: frozenset[Kind] = frozenset()


_ALL = frozenset(Kind)
_CLIENTS = _ALL - {Kind.FAULT, Kind.COMMAND}
_MESSAGES = frozenset({Kind.SEND, Kind.RECEIVE})
_PLACES = _MESSAGES | {Kind.OPEN, Kind.CLOSE}
_UNITS = frozenset({Kind.COMMIT, Kind.ROLLBACK})
_SENDS, _RECEIVES, _OPENS = frozenset({Kind.SEND}), frozenset({Kind.RECEIVE}), frozenset({Kind.OPEN})
_FAULTS, _COMMANDS = frozenset({Kind.FAULT}), frozenset({Kind.COMMAND})

EVENT = "event"
"""The column with the kind of a row."""
COLUMNS: Mapping[str, Column] = {
    EVENT: Column(Type.TEXT, _ALL, _ALL),
    "time": Column(Type.TIME, _ALL, _ALL),
    "client": Column(Type.TEXT, _CLIENTS, _CLIENTS),
    "message": Column(Type.TEXT, _MESSAGES, _MESSAGES),
    "destination": Column(Type.TEXT, _PLACES, _PLACES),
    "kind": Column(Type.PLACE, _PLACES),
    "answered": Column(Type.TIME, _SENDS),
    "refused": Column(Type.TRUTH, _SENDS),
    "delay": Column(Type.DURATION, _SENDS),
    "ttl": Column(Type.DURATION, _SENDS),
    "priority": Column(Type.WHOLE, _SENDS),
    "mode": Column(Type.MODE, _SENDS),
    "body": Column(Type.TEXT, _MESSAGES),
    "transaction": Column(Type.TEXT, _MESSAGES | _UNITS, _UNITS),
    "redelivered": Column(Type.TRUTH, _RECEIVES),
    "count": Column(Type.WHOLE, _RECEIVES),
    "acknowledged": Column(Type.TIME, _RECEIVES),
    "subscription": Column(Type.TEXT, _OPENS),
    "client_id": Column(Type.TEXT, _OPENS),
    "durable": Column(Type.TRUTH, _OPENS),
    "shared": Column(Type.TRUTH, _OPENS),
    "selector": Column(Type.TEXT, _OPENS),
    "fault": Column(Type.TEXT, _FAULTS, _FAULTS),
    "end": Column(Type.TIME, _FAULTS),
    "command": Column(Type.TEXT, _COMMANDS, _COMMANDS),
}
"""All columns, by name."""
TIMES = ("time", "answered", "acknowledged", "end")
"""The columns with times; no other time of a row may be earlier than its ``time``."""


class Row(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A row of a log; the fields are the columns.

    Times are nanoseconds since the epoch, and durations are milliseconds.  `destination` begins with ``queue://`` or
    ``topic://``.  A column that the row does not have keeps its default: None, an empty text or False.
    """

    event: Kind
    time: int
    client: str = ""
    message: str = ""
    destination: str = ""
    answered: int | None = None
    refused: bool = False
    delay: int | None = None
    ttl: int | None = None
    priority: int | None = None
    mode: str | None = None
    body: str | None = None
    transaction: str | None = None
    redelivered: bool | None = None
    count: int | None = None
    acknowledged: int | None = None
    subscription: str | None = None
    client_id: str | None = None
    durable: bool = False
    shared: bool = False
    selector: str | None = None
    fault: str = ""
    end: int | None = None
    command: str = ""
