"""Subscriptions of the MQ Light face, and the messages that they receive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

from assay_sdk.amqp.foreign import shown_body
from assay_sdk.engine.light.client import LightClient
from assay_sdk.engine.light.subscription import LightDelivery, LightSubscription, OnDelivery
from assay_sdk.errors import MessageFormatError
from assay_sdk.faces.caller import Caller, Duration
from assay_sdk.faces.consumer import iterate
from assay_sdk.faces.mqlight.arguments import credit_of
from assay_sdk.model.converters import JSON
from assay_sdk.model.message import Property
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.observer import Handed
from assay_sdk.time import NS_PER_MS


class Delivery:
    """A message that a subscription has received."""

    def __init__(self, caller: Caller, engine: LightDelivery) -> None:
        self._caller = caller
        self._engine = engine

    @property
    def pattern(self) -> str:
        """Topic or pattern of the subscription that received the message."""
        return self._engine.subscription.terms.topic.name

    @property
    def share(self) -> str | None:
        """Name of the subscription's share; None for a subscription of one client."""
        return self._engine.subscription.terms.share

    @property
    def topic(self) -> str:
        """Topic to which the message was sent; the subscription's pattern if the message names no topic."""
        to = self._engine.message.to
        return to.name if to is not None else self.pattern

    @property
    def data(self) -> object:
        """Data of the message: a string, bytes, or the decoded value if the content type is JSON; None without a body.

        Raises:
            MessageFormatError: The content type is JSON, but the body is not valid JSON.
        """
        body, content_type = shown_body(self._engine.message)
        if content_type != JSON or body is None:
            return body
        try:
            return msgspec.json.decode(body)
        except (ValueError, RecursionError) as error:  # DecodeError is a ValueError; also not UTF-8, nested too deeply
            text = f"a message of {self.topic} has content type {JSON}, but its body is not valid JSON: {error}"
            raise MessageFormatError(Refused(JmsErrorKind.MESSAGE_FORMAT, text, objects=(self.topic,))) from error

    @property
    def number(self) -> int:
        """Number of the delivery within the client; the events for observers identify the delivery by this number."""
        return self._engine.number

    @property
    def properties(self) -> Mapping[str, Property]:
        """Properties of the message."""
        return self._engine.message.properties

    @property
    def message_id(self) -> str | None:
        """Id of the message; None for a message without one."""
        return self._engine.message.message_id

    @property
    def ttl(self) -> int | None:
        """Remaining time to live of the message, in milliseconds; None for no expiry."""
        expiry_ms = self._engine.message.expiry_ms
        if not expiry_ms:
            return None
        return max(0, expiry_ms - self._caller.runner.clock.wall_ns() // NS_PER_MS)

    @property
    def redelivered(self) -> bool:
        """Whether the message may have been delivered before."""
        return self._engine.redelivered

    @property
    def delivery_count(self) -> int:
        """Number of deliveries of the message including this one, as the broker counts them."""
        return self._engine.count

    def handed(self) -> Handed:
        """Return the message and the data of its delivery, as the events for observers show them."""
        return self._engine.handed()

    def confirm(self) -> None:
        """Confirm this message only (QS-14); a second call does nothing.

        Raises:
            StaleDeliveryError: The message came over a connection or a subscription that has ended; confirm the message
                when it is delivered again.
            ConnectionLostError: The connection was lost before the broker answered; the message may be delivered again.
            IllegalStateError: The subscription has the quality of service at most once, or `auto_confirm`.
        """
        self._caller(self._engine.subscription.confirm(self._engine))

    def __repr__(self) -> str:
        return f"Delivery({self.topic!r}, {self.message_id!r})"


class Subscription:
    """A subscription of a client, created by `Client.subscribe`."""

    def __init__(
        self, caller: Caller, host: LightClient, engine: LightSubscription, end: Callable[[int | None], None]
    ) -> None:
        self._end = end
        self._caller = caller
        self._host = host
        self._engine = engine

    @property
    def pattern(self) -> str:
        """Topic or pattern of the subscription."""
        return self._engine.terms.topic.name

    @property
    def share(self) -> str | None:
        """Name of the share; None for a subscription of this client alone."""
        return self._engine.terms.share

    @property
    def number(self) -> int:
        """Number of the subscription within the client, which identifies it in the events for observers."""
        return self._engine.number

    @property
    def ttl(self) -> int | None:
        """How long the subscription remains after a disconnection, in milliseconds; None without limit."""
        return self._engine.terms.ttl_ms

    @property
    def ended(self) -> bool:
        """Whether the client unsubscribed or stopped, or the service ended the subscription."""
        return self._engine.over

    @property
    def credit(self) -> int:
        """The largest number of unconfirmed messages at the client.

        With 0, the service sends messages only for `receive` calls.
        """
        return self._engine.credit

    @credit.setter
    def credit(self, credit: int) -> None:
        self._caller(self._engine.allow(credit_of(self._caller, credit)))

    def set_on_message(self, on_message: Callable[[Delivery], None] | None) -> None:
        """Set the callback, which the client calls with the messages in the buffer and then with each later message.

        None leaves the messages to `receive`.

        Raises:
            MessagingError: The callback is not callable, or is a coroutine function.
        """
        call = callback_for(self._caller, on_message)
        self._caller.runner.call_soon(lambda: self._engine.listen(call))

    def receive(self, timeout: Duration | None = None) -> Delivery | None:
        """Wait for a message, on a subscription without `on_message`.

        Args:
            timeout: How long to wait; None waits without limit, 0 does not wait.

        Returns:
            The message; None if no message came in time or the subscription has ended.

        Raises:
            MessagingError: The timeout is invalid, the subscription has an `on_message`, or the client is stopped.
        """
        timeout_ms = self._caller.optional_milliseconds(timeout, "timeout")
        operation = self._host.receive(self._engine, timeout_ms)
        return self._caller.receive(operation, lambda found: Delivery(self._caller, found), self._engine.put_back)

    def messages(self, timeout: Duration | None = None) -> Iterator[Delivery]:
        """Iterate over the messages; each step is a `receive` call.

        The iteration ends when no message comes within the timeout, or when the subscription has ended.

        Args:
            timeout: How long each step waits; None waits without limit, 0 does not wait.

        Raises:
            MessagingError: The timeout is invalid (raised by this call), or a `receive` call fails (raised by the
                step).
            StalledError: In virtual time, a step without a timeout waits for a message that cannot come.
        """
        self._caller.optional_milliseconds(timeout, "timeout")
        return iterate(lambda: self.receive(timeout), lambda: self.ended)

    def __iter__(self) -> Iterator[Delivery]:
        """Iterate over the messages until the subscription has ended, like `messages` without a timeout."""
        return self.messages()

    def unsubscribe(self, *, ttl: int | None = None) -> None:
        """End the subscription: at once with a `ttl` of 0, otherwise when its time to live is over.

        Raises:
            MessagingError: For the reasons that `Client.unsubscribe` lists.
        """
        self._end(ttl)

    def __repr__(self) -> str:
        return f"Subscription({self.pattern!r}, share={self.share!r})"


def callback_for(caller: Caller, on_message: Callable[[Delivery], None] | None) -> OnDelivery | None:
    """Return the function that calls the application's callback with a `Delivery` for the engine's delivery.

    Returns:
        The function for the engine; None without a callback.

    Raises:
        MessagingError: The callback is not callable, or is a coroutine function.
    """
    caller.callback(on_message, "on_message")
    if on_message is None:
        return None
    handle = on_message

    def call(found: LightDelivery) -> None:
        handle(Delivery(caller, found))

    return call
