"""The settlement of deliveries: the core removes the message, or returns it to its queue."""

from __future__ import annotations

from collections.abc import Callable

from assay_broker.core.messages.entries import CopyState
from assay_broker.core.queues.delivery import annotate, consume, give_back
from assay_broker.core.queues.queue import Delivery
from assay_broker.core.state import State
from assay_broker.core.states.links import LinkState
from assay_broker.core.turn import Turn
from assay_sdk.driver import Outcome


def _release(state: State, turn: Turn, delivery: Delivery) -> None:
    give_back(state, turn, delivery, failed=False)


def _fail(state: State, turn: Turn, delivery: Delivery) -> None:
    give_back(state, turn, delivery, failed=True)


_OUTCOMES: dict[Outcome, Callable[[State, Turn, Delivery], None]] = {
    Outcome.ACCEPTED: consume,
    Outcome.REJECTED: consume,  # discarded, because a consumer that rejects a message can never use it
    Outcome.RELEASED: _release,
    Outcome.MODIFIED: _fail,
}


def settle(  # noqa: PLR0917  a settlement has all these parameters
    state: State, turn: Turn, delivery: Delivery, outcome: Outcome, leave_out: bool = False, annotations: bytes = b""
) -> None:
    """Settle a delivery.

    Args:
        state: The queue manager.
        turn: The present turn.
        delivery: The delivery; the caller has removed it from the link's unsettled deliveries.
        outcome: The outcome that the client gave.
        leave_out: Whether the message is never delivered to this link again; without effect if the link is closed.
        annotations: Annotations that the message gets, as an encoded map; they replace annotations with the same keys.
            Empty for none.
    """
    if leave_out and delivery.entry.state is CopyState.HELD and delivery.link.state is not LinkState.CLOSED:
        delivery.queue.leave_out(delivery.link, delivery.entry)
    if annotations:
        annotate(delivery, annotations)
    _OUTCOMES[outcome](state, turn, delivery)
