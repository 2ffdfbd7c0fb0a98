"""The commands of administrators, from MQSC (`assay_broker.mqsc`) and from the `Admin` port.

The core receives such a command in `assay_broker.core.commands.Administer`, and returns the result in an `Answer`.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from assay_broker.core.objects.model import Kind, Value
from assay_sdk.model.message import Message

Comparison = Literal["LT", "GT", "EQ", "NE", "LE", "GE", "LK", "NL"]


class DefineObject(Struct, frozen=True, tag=True, kw_only=True):
    """DEFINE: create an object, or redefine an existing one; a redefined queue keeps its messages.

    Args:
        kind: The object's kind.
        name: The object's name.
        attributes: The given attributes, by keyword; other attributes come from `like`, except those that distinguish
            objects, such as TOPICSTR.
        like: The name of an object of the same kind; None for the SYSTEM.DEFAULT object of the kind.
        replace: Whether DEFINE may redefine an existing object.
    """

    kind: Kind
    name: str
    attributes: dict[str, Value] = {}
    like: str | None = None
    replace: bool = False


class AlterObject(Struct, frozen=True, tag=True):
    """ALTER: change the given attributes of an object."""

    kind: Kind
    name: str
    attributes: dict[str, Value]


class DeleteObject(Struct, frozen=True, tag=True):
    """DELETE: delete an object.

    Args:
        kind: The object's kind.
        name: The object's name.
        purge: Whether DELETE may delete a queue that holds messages.
    """

    kind: Kind
    name: str
    purge: bool = False


class ClearQueue(Struct, frozen=True, tag=True):
    """CLEAR: remove all messages of a queue."""

    name: str


class ClearRetained(Struct, frozen=True, tag=True):
    """CLEAR TOPICSTR: remove the retained publication, if any, of exactly this topic string."""

    topic: str


class SetAuthority(Struct, frozen=True, tag=True, kw_only=True):
    """SET AUTHREC: grant users or groups authorities on the objects that a profile covers, or revoke authorities.

    Args:
        profile: An object's name, or a generic profile.
        object_type: QUEUE, TOPIC or QMGR.
        principals: The users; empty if groups are given.
        groups: The groups; empty if users are given. Every user belongs to the group ``nobody``.
        add: The authorities to grant.
        remove: The authorities to revoke.
    """

    profile: str
    object_type: str
    principals: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


class Condition(Struct, frozen=True):
    """The condition of WHERE: an attribute's keyword, a comparison, and the value to compare with."""

    keyword: str
    comparison: Comparison
    value: Value


class DisplayObjects(Struct, frozen=True, tag=True, kw_only=True):
    """DISPLAY: show the objects with a matching name, with their definitions and present state (such as CURDEPTH).

    Args:
        kinds: The kinds to show.
        name: A name, or a generic name that ends in ``*``; empty for any name.
        where: The condition that shown objects meet; None for no condition.
        on_use: Whether to show an undefined local queue of exactly this name, if the queue manager would create it on
            use.
    """

    kinds: tuple[Kind, ...]
    name: str
    where: Condition | None = None
    on_use: bool = False


class DisplayAuthority(Struct, frozen=True, tag=True):
    """DISPLAY AUTHREC: show authority records.

    Args:
        profile: The profile of the records to show; a ``*`` at the end stands for any text.
        object_type: QUEUE, TOPIC or QMGR; None for all.
    """

    profile: str = "*"
    object_type: str | None = None


class DisplayTopicStatus(Struct, frozen=True, tag=True):
    """DISPLAY TPSTATUS: show the attributes that apply to a topic string, including inherited ones."""

    topic: str


class DisplayThreads(Struct, frozen=True, tag=True):
    """DISPLAY THREAD: show branches of global units of work.

    Args:
        name: The xid of the branch in hexadecimal digits; ``*`` for all branches.
        indoubt: True for branches that are in doubt or completed by an operator, False for all others, None for all.
    """

    name: str = "*"
    indoubt: bool | None = True


class ResolveIndoubt(Struct, frozen=True, tag=True):
    """RESOLVE INDOUBT: commit or back out a branch in doubt whose transaction manager does not return.

    Args:
        name: The xid of the branch in hexadecimal digits.
        committed: True to commit the branch, False to back it out.
    """

    name: str
    committed: bool


class NativePut(Struct, frozen=True, tag=True):
    """Put a message through the queue manager's own interface, not as a JMS client (DD-20).

    Args:
        queue: The queue's name.
        message: The message.
        delay_ms: The delivery delay in milliseconds; the queue manager refuses a put with a delay. None for no delay.
    """

    queue: str
    message: Message
    delay_ms: int | None = None


class NativeBrowse(Struct, frozen=True, tag=True):
    """Browse the messages of a queue (the staging queue included) with their descriptors and headers.

    Args:
        queue: The queue's name.
        correlation_id: The MQMD CorrelId of the messages to browse, 24 bytes; None for any.
        message_id: The MQMD MsgId of the messages to browse, 24 bytes; None for any.
        limit: The highest number of messages; None for all.
    """

    queue: str
    correlation_id: bytes | None = None
    message_id: bytes | None = None
    limit: int | None = None


class NativeTake(Struct, frozen=True, tag=True):
    """Get the first message with these ids from a queue, also from the staging queue (DD-38).

    Args:
        queue: The queue's name.
        correlation_id: The MQMD CorrelId of the message, 24 bytes; None for any.
        message_id: The MQMD MsgId of the message, 24 bytes; None for any.
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
