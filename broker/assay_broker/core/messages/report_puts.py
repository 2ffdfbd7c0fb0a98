"""Puts of reports on messages that have expired on a queue, have arrived, or were consumed.

Reports on staged messages are in `assay_broker.core.delay.release`.
"""

from __future__ import annotations

from assay_broker.core.delay.internal_puts import Puts
from assay_broker.core.messages.descriptor import made_id
from assay_broker.core.messages.entries import Entry
from assay_broker.core.messages.lost_reports import undeliverable
from assay_broker.core.messages.reports import FEEDBACK, report, wants
from assay_broker.core.state import State
from assay_broker.core.turn import Turn
from assay_sdk.model.report_options import Mqro


def send_report(state: State, turn: Turn, entry: Entry, kind: Mqro) -> None:
    """Put a report on a message to its reply-to queue, if the message asks for this kind of report.

    If the reply-to queue cannot take the report, the report goes to the dead-letter queue. If that queue cannot take
    the report either, the report is lost.

    Args:
        state: The queue manager.
        turn: The present turn.
        entry: The copy of the message.
        kind: The kind of report: ``Mqro.EXPIRATION``, ``COA`` or ``COD``.
    """
    original = entry.message
    if not wants(original, kind):
        return
    message = report(
        original,
        kind,
        FEEDBACK[kind],
        made_id(state.settings.name, turn.now_ms, state.next_key()),
        now_ms=turn.now_ms,
        expires_ms=entry.expires_ms,
    )
    puts = Puts(state, turn.now_ms)
    refused = puts.to_reply_queue(message)
    if refused is not None and message.to is not None:
        dead = puts.to_dead_letter_queue(message, message.expiry_ms, reason=refused, target=message.to.name)
        undeliverable(turn, message.to.name, refused, dead)
    puts.carry_out(turn)
