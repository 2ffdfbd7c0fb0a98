"""The events of one scenario for the oracle, as sends, sightings, watches and faults."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar, cast

from assay_evidence.events import (
    LOSING,
    Admin,
    AnyEvent,
    Call,
    Callback,
    Event,
    Fault,
    MessageRef,
    Return,
    Seen,
    SessionEnded,
    Unit,
    Watch,
)
from assay_evidence.events.pairs import paired
from assay_evidence.oracle.moments import precedes
from assay_evidence.oracle.values import FOREVER, Consumer, FaultSpan, Send, Sighting, Span
from assay_evidence.subjects import DEFINE, SPECIAL

MQLIGHT = "mqlight"
"""The face of an MQ Light client."""
T = TypeVar("T")


class Story:
    """The events of one scenario of one run.

    Args:
        events: All events of the scenario, sorted by writer and then by sequence number.
    """

    def __init__(self, events: Sequence[AnyEvent]) -> None:
        self.events = events
        self._notes: dict[object, object] = {}

    def noted(self, key: Callable[[Story], T], compute: Callable[[], T]) -> T:
        """Return the result of a function for this scenario; computed once and then kept for all invariants.

        Args:
            key: The function.
            compute: Computes the function's result; called at the first call only.
        """
        if key not in self._notes:
            self._notes[key] = compute()
        return cast("T", self._notes[key])

    @cached_property
    def calls(self) -> list[tuple[Call, Return | None]]:
        """All calls, each with its return; None if the call did not return, or failed without an answer."""
        returned = [e for e in self.events if isinstance(e, Return) and not (e.refused and e.refused.failure)]
        answers = {(e.writer, e.call): e for e in returned}
        return [(e, answers.get((e.writer, e.id))) for e in self.events if isinstance(e, Call)]

    def accepted(self, *ops: str) -> list[tuple[Call, Return]]:
        """Return the calls of these operations that returned without a refusal."""
        return [(c, a) for c, a in self.calls if c.op in ops and a is not None and a.refused is None]

    @cached_property
    def sends(self) -> list[Send]:
        """All sends."""
        sent = [(call, answer) for call, answer in self.calls if call.op == "send" and call.msg is not None]
        times = Counter(call.msg.key for call, _ in sent if call.msg is not None)
        return [
            Send(
                call=call,
                key=call.msg.key,
                answer=answer,
                ending=self._ending(call),
                asked=self._asked(call),
                times=times[call.msg.key],
            )
            for call, answer in sent
            if call.msg is not None
        ]

    def lasting(self, scheme: str) -> Iterator[Send]:
        """Yield the confirmed sends to queues or topics, each of a message that never expires and was sent only once.

        Args:
            scheme: The kind of destination: ``queue://`` or ``topic://``.
        """
        for send in self.sends:
            if send.destination.startswith(scheme) and send.confirmed and send.ttl_ns == 0 and send.times == 1:
                yield send

    def _asked(self, call: Call) -> Call | None:
        commits = (
            one
            for one, _ in self.calls
            if one.op in ("commit", "xa-commit")
            and (one.writer, one.unit) == (call.writer, call.unit)
            and one.seq > call.seq
        )
        return min(commits, key=lambda one: one.seq, default=None) if call.unit is not None else None

    def _ending(self, call: Call) -> Unit | None:
        if call.unit is None:
            return None
        later = [
            event
            for event in self.events
            if isinstance(event, Unit)
            and event.unit == call.unit
            and event.writer == call.writer
            and event.seq > call.seq
            and event.op in ("begin", "commit", "rollback")
        ]
        return min(later, key=lambda event: event.seq, default=None)

    @cached_property
    def sightings(self) -> dict[str, list[Sighting]]:
        """All sightings, by the message's key."""
        found: dict[str, list[Sighting]] = defaultdict(list)
        for event in self.events:
            if isinstance(event, Seen):
                found[event.msg.key].append(Sighting(event, event.actor, look=False))
        sent_to = {(send.key, send.destination) for send in self.sends}
        for call, answer in self.accepted("browse"):
            for key in answer.keys:
                # A browse of another queue, such as a staging queue, is not a sighting at the destination.
                if (key, call.destination) in sent_to:
                    found[key].append(Sighting(answer, call.actor, look=True))
        return found

    def handed(self, key: str) -> list[Sighting]:
        """Return the sightings of a message by consumers, without browses."""
        return [sighting for sighting in self.sightings.get(key, []) if not sighting.look]

    def received(self, key: str, destination: str) -> list[MessageRef]:
        """Return a message as consumers received it from a destination: one entry for each reception."""
        return [
            event.msg
            for event in self.events
            if isinstance(event, Seen) and event.msg.key == key and event.destination == destination
        ]

    @cached_property
    def watches(self) -> list[Span]:
        """All watches that began and ended."""
        pairs = paired(event for event in self.events if isinstance(event, Watch))
        return [Span(begin, end, self._last(begin, end)) for begin, end in pairs if end is not None]

    def _last(self, begin: Watch, end: Watch) -> Seen | Callback | None:
        acts = [
            event
            for event in self.events
            if isinstance(event, (Seen, Callback))
            and event.writer == begin.writer
            and event.actor == begin.actor
            and begin.seq < event.seq < end.seq
        ]
        return acts[-1] if acts else None

    def watching(self, destination: str) -> list[Span]:
        """Return the watches of a destination."""
        return [span for span in self.watches if span.begin.destination == destination]

    @cached_property
    def faults(self) -> list[FaultSpan]:
        """All faults."""
        return [FaultSpan(*pair) for pair in paired(event for event in self.events if isinstance(event, Fault))]

    @cached_property
    def admins(self) -> list[Admin]:
        """All commands of administrators."""
        return [event for event in self.events if isinstance(event, Admin)]

    def withheld(self, send: Send) -> bool:
        """Return whether an administrator may have kept a message back.

        Every command of an administrator may have done this, except the definition of an object before the send.
        """
        return any(not act.command.startswith(DEFINE) or precedes(send.call, act) for act in self.admins)

    @cached_property
    def special(self) -> bool:
        """Whether a message might miss its queue, or go to a queue of the same name on another queue manager.

        The reason is an administrator's command (`SPECIAL`), or a connection to a second queue manager.
        """
        odd = any(part in act.command for act in self.admins for part in SPECIAL)
        return odd or any(call.op == "connect" and call.args.get("member") is not None for call, _ in self.calls)

    @cached_property
    def losses(self) -> list[tuple[Event, Event | None]]:
        """The begins and ends of all faults, and of all calls with which a client dropped its connection.

        An end is None if the fault is not over, or if the call did not return.
        """
        dropped: list[tuple[Event, Event | None]] = [(c, answer) for c, answer in self.calls if c.op == "abort"]
        return [*((fault.begin, fault.end) for fault in self.faults), *dropped]

    @cached_property
    def light(self) -> set[str]:
        """The actors with an MQ Light client.

        The broker may leave their sends unconfirmed, and the topic decides about the persistence of their messages.
        """
        return {
            call.actor
            for call, _ in self.calls
            if (call.op == "producer" and call.args.get("qos") is not None)
            or (call.op == "connect" and call.args.get("face") == MQLIGHT)
        }

    @cached_property
    def sure(self) -> set[str]:
        """The actors that send at least once with an MQ Light client, and never at most once."""
        made = [call for call, _ in self.calls if call.op == "producer"]
        once = {call.actor for call in made if call.args.get("qos") == "at-most-once"}
        return {call.actor for call in made if call.args.get("qos") == "at-least-once"} - once

    @cached_property
    def consumers(self) -> dict[str, Consumer]:
        """For each actor that made a call, by name, its properties as a consumer."""
        known: dict[str, Consumer] = {call.actor: Consumer() for call, _ in self.calls}
        for actor in known:
            made = [call for call, _ in self.accepted("consumer") if call.actor == actor]
            heard = {call.op for call, _ in self.accepted("listen", "listen-batch") if call.actor == actor}
            names = [str(call.args["name"]) for call in made if call.args.get("name") is not None]
            known[actor] = Consumer(
                consumes=bool(made),
                selects=any(_gets_some_only(call) for call in made),
                shared=any(call.args.get("shared") is True for call in made),
                subscription=min(names, default=None),
                listens=bool(heard),
                batches="listen-batch" in heard,
            )
        return known

    def consumer(self, actor: str) -> Consumer:
        """Return an actor's properties as a consumer; for an actor without calls, all are false."""
        return self.consumers.get(actor, Consumer())

    # silence ---------------------------------------------------------------------------------------------------------

    def is_conclusive(self, span: Span) -> bool:
        """Return whether silence at the end of a watch shows that the broker had no message for the consumer.

        The silence shows nothing in these cases:

        - The actor created no consumer.
        - The consumer selects messages, has a credit of its own, or uses batches.
        - The consumer's last callback still runs or has raised an exception.
        - Before the end of the watch, the process has stopped a connection, or the broker has ended a session of it.
        """
        who = self.consumer(span.begin.actor)
        working = who.listens and isinstance(span.last, Seen)
        raised = isinstance(span.last, Callback) and span.last.ended == "raised"
        stopped = self._stops.get(span.end.writer, FOREVER) < span.end.seq
        return who.consumes and not (who.selects or who.batches or working or raised or stopped)

    @cached_property
    def _stops(self) -> dict[str, int]:
        """The sequence number of each writer's first event after which some consumers may receive no message.

        The event is a call that stops a connection, or the end of a session by the broker.
        """
        first: dict[str, int] = {}
        for event in self.events:
            if isinstance(event, SessionEnded) or (isinstance(event, Call) and event.op == "stop-connection"):
                first.setdefault(event.writer, event.seq)
        return first

    def disturbed(self, send: Send, start: int, end: int) -> bool:
        """Return whether a fault overlaps a span of time.

        Args:
            send: The send; `start` and `end` are counted from its call.
            start: The start of the span, in nanoseconds since the send call.
            end: The end of the span, in nanoseconds since the send call.
        """
        return any(
            send.since(fault.begin) < end and (send.since(fault.end) if fault.end else FOREVER) > start
            for fault in self.faults
        )

    def unbroken(self, span: Span) -> bool:
        """Return whether a watch overlaps no fault that ends connections.

        A client may notice the loss of its connection late, so its silence near such a fault proves nothing.
        """
        return all(
            (fault.end is not None and precedes(fault.end, span.begin)) or precedes(span.end, fault.begin)
            for fault in self.faults
            if fault.begin.what in LOSING
        )

    def quiet(self, send: Send, span: Span, start: int, quiet_ns: int) -> bool:
        """Return whether a watch ends with a silence that shows that no message came.

        Args:
            send: The send; `start` is counted from its call.
            span: The watch.
            start: The time from which on the silence counts, in nanoseconds since the send call.
            quiet_ns: The shortest silence that suffices, in nanoseconds.
        """
        return self.silence(send, span, start) >= quiet_ns

    def silence(self, send: Send, span: Span, start: int) -> int:
        """Return the duration of the silence at the end of a watch, in nanoseconds.

        The result is 0 if the silence does not show that no message came.

        Args:
            send: The send; `start` is counted from its call.
            span: The watch.
            start: The time from which on the silence counts, in nanoseconds since the send call.
        """
        tail = max([send.since(span.begin), start] + ([send.since(span.last)] if span.last else []))
        end = send.since(span.end)
        return end - tail if self.is_conclusive(span) and end > tail and not self.disturbed(send, tail, end) else 0

    def came(self, destination: str) -> list[tuple[str, Event]]:
        """Return the actors that consume from a destination, each with its consumer's creation or its watch's begin."""
        made = [(call.actor, call) for call, _ in self.accepted("consumer") if call.destination == destination]
        begun = [
            (e.actor, e)
            for e in self.events
            if isinstance(e, Watch) and e.phase == "begin" and e.destination == destination
        ]
        return [*made, *begun]


def _gets_some_only(consumer: Call) -> bool:
    """Return whether a consumer may get only some messages: it selects them, or its credit may end."""
    asked = (consumer.args.get("selector"), consumer.args.get("credit"))
    return consumer.args.get("no_local") is True or any(value is not None for value in asked)


def stories(events: Iterable[AnyEvent]) -> dict[tuple[str, str], Story]:
    """Group events by run and scenario."""
    parted: dict[tuple[str, str], list[AnyEvent]] = defaultdict(list)
    for event in sorted(events, key=lambda event: (event.writer, event.seq)):
        parted[event.run, event.scenario or ""].append(event)
    return {key: Story(told) for key, told in sorted(parted.items())}
