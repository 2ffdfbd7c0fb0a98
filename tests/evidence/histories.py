"""Miniature histories: a scenario's evidence written by hand, with a clock that moves only when it is set.

    story = Story()
    send = story.send("m", delay_ms=500)
    with story.watching("receiver"):
        story.at(500).seen("m")
    finding = story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)

`Story` keeps its events in memory; over a `JournalWriter` it writes them to a file as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, Protocol, Self, TypeVar

from assay_evidence import events as ev
from assay_evidence.judge import judge_claim
from assay_evidence.verdicts import Finding
from assay_evidence.writer import Instant

NS_PER_MS = 1_000_000
EPOCH_NS = 1_700_000_000_000_000_000
QUEUE = "queue://Q"
RUN = "run-1"
E = TypeVar("E", bound=ev.Event)


class Sink(Protocol):
    """The journal that a story writes to: a `JournalWriter`, or `Memory`."""

    def write(self, kind: type[E], at: Instant, *, scenario: str | None = None, **fields: Any) -> E:
        """Write one event."""
        ...


class Memory:
    """A journal in memory."""

    def __init__(self, writer: str = "w", run: str = RUN) -> None:
        self.writer = writer
        self.run = run
        self.events: list[ev.AnyEvent] = []

    def write(self, kind: type[E], at: Instant, *, scenario: str | None = None, **fields: Any) -> E:
        """Keep one event."""
        event = kind(
            v=1,
            run=self.run,
            writer=self.writer,
            seq=len(self.events),
            boot=at.boot,
            mono_ns=at.mono_ns,
            wall_ns=at.wall_ns,
            unc_ns=at.unc_ns,
            scenario=scenario,
            **fields,
        )
        self.events.append(event)  # type: ignore[arg-type]  # E is one of the kinds of AnyEvent
        return event


def refusal(
    kind: str = "messaging",
    *,
    mqrc: int | None = None,
    checked: bool = False,
    text: str = "no",
    objects: tuple[str, ...] = (),
    failure: Literal["", "raised", "stalled"] = "",
) -> ev.RefusedInfo:
    """Return a refusal."""
    return ev.RefusedInfo(kind=kind, checked=checked, mqrc=mqrc, objects=objects, text=text, failure=failure)


def message(key: str, body: str | None = None, fields: dict[str, ev.Scalar] | None = None) -> ev.MessageRef:
    """Return a message whose body is its key, unless another is given."""
    octets = (key if body is None else body).encode()
    return ev.MessageRef(key=key, sha256=hashlib.sha256(octets).hexdigest(), bytes=len(octets), fields=fields or {})


def begin(sink: Sink, *, ours: tuple[str, ...] = ("client", "broker"), backend: str = "reference") -> ev.Begin:
    """Write the first record of a journal, and return it."""
    return sink.write(
        ev.Begin,
        Instant("virtual:1", 0, EPOCH_NS, 0),
        backend=backend,
        client="assay 1 (classic)",
        ours=ours,
        environment={"python": "3"},
        catalogue_hash="0" * 64,
        seed=1,
    )


def plan(sink: Sink, *scenarios: ev.PlannedScenario) -> ev.Plan:
    """Write the controller's plan, and return it."""
    return sink.write(ev.Plan, Instant("virtual:1", 0, EPOCH_NS, 0), scenarios=scenarios)


def planned(name: str, *rules: str, strength: str = "must", judged: str = "broker") -> ev.PlannedScenario:
    """Return a scenario of the plan."""
    return ev.PlannedScenario(id=name, rules=rules or ("DD-02",), strength=strength, judged=judged)


class Story:
    """One scenario's evidence.  A method that writes an event returns this event.

    Args:
        sink: The journal for the events; by default a journal in memory.
        scenario: The scenario's id.
        rule: The rule that the claims are about.
        boot: The id of the clock from which the events have their times.
        unc_ns: The clock's uncertainty in nanoseconds; it may change during the story.
        wall_ns: The wall clock's reading at the story's start in nanoseconds; it may change, too.
    """

    def __init__(
        self,
        sink: Sink | None = None,
        scenario: str = "delay/basics.feature::it",
        *,
        rule: str = "DD-02",
        boot: str = "virtual:1",
        unc_ns: int = 0,
        wall_ns: int = EPOCH_NS,
    ) -> None:
        self.sink = sink or Memory()
        self.scenario = scenario
        self.rule = rule
        self.boot = boot
        self.unc_ns = unc_ns
        self.wall_ns = wall_ns
        self.now_ns = 0
        self.events: list[ev.AnyEvent] = []
        self.others: list[Story] = []
        self._count = 0

    def at(self, ms: int, ns: int = 0) -> Self:
        """Set the clock to a number of milliseconds (and nanoseconds) after the story's start."""
        self.now_ns = ms * NS_PER_MS + ns
        return self

    def tell(self, kind: type[E], **fields: Any) -> E:
        """Write an event at the current time."""
        instant = Instant(self.boot, self.now_ns, self.wall_ns + self.now_ns, self.unc_ns)
        event = self.sink.write(kind, instant, scenario=self.scenario, **fields)
        self.events.append(event)  # type: ignore[arg-type]  # E is one of the kinds of AnyEvent
        return event

    def name(self, what: str) -> str:
        """Return a name with the story's prefix."""
        self._count += 1
        return f"{self.scenario}#{what}{self._count}"

    def starts(self, *, strength: str = "must", judged: str = "broker", client: str = "") -> ev.ScenarioBegin:
        """Write the begin of the scenario."""
        return self.tell(ev.ScenarioBegin, rules=(self.rule,), judged=judged, strength=strength, client=client)

    def ends(self, late_ns: int | None = None, longest_ns: int | None = None) -> ev.ScenarioEnd:
        """Write the end of the scenario."""
        times = {"elapsed_ns": 2_000_000_000, "waited_ns": 500_000_000}
        return self.tell(ev.ScenarioEnd, **times, late_ns=late_ns, longest_ns=longest_ns)

    def step(self, outcome: Literal["done", "refused", "broken"] = "done", detail: str = "") -> ev.Step:
        """Write an event of a step that has run."""
        return self.tell(ev.Step, keyword="When", text="something happens", outcome=outcome, detail=detail)

    def then(self, *claims: str, outcome: Literal["done", "refused", "broken"] = "done") -> ev.Step:
        """Write an event of a Then-step that made these claims."""
        return self.tell(ev.Step, keyword="And", text="so it is", outcome=outcome, type="then", claims=claims)

    def call(self, op: str = "set", actor: str = "sender", **fields: Any) -> ev.Call:
        """Write an event of a call's start."""
        return self.tell(ev.Call, id=self.name("call"), actor=actor, op=op, **fields)

    def answer(self, call: ev.Call, refused: ev.RefusedInfo | None = None, **fields: Any) -> ev.Return:
        """Write an event of a call's return."""
        return self.tell(ev.Return, call=call.id, refused=refused, **fields)

    def asks(self, op: str = "set", refused: ev.RefusedInfo | None = None, **fields: Any) -> ev.Call:
        """Write a call that returns at once."""
        call = self.call(op)
        self.answer(call, refused, **fields)
        return call

    def send(
        self,
        key: str = "m",
        *,
        delay_ms: int = 0,
        took_ms: int = 0,
        refused: ev.RefusedInfo | None = None,
        to: str = QUEUE,
        unit: str | None = None,
    ) -> ev.Call:
        """Write a call of a send that returns."""
        call = self.call("send", destination=to, msg=message(key), args={"delay_ms": delay_ms}, unit=unit)
        self.now_ns += took_ms * NS_PER_MS
        self.answer(call, refused)
        return call

    def seen(
        self,
        key: str = "m",
        actor: str = "receiver",
        *,
        count: int = 1,
        redelivered: bool = False,
        batch: int | None = None,
        body: str | None = None,
        fields: dict[str, ev.Scalar] | None = None,
        of: str = QUEUE,
    ) -> ev.Seen:
        """Write the sighting of a message by an actor."""
        return self.tell(
            ev.Seen,
            actor=actor,
            link=f"{actor}/1",
            destination=of,
            msg=message(key, body, fields),
            count=count,
            redelivered=redelivered,
            batch=batch,
        )

    def browse(self, *keys: str, actor: str = "browser", of: str = QUEUE) -> ev.Call:
        """Write a call of a browse that lists these messages."""
        call = self.call("browse", actor, destination=of)
        self.answer(call, keys=keys)
        return call

    def watch(self, actor: str = "receiver", of: str = QUEUE) -> ev.Watch:
        """Write the begin of an actor's watch."""
        return self.tell(ev.Watch, id=self.name("watch"), actor=actor, destination=of, phase="begin")

    def unwatch(self, watch: ev.Watch) -> ev.Watch:
        """Write the end of a watch."""
        return self.tell(ev.Watch, id=watch.id, actor=watch.actor, destination=watch.destination, phase="end")

    @contextmanager
    def watching(self, actor: str = "receiver", of: str = QUEUE) -> Iterator[ev.Watch]:
        """Provide a watch that lasts for the block."""
        watch = self.watch(actor, of)
        yield watch
        self.unwatch(watch)

    def fault(self, phase: Literal["begin", "end"], name: str = "kill") -> ev.Fault:
        """Write the begin or end of a fault."""
        return self.tell(ev.Fault, id=name, what="kill", target="broker", phase=phase)

    def disk(self, op: Literal["write", "flush", "drop"], *keys: str) -> ev.Disk:
        """Write the event of a disk operation."""
        return self.tell(ev.Disk, source="simulated disk", op=op, keys=keys)

    def claim(self, predicate: ev.Predicate, of: dict[str, str], **bounds: int) -> ev.Claim:
        """Write a claim of a Then-step."""
        return self.tell(ev.Claim, rule=self.rule, predicate=predicate, of=of, bounds=bounds, text="so it is")

    def finds(self, predicate: ev.Predicate, of: dict[str, str], *others: Story, **bounds: int) -> Finding:
        """Write a claim of a Then-step, decide it from the events so far, and return the finding.

        Args:
            predicate: The predicate.
            of: The claim's references.
            others: The stories of other writers about the same scenario.
            bounds: The claim's bounds.
        """
        self.others += others
        return judge_claim(self.claim(predicate, of, **bounds), self.everything())

    def everything(self) -> list[ev.AnyEvent]:
        """Return the events of all writers from which claims were decided."""
        return [event for story in (self, *self.others) for event in story.events]
