"""Predicates about several messages together: all-or-nothing for a unit of work, only-sent for all sightings."""

from __future__ import annotations

from assay_evidence.errors import ClaimError
from assay_evidence.events import Claim, Event, Seen
from assay_evidence.figures import counted
from assay_evidence.history import History, follows
from assay_evidence.predicates.claims import Saying, actors_of, listed, quiet_ns, reference
from assay_evidence.predicates.delivery import heard, unless_silent
from assay_evidence.verdicts import Finding
from assay_evidence.watching import Axis, Mark, Silence, release_marks, watchers_of

COMMITTED, BACKED_OUT = "committed", "backed out"
SHOWN = 10
"""The largest number of sightings that a text about a broken rule lists."""


def all_or_nothing(claim: Claim, history: History) -> Finding:
    """Decide whether a unit of work took effect as a whole or not at all; disclose which of the two happened.

    The event `after` is the end of the unit.  The unit took effect as a whole if all messages that the unit sent were
    seen, and no message that it received came again after its end.  The unit took no effect if no message that it sent
    was ever seen, and all messages that it received came again.  A unit can consist of sends only, or of receptions
    only, such as a batch that is acknowledged together (BT-08).

    Raises:
        ClaimError: The claim names no message, or the evidence does not have the event `after`.
    """
    sent, taken, actors = listed(claim, "kids", "kid"), listed(claim, "taken"), actors_of(claim)
    if not sent and not taken:
        raise ClaimError(f"The claim {claim.ref} (all-or-nothing) names no message.")
    end = history.event(reference(claim, "after"))
    if end is None:
        raise ClaimError(f"The claim {claim.ref} (all-or-nothing) refers to an end that is not in the evidence before.")
    say = Saying(
        claim, "all messages that the unit sent are seen and none that it received comes again, or the reverse"
    )
    came = [key for key in sent if history.sightings({key}, actors)]
    repeated = {
        key: [one for one in history.sightings({key}, actors) if follows(one, end)] for key in dict.fromkeys(taken)
    }
    again = [key for key in taken if repeated[key]]
    observed = f"{len(came)} of {len(sent)} sent were seen, {len(again)} of {len(taken)} received came again"
    if came and again:
        offenders = [one for sightings in repeated.values() for one in sightings]
        return say.failed(
            "A message that the unit sent was seen, and one that it received came again.", observed, by=offenders
        )
    silences = [_silence(claim, history, keys, end) for keys in (sent, taken) if keys]
    shortest = min(silences, key=lambda silence: (silence.span is not None, not silence.spoiled, silence.ns))
    observed = f"{observed}; {heard(shortest)}"
    if undecided := unless_silent(say, shortest, observed):
        return undecided
    certain = history.delays_placed
    if len(came) == len(sent) and not again:
        return say.passed("The unit took effect as a whole.", observed, COMMITTED, certain=certain)
    if not came and len(again) == len(taken):
        return say.passed("The unit took no effect.", observed, BACKED_OUT, certain=certain)
    return say.failed("The unit took effect only in part.", observed)


def _silence(claim: Claim, history: History, keys: tuple[str, ...], end: Event) -> Silence:
    """Search for a silence that shows that no more of these messages come."""
    marks = [*release_marks(history, keys), Mark(end)]
    marks += [Mark(one) for one in history.sightings(set(keys), actors_of(claim))]
    watchers = watchers_of(history, actors_of(claim), keys)
    return Axis(history, claim, claim).quiet(watchers, marks, quiet_ns(claim))


def only_sent(claim: Claim, history: History) -> Finding:
    """Decide whether the scenario sent each message that an actor saw, and sent it with the body that the actor saw."""
    say = Saying(claim, "each message that is seen was sent, with the same body")
    seen = history.sightings(None, actors_of(claim))
    observed = counted(len(seen), "sighting")
    invented = [one for one in seen if not history.sends({one.msg.key})]
    if invented:
        observed = f"{observed}; {_named(invented)}"
        return say.failed("A message was seen that the scenario did not send.", observed, certain=True, by=invented)
    altered = [one for one in seen if one.msg.sha256 not in _digests(history, one.msg.key)]
    if altered:
        observed = f"{observed}; {_named(altered)}"
        reason = "A message was seen with another body than it was sent with."
        return say.failed(reason, observed, certain=True, by=altered)
    if not seen:
        return say.not_demonstrated("No message was seen.", observed)
    return say.passed("Each message that was seen had been sent with the same body.", observed, certain=True)


def _digests(history: History, key: str) -> set[str]:
    return {send.msg.sha256 for send in history.sends({key}) if send.msg is not None}


def _named(seen: list[Seen]) -> str:
    named = ", ".join(f"{one.msg.key or 'no id'} at {one.ref}" for one in seen[:SHOWN])
    return named if len(seen) <= SHOWN else f"{named} and {len(seen) - SHOWN} more"
