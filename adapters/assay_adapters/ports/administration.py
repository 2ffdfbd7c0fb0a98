"""Admin (I-4): what an administrator can do to a broker, in one vocabulary for every backend."""

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
"""IBM MQ's group to which every user belongs, whoever it is."""


class Authorise(Struct, frozen=True, tag=True):
    """Grant or take authorities.

    Args:
        user: A user, or a group.
        grant: Authorities by MQSC's names (``PUT`` ...); where the object has no record of the user yet, it has one
            from then on, and a less specific record counts for the user no more; ``NONE`` does that alone.
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
"""What can be started and stopped: a member of the instance, in order; the others go on."""


class Start(Struct, frozen=True, tag=True):
    """Start a component (`QUEUE_MANAGER`) of the member that the call names; nothing where it runs."""

    what: str


class Stop(Struct, frozen=True, tag=True):
    """Stop a component (`QUEUE_MANAGER`) of the member that the call names, until it is started again."""

    what: str


class Resolve(Struct, frozen=True, tag=True):
    """Decide about a branch in doubt, in the place of its transaction manager.

    Args:
        unit: Its xid in hexadecimal digits.
        commit: Whether it is committed, or backed out.
    """

    unit: str
    commit: bool


Change = Define | Alter | Delete | Clear | Authorise | Start | Stop | Resolve


STRUC_ID = "StrucId"
"""The field that names a header: what follows is one of its values."""
DEAD_LETTER_HEADER = "DLH"
"""With ``Reason``, ``DestQName`` and ``DestQMgrName`` (facts: MQDLH)."""
DELAY_HEADER = "DDH"
"""A staged message's header, with ``DeliveryDelay`` (milliseconds) and ``DestQName``.

DELAY:7 says what it says and nobody how; the names are ours.
"""


class RawMessage(Struct, frozen=True, kw_only=True):
    """A message as an administrator sees it.

    Args:
        descriptor: MQMD's fields by IBM MQ's names: ``MsgId``, ``CorrelId`` and ``GroupId`` as 48 hexadecimal digits,
            ``Expiry`` in tenths of a second (what is left; -1 for ever), ``Report``, ``MsgType`` ... as numbers.
        headers: The headers in front of the body, outermost first, by field name.
        properties: Message properties by name.
        body: What is left without them.
    """

    descriptor: dict[str, Scalar]
    headers: tuple[dict[str, Scalar], ...] = ()
    properties: dict[str, Scalar | bool | None] = {}
    body: bytes = b""


class Admin(Protocol):
    """Administration in the backend's own way, in one vocabulary."""

    def execute(self, change: Change, member: str | None = None) -> Outcome[None]:
        """Make a change."""
        ...

    def inspect(self, kind: ObjectKind, name: str, member: str | None = None) -> Outcome[Mapping[str, Scalar]]:
        """Show an object's attributes (``CURDEPTH`` ...)."""
        ...

    def subscriptions(self, topic: str, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        """Show every subscription to a topic string, with its name as ``SUB`` and its queue's as ``DEST``.

        The order is the same as long as the subscriptions are the same.
        """
        ...

    def units(self, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        """Show the branches of global units of work that are in doubt, or that an operator has resolved.

        Each with its xid in hexadecimal digits as ``THREAD``, its ``STATE``, and how it was resolved as ``OUTCOME``.
        """
        ...

    def browse(self, queue: str, member: str | None = None) -> Outcome[tuple[RawMessage, ...]]:
        """Show a queue's messages with descriptor and headers."""
        ...

    def take(self, queue: str, *, correlation_id: bytes, member: str | None = None) -> Outcome[RawMessage | None]:
        """Take the first message with this correlation id; None when there is none."""
        ...

    def put_native(self, queue: str, message: RawMessage, *, delay_ms: int | None = None) -> Outcome[None]:
        """Put a message without the JMS client."""
        ...

    def identify(self, text: str) -> bytes:
        """The 24 bytes that stand in a descriptor for what a client knows as this message or correlation id."""
        ...
