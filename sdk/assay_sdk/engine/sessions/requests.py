"""The requests that need no producer or consumer: browse, unsubscribe, temporary destinations, cancel."""

from __future__ import annotations

from assay_sdk.driver import Browse, Cancel, Durability, Unsubscribe
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.checks import check_selector, check_subscription_name, need
from assay_sdk.engine.operations import Operation, closed, result_of
from assay_sdk.engine.ports import SessionPort
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused


def browse(session: SessionPort, address: Address, selector: str | None) -> Operation[tuple[Message, ...]]:
    """List the messages of a queue in its order, without removing them.

    Raises:
        RefusedError: The session is closed or lost, the selector is invalid, the connection lacks a capability, or the
            broker refuses the call.
    """
    session.use()
    check_selector(selector)
    need(Capability.BROWSE, session.connection.capabilities)
    if selector:
        need(Capability.SELECTOR, session.connection.capabilities)
    answer = yield from result_of(
        session.connection.submit(lambda token: Browse(token, session.number, address, selector or None))
    )
    return tuple(message for message in answer.value or () if isinstance(message, Message))


def unsubscribe(session: SessionPort, name: str, *, shared: bool) -> Operation[None]:
    """Remove a durable subscription.

    Args:
        session: Session that removes the subscription.
        name: Name of the subscription.
        shared: Whether the subscription is shared.

    Raises:
        RefusedError: The session is closed or lost, the name is invalid, the subscription does not exist or has a
            consumer, the subscription is unshared and the connection has no client id, or the connection lacks durable
            subscriptions.
    """
    session.use()
    check_subscription_name(name)
    for answer in session.connection.departures(name):  # a closed consumer detaches after its last message is settled
        yield from closed(answer)
    _refuse_own_subscription(session, name)
    need(Capability.DURABLE_SUBSCRIPTION, session.connection.capabilities)
    if session.connection.options.checks and not shared and session.connection.client_id is None:
        raise RefusedError(
            Refused(
                JmsErrorKind.ILLEGAL_STATE,
                f"the client id is a part of the name of the durable subscription {name!r}: connect with it",
                objects=(name,),
            )
        )
    yield from result_of(
        session.connection.submit(lambda token: Unsubscribe(token, session.number, name, shared=shared))
    )


def make_temporary(session: SessionPort, kind: AddressKind) -> Operation[Address]:
    """Create a temporary destination, which lasts as long as the connection.

    Raises:
        RefusedError: The session is closed or lost, or the broker has no temporary destinations.
    """
    session.use()
    return (yield from session.connection.make_temporary(kind))


def delete_temporary(session: SessionPort, address: Address) -> Operation[None]:
    """Delete a temporary destination before its connection ends.

    Raises:
        RefusedError: The session is closed or lost, another connection created the destination, or this connection
            has a consumer on it.
    """
    session.use()
    yield from session.connection.delete_temporary(address)


def cancel(session: SessionPort, message_id: str) -> Operation[bool]:
    """Cancel a delayed message.

    Args:
        session: Session that cancels the message.
        message_id: The id that the send of the message returned, on this or another connection.

    Returns:
        True if the broker has cancelled the message; False if the message is not staged, or its send is not
        committed.

    Raises:
        RefusedError: The session is closed or lost, the broker cannot cancel messages, or the user lacks the
            authority.
    """
    session.use()
    need(Capability.CANCEL, session.connection.capabilities)
    try:
        yield from result_of(session.connection.submit(lambda token: Cancel(token, session.number, message_id)))
    except RefusedError as error:
        if error.refused.mqrc == Mqrc.NO_MSG_AVAILABLE:
            return False
        raise
    return True


def _refuse_own_subscription(session: SessionPort, name: str) -> None:
    """Refuse to remove a subscription that has a consumer on this connection (JMS 2.0, 8.3.6).

    The client itself refuses, because over AMQP the request would use the name of the consumer's link.
    """
    for source in session.connection.sources():
        if source.name == name and source.durability is Durability.DURABLE:
            text = f"{Mqrc.SUBSCRIPTION_IN_USE.label}: {name} has a consumer: close it first"
            raise RefusedError(refused(Mqrc.SUBSCRIPTION_IN_USE, text, name))
