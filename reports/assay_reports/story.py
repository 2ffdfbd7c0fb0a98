"""The story of a scenario: for each step, the sends, answers and sightings of each actor with their times.

The rule's page and `assay explain` show the same story.  It leaves out events that only prepare others, such as the
creation of a session that was not refused.  The excerpt of the journal (`assay_reports.excerpts`) shows these, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from assay_evidence.events import (
    FATAL,
    Admin,
    AnyEvent,
    Call,
    Callback,
    Claim,
    Disk,
    Event,
    Fault,
    Frame,
    Late,
    Return,
    Scalar,
    Seen,
    SessionEnded,
    Settle,
    Step,
    Unit,
    Watch,
    Wire,
)
from assay_evidence.figures import duration
from assay_evidence.names import plain
from assay_evidence.spans import NS_PER_MS
from assay_reports.calls import Calls
from assay_reports.clock import ScenarioClock
from assay_reports.excerpts import administered, describe, error_of, refusal
from assay_reports.moments import ahead_of, due_times

LINES = 80
"""The largest number of lines in a story, besides those around an event that breaks the rule."""
AROUND = 8
"""The number of lines that are kept on each side of an event that breaks the rule."""
FRAMES_BEFORE, FRAMES_AFTER = 8, 4
"""The numbers of kept frames before and after an event that breaks the rule."""
_BREACHES = 3
"""The largest number of rule-breaking events for which a story shows frames."""
_PREPARING = frozenset({"session", "producer", "temporary-queue", "start-connection"})
"""The calls that a story leaves out if they are accepted."""
_BY_DEFAULT: Mapping[str, Scalar] = {"priority": 4, "ttl_ms": 0, "delay_ms": 0, "checks": True, "on": True}
"""The arguments that a story leaves out if they have these values."""
_UNTOLD = {"session", "ack"}
"""The arguments that a story always leaves out."""
_WORDS = {
    "acknowledge": "acknowledges",
    "browse": "browses",
    "consumer": "attaches a consumer to",
    "connect": "connects",
    "listen": "sets a listener on",
    "listen-batch": "sets a batch listener on",
    "receive": "waits to receive from",
    "send": "sends",
}
_KINDS: Mapping[type[Event], str] = {Disk: "disk", Admin: "administrator", Late: "harness"}


class StoryLine(Struct, frozen=True):
    """One line of a story.

    Args:
        at: The time since the scenario's first event, as text.
        at_ns: This time in nanoseconds.
        who: The actor, the broker or another source of the event.
        text: The event in words.
        breaks: Whether the event breaks the rule.
        left_out: The number of lines before this one that are left out.
    """

    at: str
    at_ns: int
    who: str
    text: str
    breaks: bool = False
    left_out: int = 0


class Chapter(Struct, frozen=True):
    """A step of the scenario with its lines; the step is None for the events after the last step."""

    step: Step | None
    lines: tuple[StoryLine, ...]


class Story(Struct, frozen=True):
    """The story of a scenario.

    Args:
        chapters: The steps with their lines.
        breaks: The number of lines that break the rule.
    """

    chapters: tuple[Chapter, ...]
    breaks: int = 0


def story(events: Sequence[AnyEvent], offenders: Collection[str] = ()) -> Story:
    """Make the story of a scenario.

    Args:
        events: The scenario's events.
        offenders: References of the events that break the rule.
    """
    clock = ScenarioClock(events)
    # Sorting is stable, so events of one writer at one instant (virtual time) keep the order of `seq`.
    teller = _Teller(sorted(events, key=clock.at_ns), clock, frozenset(offenders))
    told = list(teller.lines())
    lines = _shortened([line for line, _ in told])
    kept = [(line, told[index][1]) for index, line in lines]
    chapters = [
        Chapter(step, tuple(line for line, its in kept if its is step))
        for step in (*(event for event in teller.events if isinstance(event, Step)), None)
    ]
    return Story(
        tuple(chapter for chapter in chapters if chapter.step or chapter.lines),
        sum(line.breaks for line, _ in kept),
    )


def _shortened(lines: Sequence[StoryLine]) -> Iterator[tuple[int, StoryLine]]:
    """Choose the lines to show.

    Of several equal lines in a row, the first and the last are enough.  If more than `LINES` lines remain, the story
    keeps the first ones (half of that number), the last ones (a quarter), and those around events that break the rule.
    """
    kept = [index for index in range(len(lines)) if not _is_between_equals(lines, index)]
    if len(kept) > LINES:
        breaking = [place for place, index in enumerate(kept) if lines[index].breaks][: LINES // 2]
        places = {*range(LINES // 2), *range(len(kept) - LINES // 4, len(kept))}
        for place in breaking:
            places |= set(range(max(0, place - AROUND), min(len(kept), place + AROUND + 1)))
        kept = [kept[place] for place in sorted(places)]
    before = -1
    for index in kept:
        line, left_out = lines[index], index - before - 1
        yield index, (StoryLine(line.at, line.at_ns, line.who, line.text, line.breaks, left_out) if left_out else line)
        before = index


def _is_between_equals(lines: Sequence[StoryLine], index: int) -> bool:
    """Return whether a line equals the lines before and after it, as in polling; False if the line breaks the rule."""
    if not 0 < index < len(lines) - 1 or lines[index].breaks:
        return False
    said = {(line.who, line.text) for line in lines[index - 1 : index + 2]}
    return len(said) == 1


def wires_near(events: Sequence[AnyEvent], clock: ScenarioClock, offenders: Collection[str]) -> frozenset[str]:
    """Return the references of the frames (`Wire`) just before and after the first events that break the rule.

    Args:
        events: The scenario's events, in the order of time.
        clock: The scenario's clock.
        offenders: References of the events that break the rule.
    """
    wires = [event for event in events if isinstance(event, Wire)]
    near: set[str] = set()
    for breach in [event for event in events if event.ref in offenders][:_BREACHES]:
        at_ns = clock.at_ns(breach)
        before = [wire.ref for wire in wires if clock.at_ns(wire) <= at_ns]
        after = [wire.ref for wire in wires if clock.at_ns(wire) > at_ns]
        near.update((*before[-FRAMES_BEFORE:], *after[:FRAMES_AFTER]))
    return frozenset(near)


class _Teller:
    """Makes the lines of a story.

    Args:
        events: The events, in the order of time.
        clock: The scenario's clock.
        offenders: References of the events that break the rule.
    """

    def __init__(self, events: Sequence[AnyEvent], clock: ScenarioClock, offenders: frozenset[str]) -> None:
        self.events = events
        self._clock = clock
        self._offenders = offenders
        self._scenario = next((event.scenario for event in events if event.scenario), "")
        self._calls = Calls(events)
        self._faults = {
            (event.writer, event.id): event for event in events if isinstance(event, Fault) and event.phase == "begin"
        }
        self._due_of = {due.key: due.at_ns for due in reversed(due_times(events, clock))}
        self._wires = wires_near(events, clock, offenders)
        self._merged = self._answered_at_once()

    def lines(self) -> Iterator[tuple[StoryLine, Step | None]]:
        """Yield the lines, each with its step; in the journal, a step's own event follows the step's other events."""
        waiting: list[StoryLine] = []
        for event in self.events:
            if isinstance(event, Step):
                yield from ((line, event) for line in waiting)
                waiting = []
            elif (line := self._line(event)) is not None:
                waiting.append(line)
        yield from ((line, None) for line in waiting)

    def _answered_at_once(self) -> frozenset[str]:
        """Return the references of the answers that share a line with their call, because no event came in between."""
        merged: set[str] = set()
        before: AnyEvent | None = None
        for event in self.events:
            if isinstance(event, Return) and isinstance(before, Call) and event.call == before.id:
                merged.add(event.ref)
            if self._is_told(event):
                before = event
        return frozenset(merged)

    def _is_told(self, event: AnyEvent) -> bool:
        """Return whether a story has a line for an event, by its kind or because it breaks the rule."""
        match event:
            case Disk(op="write") | Callback(ended="returned"):
                return event.ref in self._offenders
            case Call() | Return() | Seen() | Settle() | Unit() | Admin() | Fault() | Watch() | Late() | Disk():
                return True
            case Callback() | Frame() | SessionEnded():
                return True
            case Wire():
                return event.ref in self._wires
            case _:
                return event.ref in self._offenders and not isinstance(event, Claim)

    def _line(self, event: AnyEvent) -> StoryLine | None:
        if not self._is_told(event) or event.ref in self._merged:
            return None
        breaks = event.ref in self._offenders
        match event:
            case Call():
                answer = self._calls.answer(event)
                if answer is not None and answer.ref in self._merged:
                    breaks = breaks or answer.ref in self._offenders
                else:
                    answer = None
                if not breaks and event.op in _PREPARING and not self._is_refused(event):
                    return None
                who, text = event.actor, self._call(event, answer)
            case Return():
                call = self._calls.call(event)
                if not breaks and call is not None and call.op in _PREPARING and event.refused is None:
                    return None
                who, text = call.actor if call else "", f"{_verb(call)}: {self._answer(call, event)}"
            case Seen():
                who, text = event.actor, self._seen(event, breaks=breaks)
            case _:
                who, text = _who(event), self._other(event)
        at_ns = self._clock.at_ns(event)
        return StoryLine(duration(at_ns), at_ns, self._plain(who), self._plain(text), breaks)

    def _plain(self, text: str) -> str:
        return plain(text, self._scenario)

    def _is_refused(self, call: Call) -> bool:
        answer = self._calls.answer(call)
        return answer is None or answer.refused is not None

    def _call(self, call: Call, answer: Return | None) -> str:
        shown = [
            _argument(name, value)
            for name, value in call.args.items()
            if value is not None and value is not False and value != _BY_DEFAULT.get(name) and name not in _UNTOLD
        ]
        words = [
            _WORDS.get(call.op, f"calls {call.op}"),
            call.msg.key if call.msg else "",
            ("to " if call.op == "send" else "") + call.destination if call.destination else "",
            f"({', '.join(shown)})" if shown else "",
            f"in {call.unit}" if call.unit else "",
        ]
        told = " ".join(word for word in words if word)
        if answer is None:
            return told
        took = self._clock.at_ns(answer) - self._clock.at_ns(call)
        return f"{told}: {self._answer(call, answer)}{f' after {duration(took)}' if took else ''}"

    def _answer(self, call: Call | None, answer: Return) -> str:
        if answer.refused is not None:
            return refusal(answer.refused)
        op = call.op if call else ""
        if op == "browse":
            return self._found(answer.keys, answer)
        if op == "receive":
            key = answer.value.get("kid")
            return f"gets {key}" if key else "gets nothing"
        values = ", ".join(f"{name} {value}" for name, value in answer.value.items())
        return f"accepted{f' ({values})' if values else ''}"

    def _found(self, keys: Sequence[str], answer: Return) -> str:
        early = self._early(keys, answer) if answer.ref in self._offenders else ""
        return f"finds {', '.join(keys) or 'nothing'}{early}"

    def _seen(self, event: Seen, *, breaks: bool) -> str:
        marks = [f"delivery count {event.count}"] if event.count > 1 else []
        marks += ["redelivered"] if event.redelivered else []
        marks += [f"batch {event.batch}"] if event.batch is not None else []
        early = self._early([event.msg.key], event) if breaks else ""
        marked = f" ({', '.join(marks)})" if marks else ""
        return f"sees {event.msg.key}{marked} from {event.destination}{early}"

    def _early(self, keys: Sequence[str], event: AnyEvent) -> str:
        return ahead_of(self._due_of, [self._plain(key) for key in keys], self._clock.at_ns(event))

    def _other(self, event: AnyEvent) -> str:  # noqa: C901, PLR0911 - a table with one row for each kind
        match event:
            case Settle(msg=msg, outcome=outcome, unit=unit):
                return f"settles {msg.key}: {outcome}{f' in {unit}' if unit else ''}"
            case Unit(op=op, unit=unit):
                return f"{op} of {unit}"
            case SessionEnded(refused=refused):
                return f"loses a session, because the broker ended it with an error: {error_of(refused)}"
            case Fault():
                return self._fault(event)
            case Watch(destination=destination, phase=phase):
                return f"{'can' if phase == 'begin' else 'can no longer'} receive from {destination}"
            case Disk(op=op, keys=keys):
                return f"{op} {', '.join(keys)}".strip()
            case Frame(direction=direction, text=text):
                return f"{'received' if direction == 'in' else 'sent'} on the wire: {text}"
            case Wire(channel=channel, text=text):
                where = "" if channel is None else f", channel {channel}"
                return f"{'receives' if event.direction == 'in' else 'sends'} the frame{where}: {text}"
            case Late(late_ns=late_ns):
                return f"was {duration(late_ns)} late, because the machine was busy"
            case Admin(command=command, answer=answer):
                return ": ".join(filter(None, (command, administered(answer))))
            case _:
                return describe(event)

    def _fault(self, event: Fault) -> str:
        """Return a fault in words: its begin, or its duration. A kill lasts until the broker answers again."""
        what = event.what
        begin = self._faults.get((event.writer, event.id))
        if event.phase == "begin":
            return ", ".join(filter(None, (f"{what} strikes", event.moment)))
        if begin is None:
            return f"{what} is over"
        took = duration(self._clock.at_ns(event) - self._clock.at_ns(begin))
        return f"answers again, {took} after the {what}" if what in FATAL else f"{what} is over after {took}"


def _verb(call: Call | None) -> str:
    """Return the words for a call whose answer has a line of its own."""
    if call is None:
        return "the answer"
    return f"{call.op} {call.msg.key}" if call.msg else call.op


def _argument(name: str, value: Scalar) -> str:
    """Return an argument of a call in words, such as ``delay 2 s``."""
    word = name.removesuffix("_ms").replace("_", " ")
    if value is True:
        return word
    if name.endswith("_ms") and isinstance(value, int):
        return f"{word} {duration(value * NS_PER_MS)}"
    return f"{word} {value}"


def _who(event: AnyEvent) -> str:
    if isinstance(event, Fault):
        return event.target
    return str(getattr(event, "actor", "") or _KINDS.get(type(event), ""))
