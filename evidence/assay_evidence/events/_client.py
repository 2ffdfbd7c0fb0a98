"""The events of the client under test: calls, received messages, settlements, units of work, watches."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from assay_evidence.events._event import Event, MessageRef, Phase, Scalar

CONNECTION_LOST = "connection-lost"
"""The kind of a refusal because of a lost connection (`RefusedInfo.kind`)."""
_CALL_INTERRUPTED = 2549
"""The MQRC of a call that the broker did not answer in time."""


class RefusedInfo(Struct, frozen=True, omit_defaults=True, gc=False):
    """The reason why a call was refused: the data of `assay_sdk.model.reasons.Refused`.

    Args:
        kind: The JMS error class as a word (``illegal-state`` ...; `assay_sdk.model.reasons.JmsErrorKind`).
        checked: Whether the client raised the checked exception (classic face); otherwise it raised the runtime
            exception.
        mqrc: The number of the MQRC; None if the refusal has none.
        objects: The names of the objects at fault.
        text: The error's text.
        failure: How the call failed if it did not end with an answer of the client's API; empty if it did. ``raised``:
            the client raised an exception that its API does not define. ``stalled``: in virtual time, nothing could
            end the call.
    """

    kind: str
    checked: bool
    mqrc: int | None = None
    objects: tuple[str, ...] = ()
    text: str = ""
    failure: Literal["", "raised", "stalled"] = ""

    @property
    def unanswered(self) -> bool:
        """Whether the broker did not answer: the connection was lost, or no answer came in time."""
        return self.kind == CONNECTION_LOST or self.mqrc == _CALL_INTERRUPTED

    @property
    def leaves_open(self) -> bool:
        """Whether the broker may have carried out the call: it did not answer, or the client failed."""
        return self.unanswered or bool(self.failure)

    @property
    def phrase(self) -> str:
        """The kind, the reason code and the text, as findings show them."""
        reason = "" if self.mqrc is None else f", reason {self.mqrc}"
        return f"{self.kind}{reason}: {self.text}" if self.text else f"{self.kind}{reason}"


class Call(Event, frozen=True, kw_only=True, tag="call"):
    """The start of a call on the client under test.

    Args:
        id: The call's id, unique in the writer; `Return.call` repeats it.
        actor: The producer, consumer, session or connection that is called, by its name in the scenario.
        op: The called operation (``send``, ``set``, ``receive``, ``commit`` ...).
        args: The arguments; durations are in milliseconds.
        destination: The queue or topic; None for a call without a destination.
        unit: The unit of work to which the call belongs; None for a call outside units of work.
        msg: The message of a send; None for other calls.
    """

    id: str
    actor: str
    op: str
    args: dict[str, Scalar] = {}
    destination: str | None = None
    unit: str | None = None
    msg: MessageRef | None = None


LEAVING = frozenset({"abort", "close-connection", "close-consumer", "close-session"})
"""The operations (`Call.op`) by which an actor ends its consumer, session or connection."""


class Return(Event, frozen=True, kw_only=True, tag="return"):
    """The return of a call, with a value or a refusal.

    Args:
        call: The call's id (`Call.id`).
        refused: The reason of the refusal; None if the call was accepted.
        value: The returned values by name.
        msg: The message as the client shows it after a send.
        keys: The keys of the messages that a browse listed, in order. The field in the journal is ``kids``.
    """

    call: str
    refused: RefusedInfo | None = None
    value: dict[str, Scalar] = {}
    msg: MessageRef | None = None
    keys: tuple[str, ...] = field(default=(), name="kids")


class Seen(Event, frozen=True, kw_only=True, tag="seen"):
    """A sighting: the application received a message.

    Args:
        actor: The consumer's name in the scenario.
        link: The kit's own name of the consumer's attachment, not AMQP's link name; a new attachment has a new name.
        destination: The queue, topic or subscription from which the message came.
        msg: The message.
        count: JMSXDeliveryCount (1 for the first delivery); 0 if the client does not show it.
        redelivered: JMSRedelivered.
        batch: The number of the message's batch, from 0; None outside batches.
    """

    actor: str
    link: str
    destination: str
    msg: MessageRef
    count: int
    redelivered: bool
    batch: int | None = None


class Callback(Event, frozen=True, kw_only=True, tag="callback"):
    """The end of a listener's callback.

    Args:
        actor: The consumer's name.
        link: The name of the link from which the callback's messages came. The consumer may have another link by now.
        batch: The number of the batch, from 0; None for a single message.
        ended: Whether the callback returned or raised an exception.
    """

    actor: str
    link: str
    batch: int | None = None
    ended: Literal["returned", "raised"]


class Settle(Event, frozen=True, kw_only=True, tag="settle"):
    """The client's settlement of a message.

    Args:
        actor: The consumer's name.
        link: The name of the consumer's link.
        msg: The message.
        outcome: ``accepted``, ``released``, ``modified`` or ``rejected``.
        unit: The unit of work in which the client settled the message; None outside units of work.
    """

    actor: str
    link: str
    msg: MessageRef
    outcome: str
    unit: str | None = None


class Unit(Event, frozen=True, kw_only=True, tag="unit"):
    """The begin or end of a unit of work.

    For a branch of a global unit of work, the event can also be the branch's preparation (``prepare``), or an answer of
    XA recover that lists the branch as in doubt (``recover``).

    Args:
        actor: The session's name.
        unit: The unit's name.
        op: The operation.
    """

    actor: str
    unit: str
    op: Literal["begin", "commit", "rollback", "prepare", "recover"]


class SessionEnded(Event, frozen=True, kw_only=True, tag="session-ended"):
    """The broker ended a session with an error before the client closed it; the session's connection stayed open.

    Args:
        actor: The name of the session's connection in the scenario.
        refused: The broker's error.
    """

    actor: str
    refused: RefusedInfo


class Watch(Event, frozen=True, kw_only=True, tag="watch"):
    """The begin or end of a watch: the time in which a consumer is attached and can receive a message.

    A consumer whose application chose the credit may have used it up; any other consumer has credit.

    Args:
        id: The watch's id, unique in its writer, and the same at begin and end.
        actor: The consumer's name.
        destination: The destination that the consumer watches.
        phase: The begin or the end.
    """

    id: str
    actor: str
    destination: str
    phase: Phase
