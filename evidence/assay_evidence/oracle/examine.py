"""The five invariants in plain Python: each walks through one scenario and yields what it examined."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from assay_evidence.events import AnyEvent, Call, Callback, Event, Seen
from assay_evidence.oracle.moments import NS_PER_MS, elapsed, precedes, unsure
from assay_evidence.oracle.story import Send, Sighting, Span, Story, Trouble, stories
from assay_evidence.oracle.subjects import LIMITS, Limits, Outcome, Subject

Examined = tuple[str, Outcome, int, Event]
"""Subject, outcome, figure, and the event that stands for it."""
FATAL = ("kill", "restart")
DEFINE = "DEFINE"


def early(story: Story, limits: Limits) -> Iterator[Examined]:
    """DD-02: no sighting before the send call's start plus the delay."""
    for send in story.sends:
        seen = story.sightings.get(send.kid, [])
        if send.delay_ns <= 0 or send.refused or send.times > 1 or not seen:
            continue
        leads = [(send.since(s.at) - send.delay_ns, unsure(send.call, s.at)) for s in seen]
        earliest = min(lead for lead, _ in leads)
        if any(lead < -blur for lead, blur in leads):
            yield send.kid, Outcome.BROKEN, earliest, send.call
        elif any(blur > 0 and lead <= 0 for lead, blur in leads):
            yield send.kid, Outcome.UNDECIDED, earliest, send.call
        elif _tried(story, send, limits):
            yield send.kid, Outcome.KEPT, earliest, send.call


def _tried(story: Story, send: Send, limits: Limits) -> bool:
    """Whether somebody could have seen the message early."""
    covered: dict[str, int] = defaultdict(int)
    for span in story.watching(send.destination):
        start, end = max(send.since(span.begin), 0), min(send.since(span.end), send.delay_ns)
        if end > start:
            spoilt = sum(
                max(0, min(end, send.since(f.end) if f.end else end) - max(start, send.since(f.begin)))
                for f in story.faults
            )
            covered[span.begin.actor] += end - start - spoilt
    looked = any(
        call.destination == send.destination and 0 <= send.since(answer) < send.delay_ns
        for call, answer in story.accepted("browse")
    )
    return looked or max(covered.values(), default=0) * 100 >= send.delay_ns * limits.watched_percent


def expiry(story: Story, limits: Limits) -> Iterator[Examined]:
    """DD-56: no copy first handed over after its expiry plus the stated limit."""
    for send in story.sends:
        if send.ttl_ns <= 0 or send.times > 1 or not send.accepted:
            continue
        handed = story.handed(send.kid)
        if handed:
            yield from _handed_late(story, send, handed, limits)
        elif _waited_in_vain(story, send, limits):
            yield send.kid, Outcome.KEPT, 0, send.call


def _handed_late(story: Story, send: Send, handed: list[Sighting], limits: Limits) -> Iterator[Examined]:
    assert send.answer is not None  # noqa: S101 - an accepted send has a return; this says so to the type checker
    copies: dict[str, list[Event]] = defaultdict(list)
    for sighting in handed:
        holder = story.consumer(sighting.actor).subscription or sighting.actor
        copies[f"{send.kid}>{holder}" if send.destination.startswith("topic://") else send.kid].append(sighting.at)
    limit = limits.expiry_ms * NS_PER_MS
    for copy, seen in copies.items():
        late, blur = min((elapsed(send.answer, at) - send.ttl_ns, unsure(send.answer, at)) for at in seen)
        if late - blur > limit:
            yield copy, Outcome.BROKEN, late, send.call
        elif late + blur > limit:
            yield copy, Outcome.UNDECIDED, late, send.call


def _waited_in_vain(story: Story, send: Send, limits: Limits) -> bool:
    if not send.destination.startswith("queue://") or send.confirmed is None or send.answer is None:
        return False
    if not send.persistent and any(precedes(send.call, fault.begin) for fault in story.faults):
        return False
    over = send.since(send.answer) + send.ttl_ns
    return any(
        (send.since(span.begin) >= over or send.delay_ns >= send.ttl_ns)
        and story.quiet(send, span, over + limits.expiry_ms * NS_PER_MS, limits.quiet_ms * NS_PER_MS)
        for span in story.watching(send.destination)
    )


def _due(send: Send) -> int:
    """When a confirmed message can first be had, at the latest, in nanoseconds since its send call."""
    assert send.answer is not None  # noqa: S101 - a confirmed send has both; this says so to the type checker
    assert send.confirmed is not None  # noqa: S101 - as above
    return max(send.since(send.confirmed), send.since(send.answer) + send.delay_ns)


def _lasting(story: Story, scheme: str) -> Iterator[Send]:
    for send in story.sends:
        if send.destination.startswith(scheme) and send.confirmed and send.ttl_ns == 0 and send.times == 1:
            yield send


def copies(story: Story, limits: Limits) -> Iterator[Examined]:
    """PD-11: every subscription open through the send has its copy."""
    for send in _lasting(story, "topic://"):
        open_for: dict[str, list[Span]] = defaultdict(list)
        for span in story.watching(send.destination):
            if (
                span.begin.actor in story.consumers
                and precedes(span.begin, send.call)
                and precedes(send.call, span.end)
            ):
                open_for[_holder(story, span.begin.actor)].append(span)
        for holder, spans in open_for.items():
            seen = [
                s for s in story.handed(send.kid) if s.actor in story.consumers and _holder(story, s.actor) == holder
            ]
            if seen:
                yield f"{send.kid}>{holder}", Outcome.KEPT, len(seen), send.call
            elif any(_missed(story, send, span, limits) for span in spans):
                yield f"{send.kid}>{holder}", Outcome.BROKEN, 0, send.call


def _holder(story: Story, actor: str) -> str:
    who = story.consumer(actor)
    return who.subscription if who.shared and who.subscription is not None else actor


def _missed(story: Story, send: Send, span: Span, limits: Limits) -> bool:
    who = story.consumer(span.begin.actor)
    return (
        not (who.shared and who.subscription is not None)
        and not _withheld(story, send)
        and not story.disturbed(send, send.since(span.begin), send.since(span.end))
        and story.quiet(send, span, _due(send), limits.quiet_ms * NS_PER_MS)
    )


def losses(story: Story, limits: Limits) -> Iterator[Examined]:
    """PD-20: no persistent message on a queue is lost by a kill or a restart."""
    for send in _lasting(story, "queue://"):
        fatal = [f for f in story.faults if f.begin.what in FATAL and precedes(send.call, f.begin)]
        if not send.persistent or not fatal:
            continue
        seen = story.sightings.get(send.kid, [])
        outlived = sum(any(_after(fault, sighting.at) for fault in fatal) for sighting in seen)
        if outlived:
            yield send.kid, Outcome.KEPT, outlived, send.call
        elif not seen and _drained(story, send, fatal, limits):
            yield send.kid, Outcome.BROKEN, 0, send.call


def _after(fault: Trouble, at: Event) -> bool:
    by_count = fault.end is not None and precedes(fault.end, at)
    return by_count or elapsed(fault.begin, at) > unsure(fault.begin, at)


def _drained(story: Story, send: Send, fatal: list[Trouble], limits: Limits) -> bool:
    ends = [fault.end for fault in fatal if fault.end is not None]
    if len(ends) < len(fatal) or _withheld(story, send):
        return False
    start = max(*(send.since(end) for end in ends), _due(send))
    quiet = {
        span.begin.actor
        for span in story.watching(send.destination)
        if story.quiet(send, span, start, limits.quiet_ms * NS_PER_MS)
    }
    came = {actor for actor, at in story.came(send.destination) if all(precedes(end, at) for end in ends)}
    return bool(quiet) and came <= quiet


def _withheld(story: Story, send: Send) -> bool:
    """Whether an administrator may have kept a message back: all acts count but definitions before the send."""
    return any(not act.command.startswith(DEFINE) or precedes(send.call, act) for act in story.admins)


def batches(story: Story, limits: Limits) -> Iterator[Examined]:  # noqa: ARG001 - every invariant has one shape
    """BT-04: no batch is empty or larger than its size.

    A batch's number may come again, after a new listener or on a new link; so batches are told apart by their link and
    by their turn on it, which ends with a callback.
    """
    sizes: dict[tuple[str, str], int] = {}
    turns: dict[tuple[str, str], int] = defaultdict(int)
    counts: dict[tuple[str, str, int, int], int] = defaultdict(int)
    firsts: dict[tuple[str, str, int, int], tuple[Event, int]] = {}
    listened = {id(call) for call, _ in story.accepted("listen-batch") if call.args.get("on", True) is True}
    for event in story.events:
        if isinstance(event, Call) and id(event) in listened:
            size = event.args.get("size")
            if isinstance(size, int):
                sizes[event.writer, event.actor] = size
        if isinstance(event, (Seen, Callback)) and event.batch is not None:
            link = (event.writer, event.link)
            key = (*link, turns[link], event.batch)
            counts[key] += isinstance(event, Seen)
            turns[link] += isinstance(event, Callback)
            if (event.writer, event.actor) in sizes:
                firsts.setdefault(key, (event, sizes[event.writer, event.actor]))
    for key, (first, size) in firsts.items():
        _, link_name, turn, batch = key
        fits = 1 <= counts[key] <= size
        yield f"{link_name}/{turn}/{batch}", Outcome.KEPT if fits else Outcome.BROKEN, counts[key], first


INVARIANTS: Mapping[str, Callable[[Story, Limits], Iterator[Examined]]] = {
    "DD-02": early,
    "DD-56": expiry,
    "PD-11": copies,
    "PD-20": losses,
    "BT-04": batches,
}
"""Rule id → invariant, in the catalogue's order."""


def examine(events: Iterable[AnyEvent], limits: Limits = LIMITS) -> tuple[Subject, ...]:
    """Examine the events of whole journals.

    Args:
        events: The events of any number of runs, in any order.
        limits: The limits in force.

    Returns:
        The subjects of every rule, sorted.
    """
    return tuple(
        sorted(
            Subject(rule, run, scenario, subject, outcome, figure, at.ref)
            for (run, scenario), story in stories(events).items()
            for rule, invariant in INVARIANTS.items()
            for subject, outcome, figure, at in invariant(story, limits)
        )
    )
