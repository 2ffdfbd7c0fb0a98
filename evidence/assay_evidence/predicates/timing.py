"""Predicates about the moment of a delivery: not-before, by.

A delivery is a sighting, or a look: a browse that lists the message, at the time of its answer.  If the harness noted a
delivery late, the delivery may have happened earlier (`Axis.earliest`).  So a delivery that was noted
late proves neither that the message came late, nor that it kept its delay.
"""

from __future__ import annotations

from msgspec import Struct

from assay_evidence.errors import ClaimError
from assay_evidence.events import Call, Claim, Event
from assay_evidence.figures import counted, duration
from assay_evidence.history import Distance, History, distance
from assay_evidence.predicates.claims import Saying, actors_of, key_of, number, reference
from assay_evidence.spans import NS_PER_MS, clip, subtract, total
from assay_evidence.verdicts import Finding
from assay_evidence.watching import Axis, watchers_of

DEFAULT_WATCHED_PERCENT = 50
PERCENT = 100
TOO_EARLY = "The message could be received or browsed too early."


class Availability(Struct, frozen=True):
    """A sighting or a browse, which proves that a message was available.

    Args:
        event: The sighting, or the answer to a browse.
        who: The actor, for texts.
        asked: The call of the browse, before which the browse cannot have listed the message; None for a sighting.
    """

    event: Event
    who: str
    asked: Event | None = None

    def earliest(self, axis: Axis) -> int:
        """Return the earliest position on the axis at which the delivery can have happened, in nanoseconds."""
        at = axis.earliest(self.event)
        return at if self.asked is None else max(at, axis.at(self.asked))


def _deliveries(
    history: History, key: str, actors: tuple[str, ...] | None, lookers: tuple[str, ...] | None
) -> list[Availability]:
    handed = [Availability(seen, seen.actor) for seen in history.sightings({key}, actors)]
    looked = [
        Availability(look.answer, f"{look.call.actor} (a look)", look.call)
        for look in history.looks(actors=lookers)
        if key in look.answer.keys
    ]
    return handed + looked


def _after(apart: Distance, since: str) -> str:
    """Return a text such as "2 s after the send", with the uncertainty if the uncertainty is above 0."""
    doubt = f", give or take {duration(apart.unc_ns)}" if apart.unc_ns else ""
    return f"{duration(apart.ns)} after {since}{doubt}"


def not_before(claim: Claim, history: History) -> Finding:
    """Decide whether all actors got the message no earlier than its delay after the start of the send (DD-02).

    The looks of all actors count, even if the claim names some actors, because no actor may see the message early.
    """
    key, call = key_of(claim), history.call(reference(claim, "call"))
    delay_ns = number(claim, "delay_ms") * NS_PER_MS
    say = Saying(claim, f"no actor gets {key} earlier than {duration(delay_ns)} after the start of its send")
    if open_send := say.unless_accepted(history, [call]):
        return open_send
    deliveries = _deliveries(history, key, actors_of(claim), None)
    axis = Axis(history, call, claim)
    early: list[tuple[Event, str]] = []
    doubtful: list[str] = []
    late: list[str] = []
    for delivery in deliveries:
        apart = distance(delivery.event, call)
        ahead = delay_ns - apart.ns
        text = f"{delivery.who} had it {_after(apart, 'the send')}"
        if ahead > apart.unc_ns:
            early.append((delivery.event, f"{text}, {duration(ahead)} too early"))
        elif ahead >= 0 and apart.unc_ns > 0:
            doubtful.append(text)
        elif (could := max(0, delivery.earliest(axis))) < delay_ns:
            late.append(f"{text}, which may have been at {duration(could)} already")
    if early:
        observed = "; ".join(text for _, text in early)
        return say.failed(TOO_EARLY, observed, certain=True, by=[event for event, _ in early])
    if doubtful:
        return say.inconclusive(
            "The clocks are too uncertain to tell whether the message was early.", "; ".join(doubtful)
        )
    if late:
        return say.held_up("it may have noted an early message only when it was due", "; ".join(late))
    if not deliveries:
        return say.not_demonstrated("No actor got the message.", "never seen")
    first = min(deliveries, key=lambda delivery: distance(delivery.event, call).ns)
    seen = f"{first.who} had it {duration(distance(first.event, call).ns)} after the send"
    return _tried(claim, axis, call, say, seen)


def _tried(claim: Claim, axis: Axis, call: Call, say: Saying, seen: str) -> Finding:
    """Return a pass if an actor could have received the message early, and otherwise not-demonstrated.

    A delay of the harness that ends before the due moment does not matter, because the harness still noted an early
    message before that moment.
    """
    history = axis.history
    delay_ns = number(claim, "delay_ms") * NS_PER_MS
    needed = claim.bounds.get("watched_percent", DEFAULT_WATCHED_PERCENT)
    answered = axis.at(history.answer(call) or call)
    # If the send took longer than the delay, only a watch during the send can detect an early message.
    start = answered if answered < delay_ns else 0
    looks = [
        look
        for look in history.looks(call.destination)
        if start <= axis.at(look.call) and axis.at(look.answer) < delay_ns
    ]
    if looks:
        observed = f"{counted(len(looks), 'early look')}; {seen}"
        return say.passed(
            "A browse before the due moment did not list the message.", observed, certain=history.delays_placed
        )
    window = delay_ns - start
    watchers = watchers_of(history, actors_of(claim), {key_of(claim)})
    covered = total(clip(axis.watched(watchers), start, delay_ns)) if window > 0 else 0
    observed = f"watched for {duration(covered)} of the {duration(window)} before it was due; {seen}"
    if window > 0 and covered * PERCENT >= needed * window:
        reason = "An actor watched before the due moment, and the message did not come early."
        return say.passed(reason, observed, certain=history.delays_placed)
    return say.not_demonstrated(f"No actor watched for {needed} % of the time before the message was due.", observed)


def by(claim: Claim, history: History) -> Finding:
    """Decide whether the message was delivered within the limit after its due moment, or after a later event."""
    key, call = key_of(claim), history.call(reference(claim, "call"))
    limit_ns = number(claim, "limit_ms") * NS_PER_MS + like_ns(claim, history)
    origin, due_ns, since = _reference_moment(claim, history, call)
    say = Saying(claim, f"{key} is delivered within {duration(limit_ns)} after {since}")
    if undecided := say.unless_accepted(history, [call]) or unless_like_noted(claim, history, say):
        return undecided
    actors = actors_of(claim)
    deliveries = _deliveries(history, key, actors, actors)
    axis = Axis(history, origin, claim)
    if not deliveries:
        return say.unless_committed(history, [call], "no delivery") or _never(claim, axis, due_ns, limit_ns, say)
    first = min(deliveries, key=lambda delivery: axis.at(delivery.event))
    apart = distance(first.event, origin)
    late = Distance(apart.ns - due_ns, apart.unc_ns)
    observed = f"{first.who} had it {_after(late, since)}"
    if late.ns <= limit_ns + late.unc_ns:
        return _in_time(axis, late, limit_ns, say, observed)
    if (could := first.earliest(axis) - due_ns) <= limit_ns:
        observed = f"{observed}; {duration(could)} at best"
        return say.held_up("it may have noted too late a message that came in time", observed)
    if _could_have_come(claim, axis, call, due_ns, limit_ns):
        too_late = f"{observed}, {duration(late.ns - limit_ns)} too late"
        return say.failed("The message was delivered too late.", too_late, by=[first.event])
    return say.not_demonstrated(
        "No actor watched before the limit, so the message may have been available in time.", observed
    )


def _in_time(axis: Axis, late: Distance, limit_ns: int, say: Saying, observed: str) -> Finding:
    """Return the finding about a first delivery that was in time, or late by no more than the clocks' uncertainty."""
    if late.ns > limit_ns:
        return say.inconclusive("The clocks are too uncertain to tell whether the message was late.", observed)
    began = 0 if isinstance(axis.origin, Call) else axis.earliest(axis.origin)  # a call is noted before it begins
    if late.ns - began > limit_ns:
        return say.held_up(f"the time limit may have begun {duration(-began)} earlier than noted", observed)
    return say.passed("The message was delivered in time.", observed, certain=axis.history.delays_placed)


def like_ns(claim: Claim, history: History) -> int:
    """Return the time from the send to the first sighting of another message, which the claim calls `like`.

    The claim's limit grows by this time, so that a slow machine, which delays all messages, does not cause a fail.

    Returns:
        The time in nanoseconds; 0 if the claim has no reference `like`, or no actor received that message.
    """
    key = claim.of.get("like")
    sends = history.sends({key}) if key else []
    seen = history.sightings({key}, None) if key else []
    return max(0, distance(seen[0], sends[0]).ns) if sends and seen else 0


def unless_like_noted(claim: Claim, history: History, say: Saying) -> Finding | None:
    """Return an inconclusive finding if the message `like` may have been noted late, and otherwise None.

    A late note would make the limit too long.
    """
    key = claim.of.get("like")
    for seen in history.sightings({key}, None)[:1] if key else []:
        if (late_ns := -Axis(history, seen, claim).earliest(seen)) > 0:
            return say.held_up(f"{key} may have come {duration(late_ns)} before it was noted", seen.ref)
    return None


def _never(claim: Claim, axis: Axis, due_ns: int, limit_ns: int, say: Saying) -> Finding:
    """Return the finding about a message that never came.

    The finding is a fail if a watch lasted until the limit and the harness ran at that time.  It is inconclusive if the
    harness was held up then, and not-demonstrated without such a watch.
    """
    last = due_ns + limit_ns
    spans = axis.watched(watchers_of(axis.history, actors_of(claim), {key_of(claim)}))
    observed = f"never; watched for {duration(total(clip(spans, due_ns, last)))} of the {duration(limit_ns)}"
    until = [(start, end) for start, end in spans if start <= last <= end and end > start]
    if any(end >= last for _, end in subtract(until, axis.held)):
        return say.failed("An actor watched until the limit, and the message did not come.", observed)
    if until:
        return say.held_up("it may not have noted messages that came meanwhile", observed)
    return say.not_demonstrated("No actor watched until the limit.", observed)


def _could_have_come(claim: Claim, axis: Axis, call: Call, due_ns: int, limit_ns: int) -> bool:
    """Return whether an actor watched or looked between the due moment and the limit.

    If no actor did, a late sighting does not show that the message was late, because the actor may have begun to watch
    too late.
    """
    last = due_ns + limit_ns
    actors = actors_of(claim)
    spans = axis.watched(watchers_of(axis.history, actors, {key_of(claim)}))
    looks = axis.history.looks(call.destination, actors)
    return any(start <= last and end >= due_ns for start, end in spans) or any(
        due_ns <= axis.at(look.call) and axis.at(look.answer) <= last for look in looks
    )


def _reference_moment(claim: Claim, history: History, call: Call) -> tuple[Event, int, str]:
    """Return the moment from which the limit counts: an event, the nanoseconds after it, and a name for texts."""
    delay_ns = claim.bounds.get("delay_ms", 0) * NS_PER_MS
    of_send: tuple[Event, int, str] = (call, delay_ns, "its due moment" if delay_ns else "its send")
    ref = claim.of.get("after")
    if not ref:
        return of_send
    later = history.event(ref)
    if later is None:
        raise ClaimError(f"The claim refers to the event {ref}, but the evidence before it has no such event.")
    return (
        (later, 0, f"the {later.__class__.__name__.lower()} {ref}") if distance(later, call).ns > delay_ns else of_send
    )
