"""The predicate about redeliveries and their marks: redelivered.

A sighting is a redelivery if any actor, named by the claim or not, received the message from the same place earlier:
the same queue, the same shared subscription, or the consumer's own subscription.  Each other subscription to a topic
has its own copy of the message, and the first delivery of a copy is not a redelivery.

A message *came again* if, after its first sighting, an event gave it back, such as a fault or a rollback, and an actor
of the claim then received it.  A second sighting before such an event is a duplicate.
"""

from __future__ import annotations

from assay_evidence.events import Claim, Seen
from assay_evidence.figures import counted
from assay_evidence.history import History, follows
from assay_evidence.predicates.claims import Saying, actors_of, keys_of, sends_of
from assay_evidence.predicates.delivery import by_key, counts, heard, silence_of, unless_silent, unless_unaltered
from assay_evidence.verdicts import Finding

DEFAULT_TIMES = 2
HOWEVER_OFTEN = 0
ONCE = 1


def redelivered(claim: Claim, history: History) -> Finding:
    """Decide whether each message came at least ``times`` times, and came again, marked, after it was given back.

    - With the bound `times` 1, a message need not come again.
    - With `times` 0, a message need not come at all, and the claim is about marks only.
    - With the bound `flagged` 0, the predicate does not judge the marks.
    - With both bounds 0, the finding discloses the number of marked redeliveries.
    """
    seen = by_key(claim, history)
    times = claim.bounds.get("times", DEFAULT_TIMES)
    flagged = bool(claim.bounds.get("flagged", 1))
    say = Saying(claim, _expected(seen, times, flagged=flagged))
    delivered = {key for key in seen if history.sightings({key}, None)}
    if open_send := say.unless_accepted(history, sends_of(claim, history), delivered=delivered):
        return open_send
    if altered := unless_unaltered(say, history, seen):
        return altered
    again = _redeliveries(claim, history)
    bare = [sighting for sighting in again if not _is_flagged(sighting)]
    if flagged and bare:
        observed = ", ".join(f"{sighting.msg.key} at {sighting.ref} is not marked" for sighting in bare)
        return say.failed("A message came again without the mark of redelivery.", observed, certain=True, by=bare)
    if times == HOWEVER_OFTEN:
        return _marks(say, claim, history, again, flagged=flagged)
    return _often_enough(say, claim, history, seen)


def _marks(say: Saying, claim: Claim, history: History, again: list[Seen], *, flagged: bool) -> Finding:
    """Return the finding of a claim that is only about the marks of redeliveries."""
    observed = f"{len(again)} came again"
    if not history.sightings(set(keys_of(claim)), None):
        return say.not_demonstrated("None of these messages was seen.", observed)
    if not flagged:
        marked = sum(map(_is_flagged, again))
        return say.passed(
            "The number of marked redeliveries is recorded.", observed, f"{marked} of {len(again)} marked", certain=True
        )
    if not again:
        return say.not_demonstrated("No message came again, so no mark could be examined.", observed)
    return say.passed("Each redelivery was marked.", observed, certain=True)


def _often_enough(say: Saying, claim: Claim, history: History, seen: dict[str, list[Seen]]) -> Finding:
    times = claim.bounds.get("times", DEFAULT_TIMES)
    lacking = [key for key, sightings in seen.items() if len(sightings) < times]
    if times > ONCE:
        lacking += [key for key, sightings in seen.items() if not _came_again(key, sightings, history)]
    if not lacking:
        reason = "Each message came." if times == ONCE else "Each message came again."
        return say.passed(reason, counts(seen), certain=True)
    silence = silence_of(claim, history, seen)
    observed = f"{counts(seen)}; {', '.join(dict.fromkeys(lacking))} not again; {heard(silence)}"
    if undecided := unless_silent(say, silence, observed):
        return undecided
    if not history.returns:
        return say.not_demonstrated("No message was given back, so none had to come again.", observed)
    return say.failed("A message did not come again.", observed)


def _came_again(key: str, sightings: list[Seen], history: History) -> bool:
    """Return whether the message was seen, then given back to the broker, then seen again."""
    first = history.sightings({key}, None)[:1]
    causes = [cause for cause in history.returns if all(follows(cause, one) for one in first)]
    return any(follows(sighting, cause) for sighting in sightings for cause in causes)


def _expected(seen: dict[str, list[Seen]], times: int, *, flagged: bool) -> str:
    marked = ", marked as redelivered" if flagged else ""
    if times == HOWEVER_OFTEN:
        what = f"each redelivery of {', '.join(seen)}"
        return f"{what} is marked as redelivered" if flagged else f"{what} may be marked as redelivered"
    return f"each of {', '.join(seen)} is delivered at least {counted(times, 'time')}{marked}"


def _redeliveries(claim: Claim, history: History) -> list[Seen]:
    """Return the redeliveries to the claim's actors."""
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
    """Return a name for the place from which a message came: a queue, or one subscription to a topic."""
    if not seen.destination.partition("://")[0].endswith("topic"):
        return (seen.destination,)
    share = shares.get((seen.actor, seen.destination))
    return (seen.destination, "of", seen.actor) if share is None else (seen.destination, "shared", share)


def _is_flagged(seen: Seen) -> bool:
    return seen.redelivered or seen.count > 1
