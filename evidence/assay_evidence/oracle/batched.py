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
    settled: Settle | None
    again: Seen | None
    following: Seen | None


def deliveries(story: Story) -> Sequence[Delivery]:
    """Return all receptions in batches of a scenario; computed at the first call and then kept for all invariants."""
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
                yield _delivery(event, turn, consumer.ack if consumer else None, acts[place + 1 :])
            turn += isinstance(event, Callback)


def _delivery(seen: Seen, turn: int, ack: str | None, rest: Sequence[Act]) -> Delivery:
    same = [e for e in rest if isinstance(e, (Seen, Settle)) and e.msg.key == seen.msg.key]
    over = next((e for e in rest if isinstance(e, Callback) and e.batch == seen.batch), None)
    first = next((place for place, e in enumerate(rest) if isinstance(e, Callback)), len(rest))
    return Delivery(
        seen=seen,
        turn=turn,
        ack=ack,
        over=over,
        settled=same[0] if same and isinstance(same[0], Settle) else None,
        again=next((e for e in same if isinstance(e, Seen)), None),
        following=next((e for e in rest[first:] if isinstance(e, Seen)), None),
    )
