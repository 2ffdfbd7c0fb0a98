"""The log entry for reports that did not reach their reply-to queue."""

from __future__ import annotations

from assay_broker.core.objects.names import shortened
from assay_broker.core.turn import Turn


def undeliverable(turn: Turn, reply_to: str, refused: int, dead: int | None) -> None:
    """Log that a report did not reach its reply-to; no client learns of it (DD-73, DD-75).

    Args:
        turn: The present turn.
        reply_to: The reply-to that could not take it.
        refused: The reason: MQRC.
        dead: Why the dead-letter queue could not take it either; None if it did.
    """
    where = (
        "it is on the dead-letter queue" if dead is None else f"it is lost, since it cannot be dead-lettered ({dead})"
    )
    turn.trace(f"A report cannot be put to its reply-to {shortened(reply_to)} (MQRC {refused}): {where}.", reply_to)
