"""Log entries for reports that did not reach their reply-to queue."""

from __future__ import annotations

from assay_broker.core.objects.names import shortened
from assay_broker.core.turn import Turn


def undeliverable(turn: Turn, reply_to: str, refused: int, dead: int | None) -> None:
    """Log that a report did not reach its reply-to queue; no client gets an answer about it (DD-73, DD-75).

    Args:
        turn: The present turn.
        reply_to: The name of the reply-to queue.
        refused: The reason code (MQRC) of the reply-to queue's refusal.
        dead: The reason code (MQRC) of the dead-letter queue's refusal; None if that queue took the report.
    """
    where = (
        "it is on the dead-letter queue"
        if dead is None
        else f"it is lost, because the dead-letter queue refused it (MQRC {dead})"
    )
    turn.trace(f"A report cannot be put to its reply-to {shortened(reply_to)} (MQRC {refused}): {where}.", reply_to)
