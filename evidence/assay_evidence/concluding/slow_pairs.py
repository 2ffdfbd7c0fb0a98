"""Pairs that answer too slowly for the times of a scenario.

Many scenarios act during a *period*: the delay or the time to live of a message, or the time for which a subscription
lives without a consumer.  If the pair answers the calls in this period slowly, the period may end before the scenario's
next step.  For example, a subscriber comes back when its subscription has expired, or an administrator disables a queue
after the delayed message has been put to it.  A fail after such a period says nothing about the rule, with these
exceptions:

- The predicates `by` and `not-before` count from the send itself, so slow answers cannot cause a fail.
- At the end of a *life* (of a message or a subscription), messages vanish.  So the end of a life cannot cause a fail of
  `never-seen`.

A period is *too short* for the pair if the calls and commands that began in it waited for their answers for half of its
length or longer.  Waits of the scenario itself do not count, nor does the time of faults.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from assay_evidence.events import LEAVING, Admin, Call, Claim, Event, Fault, Predicate, Return
from assay_evidence.events.pairs import paired
from assay_evidence.figures import duration
from assay_evidence.spans import NS_PER_MS, Span, subtract, total

_SHARE = 0.5
"""A period is too short if answers took this share of it: many scenarios wait for half of a period before they act."""
_SHORTEST_MS = 250
"""A shorter period does not count: the scenarios that use one, such as a delay of 1 ms, do not act during it."""
_WAITS = frozenset({"receive"})
"""The calls that wait for a message; their durations do not show how fast the pair answers."""
_OWN_TIMES = frozenset[Predicate]({"by", "not-before"})


class Period(Struct, frozen=True):
    """A time during which a scenario acts.

    Args:
        what: The period in words.
        start: The start, in nanoseconds of the monotonic clock.
        end: The end, counted in the same way.
        answers_ns: The time for which the calls and commands that began in the period waited for their answers, in
            nanoseconds.
        is_life: Whether it is the life of a message or of a subscription, and not a delay.
    """

    what: str
    start: int
    end: int
    answers_ns: int = 0
    is_life: bool = False

    def __str__(self) -> str:
        """Describe the period and the answers."""
        return f"answers took {duration(self.answers_ns)} during {self.what} ({duration(self.end - self.start)})"


def too_short_for(claim: Claim, periods: Iterable[Period]) -> Period | None:
    """Return a period whose end may have caused a fail of a claim; None without one.

    Args:
        claim: The claim.
        periods: The periods of the claim's scenario that are too short for the pair.
    """
    if claim.predicate in _OWN_TIMES:
        return None
    counting = (one for one in periods if not (one.is_life and claim.predicate == "never-seen"))
    return next((one for one in counting if one.end <= claim.mono_ns), None)


def short_periods(trace: Sequence[Event]) -> tuple[Period, ...]:
    """Return the periods of a scenario that are too short for the pair, in order of their starts.

    Args:
        trace: The scenario's events, of one clock.
    """
    periods = tuple(_periods(trace))
    if not periods:
        return ()
    faults = paired(event for event in trace if isinstance(event, Fault))
    answers = subtract(_answers(trace), [(begin.mono_ns, end.mono_ns) for begin, end in faults if end is not None])
    measured = (
        replace(one, answers_ns=total(span for span in answers if one.start <= span[0] < one.end))
        for one in sorted(periods, key=lambda one: one.start)
    )
    return tuple(one for one in measured if one.answers_ns >= _SHARE * (one.end - one.start))


def _periods(trace: Iterable[Event]) -> Iterator[Period]:
    lifetimes: dict[str, int] = {}
    for event in trace:
        if not isinstance(event, Call):
            continue
        if event.op == "consumer":
            lifetimes[event.actor] = _ms(event, "ttl_ms")
        elif event.op in LEAVING:
            lasts_ms = lifetimes.get(event.actor, 0)
            yield from _period(f"the life of the subscription of {event.actor}", event, lasts_ms, is_life=True)
        elif event.op == "send":
            delay_ms, ttl_ms = _ms(event, "delay_ms"), _ms(event, "ttl_ms")
            key = event.msg.key if event.msg is not None else event.actor
            yield from _period(f"the delivery delay of {key}", event, delay_ms)
            yield from _period(f"the life of {key}", event, delay_ms + ttl_ms if ttl_ms else 0, is_life=True)


def _period(what: str, call: Call, span_ms: int, *, is_life: bool = False) -> Iterator[Period]:
    if span_ms >= _SHORTEST_MS:
        yield Period(what, call.mono_ns, call.mono_ns + span_ms * NS_PER_MS, is_life=is_life)


def _ms(call: Call, name: str) -> int:
    value = call.args.get(name)
    return value if isinstance(value, int) else 0


def _answers(trace: Iterable[Event]) -> list[Span]:
    """Return the times in which answered calls and commands waited for their answer."""
    begun: dict[tuple[str, str], Call] = {}
    found: list[Span] = []
    for event in trace:
        if isinstance(event, Call) and event.op not in _WAITS:
            begun[event.writer, event.id] = event
        elif isinstance(event, Return) and (call := begun.pop((event.writer, event.call), None)) is not None:
            found.append((call.mono_ns, event.mono_ns))
        elif isinstance(event, Admin) and event.took_ns:
            found.append((event.mono_ns - event.took_ns, event.mono_ns))
    return found
