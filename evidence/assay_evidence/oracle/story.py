"""A scenario for the oracle: its sends, sightings, watches and faults, each with its events."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from assay_evidence.events import Admin, AnyEvent, Call, Callback, Event, Fault, Return, Seen, Unit, Watch
from assay_evidence.oracle.moments import NS_PER_MS, elapsed, precedes
from assay_evidence.subjects import DEFINE

FOREVER = 2**62


class Send(Struct, frozen=True, kw_only=True):
    """A message sent.

    Args:
        call: The send's call.
        answer: Its return; None if it did not return.
        ending: The first event after it that ended its unit of work: a commit, a rollback, or the begin of another
            unit of the same name; None if there is none.
        times: How often a message with this key was sent.
    """

    call: Call
    key: str
    answer: Return | None
    ending: Unit | None
    times: int

    @property
    def accepted(self) -> bool:
        """Whether it returned without a refusal."""
        return self.answer is not None and self.answer.refused is None

    @property
    def refused(self) -> bool:
        """Whether it returned with a refusal."""
        return self.answer is not None and self.answer.refused is not None

    @property
    def confirmed(self) -> Event | None:
        """The event from which the broker is responsible for the message: its return, or its unit's commit."""
        if not self.accepted:
            return None
        if self.call.unit is None:
            return self.answer
        return self.ending if self.ending is not None and self.ending.op == "commit" else None

    @property
    def rolled_back(self) -> bool:
        """Whether its unit of work was rolled back."""
        return self.ending is not None and self.ending.op == "rollback"

    @property
    def destination(self) -> str:
        """The destination that it was sent to."""
        return self.call.destination or ""

    @property
    def persistent(self) -> bool:
        """Whether it was sent persistent."""
        return self.call.args.get("mode") == "persistent"

    @property
    def delay_ns(self) -> int:
        """Its delivery delay."""
        return _number(self.call, "delay_ms") * NS_PER_MS

    @property
    def ttl_ns(self) -> int:
        """Its time to live."""
        return _number(self.call, "ttl_ms") * NS_PER_MS

    @property
    def due(self) -> int:
        """The latest time at which a confirmed message becomes available, in nanoseconds since the send call."""
        assert self.answer is not None  # noqa: S101 - a confirmed send has both; this says so to the type checker
        assert self.confirmed is not None  # noqa: S101 - as above
        return max(self.since(self.confirmed), self.since(self.answer) + self.delay_ns)

    def since(self, event: Event) -> int:
        """Nanoseconds from the start of the send call to an event."""
        return elapsed(self.call, event)


def _number(call: Call, name: str) -> int:
    value = call.args.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


class Sighting(Struct, frozen=True):
    """A message that a consumer received or a browse listed (``look``)."""

    at: Event
    actor: str
    look: bool


class Span(Struct, frozen=True):
    """A watch that began and ended, with the consumer's last activity in it, if any."""

    begin: Watch
    end: Watch
    last: Seen | Callback | None


class FaultSpan(Struct, frozen=True):
    """A fault, and its end if it is over."""

    begin: Fault
    end: Fault | None


class Consumer(Struct, frozen=True):
    """The properties of an actor as a consumer, from its accepted calls."""

    consumes: bool = False
    selects: bool = False
    shared: bool = False
    subscription: str | None = None
    listens: bool = False
    batches: bool = False


class Story:
    """The events of one scenario of one run.

    Args:
        events: All of them, in the order of their writers.
    """

    def __init__(self, events: Sequence[AnyEvent]) -> None:
        self.events = events

    @cached_property
    def calls(self) -> list[tuple[Call, Return | None]]:
        """Every call with its return."""
        answers = {(e.writer, e.call): e for e in self.events if isinstance(e, Return)}
        return [(e, answers.get((e.writer, e.id))) for e in self.events if isinstance(e, Call)]

    def accepted(self, *ops: str) -> list[tuple[Call, Return]]:
        """The calls of some operations that were not refused."""
        return [(c, a) for c, a in self.calls if c.op in ops and a is not None and a.refused is None]

    @cached_property
    def sends(self) -> list[Send]:
        """Every message sent."""
        sent = [(call, answer) for call, answer in self.calls if call.op == "send" and call.msg is not None]
        times = Counter(call.msg.key for call, _ in sent if call.msg is not None)
        return [
            Send(
                call=call,
                key=call.msg.key,
                answer=answer,
                ending=self._ending(call),
                times=times[call.msg.key],
            )
            for call, answer in sent
            if call.msg is not None
        ]

    def lasting(self, scheme: str) -> Iterator[Send]:
        """The confirmed sends of messages that never expire and were sent once.

        Args:
            scheme: ``queue://`` or ``topic://``.
        """
        for send in self.sends:
            if send.destination.startswith(scheme) and send.confirmed and send.ttl_ns == 0 and send.times == 1:
                yield send

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
        """Every sighting, by key."""
        found: dict[str, list[Sighting]] = defaultdict(list)
        for event in self.events:
            if isinstance(event, Seen):
                found[event.msg.key].append(Sighting(event, event.actor, look=False))
        sent_to = {(send.key, send.destination) for send in self.sends}
        for call, answer in self.accepted("browse"):
            for key in answer.keys:
                # An administrator may find a message elsewhere, for example on a staging queue.
                if (key, call.destination) in sent_to:
                    found[key].append(Sighting(answer, call.actor, look=True))
        return found

    def handed(self, key: str) -> list[Sighting]:
        """The sightings of a message that were no looks."""
        return [sighting for sighting in self.sightings.get(key, []) if not sighting.look]

    @cached_property
    def watches(self) -> list[Span]:
        """Every watch that began and ended."""
        begun: dict[tuple[str, str], Watch] = {}
        spans = []
        for event in self.events:
            if not isinstance(event, Watch):
                continue
            if event.phase == "begin":
                begun[event.writer, event.id] = event
            elif (begin := begun.get((event.writer, event.id))) is not None:
                spans.append(Span(begin, event, self._last(begin, event)))
        return spans

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
        """The watches of a destination."""
        return [span for span in self.watches if span.begin.destination == destination]

    @cached_property
    def faults(self) -> list[FaultSpan]:
        """Every fault."""
        ends = {e.id: e for e in self.events if isinstance(e, Fault) and e.phase == "end"}
        return [FaultSpan(e, ends.get(e.id)) for e in self.events if isinstance(e, Fault) and e.phase == "begin"]

    @cached_property
    def admins(self) -> list[Admin]:
        """The commands of administrators."""
        return [event for event in self.events if isinstance(event, Admin)]

    def withheld(self, send: Send) -> bool:
        """Whether an administrator may have kept a message back: by any command but a definition before the send."""
        return any(not act.command.startswith(DEFINE) or precedes(send.call, act) for act in self.admins)

    @cached_property
    def consumers(self) -> dict[str, Consumer]:
        """Every actor that called, by name."""
        known: dict[str, Consumer] = {call.actor: Consumer() for call, _ in self.calls}
        for actor in known:
            made = [call for call, _ in self.accepted("consumer") if call.actor == actor]
            heard = {call.op for call, _ in self.accepted("listen", "listen-batch") if call.actor == actor}
            names = [str(call.args["name"]) for call in made if call.args.get("name") is not None]
            known[actor] = Consumer(
                consumes=bool(made),
                selects=any(c.args.get("selector") is not None or c.args.get("no_local") is True for c in made),
                shared=any(call.args.get("shared") is True for call in made),
                subscription=min(names, default=None),
                listens=bool(heard),
                batches="listen-batch" in heard,
            )
        return known

    def consumer(self, actor: str) -> Consumer:
        """An actor as a consumer; all false if it never called."""
        return self.consumers.get(actor, Consumer())

    # silence ---------------------------------------------------------------------------------------------------------

    def telling(self, span: Span) -> bool:
        """Whether silence in a watch shows that the broker had no message for the consumer."""
        who = self.consumer(span.begin.actor)
        working = who.listens and isinstance(span.last, Seen)
        raised = isinstance(span.last, Callback) and span.last.ended == "raised"
        return who.consumes and not (who.selects or who.batches or working or raised)

    def disturbed(self, send: Send, start: int, end: int) -> bool:
        """Whether a fault overlaps the time between two moments, in nanoseconds since the send call."""
        return any(
            send.since(fault.begin) < end and (send.since(fault.end) if fault.end else FOREVER) > start
            for fault in self.faults
        )

    def quiet(self, send: Send, span: Span, start: int, quiet_ns: int) -> bool:
        """Whether the end of a watch, from a time on, is long enough, quiet, and able to show a message."""
        tail = max([send.since(span.begin), start] + ([send.since(span.last)] if span.last else []))
        end = send.since(span.end)
        return self.telling(span) and end - tail >= quiet_ns and not self.disturbed(send, tail, end)

    def came(self, destination: str) -> list[tuple[str, Event]]:
        """The consumers that were created on a destination or began to watch it, each with that event."""
        made = [(call.actor, call) for call, _ in self.accepted("consumer") if call.destination == destination]
        begun = [
            (e.actor, e)
            for e in self.events
            if isinstance(e, Watch) and e.phase == "begin" and e.destination == destination
        ]
        return [*made, *begun]


def stories(events: Iterable[AnyEvent]) -> dict[tuple[str, str], Story]:
    """Group events by run and scenario."""
    parted: dict[tuple[str, str], list[AnyEvent]] = defaultdict(list)
    for event in sorted(events, key=lambda event: (event.writer, event.seq)):
        parted[event.run, event.scenario or ""].append(event)
    return {key: Story(told) for key, told in sorted(parted.items())}
