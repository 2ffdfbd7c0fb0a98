"""The effects of commands, which the shell carries out. Each class says what the shell does for its effect.

An effect with ``after=n`` waits for batch n: the shell carries the effect out after it has told the core by `Stored`
that batch n is durable. If the shell reports by `StoreFailed` that batch n has failed, it drops the effect. The effects
of `StoreFailed` replace the dropped ones.
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

NO_PROPERTIES: PeerProperties = {}
"""The `Answer.properties` of all answers without properties: one shared object, protected by its read-only type."""


class Persist(Struct, frozen=True, tag=True):
    """Make all these records durable, or none of them; afterwards report `Stored` or `StoreFailed` to the core."""

    batch: int
    records: tuple[Record, ...]


class Deliver(Struct, frozen=True, tag=True, kw_only=True, gc=False):
    """Send a message to a receiver.

    Args:
        origin: The destination that the receiver's client named.
        delivery: The delivery's number on this connection.
        count: The number of the message's failed deliveries so far.
        redelivered: Whether the message is marked as redelivered, because a delivery of it has failed.
        after: The batch to wait for; None to wait for no batch.
        settled: Whether the delivery is sent settled (at most once), after the queue manager has removed the message.
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
    """A message for a browser of a queue.

    Args:
        count: The number of the message's failed deliveries so far.
    """

    message: Message
    count: int


Shown = tuple[Definition, ...] | tuple[AuthorityRecord, ...] | tuple[TopicStatus, ...] | tuple[ThreadStatus, ...]
"""The result of a DISPLAY command."""

Value = (
    tuple[Browsed, ...] | Shown | tuple[Described, ...] | tuple[bytes, ...] | tuple[Terms, ...] | XaVote | str | None
)
"""The value of an answer.

One of: browsed messages, the result of DISPLAY, messages with their descriptors, xids, a subscription's terms, a vote,
a destination's name, or None for no value.
"""


class Answer(Struct, frozen=True, tag=True, gc=False):
    """Answer a command.

    Args:
        refused: The reason of a refusal; None if the command was carried out.
        value: The command's result; None for a command without a result.
        after: The batch to wait for; None to wait for no batch.
        properties: The properties of the destination for the client. For `AttachSender` on a queue:
            ``x-opt-mq-defbind`` and ``x-opt-mq-clustered``. For `Attach`: the queue's back-out threshold, its back-out
            queue, and the dead-letter queue; none of them if the threshold is 0.
    """

    connection: int
    token: int
    refused: Refused | None = None
    value: Value = None
    after: int | None = None
    properties: PeerProperties = {}


class CloseLink(Struct, frozen=True, tag=True):
    """Close a link from the broker's side.

    Args:
        refused: The reason, for the client.
    """

    connection: int
    link: int
    refused: Refused


class ToMember(Struct, frozen=True, tag=True):
    """Send a parcel to another queue manager of the network.

    Args:
        member: The name of the other queue manager; None for all others of the network.
        after: The batch to wait for; None to wait for no batch.
    """

    member: str | None
    parcel: Parcel
    after: int | None = None


class Trace(Struct, frozen=True, tag=True):
    """Log an event that no answer reports.

    Args:
        text: One sentence, without any content of a message.
        objects: The names of the objects that the event concerns.
    """

    text: str
    objects: tuple[str, ...] = ()


Effect = Persist | Deliver | Answer | CloseLink | ToMember | Trace
