"""Messages that a broker lost when it stopped: they must not count against the client.

If only the client is judged, and the broker stops in the scenario, a missing message has two possible causes: the
client accepted it too early, or the broker did not keep it.  The client's settlements tell which: a message that no
client has accepted must still be on the broker.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from assay_evidence.events import FATAL, Claim, Event, Fault, Predicate, Seen, Settle
from assay_evidence.predicates.claims import actors_of, listed

_ARRIVALS = frozenset[Predicate]({"delivered-at-least", "delivered-exactly", "redelivered"})
"""The predicates that fail if a message is missing."""
_ACCEPTED = "accepted"


def lost_by_broker(claim: Claim, trace: Sequence[Event]) -> bool:
    """Return whether messages of a claim are missing after the broker stopped, and no client had accepted one of them.

    Args:
        claim: The claim.
        trace: The events of the scenario that the claim can see.
    """
    stop = next((index for index, event in enumerate(trace) if _is_stop(event)), None)
    if claim.predicate not in _ARRIVALS or stop is None:
        return False
    awaited = trace[stop:] if claim.predicate == "redelivered" else trace
    missing = set(listed(claim, "kids", "kid")) - _seen(awaited, actors_of(claim))
    accepted = {event.msg.key for event in trace if isinstance(event, Settle) and event.outcome == _ACCEPTED}
    return bool(missing) and not missing & accepted


def _is_stop(event: Event) -> bool:
    return isinstance(event, Fault) and event.what in FATAL and event.phase == "begin"


def _seen(events: Iterable[Event], actors: Collection[str] | None) -> set[str]:
    return {event.msg.key for event in events if isinstance(event, Seen) and (actors is None or event.actor in actors)}
