"""The back-out threshold of a queue. The queue manager sends it to the client, and the client applies it."""

from __future__ import annotations

from assay_broker.core.queues.queue import Queue
from assay_broker.core.state import State
from assay_sdk.driver import BOQNAME_PROPERTY, BOTHRESH_PROPERTY, DEADQ_PROPERTY, PeerProperties


def backout(state: State, queue: Queue) -> PeerProperties:
    """Return BOTHRESH and BOQNAME of a queue and the name of the dead-letter queue; empty if BOTHRESH is 0."""
    threshold = queue.definition.number("BOTHRESH")
    if threshold == 0:
        return {}
    return {
        BOTHRESH_PROPERTY: threshold,
        BOQNAME_PROPERTY: queue.definition.text("BOQNAME"),
        DEADQ_PROPERTY: state.objects.dead_letter_queue or "",
    }
