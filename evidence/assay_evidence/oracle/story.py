"""One scenario as the oracle sees it: sends, sightings, watches and faults, each with the events it is made of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

from msgspec import Struct

from assay_evidence.events import Admin, AnyEvent, Call, Callback, Event, Fault, Return, Seen, Unit, Watch
from assay_evidence.oracle.moments import NS_PER_MS, elapsed

FOREVER = 2**62


class Send(Struct, frozen=True, kw_only=True):
    """A message sent.

    Args:
        call: The send's call.
        answer: Its return, where it came back.
        confirmed: The event from which the broker answers for the message: the return, or its unit's commit.
        times: How often a message of this kid was sent.
    """

    call: Call
    kid: str
    answer: Return | None
    confirmed: Event | None
    times: int

    @property
    def accepted(self) -> bool:
        """Whether it came back without refusal."""
        return self.answer is not None and self.answer.refused is None

    @property
    def refused(self) -> bool:
        """Whether it came back with one."""
        return self.answer is not None and self.answer.refused is not None

    @property
    def destination(self) -> str:
        """Where it was sent."""
        return self.call.destination or ""

    @property
    def persistent(self) -> bool:
        """Whether it was sent persistent."""
        return self.call.args.get("mode") == "persistent"

    @property
    def delay_ns(self) -> int:
        """Its delay."""
        return _number(self.call, "delay_ms") * NS_PER_MS

    @property
    def ttl_ns(self) -> int:
        """Its time to live."""
        return _number(self.call, "ttl_ms") * NS_PER_MS

    def since(self, event: Event) -> int:
        """Nanoseconds from the start of the send call."""
        return elapsed(self.call, event)


def _number(call: Call, name: str) -> int:
    value = call.args.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


class Sighting(Struct, frozen=True):
    """A message handed over, or listed by a browse (``look``)."""

    at: Event
    actor: str
    look: bool


class Span(Struct, frozen=True):
    """A watch that began and ended, with the consumer's last activity in it."""

    begin: Watch
    end: Watch
    last: Seen | Callback | None


class Trouble(Struct, frozen=True):
    """A fault, and its end where it is over."""

    begin: Fault
    end: Fault | None


class Consumer(Struct, frozen=True):
    """What an actor is, from its accepted calls."""

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
        times = Counter(call.msg.kid for call, _ in sent if call.msg is not None)
        return [
            Send(
                call=call,
                kid=call.msg.kid,
                answer=answer,
                confirmed=self._confirmed(call, answer),
                times=times[call.msg.kid],
            )
            for call, answer in sent
            if call.msg is not None
        ]

    def _confirmed(self, call: Call, answer: Return | None) -> Event | None:
        if answer is None or answer.refused is not None:
            return None
        if call.unit is None:
            return answer
        later = [
            event
            for event in self.events
            if isinstance(event, Unit)
            and event.unit == call.unit
            and event.writer == call.writer
            and event.seq > call.seq
            and event.op in ("begin", "commit", "rollback")
        ]
        ending = min(later, key=lambda event: event.seq, default=None)
        return ending if ending is not None and ending.op == "commit" else None

    @cached_property
    def sightings(self) -> dict[str, list[Sighting]]:
        """Every sighting, by kid."""
        found: dict[str, list[Sighting]] = defaultdict(list)
        for event in self.events:
            if isinstance(event, Seen):
                found[event.msg.kid].append(Sighting(event, event.actor, look=False))
        sent_to = {(send.kid, send.destination) for send in self.sends}
        for call, answer in self.accepted("browse"):
            for kid in answer.kids:
                # An administrator may well find a message elsewhere, as on a staging queue.
                if (kid, call.destination) in sent_to:
                    found[kid].append(Sighting(answer, call.actor, look=True))
        return found

    def handed(self, kid: str) -> list[Sighting]:
        """The sightings of a message that were no looks."""
        return [sighting for sighting in self.sightings.get(kid, []) if not sighting.look]

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
    def faults(self) -> list[Trouble]:
        """Every fault."""
        ends = {e.id: e for e in self.events if isinstance(e, Fault) and e.phase == "end"}
        return [Trouble(e, ends.get(e.id)) for e in self.events if isinstance(e, Fault) and e.phase == "begin"]

    @cached_property
    def admins(self) -> list[Admin]:
        """What an administrator did."""
        return [event for event in self.events if isinstance(event, Admin)]

    @cached_property
    def consumers(self) -> dict[str, Consumer]:
        """Every actor that called, as a consumer."""
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
        """What an actor is; nothing, where it never called."""
        return self.consumers.get(actor, Consumer())

    # silence ---------------------------------------------------------------------------------------------------------

    def telling(self, span: Span) -> bool:
        """Whether silence in a watch says that there was nothing to hand over."""
        who = self.consumer(span.begin.actor)
        working = who.listens and isinstance(span.last, Seen)
        raised = isinstance(span.last, Callback) and span.last.ended == "raised"
        return who.consumes and not (who.selects or who.batches or working or raised)

    def disturbed(self, send: Send, start: int, end: int) -> bool:
        """Whether a fault lies in part between two times, in nanoseconds since the send call."""
        return any(
            send.since(fault.begin) < end and (send.since(fault.end) if fault.end else FOREVER) > start
            for fault in self.faults
        )

    def quiet(self, send: Send, span: Span, start: int, quiet_ns: int) -> bool:
        """Whether a watch has a tail, from a time on, in which nothing came and something could have come."""
        tail = max([send.since(span.begin), start] + ([send.since(span.last)] if span.last else []))
        end = send.since(span.end)
        return self.telling(span) and end - tail >= quiet_ns and not self.disturbed(send, tail, end)

    def came(self, destination: str) -> list[tuple[str, Event]]:
        """When consumers came to a destination, or began to watch it."""
        made = [(call.actor, call) for call, _ in self.accepted("consumer") if call.destination == destination]
        begun = [
            (e.actor, e)
            for e in self.events
            if isinstance(e, Watch) and e.phase == "begin" and e.destination == destination
        ]
        return [*made, *begun]


def stories(events: Iterable[AnyEvent]) -> dict[tuple[str, str], Story]:
    """Part events into stories, by run and scenario."""
    parted: dict[tuple[str, str], list[AnyEvent]] = defaultdict(list)
    for event in sorted(events, key=lambda event: (event.writer, event.seq)):
        parted[event.run, event.scenario or ""].append(event)
    return {key: Story(told) for key, told in sorted(parted.items())}
