"""Administrators' commands. MQSC (`assay_broker.mqsc`) and the `Admin` port are two notations for them.

The result of a command is the `Answer` to `assay_broker.core.commands.Administer`.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from assay_broker.core.objects.model import Kind, Value
from assay_sdk.model.message import Message

Comparison = Literal["LT", "GT", "EQ", "NE", "LE", "GE", "LK", "NL"]


class DefineObject(Struct, frozen=True, tag=True, kw_only=True):
    """DEFINE: create an object, or with `replace` redefine an existing one; a queue's messages stay.

    Args:
        kind: The object's kind.
        name: Its name.
        attributes: The given attributes; all others come from `like`, or from the SYSTEM.DEFAULT object of the kind.
        like: An object of the kind to copy from; None for the SYSTEM.DEFAULT object.
        replace: Whether an existing object is redefined.
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
    """DELETE: delete an object; with `purge` also a queue that holds messages."""

    kind: Kind
    name: str
    purge: bool = False


class ClearQueue(Struct, frozen=True, tag=True):
    """CLEAR: remove all messages of a queue."""

    name: str


class ClearRetained(Struct, frozen=True, tag=True):
    """CLEAR TOPICSTR: remove the retained publication of exactly this topic string, if it has one."""

    topic: str


class SetAuthority(Struct, frozen=True, tag=True, kw_only=True):
    """SET AUTHREC: add authorities to a profile's records for principals or groups, or remove some.

    Args:
        profile: An object's name, or a generic one.
        object_type: QUEUE, TOPIC or QMGR.
        principals: Users.
        groups: Groups; every user belongs to ``nobody``.
        add: Authorities to grant.
        remove: Authorities to take away.
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
    """DISPLAY: show the objects whose name matches, with definition and state (such as CURDEPTH).

    Args:
        kinds: The kinds to show; QUEUE stands for all three kinds of queues.
        name: A name, or a generic one that ends in ``*``.
        where: A condition; None for none.
        on_use: Whether an undefined local queue of exactly this name is shown as it would be created on use, if it
            would.
    """

    kinds: tuple[Kind, ...]
    name: str
    where: Condition | None = None
    on_use: bool = False


class DisplayAuthority(Struct, frozen=True, tag=True):
    """DISPLAY AUTHREC: show authority records."""

    profile: str = "*"
    object_type: str | None = None


class DisplayTopicStatus(Struct, frozen=True, tag=True):
    """DISPLAY TPSTATUS: show the attributes that apply to a topic string, inherited ones included."""

    topic: str


class DisplayThreads(Struct, frozen=True, tag=True):
    """DISPLAY THREAD: show branches of global units of work.

    Args:
        name: The branch's xid in hexadecimal digits; ``*`` for all.
        indoubt: True for branches in doubt or completed by an operator, False for all others, None for both.
    """

    name: str = "*"
    indoubt: bool | None = True


class ResolveIndoubt(Struct, frozen=True, tag=True):
    """RESOLVE INDOUBT: commit or back out a branch in doubt whose transaction manager does not return.

    Args:
        name: The branch's xid in hexadecimal digits.
        committed: True to commit it, False to back it out.
    """

    name: str
    committed: bool


class NativePut(Struct, frozen=True, tag=True):
    """Put a message through the queue manager's own interface, not as a JMS client (DD-20)."""

    queue: str
    message: Message
    delay_ms: int | None = None


class NativeBrowse(Struct, frozen=True, tag=True):
    """Browse a queue's messages with descriptor and headers; the staging queue can be browsed, too.

    Args:
        queue: The queue's name.
        correlation_id: Only messages with this MQMD CorrelId, 24 bytes; None for any.
        message_id: Only messages with this MQMD MsgId, 24 bytes; None for any.
        limit: The highest number of messages; None for all.
    """

    queue: str
    correlation_id: bytes | None = None
    message_id: bytes | None = None
    limit: int | None = None


class NativeTake(Struct, frozen=True, tag=True):
    """Get the first message with these ids from a queue; the staging queue is allowed, too (DD-38).

    Args:
        queue: The queue's name.
        correlation_id: MQMD CorrelId, 24 bytes; None for any.
        message_id: MQMD MsgId, 24 bytes; None for any.
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
