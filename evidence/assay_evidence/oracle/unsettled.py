"""Messages that a consumer received and had not settled when its connection was lost, for the oracle.

`unsettled` computes, for one scenario, the facts that `assay_pipeline.tables.unsettled` describes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from assay_evidence.events import FATAL, LOSING, Event, Fault, Seen, Settle
from assay_evidence.oracle.holders import Attachment, Holders
from assay_evidence.oracle.moments import precedes
from assay_evidence.oracle.story import Story
from assay_evidence.oracle.values import Send, Span

CLOSING = ("close-connection", "close-session", "close-consumer")
SETTLING = ("acknowledge", "commit", "xa-commit")
Loss = tuple[Event, Event | None]


class Unsettled(Struct, frozen=True, kw_only=True):
    """A message that a queue's or a subscription's consumer had not settled when its connection was lost.

    `assay_pipeline.tables.unsettled` describes the fields; times are nanoseconds.
    """

    send: Send
    source: str
    kind: str
    shared: bool
    times: int
    looked: bool
    again: Seen | None
    again_other: bool
    certain: bool
    returned: bool
    away: bool
    tells: bool
    neighbour: bool
    asked: bool
    stored: bool
    quiet_ns: int
    quiet_other_ns: int
    others: int
    alone: bool
    withheld: bool

    @property
    def name(self) -> str:
        """The name of the subject: the message's key and, for a subscription, the holder's name."""
        return self.send.key if self.kind == "queue" else f"{self.send.key}>{self.source}"


def unsettled(story: Story) -> Sequence[Unsettled]:
    """Return all unsettled messages of one scenario; computed once for all invariants."""
    return story.noted(unsettled, lambda: tuple(_Receptions(story)))


class _Receptions:
    def __init__(self, story: Story) -> None:
        self.story = story
        self.holders = Holders(story)
        self.settled: set[tuple[str, str, str]] = set()
        self.accepting: dict[tuple[str, str], list[Settle]] = defaultdict(list)
        self.settlers: set[str] = set()
        self.seen: dict[tuple[str, str], dict[str, list[Seen]]] = defaultdict(lambda: defaultdict(list))
        for event in story.events:
            if isinstance(event, Settle):
                self.settled.add((event.actor, event.link, event.msg.key))
                self.settlers.add(event.actor)
                if event.outcome == "accepted" and event.unit is None:
                    self.accepting[event.actor, event.link].append(event)
            elif isinstance(event, Seen):
                source = self._source(event, event.actor, event.destination)
                if source is not None:
                    self.seen[event.msg.key, event.destination][source].append(event)

    def __iter__(self) -> Iterator[Unsettled]:
        for send in (*self.story.lasting("queue://"), *self.story.lasting("topic://")):
            for source, seen in self.seen.get((send.key, send.destination), {}).items():
                first = min(seen, key=lambda event: (send.since(event), event.writer, event.seq))
                loss = self._loss(send, first)
                consumer = self.holders.consumer(first, first.actor)
                if consumer is not None and consumer.kind == "non-durable":
                    continue
                if loss is not None and (first.actor, first.link, send.key) not in self.settled:
                    yield self._unsettled(send, source, first, loss, seen)

    def _source(self, event: Event, actor: str, destination: str) -> str | None:
        """Return the name of the holder for a reception or watch; None if the holder is unknown.

        The name of a subscription that MQ Light clients share contains no client id.
        """
        source, consumer = self.holders.source(event, actor, destination), self.holders.consumer(event, actor)
        return source if consumer is None else self._grouped(source, consumer)

    @staticmethod
    def _grouped(source: str | None, consumer: Attachment) -> str | None:
        if source is not None and consumer.shared and consumer.call.args.get("qos"):
            return None if consumer.name is None else f"share {consumer.name}"
        return source

    def _loss(self, send: Send, first: Seen) -> Loss | None:
        spans: list[Loss] = [(f.begin, f.end) for f in self.story.faults if f.begin.what in LOSING]
        spans += [(c, a) for c, a in self.story.calls if c.op == "abort" and c.actor == first.actor]
        later = [span for span in spans if precedes(first, span[0])]
        return min(later, key=lambda span: (send.since(span[0]), _what(span[0])), default=None)

    def _unsettled(self, send: Send, source: str, first: Seen, loss: Loss, seen: list[Seen]) -> Unsettled:
        begin, end = loss
        consumer = self.holders.consumer(first, first.actor)
        kind = consumer.kind if consumer else "queue"
        again = [
            event
            for event in seen
            if (event.link, event.writer) != (first.link, first.writer) and precedes(begin, event)
        ]
        next_one = min(again, key=lambda event: (send.since(event), event.writer, event.seq), default=None)
        if next_one is not None and _what(begin) == "cut" and self._closed(begin, next_one):
            next_one = None
        mine = [one.call for one in self.holders.attachments if one.call.actor == first.actor]
        returned = end is not None and any(precedes(end, call) for call in mine)
        begun = [f.begin for f in self.story.faults if f.begin.what in FATAL]
        fatal = any(not precedes(fault, send.call) for fault in begun)
        spans = [
            span
            for span in self.story.watching(send.destination)
            if self._source(span.begin, span.begin.actor, span.begin.destination) == source
        ]
        return Unsettled(
            send=send,
            source=source,
            kind=kind,
            shared=consumer is not None and consumer.shared,
            times=len(seen),
            looked=any(sighting.look for sighting in self.story.sightings.get(send.key, [])),
            again=next_one,
            again_other=next_one is not None and next_one.actor != first.actor,
            certain=_what(begin) != "cut" or returned,
            returned=returned,
            away=all(precedes(call, begin) for call in mine),
            tells=first.actor in self.settlers,
            neighbour=any(
                precedes(first, event) and precedes(event, begin) for event in self.accepting[first.actor, first.link]
            ),
            asked=self._asked(first, end),
            stored=(send.persistent and send.call.actor not in self.story.light) or not fatal,
            quiet_ns=self._silence(send, end, [span for span in spans if self._is_fresh(span, end)]),
            quiet_other_ns=self._silence(send, end, [span for span in spans if span.begin.actor != first.actor]),
            others=len(self._sharers[source] - {first.actor}),
            alone=kind != "queue" or self.holders.is_alone(send.destination),
            withheld=self.story.withheld(send)
            or self.story.special
            or self._deleted(consumer.name if consumer else None),
        )

    def _silence(self, send: Send, end: Event | None, spans: list[Span]) -> int:
        """Return the longest silence after the loss; a watch that overlaps a fault in `LOSING` does not count."""
        if end is None:
            return 0
        start = max(send.due, send.since(end))
        silences = (self.story.silence(send, span, start) for span in spans if self.story.unbroken(span))
        return max(silences, default=0)

    def _is_fresh(self, span: Span, end: Event | None) -> bool:
        consumer = self.holders.consumer(span.begin, span.begin.actor)
        return end is not None and consumer is not None and precedes(end, consumer.call)

    def _closed(self, begin: Event, until: Event) -> bool:
        """Return whether a client may have closed a connection, session or consumer between two events."""
        closings = (call for call, _ in self.story.calls if call.op in CLOSING)
        return any(not precedes(call, begin) and not precedes(until, call) for call in closings)

    def _asked(self, first: Seen, end: Event | None) -> bool:
        """Return whether the client called for an acknowledgement or a commit before the end of the loss."""
        calls = (call for call, _ in self.story.calls if call.op in SETTLING and call.writer == first.writer)
        return any(precedes(first, call) and not (end is not None and precedes(end, call)) for call in calls)

    @cached_property
    def _sharers(self) -> dict[str, set[str]]:
        """The names of all consumers of each holder."""
        sharers: dict[str, set[str]] = defaultdict(set)
        for one in self.holders.attachments:
            source = self._grouped(self.holders.name(one), one)
            if source is not None:
                sharers[source].add(one.call.actor)
        return sharers

    def _deleted(self, name: str | None) -> bool:
        return name is not None and any(
            call.op == "unsubscribe" and call.args.get("name") == name for call, _ in self.story.calls
        )


def _what(begin: Event) -> str:
    return begin.what if isinstance(begin, Fault) else "abort"
