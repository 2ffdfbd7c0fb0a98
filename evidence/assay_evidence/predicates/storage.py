"""Predicate about storage: flushed-before."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from assay_evidence.events import Claim, Disk, Event
from assay_evidence.figures import counted
from assay_evidence.history import History, distance
from assay_evidence.predicates.claims import Saying, actors_of, key_of, sends_of
from assay_evidence.verdicts import Finding


def flushed_before(claim: Claim, history: History) -> Finding:
    """Decide whether a message's copies were on disk before its sender was answered, or before an actor saw it.

    The copies must be written and then flushed.  Disk events of the deadline's own writer are ordered by its counter,
    others by time; events that the clocks cannot order do not count.
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
        return say.not_demonstrated("There is no moment to compare with.", "never sent" if not sends else "never seen")
    if not history.disk:
        return say.not_demonstrated("Nobody looked at the disk.", "no disk event")
    source = ", ".join(sorted({event.source for event in history.disk}))
    surely = _durable((event for event in history.disk if _before(event, deadline) is True), key)
    maybe = _durable((event for event in history.disk if _before(event, deadline) is not False), key)
    observed = f"{counted(surely, 'copy', 'copies')} flushed before {deadline.ref}, seen by {source}"
    if surely >= copies and maybe >= copies:
        return say.passed("It was on disk in time.", observed, disclosed=source)
    if maybe >= copies or surely >= copies:
        return say.inconclusive("The clocks are too uncertain to order the flush and the answer.", observed)
    return say.failed("It was not on disk in time.", observed, disclosed=source, certain=True, by=[deadline])


def _before(event: Disk, deadline: Event) -> bool | None:
    """Whether a disk event comes before the deadline; None if the clocks are too uncertain.

    A writer may record an operation late, so a later number does not decide; the clock does.
    """
    apart = distance(deadline, event)
    if event.writer == deadline.writer and event.seq < deadline.seq:
        return True
    if event.writer == deadline.writer and apart.ns == 0:
        return False
    if apart.ns == 0 or abs(apart.ns) <= apart.unc_ns:
        return None
    return apart.ns > 0


def _durable(events: Iterable[Disk], key: str) -> int:
    """How many copies of a message are durable after these events; each source is a separate disk."""
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
