"""Admin (I-4): administration of a broker, in one vocabulary for every backend."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from assay_adapters.ports.outcome import Outcome

Scalar = str | int


class ObjectKind(StrEnum):
    """Kinds of administered objects."""

    QUEUE = "queue"
    ALIAS = "alias"
    MODEL = "model"
    TOPIC = "topic"
    SUBSCRIPTION = "subscription"
    QMGR = "qmgr"


class Define(Struct, frozen=True, tag=True):
    """Define an object."""

    kind: ObjectKind
    name: str
    attributes: dict[str, Scalar] = {}


class Alter(Struct, frozen=True, tag=True):
    """Alter an object's attributes."""

    kind: ObjectKind
    name: str
    attributes: dict[str, Scalar]


class Delete(Struct, frozen=True, tag=True):
    """Delete an object."""

    kind: ObjectKind
    name: str


class Clear(Struct, frozen=True, tag=True):
    """Empty a queue."""

    name: str


EVERYBODY = "nobody"
"""IBM MQ's group to which every user belongs."""


class Authorise(Struct, frozen=True, tag=True):
    """Grant or take authorities.

    Args:
        user: A user, or a group.
        grant: Authorities by MQSC's names (``PUT`` ...). This creates the user's record on the object if there is none,
            and less specific records then no longer count for the user. ``NONE`` creates an empty record.
        revoke: Authorities to take; ``ALL`` takes every one.
        group: Whether `user` is a group.
    """

    user: str
    kind: ObjectKind
    name: str
    grant: tuple[str, ...] = ()
    revoke: tuple[str, ...] = ()
    group: bool = False


QUEUE_MANAGER = "queue manager"
"""A component that can be started and stopped in order: one member of the instance."""


class Start(Struct, frozen=True, tag=True):
    """Start a component (`QUEUE_MANAGER`) of the member that the call names; without effect if it runs."""

    what: str


class Stop(Struct, frozen=True, tag=True):
    """Stop a component (`QUEUE_MANAGER`) of the member that the call names, until it is started again."""

    what: str


class Resolve(Struct, frozen=True, tag=True):
    """Commit or back out a branch in doubt, in place of its transaction manager.

    Args:
        unit: Its xid in hexadecimal digits.
        commit: True to commit it, False to back it out.
    """

    unit: str
    commit: bool


Change = Define | Alter | Delete | Clear | Authorise | Start | Stop | Resolve


STRUC_ID = "StrucId"
"""The field with the name of a header, such as one of the following."""
DEAD_LETTER_HEADER = "DLH"
"""The dead-letter header, with ``Reason``, ``DestQName`` and ``DestQMgrName`` (facts: MQDLH)."""
DELAY_HEADER = "DDH"
"""A staged message's header, with ``DeliveryDelay`` (milliseconds) and ``DestQName``.

DELAY:7 says what it contains, but no document has its layout; the names are ours.
"""


class RawMessage(Struct, frozen=True, kw_only=True):
    """A message for an administrator.

    Args:
        descriptor: The MQMD fields by IBM MQ's names: ``MsgId``, ``CorrelId`` and ``GroupId`` as 48 hexadecimal digits,
            ``Expiry`` in tenths of a second (the rest; -1 for ever), ``Report``, ``MsgType`` ... as numbers.
        headers: The headers in front of the body, outermost first, by field name.
        properties: Message properties by name.
        body: The body without headers and properties.
    """

    descriptor: dict[str, Scalar]
    headers: tuple[dict[str, Scalar], ...] = ()
    properties: dict[str, Scalar | bool | None] = {}
    body: bytes = b""


class Admin(Protocol):
    """Administration by the backend's own means, in one vocabulary."""

    def execute(self, change: Change, member: str | None = None) -> Outcome[None]:
        """Carry out a change."""
        ...

    def inspect(self, kind: ObjectKind, name: str, member: str | None = None) -> Outcome[Mapping[str, Scalar]]:
        """Return an object's attributes (``CURDEPTH`` ...)."""
        ...

    def subscriptions(self, topic: str, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        """Return all subscriptions to a topic string, with their names as ``SUB`` and their queues' as ``DEST``.

        The order is the same as long as the subscriptions are the same.
        """
        ...

    def units(self, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        """Return the branches of global units of work that are in doubt, or that an operator has resolved.

        Each has its xid in hexadecimal digits as ``THREAD``, its ``STATE``, and its resolution as ``OUTCOME``.
        """
        ...

    def browse(self, queue: str, member: str | None = None) -> Outcome[tuple[RawMessage, ...]]:
        """Return a queue's messages with descriptor and headers."""
        ...

    def take(self, queue: str, *, correlation_id: bytes, member: str | None = None) -> Outcome[RawMessage | None]:
        """Remove and return the first message with this correlation id; None if there is none."""
        ...

    def put_native(self, queue: str, message: RawMessage, *, delay_ms: int | None = None) -> Outcome[None]:
        """Put a message, not as a JMS client."""
        ...

    def identify(self, text: str) -> bytes:
        """Return the 24 bytes in a descriptor for a client's message id or correlation id."""
        ...
