"""The receptions in batches for the oracle, each with the call that acknowledged it or ended its unit of work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from msgspec import Struct

from assay_evidence.events import Call, Return, Seen
from assay_evidence.oracle import moments
from assay_evidence.oracle.batched import Delivery, deliveries
from assay_evidence.oracle.holders import Holders
from assay_evidence.oracle.story import Story
from assay_evidence.oracle.values import Send


class Ending(Struct, frozen=True):
    """A reception in a batch, with the later call that acknowledged the message or ended its session's unit of work."""

    one: Delivery
    send: Send
    source: str | None
    call: Call
    answer: Return

    @property
    def name(self) -> str:
        """The name of the subject: the message's key, the link, and the turn and number of the batch."""
        seen = self.one.seen
        return f"{seen.msg.key}/{seen.link}/{self.one.turn}/{seen.batch}"


_OPS = {"client": ("acknowledge",), "transacted": ("commit", "rollback"), "xa": ("xa-commit", "xa-rollback")}


_BEGINS, _STOPS = ("xa-start", "xa-join", "xa-resume"), ("xa-end", "xa-suspend", "xa-fail")


def _ends(story: Story, ack: str) -> dict[tuple[str, str], list[tuple[Call, Return | None]]]:
    """Return the calls that acknowledge messages or end units of work, by writer and session.

    Args:
        story: The scenario.
        ack: The acknowledgement mode of the sessions: client, transacted or xa.
    """
    found: dict[tuple[str, str], list[tuple[Call, Return | None]]] = defaultdict(list)
    branches: dict[tuple[str, str], set[str]] = defaultdict(set)
    for call, _ in story.calls:
        if call.op in _BEGINS and call.unit is not None:
            branches[call.writer, call.actor].add(call.unit)
    for call, answer in story.calls:
        if call.op not in _OPS[ack]:
            continue
        if ack != "xa":
            found[call.writer, call.actor].append((call, answer))
            continue
        for session, units in branches.items():
            if units == {call.unit} and session[0] == call.writer:
                found[session].append((call, answer))
    return found


def endings(story: Story, ack: str, margin_ns: int) -> Iterator[Ending]:
    """Yield an `Ending` for each reception in a batch that BT-11, BT-12 or BT-13 examine.

    Args:
        story: The scenario.
        ack: The acknowledgement mode of the sessions: client, transacted or xa.
        margin_ns: The time after the return of `Ending.call` in which no connection may be lost, in nanoseconds.
    """
    ends, holders = _ends(story, ack), Holders(story)
    sends = {send.key: send for send in story.sends if send.times == 1 and send.ttl_ns == 0}
    for one in deliveries(story):
        seen = one.seen
        consumer = holders.consumer(seen, seen.actor)
        session = consumer.call.args.get("session") if consumer is not None else None
        if one.ack != ack or session is None or (one.over is not None and one.over.ended == "raised"):
            continue
        calls = ends.get((seen.writer, str(session)), [])
        if ack == "xa" and not _works(story, str(session), seen):
            continue
        during = any(call.seq < seen.seq and (answer is None or answer.seq > seen.seq) for call, answer in calls)
        later = [pair for pair in calls if pair[0].seq > seen.seq]
        call, answer = min(later, key=lambda pair: pair[0].seq, default=(None, None))
        if during or call is None or answer is None or answer.refused is not None or seen.msg.key not in sends:
            continue
        again = one.again is not None and one.again.seq < call.seq
        if not again and not _is_torn(story, seen, moments.elapsed(seen, answer) + margin_ns):
            source = holders.source(seen, seen.actor, seen.destination)
            yield Ending(one, sends[seen.msg.key], source, call, answer)


def _works(story: Story, session: str, seen: Seen) -> bool:
    """Return whether a session worked in a branch when its consumer received a message."""
    mine = [
        (call, answer)
        for call, answer in story.calls
        if (call.writer, call.actor) == (seen.writer, session) and call.unit is not None
    ]
    begun = [
        answer.seq
        for call, answer in mine
        if call.op in _BEGINS and answer is not None and answer.refused is None and answer.seq < seen.seq
    ]
    left = [call.seq for call, _ in mine if call.op in _STOPS and call.seq < seen.seq]
    return any(all(stop < start for stop in left) for start in begun)


def _is_torn(story: Story, seen: Seen, until: int) -> bool:
    return any(
        moments.elapsed(seen, begin) <= until and (end is None or moments.elapsed(seen, end) >= 0)
        for begin, end in story.losses
    )
