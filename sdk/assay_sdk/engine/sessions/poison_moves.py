"""Moving poison messages to another queue (`assay_sdk.engine.deliveries.poison`)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_sdk.driver import Outcome, Send
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.deliveries.delivery import EngineDelivery
from assay_sdk.engine.deliveries.poison import Unmoved
from assay_sdk.engine.operations import Operation, all_of, result_of
from assay_sdk.engine.ports import SessionPort
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused
from assay_sdk.time import NS_PER_MS


def move_away(session: SessionPort, delivery: EngineDelivery) -> Operation[None]:
    """Move a poison message to the first target that accepts it; if no target does, keep, discard or reject it.

    The broker confirms the put before the client acknowledges the message.  A failure in between can duplicate the
    message, but not lose it.

    Args:
        session: Session of the consumer.
        delivery: The message, taken from the buffer and not delivered to the application.
    """
    consumer = delivery.consumer
    consumer.held += 1  # the link stays until the message is settled
    try:
        why = yield from _moved(session, delivery)
        if why is None:
            yield from all_of(session.settle((delivery,), Outcome.ACCEPTED), lost_is_fine=True)
        elif why.kind is not JmsErrorKind.CONNECTION_LOST:
            yield from _left(session, delivery, why)
    finally:
        consumer.let_go()


def _moved(session: SessionPort, delivery: EngineDelivery) -> Operation[Refused | None]:
    """Put a poison message on the first target that accepts it.

    Returns:
        None if a target has accepted the message, otherwise the last refusal; the loss of the connection ends the
        attempts.
    """
    why = refused(Mqrc.BACKOUT_THRESHOLD_REACHED, "no target queue is set")
    for target in delivery.consumer.poison.targets:
        try:
            yield from _put(session, target, delivery.message)
        except RefusedError as error:
            why = error.refused
            if why.kind is JmsErrorKind.CONNECTION_LOST:
                break
        else:
            return None
    return why


def _left(session: SessionPort, delivery: EngineDelivery, why: Refused) -> Operation[None]:
    consumer = delivery.consumer
    unmoved, message = consumer.poison.unmoved, delivery.message
    rejected = unmoved is Unmoved.REJECTED or (unmoved is Unmoved.REJECTED_IF_NON_PERSISTENT and not message.durable)
    if not rejected:
        consumer.failures.failed(consumer)
    answers = session.settle((delivery,), Outcome.REJECTED if rejected else Outcome.RELEASED)
    if unmoved is not Unmoved.REJECTED:
        what = "it is discarded" if rejected else "it stays on its queue and is delivered again"
        often = "once" if delivery.count == 2 else f"{delivery.count - 1} times"  # noqa: PLR2004  the second delivery
        which = f"{message.message_id or 'a message'} on {consumer.source.address}"
        text = (
            f"{Mqrc.BACKOUT_THRESHOLD_REACHED.label}: {which} was delivered {often} and cannot be "
            f"moved ({why.text}); {what}"
        )
        session.connection.complain(refused(Mqrc.BACKOUT_THRESHOLD_REACHED, text, consumer.source.address.name))
    yield from all_of(answers, lost_is_fine=True)


def _put(session: SessionPort, target: Address, message: Message) -> Operation[None]:
    """Put a copy of a message on a queue: with the remaining time to live, without a delay, otherwise unchanged."""
    now_ms = session.connection.clock.wall_ns() // NS_PER_MS
    left_ms = max(message.expiry_ms - now_ms, 1) if message.expiry_ms else None
    copy = replace(message, to=target, delivery_time_ms=None, ttl_ms=left_ms)
    producer = yield from session.create_producer(target)
    try:
        yield from result_of(session.connection.submit(lambda token: Send(token, producer.number, copy)))
    finally:
        yield from producer.close()
