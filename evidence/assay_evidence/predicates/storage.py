"""The predicate about storage: flushed-before."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from assay_evidence.events import Call, Claim, Disk, Event
from assay_evidence.figures import counted, duration
from assay_evidence.history import History, distance
from assay_evidence.predicates.claims import Saying, actors_of, key_of, sends_of
from assay_evidence.verdicts import Finding
from assay_evidence.watching import Axis


def flushed_before(claim: Claim, history: History) -> Finding:
    """Decide whether a message's copies were on disk before the answer to its send, or before an actor saw it.

    This answer or sighting is the deadline, and the copies must be written and then flushed before it.
    """
    key = key_of(claim)
    actors = actors_of(claim)
    copies = claim.bounds.get("copies", 1)
    what = f"{' or '.join(actors)} sees it" if actors else "its send is answered"
    say = Saying(claim, f"{counted(copies, 'copy', 'copies')} of {key} must be flushed to disk before {what}")
    sends = sends_of(claim, history)
    if open_send := say.unless_accepted(history, sends):
        return open_send
    deadline: Event | None
    if actors:
        seen = history.sightings({key}, actors)
        deadline = seen[0] if seen else None
    else:
        deadline = history.answer(sends[-1]) if sends else None
    if deadline is None:
        observed = "never sent" if not sends else "never seen"
        return say.not_demonstrated("The evidence has no moment with which a flush could be compared.", observed)
    if not history.disk:
        return say.not_demonstrated("No observer watched the disk.", "no disk event")
    return _compared(claim, history, sends, deadline, say)


def _compared(claim: Claim, history: History, sends: list[Call], deadline: Event, say: Saying) -> Finding:
    """Judge whether enough copies of the message were flushed before the answer or sighting `deadline`."""
    key, copies = key_of(claim), claim.bounds.get("copies", 1)
    source = ", ".join(sorted({event.source for event in history.disk}))
    late_ns = _noted_late_ns(claim, history, sends, deadline)
    surely = _durable((event for event in history.disk if _before(event, deadline, late_ns) is True), key)
    maybe = _durable((event for event in history.disk if _before(event, deadline, late_ns) is not False), key)
    observed = f"{counted(surely, 'copy', 'copies')} flushed before {deadline.ref}, seen by {source}"
    if surely >= copies and maybe >= copies:
        return say.passed("The message was on disk in time.", observed, disclosed=source, certain=history.delays_placed)
    if late_ns and (maybe >= copies or surely >= copies):
        return say.held_up(f"{deadline.ref} may have been {duration(late_ns)} before it was noted", observed)
    if maybe >= copies or surely >= copies:
        return say.inconclusive("The clocks are too uncertain to order the flush and the answer.", observed)
    return say.failed("The message was not on disk in time.", observed, disclosed=source, certain=True, by=[deadline])


def _noted_late_ns(claim: Claim, history: History, sends: list[Call], deadline: Event) -> int:
    """Return by how many nanoseconds the harness may have noted the deadline late.

    The result is at most the time since the send, because the deadline cannot have been before the send.
    """
    begun_ns = max((distance(deadline, send).ns for send in sends), default=0)
    return max(0, min(-Axis(history, deadline, claim).earliest(deadline), begun_ns))


def _before(event: Disk, deadline: Event, late_ns: int) -> bool | None:
    """Return whether a disk event is before the deadline; None if clocks or delays of the harness leave it open.

    A smaller sequence number from the same writer proves an earlier event.  A larger one does not prove a later event,
    because a writer may record an operation late. The clock then decides.
    """
    apart = distance(deadline, event)
    if late_ns and 0 < apart.ns <= late_ns + apart.unc_ns:
        return None
    if event.writer == deadline.writer and event.seq < deadline.seq:
        return True
    if event.writer == deadline.writer and apart.ns == 0:
        return False
    if apart.ns == 0 or abs(apart.ns) <= apart.unc_ns:
        return None
    return apart.ns > 0


def _durable(events: Iterable[Disk], key: str) -> int:
    """Return how many copies of a message are durable after these disk events; each source is a separate disk."""
    durable = 0
    written: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for event in events:
        if event.op == "write":
            written[event.source].update(event.keys)
            continue
        if event.op == "flush":
            durable += written[event.source][key]
        written[event.source].clear()
    return durable
