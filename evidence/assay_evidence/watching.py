"""Watches: the times in which a consumer could have received a message.

All times are nanoseconds after one origin event.  The time of a fault does not count as watched.  While a busy machine
delays the harness, the harness notes arriving messages only afterwards.  So the time of the delay does not count as
silence.  An event that the harness notes during the delay, or shortly after it, may have happened when the delay
began.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from assay_evidence.concluding.weighing import HELD_UP_NS
from assay_evidence.events import Event, Fault, Watch
from assay_evidence.history import History, Watched, distance, follows, in_order
from assay_evidence.spans import NS_PER_MS, Span, clip, merge, split, subtract, total

CATCHING_UP_NS = 100_000_000
"""The time after a delay, in nanoseconds, in which the harness may still note events that happened during the delay."""


def was_prompt(event: Event, history: History) -> bool:
    """Return whether all delays of the harness before an event are known and at most `HELD_UP_NS` in total."""
    before = (late for late in history.delays if follows(event, late))
    return history.delays_placed and sum(late.late_ns for late in before) <= HELD_UP_NS


class Watchers(Struct, frozen=True):
    """The consumers whose watches count for a claim.

    Args:
        actors: The names of the actors that the claim names; None for a claim without actors.
        destinations: If the claim names no actors, the destinations whose watches count; empty for all.
    """

    actors: tuple[str, ...] | None
    destinations: frozenset[str] = frozenset()

    def include(self, watch: Watch) -> bool:
        """Return whether a watch counts for the claim."""
        if self.actors is not None:
            return watch.actor in self.actors
        return not self.destinations or watch.destination in self.destinations


def watchers_of(history: History, actors: tuple[str, ...] | None, keys: Collection[str]) -> Watchers:
    """Return the watchers of a claim: the actors that it names, or else all watchers of its messages' destinations."""
    sent_to = {send.destination for send in history.sends(keys)}
    return Watchers(actors, frozenset(name for name in sent_to if name is not None))


class Mark(Struct, frozen=True):
    """A moment after which a quiet watch must begin.

    Args:
        event: The event from which the moment counts.
        later_ns: The time from the event to the moment, in nanoseconds.
    """

    event: Event
    later_ns: int = 0


def release_marks(history: History, keys: Collection[str]) -> list[Mark]:
    """Return the moments before which silence proves nothing about these messages.

    These are the answer to each send (the send itself if it has no answer), the end of each send's delivery delay (its
    argument ``delay_ms``, in milliseconds), and the end of each fault.  Without a send of these messages, the list is
    empty.
    """
    marks: list[Mark] = []
    for send in history.sends(keys):
        marks.append(Mark(history.answer(send) or send))
        delay_ms = send.args.get("delay_ms")
        if isinstance(delay_ms, int) and delay_ms > 0:
            marks.append(Mark(send, delay_ms * NS_PER_MS))
    if marks:
        marks.extend(Mark(fault.end) for fault in history.faults if fault.end is not None)
    return marks


class Silence(Struct, frozen=True):
    """The result of a search for a quiet watch.

    Args:
        span: The first quiet watch; None if the evidence has none.
        ns: The duration of the quiet watch, without delays of the harness. Without a quiet watch, the duration of the
            longest silence.
        needed_ns: The shortest duration that suffices, in nanoseconds.
        spoiled: Whether a silence is long enough only if it includes the delays of the harness.
        unwatched: The end of the last fault, if no watch reaches beyond it; otherwise None.
    """

    span: Span | None
    ns: int
    needed_ns: int
    spoiled: bool = False
    unwatched: Fault | None = None


class Axis:
    """A time axis for watches, faults, sightings and delays of the harness, in nanoseconds after an origin event.

    Args:
        history: The evidence.
        origin: The event at 0.
        now: The event at which open watches and faults end, such as the claim.
    """

    def __init__(self, history: History, origin: Event, now: Event) -> None:
        self.history = history
        self.origin = origin
        self.now = distance(now, origin).ns
        self.faults: list[Span] = [
            (self.at(fault.begin), self.now if fault.end is None else self.at(fault.end)) for fault in history.faults
        ]
        ends = ((self.at(late), late.held_ns) for late in history.delays)
        self.held: list[Span] = merge((end - held_ns, end + CATCHING_UP_NS) for end, held_ns in ends)
        """The delays of the harness, each extended by `CATCHING_UP_NS`."""

    def at(self, event: Event) -> int:
        """Return the position of an event on the axis."""
        return distance(event, self.origin).ns

    def earliest(self, event: Event) -> int:
        """Return the earliest position at which an event can have happened, if the harness noted it late."""
        at = self.at(event)
        return next((start for start, end in self.held if start < at <= end), at)

    def is_prompt(self, since: int, until: int) -> bool:
        """Return whether all delays of the harness are known, and those in a span last at most `HELD_UP_NS` together.

        A delay counts as a whole if a part of it lies in the span.  The span ends `CATCHING_UP_NS` after `until`,
        because a consumer may begin to ask for messages shortly after its watch begins.

        Args:
            since: The start of the span, as a position on the axis.
            until: The position on the axis after which the span ends.
        """
        ends = ((self.at(late), late) for late in self.history.delays)
        inside = (late for end, late in ends if end > since and end - late.held_ns < until + CATCHING_UP_NS)
        return self.history.delays_placed and sum(late.late_ns for late in inside) <= HELD_UP_NS

    def place(self, mark: Mark) -> int:
        """Return the position of a mark on the axis."""
        return self.at(mark.event) + mark.later_ns

    def span(self, watch: Watched) -> Span:
        """Return the begin and end of a watch on the axis."""
        start = self.at(watch.begin)
        return (start, max(start, self.now if watch.end is None else self.at(watch.end)))

    def watched(self, watchers: Watchers) -> list[Span]:
        """Return the spans in which a watcher could receive messages, without the times of faults."""
        spans = merge(self.span(watch) for watch in self.history.watches if watchers.include(watch.begin))
        return subtract(spans, self.faults)

    def quiet(self, watchers: Watchers, after: Collection[Mark], quiet_ns: int) -> Silence:
        """Search for a quiet watch after all marks.

        A quiet watch is a part of a watch in which the watch's actor received no message for at least `quiet_ns`, not
        counting delays of the harness.  If `quiet_ns` is at most a millisecond, a whole watch that ended without a
        message also suffices, even a shorter one, unless a fault or a delay of the harness overlaps it.  If a fault has
        not ended, no watch is quiet.

        Args:
            watchers: The consumers whose watches count.
            after: The moments after which the quiet watch must begin; at least one.
            quiet_ns: The shortest duration that suffices, in nanoseconds.
        """
        if any(fault.end is None for fault in self.history.faults):
            return Silence(None, 0, quiet_ns)
        start = max(self.place(mark) for mark in after)
        longest_ns = longest_held_ns = 0
        for watch in self.history.watches:
            if not watchers.include(watch.begin):
                continue
            low, high = self.span(watch)
            handed = [self.at(seen) for seen in self.history.sightings(None, {watch.begin.actor})]
            free = subtract(clip([(low, high)], start, max(start, high)), self.faults)
            for piece in split(free, handed):
                listened_ns = total(subtract([piece], self.held))
                if listened_ns >= max(quiet_ns, 1):
                    return Silence(piece, listened_ns, quiet_ns)
                longest_ns, longest_held_ns = max(longest_ns, listened_ns), max(longest_held_ns, piece[1] - piece[0])
            if quiet_ns <= NS_PER_MS and self._in_vain(watch) and all(self._behind(watch, mark) for mark in after):
                if not _touches((low, high), self.held):
                    return Silence((low, high), high - low, quiet_ns)
                longest_held_ns = max(longest_held_ns, quiet_ns)
        spoiled = longest_held_ns >= max(quiet_ns, 1)
        return Silence(None, longest_ns, quiet_ns, spoiled=spoiled, unwatched=self._unwatched(watchers))

    def _unwatched(self, watchers: Watchers) -> Fault | None:
        """Return the end of the last fault, if no watch reaches beyond it; otherwise None."""
        ends = in_order(fault.end for fault in self.history.faults if fault.end is not None)
        if not ends:
            return None
        watches = (watch for watch in self.history.watches if watchers.include(watch.begin))
        return None if any(self.span(watch)[1] > self.at(ends[-1]) for watch in watches) else ends[-1]

    def _in_vain(self, watch: Watched) -> bool:
        end = watch.end
        if end is None:
            return False
        low, high = self.span(watch)
        if _touches((low, high), self.faults):
            return False
        handed = [*self.history.sightings(None, {watch.begin.actor}), watch.begin, end]
        order = in_order(handed)
        return order.index(end) == order.index(watch.begin) + 1

    def _behind(self, watch: Watched, mark: Mark) -> bool:
        """Return whether a watch lies completely after a mark.

        If a watch begins exactly at the time of the mark's event and the same writer recorded both, their order in the
        journal decides.  Any other watch that begins at the mark's time counts if it has a duration.
        """
        low, high = self.span(watch)
        place = self.place(mark)
        if low != place:
            return low > place
        if mark.later_ns == 0 and watch.begin.writer == mark.event.writer:
            return watch.begin.seq > mark.event.seq
        return high > place


def _touches(span: Span, others: Collection[Span]) -> bool:
    return any(start < span[1] and stop > span[0] for start, stop in others)
