"""The engine of the MQ Light face: sends by quality of service, subscriptions, and what survives a lost connection."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence

import msgspec

from assay_sdk.driver import Arrived, OpenSender, Send, Unsubscribe
from assay_sdk.engine.calls import Pending, RefusedError, lost
from assay_sdk.engine.identity import message_id
from assay_sdk.engine.light.callbacks import Callbacks
from assay_sdk.engine.light.reconnection import Backoff, ConnectionAttempt, Dialler, Reconnecting
from assay_sdk.engine.light.subscription import LightDelivery, LightSubscription, OnDelivery, SubscriptionTerms
from assay_sdk.engine.operations import Operation, Wait, result_of
from assay_sdk.engine.settings import Qos
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.observer import ConnectionLost, Observer, SdkEvent, Seen
from assay_sdk.time import Runner

_LOG = logging.getLogger(__name__)

_NS_PER_MS = 1_000_000


class _SenderLink:
    """A sender's link on one connection.

    Args:
        attempt: The connection.
        key: By which the attempt knows it.
    """

    def __init__(self, attempt: ConnectionAttempt, key: object) -> None:
        self._attempt = attempt
        self._key = key

    def arrived(self, event: Arrived) -> None:
        """Nothing arrives on a sender; a driver that says so is wrong."""
        raise AssertionError(f"a delivery {event.delivery} on a sender")

    def drained(self) -> None:
        """The peer asked for nothing to be kept back: there is nothing."""

    def peer_closed(self, refused: Refused | None) -> None:
        """The peer has closed the link: the next send attaches another and hears the reason, if there still is one."""
        del refused
        self._attempt.senders.pop(self._key, None)


class LightClient:
    """A client of a service: one connection at a time, one callback at a time.

    Args:
        services: URLs, tried in turn at each attempt.
        dial: Makes a connection to one of them.
        runner: The crank.
        observer: Told every event.
        backoff: How long to wait between attempts.
        chance: Where the random part of a wait comes from.
        id_prefix: What message ids begin with.
    """

    def __init__(
        self,
        services: Sequence[str],
        dial: Dialler,
        runner: Runner,
        *,
        observer: Observer,
        backoff: Backoff,
        chance: random.Random,
        id_prefix: str,
    ) -> None:
        self.runner = runner
        self.line = Reconnecting(
            services, dial, runner, observer=self._observe_line, backoff=backoff, chance=chance, prepare=self._prepare
        )
        self.line.on_trouble = self._complain
        self.subscriptions: dict[str, LightSubscription] = {}
        """By their names with the broker; attached, or to be attached again."""
        self.on_trouble: Callable[[Refused], None] = _log
        """Told what no call can raise: a callback that raised, a subscription that the broker has ended."""
        self._observer = observer
        self._id_prefix = id_prefix
        self._messages = 0
        self._numbers = 0
        self._deliveries = 0
        self._callbacks = Callbacks(runner, observer, self._complain)
        self._arrival: Pending[None] = Pending()

    # -- operations ------------------------------------------------------------------------------------------------

    def start(self) -> Operation[None]:
        """Connect.

        Raises:
            RefusedError: No service could be reached, or one has refused.
        """
        yield from self.line.start()

    def send(self, draft: Message, to: Address, qos: Qos, ttl_ms: int | None) -> Operation[Message]:
        """Send a message; it has no durable header, so that the topic decides about its persistence (QS-35).

        At most once it is gone when this side has written it, settled: nobody waits for an answer, and whether the line
        broke meanwhile is nobody's business (QS-02).  At least once this client keeps it until the broker has answered,
        and sends it again on each new connection until then (QS-04, QS-05).

        Args:
            draft: Body and properties.
            to: The topic.
            qos: Quality of service.
            ttl_ms: Time to live in milliseconds; None for ever.

        Returns:
            The message with everything that was used.

        Raises:
            RefusedError: The broker refuses it, or the client is stopped.
        """
        message = self._filled(draft, to, ttl_ms)
        settled = qos is Qos.AT_MOST_ONCE
        while True:
            attempt = yield from self.line.ready()
            try:
                link = yield from self._sender(attempt, to, settled=settled)
            except RefusedError as error:
                if _is_loss(error):
                    continue  # not sent yet, whatever the quality of service
                raise
            try:
                yield from self._transfer(attempt, link, message, settled=settled)
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
        """Subscribe.

        Raises:
            RefusedError: It is subscribed already, the broker refuses, or the client is stopped.
        """
        if terms.name in self.subscriptions:
            raise RefusedError(_twice(terms))
        self._numbers += 1
        subscription = LightSubscription(self, self._numbers, terms, credit, on_delivery)
        self.subscriptions[terms.name] = subscription
        attached = False
        try:
            while not attached:
                attempt = yield from self.line.ready()
                try:
                    yield from subscription.attach(attempt)
                except RefusedError as error:
                    if not _is_loss(error):
                        raise
                else:
                    attached = True
        finally:
            if not attached:  # refused, or whoever asked has gone
                self.subscriptions.pop(terms.name, None)
        return subscription

    def unsubscribe(self, name: str, caller: int, *, at_once: bool) -> Operation[None]:
        """End a subscription: at once, or when its time to live is over.

        Args:
            name: Its name with the broker.
            caller: The thread that asks.
            at_once: Whether its time to live counts for nothing.

        Raises:
            RefusedError: There is no such subscription, the broker refuses, or the client is stopped.
        """
        return self._unsubscribe(name, at_once=at_once, wait=not self._callbacks.is_inside(caller))

    def _unsubscribe(self, name: str, *, at_once: bool, wait: bool) -> Operation[None]:
        subscription = self.subscriptions.get(name)
        if subscription is None:
            text = f"this client is not subscribed to {name}: subscribe before"
            raise RefusedError(Refused(JmsErrorKind.ILLEGAL_STATE, text, objects=(name,)))
        yield from self.line.ready()
        yield from self._hand_over((subscription,), wait=wait)
        self.subscriptions.pop(name, None)
        yield from subscription.detach()
        if not (at_once and subscription.terms.ttl_ms):
            return
        while True:
            attempt = yield from self.line.ready()
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
            subscription: Which.
            timeout_ms: Milliseconds; None waits for ever, 0 takes what is here.

        Returns:
            The message; None when none came, or the subscription has ended meanwhile.

        Raises:
            RefusedError: It has a callback, or the client is stopped.
        """
        if subscription.on_delivery is not None:
            text = f"{subscription.terms.name} has a callback, which gets its messages: subscribe without one"
            raise RefusedError(Refused(JmsErrorKind.ILLEGAL_STATE, text, objects=(subscription.terms.name,)))
        clock = self.runner.clock
        due_ns = None if timeout_ms is None else clock.monotonic_ns() + timeout_ms * _NS_PER_MS
        while True:
            delivery = self._taken(subscription)
            if delivery is not None:
                return delivery
            self.line.check()
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
        """Close the connection in order; subscriptions with a time to live run on until it is over.

        What was received and confirmed is the application's: callbacks get it first, and `receive` has it afterwards.

        Args:
            caller: The thread that asks.
        """
        return self._stop(wait=not self._callbacks.is_inside(caller))

    def _stop(self, *, wait: bool) -> Operation[None]:
        yield from self._hand_over(tuple(self.subscriptions.values()), wait=wait)
        yield from self.line.stop()
        self._end()

    def abandon(self) -> Operation[None]:
        """Stop as if the process had ended: nothing is said to the broker, and nothing is handed over any more."""
        yield from self.line.abandon()
        self._end()
        self._callbacks.clear()

    # -- for subscriptions -----------------------------------------------------------------------------------------

    def observe(self, event: SdkEvent) -> None:
        """Tell the observer."""
        self._observer(event)

    def next_delivery(self) -> int:
        """A number for a delivery."""
        self._deliveries += 1
        return self._deliveries

    def due(self, subscription: LightSubscription) -> None:
        """A subscription has something for its callback, or for who waits for it."""
        if subscription.on_delivery is None:
            self._wake()
        else:
            self._callbacks.due(subscription)

    def ended(self, subscription: LightSubscription, why: Refused | None) -> None:
        """The broker has ended a subscription."""
        self.subscriptions.pop(subscription.terms.name, None)
        self._wake()
        self._complain(why or lost(f"the broker has ended the subscription {subscription.terms.name}: subscribe again"))

    # -- inside ----------------------------------------------------------------------------------------------------

    def _observe_line(self, event: SdkEvent) -> None:
        self._observer(event)
        if isinstance(event, ConnectionLost):
            for subscription in self.subscriptions.values():
                subscription.check()

    def _filled(self, draft: Message, to: Address, ttl_ms: int | None) -> Message:
        # Rounded up, as a producer's: a fraction cut off would let it expire before its time to live is over (DD-56).
        creation_ms = -(-self.runner.clock.wall_ns() // _NS_PER_MS)
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

    def _sender(self, attempt: ConnectionAttempt, to: Address, *, settled: bool) -> Operation[int]:
        """The link for sends to a topic in one quality, attached by the first that needs it."""
        key = to, settled
        opening = attempt.senders.get(key)
        if opening is None:
            opening = attempt.senders[key] = Pending()
            connection, link = attempt.connection, attempt.connection.next_number()
            connection.route(link, _SenderLink(attempt, key))
            try:
                yield from result_of(
                    connection.submit(lambda token: OpenSender(token, attempt.session, link, to, settled=settled))
                )
            except RefusedError as error:
                opening.fail(error)
            else:
                opening.resolve(link)
            finally:
                if not opening.done:  # whoever asked has gone; who waits with him asks anew
                    opening.fail(RefusedError(lost("the sender that was to be shared was given up: send again")))
                if opening.error is not None:
                    connection.unroute(link)
                    attempt.senders.pop(key, None)
        return (yield from result_of(opening))

    @staticmethod
    def _transfer(attempt: ConnectionAttempt, link: int, message: Message, *, settled: bool) -> Operation[None]:
        yield from result_of(attempt.connection.submit(lambda token: Send(token, link, message, settled=settled)))

    @staticmethod
    def _remove(attempt: ConnectionAttempt, terms: SubscriptionTerms) -> Operation[None]:
        shared = terms.share is not None
        yield from result_of(
            attempt.connection.submit(
                lambda token: Unsubscribe(token, attempt.session, terms.name, shared=shared, everybodys=shared)
            )
        )

    def _prepare(self, attempt: ConnectionAttempt) -> Operation[None]:
        """Attach every subscription on a new connection, before anything is sent there."""
        for subscription in tuple(self.subscriptions.values()):
            try:
                yield from subscription.attach(attempt)
            except RefusedError as error:
                if _is_loss(error):
                    raise
                subscription.peer_closed(error.refused)
        self._wake()  # who waits for a message asks for it again

    def _taken(self, subscription: LightSubscription) -> LightDelivery | None:
        delivery = subscription.take()
        if delivery is not None:
            self.observe(Seen(delivery.handed()))
        return delivery

    def _hand_over(self, subscriptions: Sequence[LightSubscription], *, wait: bool) -> Operation[None]:
        """Let nothing more come, and wait until callbacks have had what only they can have.

        Args:
            subscriptions: Of which subscriptions.
            wait: False for a callback, which cannot wait for itself: what is left is handed over after it.
        """
        for subscription in subscriptions:
            subscription.turn_away()
        if wait:
            yield from self._callbacks.finish(subscriptions)

    def _wake(self) -> None:
        arrival, self._arrival = self._arrival, Pending()
        arrival.resolve(None)

    def _complain(self, why: Refused) -> None:
        if why.kind is not JmsErrorKind.CONNECTION_LOST:  # that is a change of state, and told as one
            self.on_trouble(why)

    def _end(self) -> None:
        for subscription in self.subscriptions.values():
            subscription.over = True
            subscription.lose()
        self._wake()


def _log(why: Refused) -> None:
    _LOG.warning("%s: %s", why.kind.value, why.text)


def _is_loss(error: RefusedError) -> bool:
    return error.refused.kind is JmsErrorKind.CONNECTION_LOST


def _twice(terms: SubscriptionTerms) -> Refused:
    text = f"this client is subscribed to {terms.name} already: unsubscribe before"
    return Refused(JmsErrorKind.ILLEGAL_STATE, text, objects=(terms.name,))
