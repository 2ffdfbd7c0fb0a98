"""The copies of messages for the oracle: each message with each holder that must or may keep it.

`copies` computes, for one scenario, the facts that `assay_pipeline.tables.copies` describes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from assay_evidence.events import FATAL, Call, Callback, Event, Fault, Return, Seen, SessionEnded, Settle, Unit
from assay_evidence.oracle.holders import Attachment, Holder, Holders
from assay_evidence.oracle.moments import elapsed, precedes, unsure
from assay_evidence.oracle.story import Story
from assay_evidence.oracle.values import FaultSpan, Send, Span

_GIVING_BACK = {"abort", "close-connection", "close-consumer", "close-session", "recover", "unsubscribe"}
_FAILING = {"abort", "recover"}


class Copy(Struct, frozen=True, kw_only=True):
    """A message and one of its holders.  `assay_pipeline.tables.copies` describes the fields; times are nanoseconds."""

    send: Send
    holder: Holder
    fatal: int
    seen: int
    handed: int
    outlived: int
    weathered: int
    altered: int
    twice: bool
    watchers: int
    idle: bool
    reopened: bool
    shaken: bool
    quiet_ns: int
    unbroken_ns: int
    through_ns: int
    alone: bool
    inherited: bool
    common: bool
    withheld: bool
    light: bool
    surely: bool
    to_light: bool

    @property
    def delayed(self) -> bool:
        """Whether the message has a delay."""
        return self.send.delay_ns > 0

    @property
    def name(self) -> str:
        """The copy's name as a subject: the message's key and, for a subscription, the holder's name."""
        return self.send.key if self.holder.kind == "queue" else f"{self.send.key}>{self.holder.name}"


def copies(story: Story) -> Sequence[Copy]:
    """Return the copies of a scenario, except those of MQ Light clients' messages; computed once for all invariants."""
    return story.noted(copies, lambda: tuple(copy for copy in all_copies(story) if not copy.light))


def all_copies(story: Story) -> Sequence[Copy]:
    """Return all copies of a scenario; computed at the first call and then kept for all invariants."""
    return story.noted(all_copies, lambda: tuple(_Copies(story)))


def giving_back(story: Story) -> list[Event]:
    """Return the events after which a broker may deliver messages again."""
    return story.noted(giving_back, lambda: _after_which(story, _GIVING_BACK))


def failures(story: Story) -> list[Event]:
    """Return the events of `giving_back` except the orderly ends of consumers, sessions, connections, subscriptions."""
    return story.noted(failures, lambda: _after_which(story, _FAILING))


def _after_which(story: Story, ops: set[str]) -> list[Event]:
    calls = {(call.writer, call.id) for call, _ in story.calls if call.op in ops}
    return [event for event in story.events if _gives_back(event, calls)]


class _Copies:
    def __init__(self, story: Story) -> None:
        self.story = story
        self.holders = Holders(story)

    def __iter__(self) -> Iterator[Copy]:
        for send in (*self.story.lasting("queue://"), *self.story.lasting("topic://")):
            chosen = send.call.args.get("mode") in ("persistent", "non-persistent")
            if chosen:
                for holder in self._holders_of(send):
                    copy = self._copy(send, holder)
                    if copy.watchers or holder.kind != "non-durable":
                        yield copy

    def _holders_of(self, send: Send) -> Iterator[Holder]:
        if send.destination.startswith("queue://"):
            yield Holder(send.destination, "queue", send.destination)
            return
        for holder in self.holders.subscriptions:
            if holder.destination == send.destination and self._exists(holder, send):
                yield holder

    def _exists(self, holder: Holder, send: Send) -> bool:
        opened = any(one.answer is not None and precedes(one.answer, send.call) for one in holder.attachments)
        return opened and all(precedes(send.call, call) for call in self._deletions(holder))

    def _deletions(self, holder: Holder) -> list[Call]:
        """Return the calls that try to delete a durable subscription."""
        if holder.kind != "durable":
            return []
        name = holder.attachments[0].name
        return [call for call, _ in self.story.calls if call.op == "unsubscribe" and call.args.get("name") == name]

    def _copy(self, send: Send, holder: Holder) -> Copy:
        fatal = [f for f in self.story.faults if f.begin.what in FATAL and precedes(send.call, f.begin)]
        spans = [span for span in self.story.watching(send.destination) if self._is_of(span, holder)]
        through = [span for span in spans if precedes(span.begin, send.call) and precedes(send.call, span.end)]
        calm = [
            span for span in through if not self.story.disturbed(send, send.since(span.begin), send.since(span.end))
        ]
        ends = [fault.end for fault in fatal if fault.end is not None]
        start = max([send.due, *(send.since(end) for end in ends)])
        over = len(ends) == len(fatal)
        seen = self._sightings(send, holder)
        mine = [
            event for event, own in seen if own and isinstance(event, Seen) and event.destination == send.destination
        ]
        body = send.call.msg.sha256 if send.call.msg is not None else ""
        confirmed = send.confirmed
        return Copy(
            send=send,
            holder=holder,
            fatal=len(fatal),
            seen=len(seen),
            handed=len(mine),
            outlived=sum(any(_after(fault, event) for fault in fatal) for event, _ in seen),
            weathered=sum(self._is_after_a_cut(send, event) for event, _ in seen),
            altered=sum(event.msg.sha256 != body for event in mine),
            twice=self._twice(send, [event for event in mine if not event.redelivered and event.count <= 1]),
            watchers=len({span.begin.actor for span in through}),
            idle=all(
                precedes(span.end, send.call) or (confirmed is not None and precedes(confirmed, span.begin))
                for span in spans
            ),
            reopened=self._reopened(send, holder),
            shaken=any(end is None or not precedes(end, send.call) for end in self._ends),
            quiet_ns=max((self.story.silence(send, span, start) for span in spans), default=0) if over else 0,
            unbroken_ns=self._unbroken(send, spans, start) if over else 0,
            through_ns=max((self.story.silence(send, span, send.due) for span in calm), default=0),
            alone=self.holders.is_alone(send.destination),
            inherited=holder.kind == "durable" and any(_inherits(holder, fault, send) for fault in self.story.faults),
            common=holder.name in self._common,
            withheld=self.story.withheld(send) or self.story.special or bool(self._deletions(holder)),
            light=send.call.actor in self.story.light,
            surely=send.call.actor in self.story.sure,
            to_light=holder.kind == "durable" and any(one.call.args.get("qos") for one in holder.attachments),
        )

    @cached_property
    def _ends(self) -> list[Event | None]:
        """The end of each dropped connection, and of each fault that leaves the broker running; None without an end."""
        passed = [(begin, end) for begin, end in self.story.losses if not _ends_the_broker(begin)]
        return [end for _, end in passed]

    def _is_after_a_cut(self, send: Send, event: Event) -> bool:
        """Return whether an event came after the begin of a cut that followed a send."""
        begun = (fault.begin for fault in self.story.faults if fault.begin.what == "cut")
        return any(precedes(send.call, begin) and precedes(begin, event) for begin in begun)

    def _unbroken(self, send: Send, spans: list[Span], start: int) -> int:
        """Return the longest silence of the watches; a watch that overlaps a fault in `LOSING` does not count."""
        whole = (span for span in spans if self.story.unbroken(span))
        return max((self.story.silence(send, span, start) for span in whole), default=0)

    def _reopened(self, send: Send, holder: Holder) -> bool:
        """Return whether a consumer of a queue or durable subscription was created after the message's confirmation."""
        if holder.kind == "non-durable" or send.confirmed is None:
            return False
        if holder.kind == "durable":
            return any(precedes(send.confirmed, one.call) for one in holder.attachments)
        own = (one.call for one in self.holders.attachments if one.call.destination == send.destination)
        return any(precedes(send.confirmed, call) for call in own)

    def _is_of(self, span: Span, holder: Holder) -> bool:
        begin = span.begin
        return self.holders.source(begin, begin.actor, begin.destination) == holder.name

    def _sightings(self, send: Send, holder: Holder) -> list[tuple[Event, bool]]:
        """Return the sightings of a copy; each has True if a consumer of the holder received the copy."""
        found: list[tuple[Event, bool]] = []
        for sighting in self.story.sightings.get(send.key, []):
            at = sighting.at
            own = isinstance(at, Seen) and self.holders.source(at, at.actor, at.destination) == holder.name
            if own or holder.kind == "queue":
                found.append((at, own))
        return found

    def _twice(self, send: Send, unmarked: list[Seen]) -> bool:
        links = {(event.writer, event.actor, event.link) for event in unmarked}
        actors = {(event.writer, event.actor) for event in unmarked}
        if len(unmarked) < 2 or len(links) != len(actors):  # noqa: PLR2004 - the first sighting repeats nothing
            return False
        return not any(
            not precedes(gave, send.call) and any(not precedes(event, gave) for event in unmarked)
            for gave in giving_back(self.story)
        )

    @cached_property
    def _common(self) -> set[str]:
        lasting = [one for one in self.holders.subscriptions if one.kind == "durable"]
        of_name: dict[str, set[str]] = {}
        for one in lasting:
            of_name.setdefault(one.attachments[0].name or "", set()).add(one.name)
        return {holder for holders in of_name.values() if len(holders) > 1 for holder in holders}


def _ends_the_broker(begin: Event) -> bool:
    return isinstance(begin, Fault) and begin.what in FATAL


def _after(fault: FaultSpan, event: Event) -> bool:
    if fault.end is None:
        return False
    return precedes(fault.end, event) or elapsed(fault.end, event) > unsure(fault.end, event)


def _inherits(holder: Holder, fault: FaultSpan, send: Send) -> bool:
    """Return whether a subscription outlived a kill or restart, and no client opened it again before the send."""
    if fault.begin.what not in FATAL or fault.end is None or not precedes(fault.end, send.call):
        return False

    def outside(one: Attachment) -> bool:
        return precedes(one.call, fault.begin) or precedes(send.call, one.call)

    before = any(one.answer is not None and precedes(one.answer, fault.begin) for one in holder.attachments)
    return before and all(outside(one) for one in holder.attachments)


def _gives_back(event: Event, calls: set[tuple[str, str]]) -> bool:
    match event:
        case Fault() | SessionEnded() | Callback(ended="raised") | Unit(op="rollback" | "recover"):
            return True
        case Settle(outcome=outcome):
            return outcome != "accepted"
        case Call(id=name) | Return(call=name):
            return (event.writer, name) in calls
        case _:
            return False
