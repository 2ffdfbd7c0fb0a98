"""Messages that were sent while the subscriber of a subscription with a time to live was away, for the oracle.

`lapses` computes, for one scenario, the facts that `assay_pipeline.tables.lapses` describes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from assay_evidence.events import Call, Event, Return, Seen
from assay_evidence.oracle.holders import Attachment, Holders
from assay_evidence.oracle.moments import elapsed, precedes, unsure
from assay_evidence.oracle.publications import is_stored, publications
from assay_evidence.oracle.story import Story
from assay_evidence.oracle.values import Send
from assay_evidence.spans import NS_PER_MS

LEAVING = ("abort", "close-connection", "close-session", "close-consumer")
DISCONNECTING = ("abort", "close-connection")


class Lapse(Struct, frozen=True, kw_only=True):
    """A message that was sent during an absence; `assay_pipeline.tables.lapses` describes the fields.

    All times are in nanoseconds.
    """

    send: Send
    actor: str
    turn: int
    ttl_ns: int
    left_ns: int
    past_ns: int
    age_ns: int
    seen: int
    quiet_ns: int
    stored: bool
    careless: bool
    disconnected: bool
    attached: bool
    withheld: bool

    @property
    def name(self) -> str:
        """The name of the subject: the message's key, the subscriber, and the number of the absence."""
        return f"{self.send.key}>{self.actor}/{self.turn}"


class _Absence(Struct, frozen=True):
    first: Return
    one: Attachment
    back: Attachment
    turn: int
    leaves: Call
    gone: Return
    disconnected: bool


def lapses(story: Story) -> Sequence[Lapse]:
    """Return the messages of a scenario that were sent during absences; computed once for all invariants."""
    return story.noted(lapses, lambda: tuple(_lapses(story)))


def _lapses(story: Story) -> Iterator[Lapse]:
    for absence in _absences(story):
        back = absence.back
        if back.answer is None or _upset(story, absence):
            continue
        for send in publications(story):
            if send.destination != back.call.destination or send.confirmed is None:
                continue
            if precedes(absence.gone, send.call) and precedes(send.confirmed, back.call):
                yield _lapse(story, absence, send, back.answer)


def _lapse(story: Story, absence: _Absence, send: Send, returned: Return) -> Lapse:
    one, back = absence.one, absence.back
    actor, ttl_ns = one.call.actor, _ttl_ns(one)
    mine = [span for span in story.watching(send.destination) if span.begin.actor == actor]
    spans = [span for span in mine if precedes(back.call, span.begin) and story.unbroken(span)]
    leaves = absence.leaves
    deleted = any(call.op == "unsubscribe" and call.args.get("name") == one.name for call, _ in story.calls)
    return Lapse(
        send=send,
        actor=actor,
        turn=absence.turn,
        ttl_ns=ttl_ns,
        left_ns=ttl_ns - elapsed(absence.leaves, returned) - unsure(absence.leaves, returned),
        past_ns=_over(absence.gone, back.call, ttl_ns),
        age_ns=_over(absence.first, back.call, ttl_ns),
        seen=sum(
            isinstance(event, Seen)
            and (event.msg.key, event.destination, event.actor) == (send.key, send.destination, actor)
            and precedes(back.call, event)
            for event in story.events
        ),
        quiet_ns=max((story.silence(send, span, send.due) for span in spans), default=0),
        stored=is_stored(story, send),
        careless=one.careless,
        disconnected=absence.disconnected,
        attached=any(
            one.answer is not None
            and precedes(one.answer, span.begin)
            and precedes(span.begin, leaves)
            and precedes(leaves, span.end)
            for span in mine
        ),
        withheld=story.withheld(send) or story.special or (deleted and one.name is not None),
    )


def _over(start: Event, end: Event, ttl_ns: int) -> int:
    return elapsed(start, end) - unsure(start, end) - ttl_ns


def _ttl_ns(one: Attachment) -> int:
    ttl = one.call.args.get("ttl_ms")
    return ttl * NS_PER_MS if isinstance(ttl, int) else 0


def _absences(story: Story) -> Iterator[_Absence]:
    series: dict[tuple[str, str, str, str], list[Attachment]] = defaultdict(list)
    for one in Holders(story).attachments:
        if one.kind != "queue" and isinstance(one.call.args.get("ttl_ms"), int) and one.name is not None:
            series[one.call.writer, one.call.actor, one.call.destination or "", one.name].append(one)
    for visits in series.values():
        for turn, (one, back) in enumerate(pairwise(visits), start=1):
            if not (_is_plain(one) and _is_plain(back)) or _ttl_ns(one) != _ttl_ns(back):
                continue
            first = visits[0].answer
            if first is not None and one.answer is not None and not _asked_meanwhile(story, one, back):
                yield from _absence(story, first, one, back, turn)


def _asked_meanwhile(story: Story, one: Attachment, back: Attachment) -> bool:
    """Return whether a client asked for another consumer with this subscription name between the two creations."""
    opened = one.answer
    return opened is None or any(
        call.op == "consumer"
        and call.args.get("name") == one.name
        and call is not back.call
        and not precedes(call, opened)
        and not precedes(back.call, call)
        for call, _ in story.calls
    )


def _absence(story: Story, first: Return, one: Attachment, back: Attachment, turn: int) -> Iterator[_Absence]:
    left = [
        (call, answer)
        for call, answer in story.calls
        if call.op in LEAVING
        and call.actor == one.call.actor
        and one.answer is not None
        and precedes(one.answer, call)
        and precedes(call, back.call)
    ]
    done = [(call, answer) for call, answer in left if answer is not None and answer.refused is None]
    if not done:
        return
    leaves = min((call for call, _ in left), key=lambda call: call.seq)
    gone = max((answer for _, answer in done), key=lambda answer: answer.seq)
    if precedes(gone, back.call):
        disconnected = any(call.op in DISCONNECTING for call, _ in done)
        yield _Absence(first, one, back, turn, leaves, gone, disconnected)


def _is_plain(one: Attachment) -> bool:
    args = one.call.args
    chosen = args.get("selector") is not None or args.get("no_local") is True
    return one.answer is not None and not one.shared and not chosen


def _upset(story: Story, absence: _Absence) -> bool:
    """Return whether a fault overlaps the time from the subscription's first creation to the subscriber's return."""
    returned = absence.back.answer
    return any(
        not (fault.end is not None and precedes(fault.end, absence.first))
        and not (returned is not None and precedes(returned, fault.begin))
        for fault in story.faults
    )
