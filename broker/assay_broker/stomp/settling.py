"""ACK and NACK (STOMP 1.2, ACK, NACK).

ACK accepts one message; in the mode ``client`` it accepts all messages up to that one. NACK gives these messages back:
the queue manager delivers them again, and counts the delivery as failed.  After BOTHRESH failed deliveries, the server
moves a message to BOQNAME or, without one, to the dead-letter queue, as IBM MQ's JMS client does.  If the queue has no
BOTHRESH, the limit `redeliveries` applies instead.  With the header ``requeue:false`` (RabbitMQ), the server moves a
message at once. With ``delivery-failed:false``, it gives the message back and does not count the delivery. A message
that must be moved and has no queue to go to is discarded, as after *rejected* over AMQP.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from msgspec.structs import replace

from assay_broker.core import commands
from assay_broker.core.administration.changes import NativePut
from assay_broker.core.effects import Answer, Deliver
from assay_broker.stomp.context import SessionContext
from assay_broker.stomp.faults import FaultError
from assay_broker.stomp.subscriptions import Subscription
from assay_broker.stomp.transactions import Transaction
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc
from assay_sdk.stomp import Frame, Version
from assay_sdk.stomp.extensions import DELIVERY_FAILED


def ack(context: SessionContext, frame: Frame) -> None:
    """Accept the messages that a frame names.

    Raises:
        FaultError: The client holds no such unsettled message, or the transaction is not open or has too many frames.
    """
    transaction = context.transaction(frame) if "transaction" in frame.headers else None
    subscription, taken = _taken(context, frame)
    _settle(context, subscription, taken, Outcome.ACCEPTED, transaction, frame.headers.get("receipt"))


def nack(context: SessionContext, frame: Frame) -> None:
    """Give back the messages that a frame names, or move them to the backout queue.

    Raises:
        FaultError: The client holds no such unsettled message, or the transaction is not open or has too many frames.
    """
    transaction = context.transaction(frame) if "transaction" in frame.headers else None
    subscription, taken = _taken(context, frame)
    receipt = frame.headers.get("receipt")
    if frame.headers.get(DELIVERY_FAILED) == "false":
        _settle(context, subscription, taken, Outcome.RELEASED, transaction, receipt)
        return
    at_once = frame.headers.get("requeue") == "false"
    most = subscription.threshold or context.limits.redeliveries + 1
    moved = {key: one for key, one in taken.items() if at_once or one.count + 1 >= most}
    again = {key: one for key, one in taken.items() if key not in moved}
    if again:
        _settle(context, subscription, again, Outcome.MODIFIED, transaction, None if moved else receipt)
    if not moved:
        return
    target = subscription.backout_queue or context.manager.dead_letter_queue
    if not target:
        _settle(context, subscription, moved, Outcome.REJECTED, transaction, receipt)
    elif transaction is None:
        _move(context, subscription, moved, target, receipt)
    else:
        _settle(context, subscription, moved, Outcome.ACCEPTED, transaction, receipt)
        transaction.moves.extend((one, target) for one in moved.values())


def _taken(context: SessionContext, frame: Frame) -> tuple[Subscription, dict[str, Deliver]]:
    """Remove the messages that a frame names from those that the client has not settled."""
    headers, version = frame.headers, context.version
    key = headers["id"] if version is Version.V1_2 else headers["message-id"]
    if version is Version.V1_1:
        name = headers["subscription"]
        subscription = context.subscriptions.get(name)
        if subscription is None:
            raise FaultError(f"There is no subscription {name[:40]!r}", Mqrc.NO_SUBSCRIPTION)
        if key not in subscription.held:
            raise subscription.unknown(key)
    else:
        found = context.keys.get(key)
        if found is None:
            raise FaultError(
                f"The connection holds no message {key[:60]!r}: it is unknown or settled already", Mqrc.NO_MSG_AVAILABLE
            )
        subscription = found
    taken = subscription.take(key, cumulative=True)
    if version is not Version.V1_1:
        for one in taken:
            context.keys.pop(one, None)
    return subscription, taken


def _settle(  # noqa: PLR0917  a settlement has all these parameters
    context: SessionContext,
    subscription: Subscription,
    taken: Mapping[str, Deliver],
    outcome: Outcome,
    transaction: Transaction | None,
    receipt: str | None,
) -> None:
    """Settle messages, at once or in a transaction."""
    numbers = tuple(one.delivery for one in taken.values())
    if transaction is not None:
        transaction.asked()
        for key, delivery in taken.items():
            transaction.settle(subscription, key, delivery)
        answered = partial(context.joined, transaction, receipt)
        context.ask(answered, commands.Settle, subscription.link, numbers, outcome, transaction.unit)
        return
    if receipt is None:
        for number in numbers:
            context.settle(subscription.link, number, outcome)
    else:
        context.ask(partial(context.answered, receipt), commands.Settle, subscription.link, numbers, outcome)
    subscription.consumed(len(numbers))


def _put_away(context: SessionContext, delivery: Deliver, target: str, answered: Callable[[Answer], None]) -> None:
    """Put a message on the backout queue with the queue manager's own authority, as for the dead-letter queue."""
    message = replace(delivery.message, to=Address(AddressKind.QUEUE, target), delivery_time_ms=None)
    context.ask(answered, commands.Administer, NativePut(target, message))


def _move(
    context: SessionContext, subscription: Subscription, moved: Mapping[str, Deliver], target: str, receipt: str | None
) -> None:
    """Move messages to the backout queue: put each message there, and then accept it. After a failed put, give it back.

    A crash between the two steps leaves the message on both queues, so no message is lost.
    """
    waiting = [len(moved)]

    def put(delivery: Deliver, answer: Answer) -> None:
        outcome = Outcome.ACCEPTED if answer.refused is None else Outcome.MODIFIED
        waiting[0] -= 1
        told = None if waiting[0] else context.receipting(receipt)
        context.ask(told, commands.Settle, subscription.link, (delivery.delivery,), outcome)

    for delivery in moved.values():
        _put_away(context, delivery, target, partial(put, delivery))
    subscription.consumed(len(moved))


def put_away_all(context: SessionContext, transaction: Transaction) -> None:
    """Put the messages that a transaction moves (`Transaction.moves`) on their backout queues, before its commit.

    A refusal aborts the transaction.
    """
    for delivery, target in transaction.moves:
        transaction.asked()
        _put_away(context, delivery, target, partial(context.joined, transaction, None))
