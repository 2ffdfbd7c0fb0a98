"""DD-39: a delayed message is received as it was sent: with the same body, ids, persistence and priority.

*Examined*: every message with a delay above 0 that a consumer received from the destination to which it was sent.  Its
send was accepted, the answer shows the message, and its id was sent once.  The sender chose persistence and priority.

*Broken*: a sighting differs from the answer of the send: in the digest of the body, or in a header of `HEADERS`.
A header counts only if both events show it.  *Kept*: no sighting differs.

*Not examinable*:

- a message that was not seen, or only in a browse, which lists ids alone
- a message whose persistence or priority the destination chooses (DEFPSIST, DEFPRTY)
- a message that came from another destination, such as the target of an alias or a dead-letter queue
- the properties, which the scenarios of the rule compare

*Figure*: how many sightings differ.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import MessageRef
from assay_evidence.oracle import Examined, Story
from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.examined import subjects
from assay_pipeline.history import MESSAGE, History
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.moments import no

HEADERS = ("JMSMessageID", "JMSCorrelationID", "JMSDeliveryMode", "JMSPriority")
"""The headers that the broker must not change."""


def _on_spark(history: History, _limits: Limits) -> DataFrame:
    chosen = F.col("mode").isin("persistent", "non-persistent") & F.col("priority").isNotNull()
    shown = F.col("accepted") & F.col("sent").isNotNull()
    delayed = history.sends.drop("actor").where((F.col("delay_ns") > 0) & (F.col("sends") == 1) & shown & chosen)
    differs = F.col("seen.sha256") != F.col("sent.sha256")
    for header in HEADERS:
        differs |= _header_differs(header)
    compared = (
        delayed.join(history.sightings.select(*MESSAGE, "destination", "seen"), [*MESSAGE, "destination"])
        .where(F.col("seen").isNotNull())
        .groupBy(*MESSAGE)
        .agg(F.first("at").alias("at"), F.count(F.when(differs, 1)).alias("altered"))
    )
    outcome = F.when(F.col("altered") > 0, Outcome.BROKEN.value).otherwise(Outcome.KEPT.value)
    return subjects(compared, subject=F.col("key"), outcome=outcome, figure=F.col("altered"))


def _header_differs(header: str) -> Column:
    sent, seen = F.col("sent.fields"), F.col("seen.fields")
    both = F.coalesce(F.map_contains_key(sent, header) & F.map_contains_key(seen, header), no())
    return both & ~sent[header].eqNullSafe(seen[header])


def _in_python(story: Story, _limits: Limits) -> Iterator[Examined]:
    for send in story.sends:
        sent = send.answer.msg if send.answer is not None and send.accepted else None
        if send.delay_ns <= 0 or send.times > 1 or sent is None or send.chosen_by_destination:
            continue
        seen = story.received(send.key, send.destination)
        altered = sum(_differs(sent, message) for message in seen)
        if seen:
            yield send.key, Outcome.BROKEN if altered else Outcome.KEPT, altered, send.call


def _differs(sent: MessageRef, seen: MessageRef) -> bool:
    shown = [header for header in HEADERS if header in sent.fields and header in seen.fields]
    return sent.sha256 != seen.sha256 or any(sent.fields[header] != seen.fields[header] for header in shown)


INVARIANT = Invariant(
    rule="DD-39",
    text="a delayed message is received as it was sent: with the same body, ids, persistence and priority.",
    wording=Wording("every delayed message received as it was sent", "altered {0}", one="time"),
    on_spark=_on_spark,
    in_python=_in_python,
    certain=True,
)
