"""The headers that describe subscriptions in SUBSCRIBE and UNSUBSCRIBE, by the broker's conventions."""

from __future__ import annotations

from assay_sdk.driver import Durability, OpenReceiver, Unsubscribe
from assay_sdk.drivers.stomp.context import WireContext, unsupported
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.reasons import Refused
from assay_sdk.stomp.extensions import CREDIT

_HINT = "use a broker whose capabilities include it, or AMQP"


def subscribe_headers(context: WireContext, command: OpenReceiver, name: str) -> dict[str, str] | Refused:
    """Return the headers of a SUBSCRIBE; a `Refused` if the broker cannot have such a subscription.

    Args:
        context: The connection.
        command: The command that opens the receiver.
        name: The id of the subscription.
    """
    conventions = context.conventions
    headers = {
        "id": name,
        "destination": context.names.write(command.address),
        "ack": "auto" if command.settled and CREDIT in context.extensions else "client-individual",
    }
    if command.timeout_ms is not None:
        return unsupported("STOMP has no subscription that remains for a given time", "leave the time out")
    if command.selector is not None:
        if Capability.SELECTOR not in conventions.capabilities:
            return unsupported("the broker has no selectors over STOMP", _HINT)
        headers["selector"] = command.selector
    if command.no_local:
        if not conventions.no_local:
            return unsupported("the broker cannot leave a connection's own messages out over STOMP", _HINT)
        headers[conventions.no_local] = "true"
    named = _named(context, command)
    if isinstance(named, Refused):
        return named
    headers |= named
    if CREDIT in context.extensions:
        headers[CREDIT] = "0"
    else:
        headers |= dict(conventions.window)
    return headers


def _named(context: WireContext, command: OpenReceiver) -> dict[str, str] | Refused:
    if command.name is None:
        return {}
    if command.durability is Durability.DURABLE:
        return _durable(context, command.name, shared=command.shared, is_global=command.is_global)
    if not command.shared:
        return unsupported("STOMP has no named subscription that is neither durable nor shared", "leave the name out")
    if not context.conventions.shared_name:
        return unsupported("the broker has no shared subscriptions over STOMP", _HINT)
    if command.is_global and context.has_client_id:
        return unsupported("over STOMP a connection with a client id shares only its own subscriptions", _HINT)
    return {context.conventions.shared_name: command.name}


def _durable(context: WireContext, name: str, *, shared: bool, is_global: bool) -> dict[str, str] | Refused:
    conventions = context.conventions
    if Capability.DURABLE_SUBSCRIPTION not in conventions.capabilities or not conventions.durable_name:
        return unsupported("the broker has no durable subscriptions of a client id over STOMP", _HINT)
    if not shared:
        return {conventions.durable_name: name}
    if not conventions.shared:
        return unsupported("the broker has no shared subscriptions over STOMP", _HINT)
    if is_global and context.has_client_id:
        return {"durable": "true", conventions.global_name: name}
    return {conventions.durable_name: name, **dict(conventions.shared)}


def unsubscribe_headers(context: WireContext, command: Unsubscribe) -> dict[str, str] | Refused:
    """Return the headers of an UNSUBSCRIBE; a `Refused` if the broker cannot have such a durable subscription."""
    named = _durable(context, command.name, shared=command.shared, is_global=command.is_global)
    return named if isinstance(named, Refused) else {"id": f"removed-{context.next_number()}", **named}
