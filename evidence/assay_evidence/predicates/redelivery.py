"""Predicate about redeliveries and their marks: redelivered.

A sighting is a redelivery if any actor, named by the claim or not, received the message before from the same place: the
same queue, the same shared subscription, or the consumer's own subscription.  A topic's other subscriptions have copies
of their own, so their first delivery is no redelivery.
"""

from __future__ import annotations

from assay_evidence.events import Claim, Seen
from assay_evidence.figures import counted
from assay_evidence.history import History
from assay_evidence.predicates.claims import Saying, actors_of, keys_of, sends_of
from assay_evidence.predicates.delivery import by_key, counts, heard, silence_of, unless_silent
from assay_evidence.verdicts import Finding

DEFAULT_TIMES = 2
HOWEVER_OFTEN = 0


def redelivered(claim: Claim, history: History) -> Finding:
    """Decide whether each message came at least ``times`` times, and each redelivery was marked.

    With `times` 0 a message need not come again: the claim is about the marks alone; with `flagged` 0 as well it
    discloses how many redeliveries were marked.
    """
    seen = by_key(claim, history)
    times = claim.bounds.get("times", DEFAULT_TIMES)
    flagged = bool(claim.bounds.get("flagged", 1))
    say = Saying(claim, _expected(seen, times, flagged=flagged))
    if open_send := say.unless_accepted(history, sends_of(claim, history)):
        return open_send
    again = _redeliveries(claim, history)
    bare = [sighting for sighting in again if not _is_flagged(sighting)]
    if flagged and bare:
        observed = ", ".join(f"{sighting.msg.key} at {sighting.ref} is not marked" for sighting in bare)
        return say.failed("A message came again without the mark of redelivery.", observed, certain=True, by=bare)
    if times == HOWEVER_OFTEN:
        observed = f"{len(again)} came again"
        if history.sightings(set(seen), None):
            if flagged:
                return say.passed("Whatever came again was marked.", observed)
            disclosed = f"{len(again) - len(bare)} of {len(again)} marked"
            return say.passed("How many redeliveries were marked is recorded.", observed, disclosed)
        return say.not_demonstrated("None of these messages was seen.", observed)
    return _often_enough(say, claim, history, seen)


def _often_enough(say: Saying, claim: Claim, history: History, seen: dict[str, list[Seen]]) -> Finding:
    times = claim.bounds.get("times", DEFAULT_TIMES)
    if all(len(sightings) >= times for sightings in seen.values()):
        return say.passed("Each message came again.", counts(seen))
    silence = silence_of(claim, history, seen)
    observed = f"{counts(seen)}; {heard(silence)}"
    if untold := unless_silent(say, silence, observed):
        return untold
    return say.failed("A message did not come again.", observed)


def _expected(seen: dict[str, list[Seen]], times: int, *, flagged: bool) -> str:
    marked = ", marked as redelivered" if flagged else ""
    if times == HOWEVER_OFTEN:
        what = f"what of {', '.join(seen)} comes again"
        return f"{what} is marked as redelivered" if flagged else f"{what} may be marked as redelivered"
    return f"each of {', '.join(seen)} is delivered at least {counted(times, 'time')}{marked}"


def _redeliveries(claim: Claim, history: History) -> list[Seen]:
    """The redeliveries to the claim's actors."""
    actors = actors_of(claim)
    shares = {
        (call.actor, call.destination): str(call.args["name"]) for call in history.consumers if call.args.get("shared")
    }
    had: set[tuple[str, ...]] = set()
    again: list[Seen] = []
    for sighting in history.sightings(set(keys_of(claim)), None):
        place = (sighting.msg.key, *_place(sighting, shares))
        if place in had and (actors is None or sighting.actor in actors):
            again.append(sighting)
        had.add(place)
    return again


def _place(seen: Seen, shares: dict[tuple[str, str | None], str]) -> tuple[str, ...]:
    """The place that a message came from: a queue, or one subscription to a topic."""
    if not seen.destination.partition("://")[0].endswith("topic"):
        return (seen.destination,)
    share = shares.get((seen.actor, seen.destination))
    return (seen.destination, "of", seen.actor) if share is None else (seen.destination, "shared", share)


def _is_flagged(seen: Seen) -> bool:
    return seen.redelivered or seen.count > 1
