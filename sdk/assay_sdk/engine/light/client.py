"""The engine of the MQ Light face: sends and subscriptions that survive a lost connection."""

from __future__ import annotations

import logging
import random
from collections.abc import Sequence

import msgspec

from assay_sdk.driver import Unsubscribe
from assay_sdk.engine.calls import Pending, RefusedError, lost
from assay_sdk.engine.checks import check_subscription_name
from assay_sdk.engine.connection import ExceptionListener, call_listener
from assay_sdk.engine.identity import message_id
from assay_sdk.engine.light.callbacks import Callbacks
from assay_sdk.engine.light.reconnection import Backoff, ConnectionAttempt, ConnectionMaker, Reconnecting
from assay_sdk.engine.light.senders import sender_link, transfer
from assay_sdk.engine.light.subscription import LightDelivery, LightSubscription, OnDelivery, SubscriptionTerms
from assay_sdk.engine.operations import Operation, Wait, result_of
from assay_sdk.engine.settings import Qos
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.observer import ConnectionLost, Observer, SdkEvent, Seen
from assay_sdk.time import NS_PER_MS, Runner

_LOG = logging.getLogger(__name__)


class LightClient:
    """The engine of an MQ Light client, with one connection at a time and one callback at a time.

    Args:
        services: URLs of the services; each time the client connects, it tries them in this order.
        make_connection: Returns a new connection to one of the URLs.
        runner: Runs the operations and the callbacks.
        observer: Called with each event.
        backoff: How long to wait between attempts.
        chance: Source of random numbers for the waits.
        id_prefix: Prefix of message ids.
    """

    def __init__(
        self,
        services: Sequence[str],
        make_connection: ConnectionMaker,
        runner: Runner,
        *,
        observer: Observer,
        backoff: Backoff,
        chance: random.Random,
        id_prefix: str,
    ) -> None:
        self.runner = runner
        self.reconnection = Reconnecting(
            services,
            make_connection,
            runner,
            observer=self._observe_connection,
            backoff=backoff,
            chance=chance,
            prepare=self._prepare,
        )
        self.reconnection.on_trouble = self._complain
        self.subscriptions: dict[str, LightSubscription] = {}
        """The client's subscriptions, by their names at the broker.

        After the loss of a connection, the client attaches its subscriptions again on the next connection."""
        self._subscribing: set[str] = set()
        """The names of subscriptions that calls of `subscribe` attach now.  After a reconnection, each of these calls
        attaches its subscription again itself, so `_prepare` must not attach it too."""
        self.on_trouble: ExceptionListener = _log
        """Called with errors that no call can raise, such as an exception of a callback, or the end of a subscription
        by the broker."""
        self._observer = observer
        self._id_prefix = id_prefix
        self._messages = 0
        self._numbers = 0
        self._deliveries = 0
        self._callbacks = Callbacks(runner, observer, self._complain)
        self._arrival: Pending[None] = Pending()

    # -- operations ------------------------------------------------------------------------------------------------

    def start(self) -> Operation[None]:
        """Connect to one of the services.

        Raises:
            RefusedError: No service is reachable, or a service refuses the client.
        """
        yield from self.reconnection.start()

    def send(self, draft: Message, to: Address, qos: Qos, ttl_ms: int | None) -> Operation[Message]:
        """Send a message without a durable header, so that the topic's default persistence applies (QS-35).

        - At most once: the send ends when the client has written the settled message.  If the connection is lost, the
          message may be lost, and the send still succeeds (QS-02).
        - At least once: the client stores the message until the broker has answered, and sends it again on each new
          connection (QS-04, QS-05).

        Args:
            draft: Body and properties.
            to: The topic.
            qos: Quality of service.
            ttl_ms: Time to live in milliseconds; None for no expiry.

        Returns:
            The message with the headers of the send.

        Raises:
            RefusedError: The broker refuses the message, or the client is stopped.
        """
        message = self._filled(draft, to, ttl_ms)
        settled = qos is Qos.AT_MOST_ONCE
        while True:
            attempt = yield from self.reconnection.ready()
            try:
                link = yield from sender_link(attempt, to, settled=settled)
            except RefusedError as error:
                if _is_loss(error):
                    continue  # the message was not sent, so the client may try again even with at most once
                raise
            try:
                yield from transfer(attempt, link, message, settled=settled)
            except RefusedError as error:
                if not _is_loss(error):
                    raise
                if settled:
                    return message
            else:
                return message

    def subscribe(
        self, terms: SubscriptionTerms, credit: int, on_delivery: OnDelivery | None
    ) -> Operation[LightSubscription]:
        """Subscribe to a topic or a pattern.

        Args:
            terms: Terms of the subscription.
            credit: The largest number of unconfirmed messages at the client; with 0, the broker sends messages only
                for receive calls.
            on_delivery: Called with each message; None leaves messages in the buffer for receive calls.

        Raises:
            RefusedError: The name of the share or of the topic is invalid, the client has this subscription already or
                is stopped, or the broker refuses the call.
        """
        check_subscription_name(terms.name)
        if terms.name in self.subscriptions or terms.name in self._subscribing:
            raise RefusedError(_twice(terms))
        self._numbers += 1
        subscription = LightSubscription(self, self._numbers, terms, credit, on_delivery)
        self._subscribing.add(terms.name)
        try:
            while True:
                attempt = yield from self.reconnection.ready()
                try:
                    yield from subscription.attach(attempt)
                except RefusedError as error:
                    if not _is_loss(error):
                        raise
                else:
                    break
        finally:  # the broker may have refused, or a signal may have interrupted the call
            self._subscribing.discard(terms.name)
        if not subscription.over:
            self.subscriptions[terms.name] = subscription
        return subscription

    def unsubscribe(self, name: str, caller: int, *, at_once: bool) -> Operation[None]:
        """End a subscription, at once or when its time to live is over.

        Args:
            name: Name of the subscription at the broker.
            caller: Identifier of the calling thread.
            at_once: Whether to end the subscription now; otherwise when its time to live is over.

        Raises:
            RefusedError: The client does not have the subscription or is stopped, or the broker refuses the call.
        """
        return self._unsubscribe(name, at_once=at_once, wait=not self._callbacks.is_inside(caller))

    def _unsubscribe(self, name: str, *, at_once: bool, wait: bool) -> Operation[None]:
        subscription = self.subscriptions.get(name)
        if subscription is None:
            text = f"this client is not subscribed to {name}: subscribe first"
            raise RefusedError(Refused(JmsErrorKind.ILLEGAL_STATE, text, objects=(name,)))
        yield from self.reconnection.ready()
        yield from self._hand_over((subscription,), wait=wait)
        self.subscriptions.pop(name, None)
        yield from subscription.detach()
        if not at_once or subscription.terms.ttl_ms == 0:
            return
        while True:
            attempt = yield from self.reconnection.ready()
            try:
                yield from self._remove(attempt, subscription.terms)
            except RefusedError as error:
                if not _is_loss(error):
                    raise
            else:
                return

    def receive(self, subscription: LightSubscription, timeout_ms: int | None) -> Operation[LightDelivery | None]:
        """Wait for one message of a subscription without a callback.

        Args:
            subscription: Subscription to receive from.
            timeout_ms: How long to wait, in milliseconds; None waits without limit, 0 does not wait.

        Returns:
            The message; None if no message came in time or the subscription has ended.

        Raises:
            RefusedError: The subscription has a callback, or the client is stopped.
        """
        if subscription.on_delivery is not None:
            text = f"{subscription.terms.name} has a callback, so receive is refused: subscribe without a callback"
            raise RefusedError(Refused(JmsErrorKind.ILLEGAL_STATE, text, objects=(subscription.terms.name,)))
        clock = self.runner.clock
        due_ns = None if timeout_ms is None else clock.monotonic_ns() + timeout_ms * NS_PER_MS
        while True:
            delivery = self._taken(subscription)
            if delivery is not None:
                return delivery
            self.reconnection.check()
            if subscription.over:
                return None
            subscription.ask()
            if due_ns is not None and clock.monotonic_ns() >= due_ns:
                break
            yield Wait(self._arrival, due_ns)
        if not subscription.credit:
            yield from subscription.withdraw()
        return self._taken(subscription)

    def stop(self, caller: int) -> Operation[None]:
        """Close the connection, and do not reconnect; a subscription remains until its time to live is over.

        The application still gets the messages in the buffer that the broker will not deliver again: at-most-once
        messages, and messages that the client has confirmed.  Callbacks get them before the close, and `receive`
        returns them after the close.

        Args:
            caller: Identifier of the calling thread.
        """
        return self._stop(wait=not self._callbacks.is_inside(caller))

    def _stop(self, *, wait: bool) -> Operation[None]:
        yield from self._hand_over(tuple(self.subscriptions.values()), wait=wait)
        yield from self.reconnection.stop()
        self._end()

    def abandon(self) -> Operation[None]:
        """Drop the connection and stop, as if the process had ended; callbacks get no more messages."""
        yield from self.reconnection.abandon()
        self._end()
        self._callbacks.clear()

    # -- for subscriptions -----------------------------------------------------------------------------------------

    def observe(self, event: SdkEvent) -> None:
        """Call the observer with an event."""
        self._observer(event)

    def next_delivery(self) -> int:
        """Take a new delivery number, and return it."""
        self._deliveries += 1
        return self._deliveries

    def due(self, subscription: LightSubscription) -> None:
        """Schedule a subscription's callback for one more message, or wake the receive calls of the client."""
        if subscription.on_delivery is None:
            self._wake()
        else:
            self._callbacks.due(subscription)

    def ended(self, subscription: LightSubscription, why: Refused | None) -> None:
        """Forget a subscription that the broker has ended, and report the end to the application.

        A reason of the kind `JmsErrorKind.CONNECTION_LOST` is reported, too, because the client itself stays connected:
        no change of its state tells the application about the end.

        Args:
            subscription: The subscription.
            why: The broker's reason; None if it gave none.
        """
        self.subscriptions.pop(subscription.terms.name, None)
        self._wake()
        text = f"the broker has ended the subscription {subscription.terms.name}: subscribe again"
        self._report(why or lost(text), None)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _observe_connection(self, event: SdkEvent) -> None:
        self._observer(event)
        if isinstance(event, ConnectionLost):
            for subscription in self.subscriptions.values():
                subscription.check()

    def _filled(self, draft: Message, to: Address, ttl_ms: int | None) -> Message:
        # Rounded up, as in `EngineProducer`: rounding down would let the message expire too early (DD-56).
        creation_ms = -(-self.runner.clock.wall_ns() // NS_PER_MS)
        self._messages += 1
        return msgspec.structs.replace(
            draft,
            message_id=message_id(self._id_prefix, self._messages),
            to=to,
            durable=None,
            ttl_ms=ttl_ms,
            creation_ms=creation_ms,
            expiry_ms=None if ttl_ms is None else creation_ms + ttl_ms,
        )

    @staticmethod
    def _remove(attempt: ConnectionAttempt, terms: SubscriptionTerms) -> Operation[None]:
        shared = terms.share is not None
        yield from result_of(
            attempt.connection.submit(
                lambda token: Unsubscribe(token, attempt.session, terms.name, shared=shared, is_global=shared)
            )
        )

    def _prepare(self, attempt: ConnectionAttempt) -> Operation[None]:
        """Attach all subscriptions on a new connection, before messages are sent on it."""
        for subscription in tuple(self.subscriptions.values()):
            try:
                yield from subscription.attach(attempt)
            except RefusedError as error:
                if _is_loss(error):
                    raise
                subscription.peer_closed(error.refused)
        self._wake()  # a waiting receive call must grant credit again on the new connection

    def _taken(self, subscription: LightSubscription) -> LightDelivery | None:
        delivery = subscription.take()
        if delivery is not None:
            self.observe(Seen(delivery.handed()))
        return delivery

    def _hand_over(self, subscriptions: Sequence[LightSubscription], *, wait: bool) -> Operation[None]:
        """Stop receiving; the callbacks still get the buffered messages that the broker will not deliver again.

        Args:
            subscriptions: Subscriptions that stop.
            wait: Whether to wait until the callbacks have received these messages.  False if a callback makes the call,
                because a callback cannot wait for itself; the messages then follow after it has returned.
        """
        for subscription in subscriptions:
            subscription.turn_away()
        if wait:
            yield from self._callbacks.finish(subscriptions)

    def _wake(self) -> None:
        arrival, self._arrival = self._arrival, Pending()
        arrival.resolve(None)

    def _complain(self, why: Refused, cause: Exception | None = None) -> None:
        if why.kind is not JmsErrorKind.CONNECTION_LOST:  # a lost connection is reported as a change of state
            self._report(why, cause)

    def _report(self, why: Refused, cause: Exception | None) -> None:
        """Call `on_trouble` in a separate job, so that its exceptions and its time do not affect the caller."""
        self.runner.call_soon(lambda: call_listener(self.on_trouble, why, cause))

    def _end(self) -> None:
        for subscription in self.subscriptions.values():
            subscription.over = True
            subscription.lose()
        self._wake()


def _log(why: Refused, cause: Exception | None) -> None:
    _LOG.warning("%s: %s", why.kind.value, why.text, exc_info=cause)


def _is_loss(error: RefusedError) -> bool:
    return error.refused.kind is JmsErrorKind.CONNECTION_LOST


def _twice(terms: SubscriptionTerms) -> Refused:
    text = f"this client is subscribed to {terms.name} already: unsubscribe first"
    return Refused(JmsErrorKind.ILLEGAL_STATE, text, objects=(terms.name,))
