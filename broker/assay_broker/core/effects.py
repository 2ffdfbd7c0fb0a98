"""The effects of commands, which the shell carries out.

`after` names a batch: the shell carries out no effect with ``after=n`` before ``Stored(n)``. It drops the effect on
``StoreFailed(n)``, whose own effects replace it.
"""

from __future__ import annotations

from msgspec import Struct

from assay_broker.core.administration.authority import AuthorityRecord
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.networks.parcels import Parcel
from assay_broker.core.objects.model import Definition
from assay_broker.core.objects.status import ThreadStatus, TopicStatus
from assay_broker.core.records import Record
from assay_broker.core.topics.subscriptions import Terms
from assay_sdk.driver import PeerProperties
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import Refused
from assay_sdk.model.xa import XaVote

NOTHING_TOLD: PeerProperties = {}
"""The value shared by all answers without properties; read-only by its type."""


class Persist(Struct, frozen=True, tag=True):
    """Make these records durable, all or none; the shell reports `Stored` or `StoreFailed`."""

    batch: int
    records: tuple[Record, ...]


class Deliver(Struct, frozen=True, tag=True, kw_only=True, gc=False):
    """Hand a message to a receiver.

    Args:
        origin: The destination at which the receiver listens.
        delivery: The delivery's number on this connection.
        count: Earlier deliveries that failed.
        redelivered: Whether it may have been delivered before.
        settled: Whether the queue manager has forgotten it already.
    """

    connection: int
    link: int
    origin: Address
    delivery: int
    message: Message
    count: int
    redelivered: bool
    after: int | None
    settled: bool = False


class Browsed(Struct, frozen=True):
    """A message for a browser.

    Args:
        count: The number of its failed deliveries.
    """

    message: Message
    count: int


Shown = tuple[Definition, ...] | tuple[AuthorityRecord, ...] | tuple[TopicStatus, ...] | tuple[ThreadStatus, ...]
"""The result of DISPLAY."""

Value = (
    tuple[Browsed, ...] | Shown | tuple[Described, ...] | tuple[bytes, ...] | tuple[Terms, ...] | XaVote | str | None
)
"""The value of an answer.

Browsed messages, the result of DISPLAY, messages with their descriptors, xids, a subscription's terms, a vote, or a
destination's name.
"""


class Answer(Struct, frozen=True, tag=True, gc=False):
    """The answer to a command: it is done, or refused.

    Args:
        value: The result, for commands with one.
        properties: For `AttachSender`: properties of the destination for the client (I-6: ``x-opt-mq-defbind``,
            ``x-opt-mq-clustered``).
    """

    connection: int
    token: int
    refused: Refused | None = None
    value: Value = None
    after: int | None = None
    properties: PeerProperties = {}


class CloseLink(Struct, frozen=True, tag=True):
    """Close a link from the broker's side."""

    connection: int
    link: int
    refused: Refused


class ToMember(Struct, frozen=True, tag=True):
    """Send a parcel to another queue manager of the network.

    Args:
        member: Its name; None for all others.
    """

    member: str | None
    parcel: Parcel
    after: int | None = None


class Trace(Struct, frozen=True, tag=True):
    """Log an event that no answer reports.

    Args:
        text: One sentence, without any content of a message.
        objects: Names of the objects in question.
    """

    text: str
    objects: tuple[str, ...] = ()


Effect = Persist | Deliver | Answer | CloseLink | ToMember | Trace
