"""Excerpts of the journal: the events of a scenario as readable lines."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, structs

from assay_evidence.events import (
    Admin,
    AnyEvent,
    Call,
    Claim,
    Event,
    Fault,
    Frame,
    Inspected,
    Log,
    MessageRef,
    Past,
    RefusedInfo,
    Return,
    Scalar,
    ScenarioEnd,
    Seen,
    SessionEnded,
    Settle,
    Step,
    Unsupported,
    Watch,
    Wire,
)
from assay_evidence.figures import counted, duration
from assay_evidence.names import plain
from assay_reports.clock import ScenarioClock

_ENVELOPE = frozenset(Event.__struct_fields__)
_SHOWN_APART = Frame | Wire | Inspected | Log | Past
LINES = 400
"""The largest number of lines in head and tail of an excerpt together; other lines between them are left out."""


class Line(Struct, frozen=True):
    """One line of an excerpt.

    Args:
        at: The time since the scenario's first event, as text.
        ref: The event's reference, ``writer:seq``.
        kind: The event's kind.
        text: The event in words.
        breaks: Whether the event breaks the rule.
    """

    at: str
    ref: str
    kind: str
    text: str
    breaks: bool = False


class Excerpt(Struct, frozen=True):
    """The lines of an excerpt.

    Args:
        head: The first lines.
        left_out: The number of lines that are left out between head and tail.
        kept: The lines between head and tail that break the rule.
        tail: The last lines.
    """

    head: tuple[Line, ...]
    left_out: int = 0
    kept: tuple[Line, ...] = ()
    tail: tuple[Line, ...] = ()

    @property
    def lines(self) -> int:
        """The number of lines, including the lines that are left out."""
        return len(self.head) + self.left_out + len(self.kept) + len(self.tail)


def excerpt(events: Sequence[AnyEvent], limit: int = LINES, offenders: Collection[str] = ()) -> Excerpt:
    """Make the excerpt of a scenario's events in the order of time, without those that the page shows elsewhere.

    Left out are wire frames, the broker's log and past, and inspections of its objects.

    Args:
        events: The scenario's events.
        limit: The largest number of lines in head and tail together, and the largest number of kept lines.
        offenders: References of the events that break the rule; lines between head and tail are kept for them.
    """
    scenario = next((event.scenario for event in events if event.scenario), "")
    clock = ScenarioClock(events)
    # Sorting is stable, so events of one writer at one instant (virtual time) keep the order of `seq`.
    shown = sorted((event for event in events if not isinstance(event, _SHOWN_APART)), key=clock.at_ns)

    def lines(those: Sequence[AnyEvent]) -> tuple[Line, ...]:
        return tuple(
            Line(
                duration(clock.at_ns(event)),
                event.ref,
                kind(event),
                plain(describe(event), scenario),
                event.ref in offenders,
            )
            for event in those
        )

    if len(shown) <= limit:
        return Excerpt(lines(shown))
    half = limit // 2
    middle = shown[limit - half : len(shown) - half]
    kept = [event for event in middle if event.ref in offenders][:limit]
    head, tail = shown[: limit - half], shown[len(shown) - half :]
    return Excerpt(lines(head), len(middle) - len(kept), lines(kept), lines(tail))


def kind(event: AnyEvent) -> str:
    """Return the name that the journal uses for the kind of an event."""
    return str(event.__struct_config__.tag)


def describe(event: AnyEvent) -> str:  # noqa: C901, PLR0911 - a table with one row for each kind
    """Describe an event in one line."""
    match event:
        case Call(actor=actor, op=op, args=args, destination=destination, unit=unit, msg=msg):
            return _join(f"{actor} {op}", destination, _message(msg), _pairs(args), unit and f"in {unit}")
        case Return(call=call, refused=refused, value=value, msg=msg, keys=keys):
            outcome = "accepted" if refused is None else refusal(refused)
            return _join(f"{call}: {outcome}", _message(msg), _pairs(value), keys and f"listed {', '.join(keys)}")
        case Seen():
            return _seen(event)
        case Settle(actor=actor, msg=msg, outcome=outcome, unit=unit):
            return _join(f"{actor} settles {msg.key}: {outcome}", unit and f"in {unit}")
        case Step(keyword=keyword, text=text, outcome=outcome, detail=detail):
            return _join(f"{keyword} {text}", outcome if outcome != "done" else "", detail)
        case Claim(rule=rule, predicate=predicate, of=of, bounds=bounds):
            return _join(f"{rule} {predicate}", _pairs(of), _pairs(bounds))
        case SessionEnded(actor=actor, refused=refused):
            return f"the broker ended a session of {actor}: {error_of(refused)}"
        case Admin(command=command, answer=answer):
            return _join(command, administered(answer))
        case Fault(what=what, target=target, phase=phase) | Watch(actor=what, destination=target, phase=phase):
            return f"{phase} {what} on {target}"
        case ScenarioEnd(elapsed_ns=elapsed_ns, waited_ns=waited_ns, late_ns=late_ns):
            late = "" if late_ns is None else f"the harness was {duration(late_ns)} late"
            return _join(f"took {duration(elapsed_ns)}, waited {duration(waited_ns)}", late)
        case Unsupported(capability=capability, reason=reason, source=source):
            return _join(f"{capability}: {reason}", source)
        case _:
            return _pairs({name: value for name, value in structs.asdict(event).items() if name not in _ENVELOPE})


def _seen(event: Seen) -> str:
    marks = [f"count {event.count}"] if event.count else []
    if event.redelivered:
        marks.append("redelivered")
    if event.batch is not None:
        marks.append(f"batch {event.batch}")
    return _join(f"{event.actor} sees {_message(event.msg)}", event.destination, " ".join(marks))


def _message(msg: MessageRef | None) -> str:
    return f"{msg.key} ({counted(msg.bytes, 'byte')})" if msg else ""


def refusal(refused: RefusedInfo) -> str:
    """Return a refusal in words."""
    return f"refused {error_of(refused)}"


def administered(answer: Mapping[str, Scalar]) -> str:
    """Return the answer to an administrator's command in words: its values, or that the broker accepted or refused it.

    The result is empty if the journal has no answer, as in an imported log.
    """
    if answer.get("refused"):
        mqrc, objects = answer.get("mqrc"), str(answer.get("objects") or "")
        return refusal(
            RefusedInfo(
                kind=str(answer.get("kind") or ""),
                checked=False,
                text=str(answer.get("text") or ""),
                mqrc=mqrc if isinstance(mqrc, int) else None,
                objects=tuple(filter(None, objects.split("|"))),
            )
        )
    values = ", ".join(f"{name} {value}" for name, value in answer.items() if name != "refused")
    return values or ("accepted" if answer else "")


def error_of(refused: RefusedInfo) -> str:
    """Return an error of the broker in words, without the word "refused"."""
    return f"({_reason(refused)}) {refused.text}".strip()


def _reason(refused: RefusedInfo) -> str:
    reason = f"MQRC {refused.mqrc}" if refused.mqrc is not None else ""
    return ", ".join(part for part in (refused.kind, reason, *refused.objects) if part)


def _pairs(values: Mapping[str, object]) -> str:
    return " ".join(f"{name}={_value(value)}" for name, value in values.items())


def _value(value: object) -> str:
    return ", ".join(str(one) for one in value) if isinstance(value, tuple) else str(value)


def _join(*parts: str | bool | tuple[str, ...] | None) -> str:
    return " · ".join(part for part in parts if isinstance(part, str) and part)
