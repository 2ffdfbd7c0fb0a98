"""The handling of the clients' frames SEND, SUBSCRIBE, UNSUBSCRIBE, BEGIN, COMMIT and ABORT.

`assay_broker.stomp.settling` has ACK and NACK.  `HANDLERS` names the function for each command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import cast

from msgspec.structs import replace

from assay_broker.core import commands
from assay_broker.core.effects import Answer, Browsed, Deliver
from assay_broker.stomp import settling
from assay_broker.stomp.context import SessionContext
from assay_broker.stomp.conversion import message_of
from assay_broker.stomp.faults import FaultError, of_refusal
from assay_broker.stomp.subscriptions import Subscription, described, plan_of
from assay_broker.stomp.transactions import Transaction
from assay_sdk.driver import BOQNAME_PROPERTY, BOTHRESH_PROPERTY, Durability, Outcome
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc, Refused
from assay_sdk.stomp import Frame, Version
from assay_sdk.stomp.extensions import DRAIN

_TEMPORARY = (AddressKind.TEMPORARY_QUEUE, AddressKind.TEMPORARY_TOPIC)
_FAR_TOO_MUCH = 2
"""The multiple of the limit `memory` above which the server refuses messages of clients with unsettled messages."""


def send(context: SessionContext, frame: Frame) -> None:
    """Send a message (STOMP 1.2, SEND); the receipt of a persistent message follows when the message is on disk.

    Raises:
        FaultError: A destination is not valid, the transaction is not open or has too many frames, or messages take too
            much memory.
        ContentError: Another header or the body is not valid.
    """
    if context.short:
        _wait_for_memory(context)
    transaction = context.transaction(frame) if "transaction" in frame.headers else None
    token = context.next_number()
    message = message_of(frame, context.destinations, f"ID:{context.id}-{token}", context.now_ms())
    receipt = frame.headers.get("receipt")
    if message.to is None:
        raise TypeError("the message of a SEND has a destination")
    sender = context.sender_to(message.to)
    if context.destinations.own:
        for address in (message.to, message.reply_to):
            if address is not None and address.kind in _TEMPORARY:
                context.adopt(address)
    if transaction is None:
        answered = partial(context.answered, receipt)
        context.expected[token] = partial(_sent, context, message.to, receipt) if context.open_errors else answered
        context.put(commands.Put(context.number, token, sender, message))
    else:
        transaction.asked()
        context.expected[token] = partial(context.joined, transaction, receipt)
        context.put(commands.Put(context.number, token, sender, message, transaction.unit))


def _sent(context: SessionContext, address: Address, receipt: str | None, answer: Answer) -> None:
    """Handle the answer to a SEND of a client whose connection stays open after a refusal."""
    if answer.refused is None:
        context.sent_to(address)
    context.answered(receipt, answer)


def _wait_for_memory(context: SessionContext) -> None:
    """Stop handling a client's frames until memory is free, unless the client holds messages, whose ACKs free memory.

    Raises:
        FaultError: The client has unsettled messages, and all messages take more than `_FAR_TOO_MUCH` times the limit.
    """
    if not any(one.held for one in context.subscriptions.values()):
        context.choked = True
    elif context.manager.octets > _FAR_TOO_MUCH * context.limits.memory:
        text = "The messages of all clients take too much memory: send again later"
        raise FaultError(text, Mqrc.STORAGE_NOT_AVAILABLE)


# --- subscriptions


def subscribe(context: SessionContext, frame: Frame) -> None:
    """Open a subscription (STOMP 1.2, SUBSCRIBE); the server sends the receipt before the first MESSAGE.

    If a subscription with credit has the id of the SUBSCRIBE already, the frame adds credit or drains the subscription.

    Raises:
        FaultError: The frame is not valid, or the connection has too many subscriptions.
    """
    headers, limits = frame.headers, context.limits
    address = context.destinations.read(headers["destination"], headers.get("subscription-type"))
    plan = plan_of(headers, address, limits.window, limits.most_window, has_client_id=context.client_id is not None)
    found = context.subscriptions.get(plan.id)
    if found is not None and found.plan.credit is not None and (plan.credit is not None or headers.get(DRAIN)):
        _supply(context, found, frame, plan.credit or 0)
        return
    if found is not None:
        raise FaultError(f"The connection has a subscription {plan.id[:40]!r} already: choose another id")
    if len(context.subscriptions) >= limits.subscriptions:
        raise FaultError(f"The connection has {limits.subscriptions} subscriptions already", Mqrc.RESOURCE_PROBLEM)
    subscription = Subscription(plan, context.next_number(), context, context.version)
    context.subscriptions[plan.id] = subscription
    receipt = frame.headers.get("receipt")
    if plan.browse:
        subscription.settled = True
        context.adopt(address)
        context.ask(partial(_browsed, context, subscription, receipt), commands.Browse, address, selector=plan.selector)
        return
    context.links[subscription.link] = subscription
    if address.kind in _TEMPORARY:
        context.adopted.add(address.name)
    token = context.expect(partial(_subscribed, context, subscription, receipt))
    context.handle(subscription.attach(context.number, token))


def _supply(context: SessionContext, subscription: Subscription, frame: Frame, credit: int) -> None:
    """Add credit to a subscription, or drain it (`assay_sdk.stomp.extensions`)."""
    most = context.limits.most_window
    if len(subscription.held) >= most:
        raise FaultError(f"The subscription holds {most} unsettled messages: settle some first", Mqrc.RESOURCE_PROBLEM)
    receipt, drain = frame.headers.get("receipt"), frame.headers.get(DRAIN) == "true"

    def supplied(answer: Answer) -> None:
        while drain and subscription.waiting:  # no more messages wait than the client has given credit for
            context.write_message(subscription, subscription.waiting.popleft())
        context.answered(receipt, answer)

    context.ask(supplied, commands.Flow, subscription.link, credit, drain=drain)


def _subscribed(context: SessionContext, subscription: Subscription, receipt: str | None, answer: Answer) -> None:
    if answer.refused is not None:
        _forget(context, subscription)
        context.refuse(of_refusal(answer.refused, receipt))
        return
    subscription.threshold = int(answer.properties.get(BOTHRESH_PROPERTY, 0))
    subscription.backout_queue = str(answer.properties.get(BOQNAME_PROPERTY, ""))
    context.receipt(receipt)
    if context.links.get(subscription.link) is subscription:
        subscription.begin()


def _forget(context: SessionContext, subscription: Subscription) -> None:
    """Forget a subscription that was refused or has ended."""
    if context.subscriptions.get(subscription.plan.id) is subscription:
        del context.subscriptions[subscription.plan.id]
    context.links.pop(subscription.link, None)
    context.starved.pop(subscription, None)
    subscription.open = False
    for key in subscription.held:
        context.keys.pop(key, None)


def link_closed(context: SessionContext, link: int, why: Refused) -> None:
    """Report to the client that the queue manager has ended a subscription.

    Raises:
        FaultError: The client does not support an ERROR after which the connection stays open.
    """
    subscription = context.links.get(link)
    if subscription is None:
        return
    fault = of_refusal(why)
    if not context.open_errors:
        raise fault
    _forget(context, subscription)
    fault.headers = {**fault.headers, "subscription": subscription.plan.id}
    context.open_error(fault)


def _browsed(context: SessionContext, subscription: Subscription, receipt: str | None, answer: Answer) -> None:
    if answer.refused is not None:
        _forget(context, subscription)
        context.refuse(of_refusal(answer.refused, receipt))
        return
    context.receipt(receipt)
    subscription.browsed = True
    subscription.waiting.extend(
        Deliver(
            connection=context.number,
            link=subscription.link,
            origin=subscription.plan.address,
            delivery=0,
            message=one.message,
            count=one.count,
            redelivered=one.count > 0,
            after=None,
            settled=True,
        )
        for one in cast("tuple[Browsed, ...]", answer.value)
    )
    context.starved[subscription] = None
    context.resume()


def unsubscribe(context: SessionContext, frame: Frame) -> None:
    """End a subscription (STOMP 1.2, UNSUBSCRIBE); if the frame names a durable subscription, remove it.

    Raises:
        FaultError: The connection has no such subscription.
    """
    headers, receipt = frame.headers, frame.headers.get("receipt")
    found = _find(context, headers)
    identity = f"{headers.get('id', '')} {found.plan.spelled if found else headers.get('destination', '')}"
    named = described(headers, identity, has_client_id=context.client_id is not None)
    removes = named.name is not None and named.durability is Durability.DURABLE
    if found is None and not removes:
        what = headers.get("id") or headers.get("destination") or ""
        raise FaultError(f"There is no subscription {what[:40]!r}", Mqrc.NO_SUBSCRIPTION)
    if found is not None:
        _end(context, found, None if removes else receipt)
    if removes:
        context.ask(
            partial(context.answered, receipt), commands.Unsubscribe, str(named.name), is_global=named.is_global
        )


def _find(context: SessionContext, headers: Mapping[str, str]) -> Subscription | None:
    name = headers.get("id")
    if name is None and context.version is Version.V1_0:
        name = headers.get("destination")
        if name is None:
            raise FaultError("UNSUBSCRIBE has neither an id nor a destination")
    found = context.subscriptions.get(name or "")
    if found is None and "id" not in headers:
        found = next((one for one in context.subscriptions.values() if one.plan.spelled == name), None)
    return found


def _end(context: SessionContext, subscription: Subscription, receipt: str | None) -> None:
    """End a subscription; its unsettled messages return to the queue."""
    _forget(context, subscription)
    if subscription.plan.browse:
        subscription.waiting.clear()
        context.receipt(receipt)
        return
    if subscription.settled:
        for delivery in subscription.waiting:  # the queue manager has removed them already
            context.write_message(subscription, delivery)
    elif subscription.waiting:
        # The credit is taken back first: the queue manager would otherwise deliver these messages here again.
        context.flow(subscription.link, -subscription.plan.window)
        for delivery in subscription.waiting:
            context.settle(subscription.link, delivery.delivery, Outcome.RELEASED)
    subscription.waiting.clear()
    context.ask(partial(context.answered, receipt), commands.Detach, subscription.link)


def end_all(context: SessionContext) -> None:
    """End all subscriptions of a connection."""
    for subscription in tuple(context.subscriptions.values()):
        _end(context, subscription, None)
    context.pass_on()


# --- transactions


def begin(context: SessionContext, frame: Frame) -> None:
    """Begin a transaction (STOMP 1.2, BEGIN).

    Raises:
        FaultError: The transaction has begun already, or the connection has too many transactions.
    """
    name, limits = frame.headers["transaction"], context.limits
    if name in context.transactions:
        raise FaultError(f"The transaction {name[:40]!r} has begun already: commit or abort it first")
    if len(context.transactions) >= limits.transactions:
        raise FaultError(f"The connection has {limits.transactions} open transactions already", Mqrc.RESOURCE_PROBLEM)
    transaction = Transaction(name, context.next_number(), limits.actions)
    context.transactions[name] = transaction
    context.ask(partial(context.answered, frame.headers.get("receipt")), commands.Begin, transaction.unit)


def commit(context: SessionContext, frame: Frame) -> None:
    """Commit a transaction (STOMP 1.2, COMMIT); the server sends the receipt when the commit is on disk.

    Raises:
        FaultError: There is no such transaction.
    """
    transaction, receipt = _ended(context, frame), frame.headers.get("receipt")

    def committed(answer: Answer) -> None:
        if answer.refused is None:
            transaction.committed()
        else:
            _back_out(context, transaction)
        context.answered(receipt, answer)

    def end() -> None:
        if transaction.refused is None:
            context.ask(committed, commands.Commit, transaction.unit)
        else:
            why = transaction.refused
            context.ask(lambda answer: committed(replace(answer, refused=why)), commands.Backout, transaction.unit)

    def put_away() -> None:
        # Runs after all frames of the transaction are answered.  If one was refused, the transaction is backed out:
        # the client can settle its messages again, and no message moves to a backout queue.
        if transaction.refused is None:
            settling.put_away_all(context, transaction)
        transaction.end(end)

    context.pass_on()
    transaction.end(put_away)


def abort(context: SessionContext, frame: Frame) -> None:
    """Abort a transaction (STOMP 1.2, ABORT); the messages that it has settled are unsettled again.

    Raises:
        FaultError: There is no such transaction.
    """
    transaction, receipt = _ended(context, frame), frame.headers.get("receipt")

    def backed_out(answer: Answer) -> None:
        _back_out(context, transaction)
        context.answered(receipt, answer)

    context.pass_on()
    transaction.end(lambda: context.ask(backed_out, commands.Backout, transaction.unit))


def _back_out(context: SessionContext, transaction: Transaction) -> None:
    """Make the messages that a transaction has settled unsettled again, so that the client can settle them."""
    transaction.backed_out()
    if context.version is not Version.V1_1:
        for subscription in context.links.values():
            context.keys.update(dict.fromkeys(subscription.held, subscription))


def _ended(context: SessionContext, frame: Frame) -> Transaction:
    name = frame.headers["transaction"]
    transaction = context.transactions.pop(name, None)
    if transaction is None:
        raise FaultError(f"There is no transaction {name[:40]!r}: it has not begun, or has ended", Mqrc.BACKED_OUT)
    return transaction


HANDLERS: Mapping[str, Callable[[SessionContext, Frame], None]] = {
    "SEND": send,
    "SUBSCRIBE": subscribe,
    "UNSUBSCRIBE": unsubscribe,
    "ACK": settling.ack,
    "NACK": settling.nack,
    "BEGIN": begin,
    "COMMIT": commit,
    "ABORT": abort,
}
"""The function for each command of an open connection; `StompSession` itself handles DISCONNECT."""
