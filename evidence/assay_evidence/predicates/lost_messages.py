"""Messages that a broker lost when it stopped: they must not count against the client.

If only the client is judged, and the broker stops in the scenario, a missing message has two possible causes: the
client lost it (accepted it too early, or never sent it), or the broker did not keep it.  If the broker had answered the
send before it stopped, and no client has accepted the message, it must still be on the broker.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from assay_evidence.events import FATAL, Call, Claim, Event, Fault, Predicate, Return, Seen, Settle
from assay_evidence.predicates.claims import actors_of, listed

_ARRIVALS = frozenset[Predicate]({"delivered-at-least", "delivered-exactly", "redelivered"})
"""The predicates that fail if a message is missing."""
_ACCEPTED = "accepted"


def lost_by_broker(claim: Claim, trace: Sequence[Event]) -> bool:
    """Return whether messages of a claim that the broker had to keep are missing after it stopped.

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
    return bool(missing) and missing <= _answered(trace[:stop]) and not missing & accepted


def _answered(events: Iterable[Event]) -> set[str]:
    """Return the keys of the messages whose sends the broker accepted."""
    sends: dict[str, str] = {}
    found: set[str] = set()
    for event in events:
        if isinstance(event, Call) and event.op == "send" and event.msg is not None:
            sends[event.id] = event.msg.key
        elif isinstance(event, Return) and event.refused is None and event.call in sends:
            found.add(sends[event.call])
    return found


def _is_stop(event: Event) -> bool:
    return isinstance(event, Fault) and event.what in FATAL and event.phase == "begin"


def _seen(events: Iterable[Event], actors: Collection[str] | None) -> set[str]:
    return {event.msg.key for event in events if isinstance(event, Seen) and (actors is None or event.actor in actors)}
