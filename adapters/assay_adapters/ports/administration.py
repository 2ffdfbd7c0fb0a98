"""The `Admin` port: administration of a broker, with the same commands for all backends."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from assay_adapters.ports.outcome import Outcome

Scalar = str | int


class ObjectKind(StrEnum):
    """The kind of an administered object."""

    QUEUE = "queue"
    ALIAS = "alias"
    MODEL = "model"
    TOPIC = "topic"
    SUBSCRIPTION = "subscription"
    QMGR = "qmgr"


class Define(Struct, frozen=True, tag=True):
    """Change: define an object.

    Args:
        kind: The object's kind.
        name: The object's name.
        attributes: The attributes by MQSC's names (``MAXDEPTH`` ...); the broker's defaults apply to the others.
    """

    kind: ObjectKind
    name: str
    attributes: dict[str, Scalar] = {}


class Alter(Struct, frozen=True, tag=True):
    """Change: alter an object's attributes.

    Args:
        kind: The object's kind.
        name: The object's name.
        attributes: The new values by MQSC's names; other attributes keep their values.
    """

    kind: ObjectKind
    name: str
    attributes: dict[str, Scalar]


class Delete(Struct, frozen=True, tag=True):
    """Change: delete an object; a queue is deleted with its messages."""

    kind: ObjectKind
    name: str


class Clear(Struct, frozen=True, tag=True):
    """Change: remove all messages of a queue."""

    name: str


EVERYBODY = "nobody"
"""IBM MQ's group to which every user belongs."""

ORDINARY_USERS = ("alice", "bob", "carol", "mallory", "monitor")
"""The users in scenarios about authority: a broker under test must accept each of them with its name as password."""


class Authorise(Struct, frozen=True, tag=True):
    """Change: grant or revoke authorities of a user or group for an object.

    Args:
        user: The user's or group's name.
        kind: The object's kind.
        name: The object's name, or a generic profile.
        grant: Authorities to grant, by MQSC's names (``PUT`` ...). A grant creates an authority record for the user on
            this object, and less specific records then no longer count for the user. ``NONE`` creates an empty record.
        revoke: Authorities to revoke; ``ALL`` revokes all.
        group: Whether `user` names a group.
    """

    user: str
    kind: ObjectKind
    name: str
    grant: tuple[str, ...] = ()
    revoke: tuple[str, ...] = ()
    group: bool = False


QUEUE_MANAGER = "queue manager"
"""The only component that `Start` and `Stop` can name: one queue manager of the instance."""


class Start(Struct, frozen=True, tag=True):
    """Change: start the queue manager that `Admin.execute` names as `member`; a running queue manager keeps running.

    Args:
        what: The kind of component to start: `QUEUE_MANAGER`.
    """

    what: str


class Stop(Struct, frozen=True, tag=True):
    """Change: stop the queue manager that `Admin.execute` names as `member`; it stays stopped until `Start`.

    Args:
        what: The kind of component to stop: `QUEUE_MANAGER`.
    """

    what: str


class Resolve(Struct, frozen=True, tag=True):
    """Change: commit or back out a branch in doubt, in place of its transaction manager.

    Args:
        unit: The branch's xid in hexadecimal digits.
        commit: True to commit the branch, False to back it out.
    """

    unit: str
    commit: bool


Change = Define | Alter | Delete | Clear | Authorise | Start | Stop | Resolve


STRUC_ID = "StrucId"
"""The field of a header that names its kind:

- ``DLH``, the dead-letter header (IBM MQ's MQDLH), with ``Reason``, ``DestQName`` and ``DestQMgrName``, or
- ``DDH``, the header of a staged message, with ``DeliveryDelay`` (milliseconds) and ``DestQName``.

DELAY:7 lists the contents of the second, but no document defines its layout, so the names are the kit's.
"""


class RawMessage(Struct, frozen=True, kw_only=True):
    """A message as an administrator sees or puts it.

    Args:
        descriptor: The MQMD fields by IBM MQ's names. ``MsgId``, ``CorrelId`` and ``GroupId`` have 48 hexadecimal
            digits. ``Expiry`` is the remaining time in tenths of a second, or -1 for a message that does not expire.
            ``Report``, ``MsgType`` and others are numbers.
        headers: The fields of each header in front of the body by name, the outermost header first.
        properties: The message properties by name.
        body: The body without headers and properties; None if the broker does not show the whole body.
    """

    descriptor: dict[str, Scalar]
    headers: tuple[dict[str, Scalar], ...] = ()
    properties: dict[str, Scalar | bool | None] = {}
    body: bytes | None = b""

    @property
    def text(self) -> str:
        """The body as a text, for a put of a message in the format MQSTR.

        Raises:
            LookupError: The body is not UTF-8.
        """
        try:
            return (self.body or b"").decode()
        except UnicodeDecodeError as error:
            raise LookupError(f"A native put has a text as its body, and this body is not UTF-8: {error}.") from error


class Admin(Protocol):
    """An administrator of a broker.

    In all methods, `member` names a queue manager of the instance; None means the first.
    """

    def execute(self, change: Change, member: str | None = None) -> Outcome[None]:
        """Carry out a change; if the broker refuses it, return the refusal."""
        ...

    def inspect(self, kind: ObjectKind, name: str, member: str | None = None) -> Outcome[Mapping[str, Scalar]]:
        """Return an object's attributes by MQSC's names (``CURDEPTH`` ...)."""
        ...

    def subscriptions(self, topic: str, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        """Return the attributes of all subscriptions to a topic string.

        ``SUB`` is a subscription's name, and ``DEST`` the name of its queue. The order is the same at each call,
        until a subscription is added or removed.
        """
        ...

    def units(self, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        """Return the branches of global units of work that are in doubt, or that an operator has resolved.

        Each branch has its xid in hexadecimal digits as ``THREAD``, its ``STATE``, and the operator's decision as
        ``OUTCOME``.
        """
        ...

    def browse(self, queue: str, member: str | None = None) -> Outcome[tuple[RawMessage, ...]]:
        """Return a queue's messages with descriptor and headers."""
        ...

    def take(self, queue: str, *, correlation_id: bytes, member: str | None = None) -> Outcome[RawMessage | None]:
        """Remove and return the first message with this correlation id; None if the queue has no such message."""
        ...

    def put_native(self, queue: str, message: RawMessage, *, delay_ms: int | None = None) -> Outcome[None]:
        """Put a message, as an application that does not use JMS.

        Args:
            queue: The queue's name.
            message: The message; the queue's defaults fill the fields that its descriptor lacks.
            delay_ms: The delivery delay in milliseconds; None to deliver the message at once.

        Raises:
            LookupError: The backend cannot set a field of the descriptor or the value of a property, or the body is
                not UTF-8.
        """
        ...

    def identify(self, text: str) -> bytes:
        """Return the 24 bytes that stand for a JMS message id or correlation id in a message descriptor."""
        ...
