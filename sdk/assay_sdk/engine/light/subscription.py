"""Subscriptions of an MQ Light client: each has a buffer, and attaches again on each new connection."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from assay_sdk.driver import Arrived, CloseLink, Credit, Done, Drain, Durability, OpenReceiver, Outcome, Settle
from assay_sdk.engine.calls import Pending, RefusedError
from assay_sdk.engine.light.reconnection import ConnectionAttempt
from assay_sdk.engine.operations import Operation, Wait, result_of
from assay_sdk.engine.settings import Qos
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.observer import Handed, SdkEvent, Settled

PRIVATE, SHARE = "private", "share"
"""Prefixes of the link names of MQ Light subscriptions: ``private:PATTERN``, ``share:NAME:PATTERN``."""


class SubscriptionTerms(Struct, frozen=True, kw_only=True):
    """Terms of a subscription, which the application chooses when it subscribes.

    Args:
        topic: Topic or pattern of topics.
        share: Name of the share; None for a subscription of this client.
        qos: Quality of service.
        auto_confirm: Whether the client confirms messages on arrival; without effect for at-most-once messages.
        ttl_ms: How long the subscription remains without a connection, in milliseconds.  With 0, the subscription ends
            with the connection; with None, it remains until the client removes it.
    """

    topic: Address
    share: str | None
    qos: Qos
    auto_confirm: bool
    ttl_ms: int | None

    @property
    def name(self) -> str:
        """Name of the subscription at the broker, and of its link."""
        return f"{PRIVATE}:{self.topic.name}" if self.share is None else f"{SHARE}:{self.share}:{self.topic.name}"


class LightDelivery:
    """A delivery of an MQ Light subscription.

    Args:
        subscription: Subscription of the message.
        attempt: Connection over which the message came.
        arrived: The driver's event.
        number: Number of the delivery within the client; each number is used once.
    """

    __slots__ = ("attempt", "confirmed", "count", "link", "message", "number", "redelivered", "subscription", "wire")

    def __init__(
        self, subscription: LightSubscription, attempt: ConnectionAttempt, arrived: Arrived, number: int
    ) -> None:
        self.subscription = subscription
        self.attempt = attempt
        self.link = arrived.link
        self.wire = arrived.delivery
        self.message: Message = arrived.message
        self.count = arrived.count + 1
        self.redelivered = arrived.redelivered
        self.number = number
        self.confirmed = False

    def handed(self) -> Handed:
        """Return the message and the data of its delivery, as the events for observers show them."""
        return Handed(
            consumer=self.subscription.number,
            delivery=self.number,
            source=self.subscription.terms.topic,
            message=self.message,
            count=self.count,
            redelivered=self.redelivered,
        )


OnDelivery = Callable[[LightDelivery], None]


class Host(Protocol):
    """The methods of an MQ Light client that its subscriptions call."""

    def observe(self, event: SdkEvent) -> None:
        """Call the client's observer with an event."""
        ...

    def next_delivery(self) -> int:
        """Take a new delivery number, and return it."""
        ...

    def due(self, subscription: LightSubscription) -> None:
        """Schedule a subscription's callback for one more message, or wake the receive calls of the client."""
        ...

    def ended(self, subscription: LightSubscription, why: Refused | None) -> None:
        """Forget a subscription that the broker has ended, and report the end to the application."""
        ...


class LightSubscription:
    """A subscription of an MQ Light client.

    Args:
        host: Client of the subscription.
        number: Number of the subscription within the client.
        terms: Terms of the subscription.
        credit: The largest number of unconfirmed messages at the client; with 0, the broker sends messages only for
            receive calls.
        on_delivery: Called with each message; None leaves messages in the buffer for receive calls.
    """

    def __init__(
        self, host: Host, number: int, terms: SubscriptionTerms, credit: int, on_delivery: OnDelivery | None
    ) -> None:
        self.host = host
        self.number = number
        self.terms = terms
        self.credit = credit
        self.on_delivery = on_delivery
        self.buffer: deque[LightDelivery] = deque()
        """Messages from the broker that the application has not yet received, in the order of arrival."""
        self.over = False
        self._attempt: ConnectionAttempt | None = None
        self._link = 0
        self._leaving = False
        self._granted = 0
        """Number of messages that the broker may still send."""
        self._draining: Pending[None] | None = None
        """Resolved when the broker has returned unused credit; None if no drain is under way."""
        self._unconfirmed: dict[LightDelivery, None] = {}

    # -- operations ------------------------------------------------------------------------------------------------

    def attach(self, attempt: ConnectionAttempt) -> Operation[None]:
        """Attach the subscription on a new connection.

        If the subscription has outlived an earlier connection, the broker redelivers the messages that the client did
        not confirm on that connection.

        Raises:
            RefusedError: The broker refuses the subscription, or the connection is lost.
        """
        self.lose()
        terms, connection = self.terms, attempt.connection
        link = connection.next_number()
        connection.route(link, self)
        try:
            yield from result_of(
                connection.submit(
                    lambda token: OpenReceiver(
                        token=token,
                        session=attempt.session,
                        link=link,
                        address=terms.topic,
                        durability=Durability.NON_DURABLE if terms.ttl_ms == 0 else Durability.DURABLE,
                        name=terms.name,
                        shared=terms.share is not None,
                        is_global=terms.share is not None,
                        settled=terms.qos is Qos.AT_MOST_ONCE,
                        timeout_ms=terms.ttl_ms,
                    )
                )
            )
        except RefusedError:
            connection.unroute(link)
            raise
        if not self.over:  # the broker may have closed the link directly after its answer
            self._attempt, self._link = attempt, link
            self.replenish()

    def allow(self, credit: int) -> Operation[None]:
        """Change the credit; if the broker has more credit than the new value, drain the link."""
        self.credit = credit
        if self._granted > credit:
            yield from self.withdraw()
        self.replenish()

    def withdraw(self) -> Operation[None]:
        """Drain the link: the broker sends available messages within the credit, and returns unused credit."""
        attempt, link = self._attempt, self._link
        if attempt is None or not self._granted:
            return
        drained = self._draining
        if drained is None:
            drained = self._draining = Pending()
            answer = attempt.connection.post(lambda token: Drain(token, link))
            answer.then(lambda: self.drained() if answer.error is not None else None)
        if not drained.done:
            yield Wait(drained)

    def detach(self) -> Operation[None]:
        """End the subscription at the client and close its link; unconfirmed messages go back to the broker."""
        self.over = True
        attempt, link = self._attempt, self._link
        self.lose()
        if attempt is not None and attempt.alive:
            attempt.connection.unroute(link)
            answer = attempt.connection.post(lambda token: CloseLink(token, link))
            if not answer.done:
                yield Wait(answer)

    def confirm(self, delivery: LightDelivery) -> Operation[None]:
        """Confirm one delivery only (QS-14); a second call does nothing.

        Raises:
            RefusedError: The application cannot confirm messages of this subscription, the connection or the
                subscription over which the message came has ended, or the connection is lost before the broker answers.
        """
        terms = self.terms
        if terms.qos is Qos.AT_MOST_ONCE or terms.auto_confirm:
            text = f"the application cannot confirm messages of {terms.topic.name}: {_why_not(terms)}"
            raise RefusedError(Refused(JmsErrorKind.ILLEGAL_STATE, text, objects=(terms.topic.name,)))
        if delivery.confirmed:
            return
        if delivery not in self._unconfirmed or not delivery.attempt.alive:
            raise RefusedError(
                Refused(
                    JmsErrorKind.STALE_DELIVERY,
                    f"a message of {terms.topic.name} came over a connection or subscription that has ended, and can"
                    " no longer be confirmed: confirm it when the broker delivers it again",
                    objects=(terms.topic.name,),
                )
            )
        yield from result_of(self._accept(delivery))

    # -- for the client --------------------------------------------------------------------------------------------

    def take(self) -> LightDelivery | None:
        """Take the next message from the buffer; None if the buffer is empty."""
        delivery = self.buffer.popleft() if self.buffer else None
        if delivery is not None:
            self.replenish()
        return delivery

    def put_back(self, delivery: LightDelivery) -> None:
        """Put a message from `take` back at the head of the buffer, because the receive call was interrupted.

        A message that the broker delivers again is dropped instead.
        """
        needs_confirm = self.terms.qos is Qos.AT_LEAST_ONCE and not delivery.confirmed
        if not needs_confirm or delivery in self._unconfirmed:
            self.buffer.appendleft(delivery)

    def check(self) -> None:
        """If the connection on which this subscription is attached has ended, forget the connection (`lose`)."""
        if self._attempt is not None and not self._attempt.alive:
            self.lose()

    def lose(self) -> None:
        """Forget the connection, because the connection or the subscription's link on it has ended.

        Messages that are confirmed, or need no confirmation, stay in the buffer.  The subscription drops unconfirmed
        messages, because the broker delivers them again.
        """
        self._attempt = None
        self.drained()
        self.buffer = deque(one for one in self.buffer if one not in self._unconfirmed)
        self._unconfirmed.clear()

    @property
    def owes(self) -> bool:
        """Whether the callback must still receive a message that the broker will not deliver again."""
        return self.on_delivery is not None and any(one not in self._unconfirmed for one in self.buffer)

    def listen(self, on_delivery: OnDelivery | None) -> None:
        """Set the callback, which gets the messages in the buffer first; None removes the callback."""
        self.on_delivery = on_delivery
        for _ in range(len(self.buffer)):
            self.host.due(self)

    def ask(self) -> None:
        """Grant credit for one message, for a receive call on a subscription whose credit is 0."""
        if not self.credit and not self._granted:
            self._grant(1)

    def turn_away(self) -> None:
        """Ignore at-least-once messages that arrive from now on; the broker gets them back when the link closes."""
        self.credit = 0
        self._leaving = True

    def replenish(self) -> None:
        """Grant the broker credit up to the limit, if at most half of the limit is in use.

        Credit is in use for each message that is in the buffer or unconfirmed, and for each message that may still
        arrive.
        """
        here = max(len(self._unconfirmed), len(self.buffer))
        ahead = self._granted + here
        if self.credit and ahead <= self.credit // 2:
            self._grant(self.credit - ahead)

    # -- events ----------------------------------------------------------------------------------------------------

    def arrived(self, event: Arrived) -> None:
        """Add an arrived message to the buffer, and schedule the callback or wake a receive call.

        With auto-confirm, the client confirms the message here, before the application gets it (QS-11, AMQP:25-26).
        """
        if self._attempt is None or (self._leaving and self.terms.qos is Qos.AT_LEAST_ONCE):
            return
        self._granted = max(0, self._granted - 1)
        delivery = LightDelivery(self, self._attempt, event, self.host.next_delivery())
        self.buffer.append(delivery)
        if self.terms.qos is Qos.AT_LEAST_ONCE:
            self._unconfirmed[delivery] = None
            if self.terms.auto_confirm:
                self._accept(delivery)
        self.host.due(self)

    def drained(self) -> None:
        """Handle the end of a drain: the broker has returned unused credit."""
        self._granted = 0
        drained, self._draining = self._draining, None
        if drained is not None:
            drained.resolve(None)

    def peer_closed(self, refused: Refused | None) -> None:
        """End the subscription, because the broker has closed its link.

        Args:
            refused: The broker's reason; None if it gave none.
        """
        self.over = True
        self.lose()
        self.host.ended(self, refused)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _grant(self, more: int) -> None:
        attempt, link = self._attempt, self._link
        if attempt is not None:
            self._granted += more
            attempt.connection.post(lambda token: Credit(token, link, more))

    def _accept(self, delivery: LightDelivery) -> Pending[Done]:
        delivery.confirmed = True
        del self._unconfirmed[delivery]
        self.host.observe(Settled(delivery.handed(), Outcome.ACCEPTED))
        answer = delivery.attempt.connection.post(
            lambda token: Settle(token, delivery.link, (delivery.wire,), Outcome.ACCEPTED)
        )
        self.replenish()
        return answer


def _why_not(terms: SubscriptionTerms) -> str:
    if terms.qos is Qos.AT_MOST_ONCE:
        return "with at most once, no message is confirmed"
    return "with auto_confirm, the client confirms them"
