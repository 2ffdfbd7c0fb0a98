"""Batch deliveries for the oracle: each reception of a message in a batch, with the events that followed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct

from assay_evidence.events import Callback, Seen, Settle
from assay_evidence.oracle.holders import Holders
from assay_evidence.oracle.story import Story

Act = Seen | Callback | Settle


class Delivery(Struct, frozen=True):
    """A reception of a message in a batch.  `assay_pipeline.tables.batched` describes the fields."""

    seen: Seen
    turn: int
    ack: str | None
    over: Callback | None
    ahead: bool
    owed: bool
    settled: Settle | None
    again: Seen | None
    following: Seen | None


def deliveries(story: Story) -> Sequence[Delivery]:
    """Return all receptions of batched messages in a scenario; the story keeps the result for further calls."""
    return story.noted(deliveries, lambda: tuple(_deliveries(story)))


def _deliveries(story: Story) -> Iterator[Delivery]:
    holders = Holders(story)
    links: dict[tuple[str, str], list[Act]] = defaultdict(list)
    for event in story.events:
        if isinstance(event, (Seen, Callback, Settle)):
            links[event.writer, event.link].append(event)
    for acts in links.values():
        turn = 0
        for place, event in enumerate(acts):
            if isinstance(event, Seen) and event.batch is not None:
                consumer = holders.consumer(event, event.actor)
                before = [e for e in acts[:place] if isinstance(e, (Seen, Settle)) and e.msg.key == event.msg.key]
                ahead = bool(before) and all(isinstance(e, Settle) and e.outcome == "accepted" for e in before[-1:])
                ahead = ahead and not any(isinstance(e, Seen) for e in before)
                owed = 2 * sum(isinstance(e, Seen) for e in before) > len(before)
                ack = consumer.ack if consumer else None
                yield _delivery(event, turn, ack, acts[place + 1 :], ahead=ahead, owed=owed)
            turn += isinstance(event, Callback)


def _delivery(seen: Seen, turn: int, ack: str | None, rest: Sequence[Act], *, ahead: bool, owed: bool) -> Delivery:
    same = [e for e in rest if isinstance(e, (Seen, Settle)) and e.msg.key == seen.msg.key]
    over = next((e for e in rest if isinstance(e, Callback) and e.batch == seen.batch), None)
    first = next((place for place, e in enumerate(rest) if isinstance(e, Callback)), len(rest))
    return Delivery(
        seen=seen,
        turn=turn,
        ack=ack,
        over=over,
        ahead=ahead,
        owed=owed,
        settled=same[0] if same and isinstance(same[0], Settle) else None,
        again=next((e for e in same if isinstance(e, Seen)), None),
        following=next((e for e in rest[first:] if isinstance(e, Seen)), None),
    )
