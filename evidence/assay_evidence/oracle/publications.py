"""The publications that a broker certainly had when they were confirmed, for the oracle.

`publications` finds, for one scenario, what `assay_pipeline.tables.publications` describes.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay_evidence.oracle.story import Story
from assay_evidence.oracle.values import Send

RETAIN = "JMS_IBM_Retain"


def publications(story: Story) -> Iterator[Send]:
    """Yield the publications of one scenario that an invariant about later subscribers can examine."""
    for send in story.lasting("topic://"):
        retained = send.answer is not None and send.answer.msg is not None and RETAIN in send.answer.msg.fields
        if send.delay_ns == 0 and not retained and has_arrived(story, send):
            yield send


def has_arrived(story: Story, send: Send) -> bool:
    """Return whether the broker certainly had a message when it was confirmed."""
    actor = send.call.actor
    if actor in story.light:
        return actor in story.sure
    return send.persistent or send.call.unit is not None


def is_stored(story: Story, send: Send) -> bool:
    """Return whether a publication is persistent and its sender is not an MQ Light client."""
    return send.persistent and send.call.actor not in story.light
