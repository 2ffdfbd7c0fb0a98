"""Predicates about how often and in which order messages are received.

Only a quiet watch (`assay_evidence.watching.Axis.quiet`) proves that a message did *not* come.  Its time counts only
from the moment at which the message could have come: after the answers to its sends, the end of its delay, and the end
of all faults.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from assay_evidence.errors import ClaimError
from assay_evidence.events import Claim, Seen
from assay_evidence.figures import counted, duration
from assay_evidence.history import History, distance, follows
from assay_evidence.predicates.claims import (
    Saying,
    actors_of,
    keys_of,
    listed,
    quiet_ns,
    sends_of,
)
from assay_evidence.spans import NS_PER_MS, Span, clip, subtract, total
from assay_evidence.verdicts import Finding
from assay_evidence.watching import Axis, Mark, Silence, release_marks, watchers_of

DEFAULT_TIMES = 1
_NOT_ENOUGH = "A message did not come, or not often enough."
FEWEST_FOR_AN_ORDER = 2


def by_key(claim: Claim, history: History) -> dict[str, list[Seen]]:
    """Return the sightings by the claim's actors, for each key of the claim's messages."""
    keys = keys_of(claim)
    actors = actors_of(claim)
    return {key: history.sightings({key}, actors) for key in keys}


def counts(seen: dict[str, list[Seen]]) -> str:
    """Return a text with the number of sightings of each message."""
    return ", ".join(f"{key} seen {counted(len(sightings), 'time')}" for key, sightings in seen.items())


def _beyond(times: int, seen: dict[str, list[Seen]]) -> list[Seen]:
    """Return the surplus sightings: all sightings of each message after the first `times` sightings."""
    return [sighting for sightings in seen.values() for sighting in sightings[times:]]


def silence_of(claim: Claim, history: History, seen: dict[str, list[Seen]]) -> Silence:
    """Return the silence after the messages' last sighting, and after all events that could cause another sighting."""
    marks = release_marks(history, tuple(seen))
    if not marks:
        return Silence(None, 0, quiet_ns(claim))
    marks.extend(Mark(sighting) for sightings in seen.values() for sighting in sightings)
    watchers = watchers_of(history, actors_of(claim), tuple(seen))
    return Axis(history, claim, claim).quiet(watchers, marks, quiet_ns(claim))


def heard(silence: Silence) -> str:
    """Return a text with the length of a silence and the required length."""
    if silence.span is None and silence.ns == 0:
        return "no watch afterwards"
    return f"then silence for {duration(silence.ns)} ({duration(silence.needed_ns)} needed)"


def unless_silent(say: Saying, silence: Silence, observed: str) -> Finding | None:
    """Return None if a silence proves that no more messages came; otherwise a finding with the reason."""
    if silence.span is not None:
        return None
    if silence.spoiled:
        return say.held_up("it may not have noted messages that came meanwhile", observed)
    if silence.unwatched is not None:
        fault = silence.unwatched.what
        reason = f"No actor watched after the last fault ({fault}), which may have ended the actors' connections."
        return say.not_demonstrated(reason, observed)
    return say.not_demonstrated("No actor watched long enough afterwards.", observed)


def unless_unaltered(say: Saying, history: History, seen: dict[str, list[Seen]]) -> Finding | None:
    """Return a fail if a message's body differs from every body with which it was sent; otherwise None."""
    altered = [sighting for sightings in seen.values() for sighting in sightings if _is_altered(sighting, history)]
    if not altered:
        return None
    observed = ", ".join(f"{one.msg.key} at {one.ref}" for one in altered)
    return say.failed("A message came altered.", observed, certain=True, by=altered)


class _Counted(Struct, frozen=True):
    """A claim's messages with their sightings; no message came too often, and no message came altered.

    Args:
        say: Makes the findings.
        seen: The sightings of each message, by the message's key.
        times: The number of times that the claim names.
        observed: The number of sightings, and the silence after them, in words.
    """

    say: Saying
    seen: dict[str, list[Seen]]
    times: int
    observed: str


def _counted(claim: Claim, history: History, comparison: str) -> _Counted | Finding:
    """Count the deliveries of a claim's messages.

    Args:
        claim: The claim.
        history: The evidence.
        comparison: The claim's comparison with the number of times, such as "at most".

    Returns:
        The deliveries; a finding if the sends, the deliveries or the silence after them already decide the claim.
    """
    seen = by_key(claim, history)
    times = claim.bounds.get("times", DEFAULT_TIMES)
    say = Saying(claim, f"each of {', '.join(seen)} is delivered {comparison} {counted(times, 'time')}")
    unanswered = bool(claim.bounds.get("unanswered", 0))
    if open_send := say.unless_accepted(history, sends_of(claim, history), unanswered=unanswered):
        return open_send
    silence = silence_of(claim, history, seen)
    observed = f"{counts(seen)}; {heard(silence)}"
    if any(len(sightings) > times for sightings in seen.values()):
        return say.failed("A message came too often.", observed, certain=True, by=_beyond(times, seen))
    other = unless_unaltered(say, history, seen) or unless_silent(say, silence, observed)
    return other or _Counted(say, seen, times, observed)


def delivered_exactly(claim: Claim, history: History) -> Finding:
    """Decide whether each message came exactly ``times`` times."""
    found = _counted(claim, history, "exactly")
    if isinstance(found, Finding):
        return found
    say, observed = found.say, found.observed
    if missing := [key for key, sightings in found.seen.items() if len(sightings) < found.times]:
        return say.unless_committed(history, history.sends(missing), observed) or say.failed(_NOT_ENOUGH, observed)
    return say.passed("Each message came as often as it must.", observed, certain=history.delays_placed)


def delivered_at_most(claim: Claim, history: History) -> Finding:
    """Decide whether no message came too often or altered; disclose whether the messages came or were lost."""
    found = _counted(claim, history, "at most")
    if isinstance(found, Finding):
        return found
    kept, most = sum(1 for sightings in found.seen.values() if sightings), len(found.seen)
    disclosed = {0: "lost", most: "kept"}.get(kept, f"{kept} of {most}")
    text = "No message came more often than it may."
    return found.say.passed(text, found.observed, disclosed, certain=history.delays_placed)


def delivered_at_least(claim: Claim, history: History) -> Finding:
    """Decide whether each message came at least ``times`` times."""
    seen = by_key(claim, history)
    times = claim.bounds.get("times", DEFAULT_TIMES)
    say = Saying(claim, f"each of {', '.join(seen)} is delivered at least {counted(times, 'time')}")
    if open_send := say.unless_accepted(history, sends_of(claim, history)):
        return open_send
    if altered := unless_unaltered(say, history, seen):
        return altered
    if all(len(sightings) >= times for sightings in seen.values()):
        return say.passed("Each message came.", counts(seen), certain=True)
    silence = silence_of(claim, history, seen)
    observed = f"{counts(seen)}; {heard(silence)}"
    if undecided := unless_silent(say, silence, observed):
        return undecided
    missing = [key for key, sightings in seen.items() if len(sightings) < times]
    return say.unless_committed(history, history.sends(missing), observed) or say.failed(_NOT_ENOUGH, observed)


def _is_altered(sighting: Seen, history: History) -> bool:
    sent = [send.msg.sha256 for send in history.sends({sighting.msg.key}) if send.msg is not None]
    return bool(sent) and sighting.msg.sha256 not in sent


def never_seen(claim: Claim, history: History) -> Finding:
    """Decide whether the actors watched, and never received the messages.

    If the claim has the reference `from`, sightings before that event do not count.

    The reference `missed` names messages for which an earlier step waited in vain.  A slow broker may deliver them only
    after the scenario's next action, such as an acknowledgement, which then does not apply to them.  So the finding is
    inconclusive if the actors saw no other messages than these.

    Raises:
        ClaimError: The claim names no message, or the evidence lacks an event to which the claim refers.
    """
    keys = keys_of(claim)
    actors = actors_of(claim)
    window_ns = claim.bounds.get("window_ms", 0) * NS_PER_MS
    say = Saying(claim, f"{', '.join(keys)} never seen" + (f" in {duration(window_ns)}" if window_ns else ""))
    if open_send := say.unless_accepted(history, [history.call(ref) for ref in listed(claim, "call")]):
        return open_send
    seen = history.sightings(set(keys), actors)
    marks = release_marks(history, keys)
    if ref := claim.of.get("from"):
        start = history.event(ref)
        if start is None:
            raise ClaimError(f"The claim refers to the event {ref}, but the evidence before it has no such event.")
        seen = [sighting for sighting in seen if follows(sighting, start)]
        marks = [Mark(start)]
    if seen:
        return _forbidden(say, claim, seen)
    if not marks:
        return say.not_demonstrated("None of these messages was ever sent.", "never sent")
    axis = Axis(history, claim, claim)
    watchers = watchers_of(history, actors, keys)
    begin = max(axis.place(mark) for mark in marks)
    watched = clip(axis.watched(watchers), begin, max(begin, axis.now))
    covered = total(subtract(watched, axis.held))
    silence = axis.quiet(watchers, marks, quiet_ns(claim))
    observed = f"never seen; watched for {duration(covered)}, {heard(silence)}"
    if covered >= window_ns and silence.span is not None:
        certain = _is_prompt(axis, keys, silence.span)
        return say.passed("The actors watched, and no such message came.", observed, certain=certain)
    if total(watched) >= window_ns and (silence.span is not None or silence.spoiled):
        return say.held_up("it may not have noted messages that came meanwhile", observed)
    return say.not_demonstrated("The actors did not watch long enough.", observed)


def _forbidden(say: Saying, claim: Claim, seen: Sequence[Seen]) -> Finding:
    """Return the finding for messages that were seen, although no actor may see them."""
    observed = ", ".join(f"{sighting.msg.key} by {sighting.actor} ({sighting.ref})" for sighting in seen)
    if {sighting.msg.key for sighting in seen} <= set(listed(claim, "missed")):
        reason = "An earlier step waited in vain for these messages, so a right broker may deliver them now."
        return say.inconclusive(reason, observed)
    return say.failed("A message was seen that no actor may see.", observed, by=seen)


def _is_prompt(axis: Axis, keys: Sequence[str], silence: Span) -> bool:
    """Return whether a silence began early enough to find messages that must not come.

    A broker may hold such a message for a limited time only: until the message or its subscription expires, or until
    client or broker has handled an acknowledgement or the end of a subscription.  A silence that begins after this time
    does not show whether the broker held the message.  So delays of the harness count from the first event after which
    the broker may hold the message: a send of the messages, an event of `History.returns`, or an administrator's
    command.  Delays during the silence do not count, because the broker delivers to a waiting consumer at once.
    """
    history = axis.history
    causes = (*history.sends(keys), *history.returns, *history.admins)
    return axis.is_prompt(min(map(axis.at, causes), default=silence[0]), silence[0])


def in_order(claim: Claim, history: History) -> Finding:
    """Decide whether messages were first seen in the order that the claim lists.

    Two messages in the wrong order suffice for a fail; a pass needs sightings of all messages.
    """
    say = Saying(claim, f"first seen in the order {', '.join(keys_of(claim))}")
    firsts = [sightings[0] for sightings in by_key(claim, history).values() if sightings]
    observed = "seen in the order " + (", ".join(_order(firsts)) or "of none")
    if len(firsts) < FEWEST_FOR_AN_ORDER:
        return say.not_demonstrated("Fewer than two of the messages were seen.", observed)
    behind = [_is_behind(later, earlier) for earlier, later in pairwise(firsts)]
    certain = len({one.actor for one in firsts}) == 1  # even a late harness notes one actor's messages in their order
    if False in behind:
        ahead = [later for later, is_behind in zip(firsts[1:], behind, strict=True) if is_behind is False]
        return say.failed("A message was seen before one that must precede it.", observed, certain=certain, by=ahead)
    if None in behind:
        return say.inconclusive("The clocks are too uncertain to tell the order of two messages.", observed)
    listed = len(keys_of(claim))
    if len(firsts) < listed:
        return say.not_demonstrated(f"Only {len(firsts)} of the {listed} messages were seen.", observed)
    return say.passed("The messages were seen in their order.", observed, certain=certain)


def _is_behind(later: Seen, earlier: Seen) -> bool | None:
    """Return whether the sighting `later` comes after `earlier`; None if the clocks are too uncertain."""
    if later.writer == earlier.writer:
        return later.seq > earlier.seq
    apart = distance(later, earlier)
    if abs(apart.ns) <= apart.unc_ns or apart.ns == 0:
        return None
    return apart.ns > 0


def _order(firsts: Sequence[Seen]) -> list[str]:
    if not firsts:
        return []
    origin = firsts[0]
    placed = sorted(firsts, key=lambda seen: (distance(seen, origin).ns, seen.writer, seen.seq))
    return [seen.msg.key for seen in placed]
