"""The predicate about batch delivery: batch-shape (BT-04, BT-05, BT-06)."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from assay_evidence.errors import ClaimError
from assay_evidence.events import Call, Callback, Claim, Event, Seen
from assay_evidence.figures import counted, duration
from assay_evidence.history import History, distance, follows
from assay_evidence.predicates.claims import Saying, actors_of, listed, number
from assay_evidence.predicates.timing import like_ns, unless_like_noted
from assay_evidence.spans import NS_PER_MS
from assay_evidence.verdicts import Finding
from assay_evidence.watching import Axis

PERCENT = 100


class Batch(Struct, frozen=True):
    """The messages of one callback, in order; empty if the client called the listener without a message (BT-04)."""

    messages: tuple[Seen, ...]

    @property
    def size(self) -> int:
        """The number of messages in the batch."""
        return len(self.messages)


class Lateness(Struct, frozen=True):
    """The delay of a batch: the time from its first possible delivery to its delivery.

    All times are in nanoseconds.

    Args:
        ns: The delay according to the journal.
        least_ns: The shortest possible delay, because the harness may have noted the delivery late.
        most_ns: The longest possible delay: the harness may have noted too late an event that the batch needed.
        unc_ns: The uncertainty of the clocks.
        limit_ns: The longest permitted delay.
        number: The batch's number, for texts.
        handed: The first message of the batch.
    """

    ns: int
    least_ns: int
    most_ns: int
    unc_ns: int
    limit_ns: int
    number: int
    handed: Seen

    @property
    def text(self) -> str:
        """A text with the batch's lateness and the permitted lateness."""
        return f"batch {self.number} {duration(self.ns)} after it could have been, of {duration(self.limit_ns)}"


def batch_shape(claim: Claim, history: History) -> Finding:
    """Decide whether the batches of the actors have the sizes, the number and the times that the claim demands.

    An actor without batches is ignored, because a broker may send all messages of a queue to one of its consumers.

    The bound `defer_ms` counts from the earliest moment at which the batch's first message could be delivered (BT-05),
    and the bound `full_ms` from the earliest moment at which its last message could be delivered.  This moment is the
    latest of these:

    - the answer to the send, plus the message's delay,
    - the commit of the send's unit of work,
    - the begin of the actor's watch,
    - the end of the actor's previous callback,
    - the end of a fault.

    Raises:
        ClaimError: The claim names no actor.
    """
    actors, largest, least = actors_of(claim), number(claim, "max"), claim.bounds.get("min", 1)
    if actors is None:
        raise ClaimError(f"The claim {claim.ref} ({claim.predicate}) names no actor.")
    say = Saying(claim, _expected(claim, actors, least, largest))
    keys = listed(claim, "kids", "kid")
    batches = [batch for actor in actors for batch in _batches(history, actor, keys)]
    if not batches:
        return say.not_demonstrated("The actors received no batch.", "no batch")
    sizes = [batch.size for batch in batches]
    observed = f"{counted(len(sizes), 'batch', 'batches')} of {', '.join(map(str, sizes))}"
    misshapen = [batch for batch in batches if not least <= batch.size <= largest]
    if misshapen:
        offenders = [seen for batch in misshapen for seen in batch.messages]
        return say.failed("A batch is too large or too small.", observed, by=offenders)
    count = claim.bounds.get("batches")
    if count is not None and len(batches) != count:
        number_of = counted(len(batches), "batch", "batches")
        return say.failed(f"The actor received {number_of} instead of {count}.", observed)
    if late := _judge_moments(claim, history, say, batches):
        return late
    certain = history.delays_placed or not {"defer_ms", "full_ms"} & claim.bounds.keys()
    if not claim.bounds.get("fill"):
        return say.passed("The batches are as the claim demands.", observed, certain=certain)
    rate = sum(sizes) * PERCENT // (len(sizes) * largest)
    disclosed = f"filled to {rate} % ({sum(sizes)} of {len(sizes) * largest})"
    return say.passed("The batches are as the claim demands.", observed, disclosed, certain=certain)


def _expected(claim: Claim, actors: tuple[str, ...], least: int, largest: int) -> str:
    parts = [f"batches of {least} to {largest} messages for {' and '.join(actors)}"]
    if (count := claim.bounds.get("batches")) is not None:
        parts.append(f"{count} of them")
    if (defer_ms := claim.bounds.get("defer_ms")) is not None:
        parts.append(f"none deferred beyond {defer_ms} ms (limit {claim.bounds.get('limit_ms', 0)} ms more)")
    if (full_ms := claim.bounds.get("full_ms")) is not None:
        parts.append(f"a full batch within {full_ms} ms")
    if claim.of.get("like"):
        parts.append("plus the time of a message without batches")
    return ", ".join(parts)


def _batches(history: History, actor: str, keys: tuple[str, ...]) -> list[Batch]:
    """Return the batches of an actor.

    Batch numbers can recur after a new listener or on a new link.  So three values identify a batch, as in the
    invariant of BT-04: its number, its link, and the number of callbacks that have ended on this link.
    """
    handed = [seen for seen in history.sightings(None, {actor}) if seen.batch is not None]
    ended = [callback for callback in history.callbacks if callback.actor == actor and callback.batch is not None]
    turns: Counter[tuple[str, str]] = Counter()
    groups: dict[tuple[str, str, int, int | None], list[Seen]] = {}
    noted: list[Seen | Callback] = [*handed, *ended]
    for event in sorted(noted, key=lambda event: (event.writer, event.seq)):
        link = event.writer, event.link
        batch = groups.setdefault((*link, turns[link], event.batch), [])
        if isinstance(event, Seen):
            batch.append(event)
        else:
            turns[link] += 1
    batches = [Batch(tuple(messages)) for messages in groups.values()]
    return [batch for batch in batches if not keys or any(seen.msg.key in keys for seen in batch.messages)]


def _judge_moments(claim: Claim, history: History, say: Saying, batches: list[Batch]) -> Finding | None:
    """Return a finding if a batch was or may have been late, or if no batch can be measured; otherwise None."""
    if unlike := unless_like_noted(claim, history, say):
        return unlike
    defer_ms, full_ms = claim.bounds.get("defer_ms"), claim.bounds.get("full_ms")
    measured: list[Lateness] = []
    for bound, sort in ((defer_ms, _deferred), (full_ms, _full)):
        delays = sort(claim, history, batches) if bound is not None else []
        if bound is not None and not delays:
            return say.not_demonstrated(
                "The evidence does not show how long a batch was held back.", "no batch to be measured"
            )
        measured += delays
    late = [delay for delay in measured if delay.most_ns > delay.limit_ns]
    if not late:
        return None
    observed = "; ".join(delay.text for delay in late)
    surely = [delay for delay in late if delay.least_ns > delay.limit_ns + delay.unc_ns]
    if surely:
        return say.failed("A batch was deferred for too long.", observed, by=[delay.handed for delay in surely])
    if any(delay.least_ns != delay.most_ns for delay in late):
        return say.held_up("the batch, or an event for which it waited, may have been noted too late", observed)
    return say.inconclusive("The clocks are too uncertain to tell whether the batch was late.", observed)


def _deferred(claim: Claim, history: History, batches: list[Batch]) -> list[Lateness]:
    limit_ns = (number(claim, "defer_ms") + claim.bounds.get("limit_ms", 0)) * NS_PER_MS + like_ns(claim, history)
    return [
        late
        for index, batch in enumerate(batches)
        if batch.messages
        for late in _lateness(Axis(history, batch.messages[0], claim), index, batch, batch.messages[0], limit_ns)
    ]


def _full(claim: Claim, history: History, batches: list[Batch]) -> list[Lateness]:
    limit_ns = number(claim, "full_ms") * NS_PER_MS + like_ns(claim, history)
    return [
        late
        for index, batch in enumerate(batches)
        if batch.size == number(claim, "max")
        for late in _lateness(Axis(history, batch.messages[0], claim), index, batch, batch.messages[-1], limit_ns)
    ]


def _lateness(axis: Axis, index: int, batch: Batch, message: Seen, limit_ns: int) -> list[Lateness]:
    """Return how late a batch was, counted from one of its messages; empty if this is unknown.

    Args:
        axis: An axis whose origin is the first message of the batch.
        index: The batch's number, for texts.
        batch: The batch.
        message: The message whose earliest possible delivery is the start of the time.
        limit_ns: The longest permitted time.
    """
    handed = batch.messages[0]
    moments = _could_be_delivered(axis.history, message, handed)
    if not moments:
        return []
    latest, later_ns = max(moments, key=lambda moment: axis.at(moment[0]) + moment[1])
    ns = -(axis.at(latest) + later_ns)
    most_ns = -max(axis.earliest(event) + after_ns for event, after_ns in moments)
    unc_ns = distance(handed, latest).unc_ns
    return [Lateness(ns, ns + axis.earliest(handed), most_ns, unc_ns, limit_ns, index, handed)]


def _could_be_delivered(history: History, message: Seen, handed: Seen) -> list[tuple[Event, int]]:
    """Return the moments before which a message could not be delivered, each as an event and nanoseconds after it.

    Args:
        history: The evidence.
        message: The message.
        handed: The first message of its batch. Watches, callbacks and faults after it do not count.
    """
    moments: list[tuple[Event, int]] = []
    for send in history.sends({message.msg.key}):
        delay_ms = send.args.get("delay_ms")
        delay_ns = delay_ms * NS_PER_MS if isinstance(delay_ms, int) else 0
        moments.append((history.answer(send) or send, delay_ns))
        moments.extend((commit, 0) for commit in _commits(history, send))
    if not moments:
        return []
    others: list[Event] = [watch.begin for watch in history.watches if watch.begin.actor == handed.actor]
    others += [callback for callback in history.callbacks if callback.actor == handed.actor]
    others += [fault.end for fault in history.faults if fault.end is not None]
    moments.extend((event, 0) for event in others if follows(handed, event))
    return moments


def _commits(history: History, send: Call) -> list[Event]:
    return [
        unit
        for unit in history.units
        if send.unit is not None and unit.unit == send.unit and unit.op == "commit" and unit.writer == send.writer
    ]
