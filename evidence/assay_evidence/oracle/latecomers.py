"""Publications and their later subscribers for the oracle.

`latecomers` computes, for one scenario, the facts about each confirmed publication without a delay that the invariants
examine.  If a client of the scenario connects to a further queue manager, `latecomers` returns no publication.  A
consumer is *later* if a client created it certainly after the publication was confirmed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from assay_evidence.events import FATAL, SUDDEN, Event, Seen
from assay_evidence.oracle.holders import Attachment, Holders
from assay_evidence.oracle.moments import precedes
from assay_evidence.oracle.publications import is_stored, publications
from assay_evidence.oracle.story import Story
from assay_evidence.oracle.values import FaultSpan, Send, Span

PATTERN = "#*+%"
SUBSCRIPTIONS = "SUB("
ONCE = "at-most-once"
LEAVING = ("close-connection", "close-session", "close-consumer")


class Reach(Struct, frozen=True):
    """The receptions of a publication by one kind of later consumers, and the longest silence of these consumers.

    Args:
        seen: The number of times that these consumers received the publication.
        quiet_ns: The longest silence of these consumers after the publication, in nanoseconds; 0 without a silence.
    """

    seen: int
    quiet_ns: int


class Publication(Struct, frozen=True, kw_only=True):
    """A publication, with what later consumers received, and with what the scenario did before and after it.

    A *plain* subscription is non-durable and unshared.  A *fatal* fault is a kill or restart of the broker that was not
    over before the send.

    Args:
        send: The send of the publication.
        live: Reach to later consumers of plain subscriptions, if no kill or restart began between the send and the
            creation of the consumer.  For a silence, the begin of the watch counts instead of the creation.
        after: Reach to later consumers of plain subscriptions, if a kill or restart began after the confirmation and
            was over before the consumer was created.
        every: Reach to all later consumers.
        once: As `after`, for consumers that receive at most once.
        subscribed: Whether a plain subscription was created before the send.
        subscribed_once: As `subscribed`, for consumers that receive at most once.
        watched: Whether a consumer of a plain subscription watched from before the send until a kill or restart that
            began after the confirmation, and did not receive the publication.
        watched_once: As `watched`, for consumers that receive at most once.
        unsubscribed: Whether an actor had closed its consumer of a plain subscription before the send, and all
            consumers of this actor in the scenario are consumers of the topic.
        unasked: Whether all attempts to create a consumer of the topic came after the confirmation.  Also False if, at
            any time in the scenario, a client tried to create a consumer of a topic pattern, or an administrator gave a
            command about subscriptions.
        stored: Whether the publication is persistent, and its sender is not an MQ Light client.
        could_survive: Whether the publication could outlive the fatal faults: it is `stored`, or there were none.
        could_be_saved: Whether the publication could outlive the fatal faults in a broker that saves all messages
            before it stops: it is `stored`, or all the faults were restarts.
    """

    send: Send
    live: Reach
    after: Reach
    every: Reach
    once: Reach
    subscribed: bool
    subscribed_once: bool
    watched: bool
    watched_once: bool
    unsubscribed: bool
    unasked: bool
    stored: bool
    could_survive: bool
    could_be_saved: bool


def latecomers(story: Story) -> Sequence[Publication]:
    """Return the publications of one scenario that invariants examine; computed once for all invariants."""
    return story.noted(latecomers, lambda: tuple(_Latecomers(story)))


class _Latecomers:
    def __init__(self, story: Story) -> None:
        self.story = story
        self.holders = Holders(story)
        self.on_topics = [one for one in self.holders.attachments if one.kind != "queue"]
        self.asked = [
            call for call, _ in story.calls if call.op == "consumer" and (call.destination or "").startswith("topic://")
        ]
        self.seen: dict[str, list[tuple[Seen, Attachment]]] = {}
        links: dict[tuple[str, str], Seen] = {}
        for event in story.events:
            if not isinstance(event, Seen):
                continue
            first = links.setdefault((event.actor, event.link), event)
            consumer = self.holders.consumer(event, event.actor)
            if consumer is not None and precedes(consumer.call, first):
                self.seen.setdefault(event.msg.key, []).append((event, consumer))

    def __iter__(self) -> Iterator[Publication]:
        if any(call.op == "connect" and call.args.get("member") is not None for call, _ in self.story.calls):
            return
        for send in publications(self.story):
            yield self._publication(send)

    def _publication(self, send: Send) -> Publication:
        here = [one for one in self.on_topics if one.call.destination == send.destination]
        plain = [one for one in here if one.kind == "non-durable" and not one.shared and one.answer is not None]
        before = [one for one in plain if one.answer is not None and precedes(one.answer, send.call)]
        confirmed = send.confirmed
        wide = any(set(PATTERN) & set(call.destination or "") for call in self.asked) or any(
            SUBSCRIPTIONS in act.command for act in self.story.admins
        )
        asked = [call for call in self.asked if call.destination == send.destination]
        stored = is_stored(self.story, send)
        fatal = [fault.begin.what for fault in self.story.faults if _is_fatal(fault, send)]
        watched = [self._of(span) for span in self.story.watching(send.destination) if self._watched(span, send)]
        return Publication(
            send=send,
            live=self._reach(send, self._is_live),
            after=self._reach(send, self._is_after),
            every=self._reach(send, lambda _send, _one, _from: True),
            once=self._reach(
                send,
                lambda sent, one, start: one.call.args.get("qos") == ONCE and self._is_after(sent, one, start),
            ),
            subscribed=bool(before),
            subscribed_once=any(one.call.args.get("qos") == ONCE for one in before),
            watched=bool(watched),
            watched_once=any(one is not None and one.call.args.get("qos") == ONCE for one in watched),
            unsubscribed=any(self._closed(one, send) for one in plain),
            unasked=not wide and all(confirmed is not None and precedes(confirmed, call) for call in asked),
            stored=stored,
            could_survive=stored or not fatal,
            could_be_saved=stored or not any(what in SUDDEN for what in fatal),
        )

    def _watched(self, span: Span, send: Send) -> bool:
        """Return whether a subscriber watched from before a send until the broker ended, without receiving the message.

        Only unshared non-durable subscriptions count.
        """
        one, confirmed = self._of(span), send.confirmed
        if one is None or one.kind != "non-durable" or one.shared or not precedes(span.begin, send.call):
            return False
        if any(sighting.actor == span.begin.actor for sighting in self.story.handed(send.key)):
            return False
        return any(
            fault.begin.what in FATAL
            and confirmed is not None
            and precedes(confirmed, fault.begin)
            and precedes(fault.begin, span.end)
            for fault in self.story.faults
        )

    def _closed(self, one: Attachment, send: Send) -> bool:
        """Return whether a consumer was closed before a send, and its actor has no consumer of another destination."""
        places = {other.call.destination for other in self.holders.attachments if other.call.actor == one.call.actor}
        return len(places) == 1 and any(
            call.actor == one.call.actor
            and call.op in LEAVING
            and answer is not None
            and answer.refused is None
            and one.answer is not None
            and precedes(one.answer, call)
            and precedes(answer, send.call)
            for call, answer in self.story.calls
        )

    def _reach(self, send: Send, which: Callable[[Send, Attachment, Event], bool]) -> Reach:
        seen = [
            one
            for event, one in self.seen.get(send.key, [])
            if event.destination == send.destination and self._is_later(send, one) and which(send, one, one.call)
        ]
        silences = [
            self.story.silence(send, span, send.due)
            for span in self.story.watching(send.destination)
            if self.story.unbroken(span)
            and (one := self._of(span)) is not None
            and self._is_later(send, one)
            and which(send, one, span.begin)
        ]
        return Reach(len(seen), max(silences, default=0))

    def _of(self, span: Span) -> Attachment | None:
        return self.holders.consumer(span.begin, span.begin.actor)

    @staticmethod
    def _is_later(send: Send, one: Attachment) -> bool:
        return send.confirmed is not None and precedes(send.confirmed, one.call)

    def _is_live(self, send: Send, one: Attachment, start: Event) -> bool:
        plain = one.kind == "non-durable" and not one.shared
        begun = (fault.begin for fault in self.story.faults if fault.begin.what in FATAL)
        return plain and all(precedes(begin, send.call) or precedes(start, begin) for begin in begun)

    def _is_after(self, send: Send, one: Attachment, _start: Event) -> bool:
        confirmed = send.confirmed
        return (
            one.kind == "non-durable"
            and not one.shared
            and any(
                fault.begin.what in FATAL
                and confirmed is not None
                and precedes(confirmed, fault.begin)
                and fault.end is not None
                and precedes(fault.end, one.call)
                for fault in self.story.faults
            )
        )


def _is_fatal(fault: FaultSpan, send: Send) -> bool:
    """Return whether a fault is a kill or restart that was not over before a send."""
    over = fault.end is not None and precedes(fault.end, send.call)
    return fault.begin.what in FATAL and not over
