"""BT-04: a batch is never larger than its size and never empty; it may be smaller.

*Examined*: every batch that a listener received.  A batch is the messages that a consumer received with one batch
number after the end of one callback and before the end of the next.  The batch's size is the argument of the
consumer's last accepted ``listen-batch`` call before the batch.  If this call was not yet answered when the batch
began, the batch may belong to the earlier listener, also if that one was removed meanwhile; its size is then the larger
of the two arguments.

*Broken*: the batch has more messages than its size, or a callback ended without a message.  *Kept*: the batch has from
one message to its size.

*Not examinable*: a batch whose ``listen-batch`` call is not in the same writer's journal.

*Figure*: the number of the batch's messages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import Call, Callback, Event, Return, Seen
from assay_evidence.oracle import Examined, Story
from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.examined import subjects
from assay_pipeline.history import History
from assay_pipeline.invariant import Invariant, Wording


def _on_spark(history: History, limits: Limits) -> DataFrame:  # noqa: ARG001 - all invariants have this signature
    fits = (F.col("messages") >= 1) & (F.col("messages") <= F.col("size"))
    outcome = F.when(fits, Outcome.KEPT.value).otherwise(Outcome.BROKEN.value)
    return subjects(
        history.batches.where(F.col("size").isNotNull()),
        subject=F.concat_ws("/", "link", F.col("turn").cast("string"), F.col("batch").cast("string")),
        outcome=outcome,
        figure=F.col("messages"),
    )


def _in_python(story: Story, limits: Limits) -> Iterator[Examined]:  # noqa: ARG001 - all invariants have this signature
    # A batch's number may recur after a new listener or on a new link.  So three things identify a batch: its number,
    # its link, and the number of callbacks that ended before it on this link.
    sizes: dict[tuple[str, str], int] = {}
    last: dict[tuple[str, str], int] = {}
    turns: dict[tuple[str, str], int] = defaultdict(int)
    counts: dict[tuple[str, str, int, int], int] = defaultdict(int)
    firsts: dict[tuple[str, str, int, int], tuple[Event, int | None]] = {}
    asked, answered = _set_sizes(story)
    for event in story.events:
        if isinstance(event, Call) and id(event) in asked:
            mine, size = (event.writer, event.actor), asked[id(event)]
            sizes[mine] = max(size, last.get(mine, 0))
            last[mine] = size
        if isinstance(event, Return) and id(event) in answered:
            actor, size = answered[id(event)]
            sizes[event.writer, actor] = size
        if isinstance(event, (Seen, Callback)) and event.batch is not None:
            link = (event.writer, event.link)
            key = (*link, turns[link], event.batch)
            counts[key] += isinstance(event, Seen)
            turns[link] += isinstance(event, Callback)
            firsts.setdefault(key, (event, sizes.get((event.writer, event.actor))))
    for key, (first, most) in firsts.items():
        if most is None:
            continue
        _, link_name, turn, batch = key
        fits = 1 <= counts[key] <= most
        yield f"{link_name}/{turn}/{batch}", Outcome.KEPT if fits else Outcome.BROKEN, counts[key], first


def _set_sizes(story: Story) -> tuple[dict[int, int], dict[int, tuple[str, int]]]:
    """Return two tables of the accepted calls: the size by the call's `id`, and actor and size by the answer's `id`."""
    asked: dict[int, int] = {}
    answered: dict[int, tuple[str, int]] = {}
    for call, answer in story.accepted("listen-batch"):
        size = call.args.get("size")
        if call.args.get("on", True) is True and isinstance(size, int):
            asked[id(call)] = size
            answered[id(answer)] = (call.actor, size)
    return asked, answered


INVARIANT = Invariant(
    rule="BT-04",
    text="a batch is never larger than its size and never empty; it may be smaller.",
    wording=Wording("from 1 message to the listener's size in each batch", "{0}", one="message"),
    on_spark=_on_spark,
    in_python=_in_python,
    certain=True,
)
