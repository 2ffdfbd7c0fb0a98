"""What an administrator can ask for: the answers are in `assay_broker.core.commands.Administer`'s `Answer`.

MQSC is one notation for these (`assay_broker.mqsc`); the `Admin` port is another.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from assay_broker.core.objects.model import Kind, Value
from assay_sdk.model.message import Message

Comparison = Literal["LT", "GT", "EQ", "NE", "LE", "GE", "LK", "NL"]


class DefineObject(Struct, frozen=True, tag=True, kw_only=True):
    """DEFINE: make an object, or with `replace` make it anew; its messages stay.

    Args:
        kind: What it is.
        name: Its name.
        attributes: What is given; everything else comes from `like`, or from the SYSTEM.DEFAULT object of the kind.
        like: Another object of the kind; None for none.
        replace: Whether one that is there already is redefined.
    """

    kind: Kind
    name: str
    attributes: dict[str, Value] = {}
    like: str | None = None
    replace: bool = False


class AlterObject(Struct, frozen=True, tag=True):
    """ALTER: change some attributes of an object."""

    kind: Kind
    name: str
    attributes: dict[str, Value]


class DeleteObject(Struct, frozen=True, tag=True):
    """DELETE: with `purge`, a queue's messages go with it."""

    kind: Kind
    name: str
    purge: bool = False


class ClearQueue(Struct, frozen=True, tag=True):
    """CLEAR: remove all messages of a queue."""

    name: str


class ClearRetained(Struct, frozen=True, tag=True):
    """CLEAR TOPICSTR: remove the retained publication of exactly this topic string; nothing happens without one."""

    topic: str


class SetAuthority(Struct, frozen=True, tag=True, kw_only=True):
    """SET AUTHREC: add authorities to, and remove them from, the record of a profile for principals and groups.

    Args:
        profile: An object's name, or a generic one.
        object_type: QUEUE, TOPIC or QMGR.
        principals: Users.
        groups: Groups; every user belongs to ``nobody``.
        add: Authorities granted.
        remove: Authorities taken.
    """

    profile: str
    object_type: str
    principals: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


class Condition(Struct, frozen=True):
    """WHERE: one condition on one attribute."""

    keyword: str
    comparison: Comparison
    value: Value


class DisplayObjects(Struct, frozen=True, tag=True, kw_only=True):
    """DISPLAY: objects whose name fits, with everything known of them (CURDEPTH included).

    Args:
        kinds: Which kinds; QUEUE means all three.
        name: A name, or a generic one that ends in ``*``.
        where: A condition; None for none.
        on_use: Whether a local queue of exactly this name that nobody has defined or used is shown as it would be made
            on use, if it would.
    """

    kinds: tuple[Kind, ...]
    name: str
    where: Condition | None = None
    on_use: bool = False


class DisplayAuthority(Struct, frozen=True, tag=True):
    """DISPLAY AUTHREC."""

    profile: str = "*"
    object_type: str | None = None


class DisplayTopicStatus(Struct, frozen=True, tag=True):
    """DISPLAY TPSTATUS: what holds for a topic string, whatever topic object up the tree says so."""

    topic: str


class DisplayThreads(Struct, frozen=True, tag=True):
    """DISPLAY THREAD: branches of global units of work.

    Args:
        name: One branch, by its xid in hexadecimal digits; ``*`` for all.
        indoubt: Only those that are in doubt or were completed by an operator, or only all others; None for both.
    """

    name: str = "*"
    indoubt: bool | None = True


class ResolveIndoubt(Struct, frozen=True, tag=True):
    """RESOLVE INDOUBT: decide about a branch in doubt, in the place of a transaction manager that does not come back.

    Args:
        name: Its xid in hexadecimal digits.
        committed: Whether it is committed, or backed out.
    """

    name: str
    committed: bool


class NativePut(Struct, frozen=True, tag=True):
    """Put a message as an application of the queue manager's own interface does, not as a JMS client (DD-20)."""

    queue: str
    message: Message
    delay_ms: int | None = None


class NativeBrowse(Struct, frozen=True, tag=True):
    """Look at a queue's messages with descriptor and headers, the staging queue's included.

    Args:
        queue: Its name.
        correlation_id: MQMD's CorrelId of the messages, 24 bytes; None for any.
        message_id: MQMD's MsgId of the messages, 24 bytes; None for any.
        limit: How many at most; None for all.
    """

    queue: str
    correlation_id: bytes | None = None
    message_id: bytes | None = None
    limit: int | None = None


class NativeTake(Struct, frozen=True, tag=True):
    """Take the first message with these ids off a queue, the staging queue included (DD-38).

    Args:
        queue: Its name.
        correlation_id: MQMD's CorrelId, 24 bytes; None for any.
        message_id: MQMD's MsgId, 24 bytes; None for any.
    """

    queue: str
    correlation_id: bytes | None = None
    message_id: bytes | None = None


Change = (
    DefineObject
    | AlterObject
    | DeleteObject
    | ClearQueue
    | ClearRetained
    | SetAuthority
    | DisplayObjects
    | DisplayAuthority
    | DisplayTopicStatus
    | DisplayThreads
    | ResolveIndoubt
    | NativePut
    | NativeBrowse
    | NativeTake
)
