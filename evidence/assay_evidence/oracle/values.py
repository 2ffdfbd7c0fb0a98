"""The parts of a scenario's story: sends, sightings, watches, faults and consumers, as values."""

from __future__ import annotations

from msgspec import Struct

from assay_evidence.events import Call, Callback, Event, Fault, Return, Seen, Unit, Watch
from assay_evidence.oracle.moments import elapsed
from assay_evidence.spans import NS_PER_MS

FOREVER = 2**62


class Send(Struct, frozen=True, kw_only=True):
    """A send of a message.

    Args:
        call: The call of the send.
        key: The message's key.
        answer: The call's return; None if the call did not return.
        ending: The first later event that ended the send's unit of work: a commit, a rollback, or the begin of another
            unit of the same name; None if no event did.
        asked: The first later call to commit the unit of work; None without such a call.
        times: How often the scenario sent a message with this key.
    """

    call: Call
    key: str
    answer: Return | None
    ending: Unit | None
    asked: Call | None
    times: int

    @property
    def accepted(self) -> bool:
        """Whether the send returned without a refusal."""
        return self.answer is not None and self.answer.refused is None

    @property
    def refused(self) -> bool:
        """Whether the send returned with a refusal."""
        return self.answer is not None and self.answer.refused is not None

    @property
    def confirmed(self) -> Event | None:
        """The event that makes the broker responsible for the message: the send's return, or the unit of work's commit.

        None if the broker refused the send, or if its unit of work was not committed.
        """
        if not self.accepted:
            return None
        if self.call.unit is None:
            return self.answer
        return self.ending if self.ending is not None and self.ending.op == "commit" else None

    @property
    def rolled_back(self) -> bool:
        """Whether the send's unit of work was rolled back."""
        return self.ending is not None and self.ending.op == "rollback"

    @property
    def destination(self) -> str:
        """The destination to which the message was sent."""
        return self.call.destination or ""

    @property
    def persistent(self) -> bool:
        """Whether the message was sent as a persistent message."""
        return self.call.args.get("mode") == "persistent"

    @property
    def chosen_by_destination(self) -> bool:
        """Whether the sender left the message's persistence or priority to the destination."""
        mode, priority = self.call.args.get("mode"), self.call.args.get("priority")
        return mode not in ("persistent", "non-persistent") or not isinstance(priority, int)

    @property
    def delay_ns(self) -> int:
        """The message's delivery delay in nanoseconds; 0 without a delay."""
        return _number(self.call, "delay_ms") * NS_PER_MS

    @property
    def ttl_ns(self) -> int:
        """The message's time to live in nanoseconds; 0 without a limit."""
        return _number(self.call, "ttl_ms") * NS_PER_MS

    @property
    def due(self) -> int:
        """The time by which a consumer can receive a confirmed message, in nanoseconds since the send call.

        It is the later of the message's confirmation and the end of its delay.  The delay counts from the answer of the
        send call.
        """
        assert self.answer is not None  # noqa: S101 - a confirmed send has both, which the type checker does not know
        assert self.confirmed is not None  # noqa: S101 - a confirmed send has both, which the type checker does not know
        return max(self.since(self.confirmed), self.since(self.answer) + self.delay_ns)

    def since(self, event: Event) -> int:
        """Return the nanoseconds from the start of the send call to an event."""
        return elapsed(self.call, event)


def _number(call: Call, name: str) -> int:
    value = call.args.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


class Sighting(Struct, frozen=True):
    """A message that a consumer received, or that a browse listed.

    Args:
        at: The `Seen` event, or the browse's return.
        actor: The name of the consumer or of the browsing actor.
        look: Whether a browse listed the message.
    """

    at: Event
    actor: str
    look: bool


class Span(Struct, frozen=True):
    """A watch that has ended; `last` is the watch's last sighting or callback, or None."""

    begin: Watch
    end: Watch
    last: Seen | Callback | None


class FaultSpan(Struct, frozen=True):
    """A fault; `end` is None if the fault is not over."""

    begin: Fault
    end: Fault | None


class Consumer(Struct, frozen=True):
    """The properties of an actor as a consumer, from its accepted calls.

    Args:
        consumes: Whether the actor created a consumer.
        selects: Whether the actor may get only some messages, because of a selector, noLocal, or a credit of its own.
        shared: Whether the actor's subscription is shared.
        subscription: The name of the actor's subscription; None without a name.
        listens: Whether the actor set a listener.
        batches: Whether the actor set a batch listener.
    """

    consumes: bool = False
    selects: bool = False
    shared: bool = False
    subscription: str | None = None
    listens: bool = False
    batches: bool = False
