"""A subscription of the MQ Light face, and what it brings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

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


class Delivery:
    """A message as its subscriber has it."""

    def __init__(self, caller: Caller, engine: LightDelivery) -> None:
        self._caller = caller
        self._engine = engine

    @property
    def pattern(self) -> str:
        """What was subscribed to."""
        return self._engine.subscription.terms.topic.name

    @property
    def share(self) -> str | None:
        """The name of the share; None for a subscription of one client."""
        return self._engine.subscription.terms.share

    @property
    def topic(self) -> str:
        """The topic that it was sent to."""
        to = self._engine.message.to
        return to.name if to is not None else self.pattern

    @property
    def data(self) -> object:
        """What was sent: a string, bytes, or what its JSON says.

        Raises:
            MessageFormatError: It is called JSON and is none.
        """
        message = self._engine.message
        if message.content_type != JSON or message.body is None:
            return message.body
        try:
            return msgspec.json.decode(message.body)
        except msgspec.DecodeError as error:
            text = f"a message of {self.topic} is called {JSON} and is none: {error}"
            raise MessageFormatError(Refused(JmsErrorKind.MESSAGE_FORMAT, text, objects=(self.topic,))) from error

    @property
    def number(self) -> int:
        """Its number in the client, by which an observer knows it."""
        return self._engine.number

    @property
    def properties(self) -> Mapping[str, Property]:
        """Its properties."""
        return self._engine.message.properties

    @property
    def message_id(self) -> str | None:
        """Its id."""
        return self._engine.message.message_id

    @property
    def ttl(self) -> int | None:
        """How long it has left to live, in milliseconds; None for ever."""
        expiry_ms = self._engine.message.expiry_ms
        if not expiry_ms:
            return None
        return max(0, expiry_ms - self._caller.runner.clock.wall_ns() // 1_000_000)

    @property
    def redelivered(self) -> bool:
        """Whether it may have been delivered before."""
        return self._engine.redelivered

    @property
    def delivery_count(self) -> int:
        """Which delivery of the message this is, counted from 1, as far as the broker knows."""
        return self._engine.count

    def handed(self) -> Handed:
        """The delivery as an observer is told of it."""
        return self._engine.handed()

    def confirm(self) -> None:
        """Confirm this message, and no other (QS-14); confirming it again does nothing.

        Raises:
            StaleDeliveryError: It came over an earlier connection: it comes again, and that one can be confirmed.
            ConnectionLostError: The connection went before the broker had answered; it may come again.
            IllegalStateError: The subscription is at most once, or confirms by itself.
        """
        self._caller(self._engine.subscription.confirm(self._engine))

    def __repr__(self) -> str:
        return f"Delivery({self.topic!r}, {self.message_id!r})"


class Subscription:
    """A subscription of a client, as `Client.subscribe` gives it."""

    def __init__(
        self, caller: Caller, host: LightClient, engine: LightSubscription, end: Callable[[int | None], None]
    ) -> None:
        self._end = end
        self._caller = caller
        self._host = host
        self._engine = engine

    @property
    def pattern(self) -> str:
        """What was subscribed to."""
        return self._engine.terms.topic.name

    @property
    def share(self) -> str | None:
        """The name of the share; None for a subscription of this client alone."""
        return self._engine.terms.share

    @property
    def number(self) -> int:
        """Its number in the client, by which an observer knows it."""
        return self._engine.number

    @property
    def ttl(self) -> int:
        """How long it outlives a disconnection, in milliseconds."""
        return self._engine.terms.ttl_ms

    @property
    def ended(self) -> bool:
        """Whether it was unsubscribed, or ended by the service, or its client is stopped."""
        return self._engine.over

    @property
    def credit(self) -> int:
        """How many messages may be with the client and not confirmed; 0 lets none come but those that are asked for."""
        return self._engine.credit

    @credit.setter
    def credit(self, credit: int) -> None:
        self._caller(self._engine.allow(credit_of(self._caller, credit)))

    def set_on_message(self, on_message: Callable[[Delivery], None] | None) -> None:
        """Have a callback called with each message from now on; None leaves them for `receive`."""
        hand_over = handing(self._caller, on_message)
        self._caller.runner.call_soon(lambda: self._engine.listen(hand_over))

    def receive(self, timeout: Duration | None = None) -> Delivery | None:
        """Wait for a message, where the subscription has no `on_message`.

        Args:
            timeout: How long; None waits for ever, 0 takes what is here.

        Returns:
            The message; None when none came in time, or the subscription has ended.

        Raises:
            MessagingError: It has an `on_message`, or the client is stopped.
        """
        timeout_ms = self._caller.optional_milliseconds(timeout, "timeout")
        found = self._caller(self._host.receive(self._engine, timeout_ms))
        return None if found is None else Delivery(self._caller, found)

    def messages(self, timeout: Duration | None = None) -> Iterator[Delivery]:
        """Iterate over the messages: each step is a `receive` call.

        The iteration ends when no message came within the timeout, or when the subscription has ended.

        Args:
            timeout: How long each step waits; None waits for ever, 0 takes what is here.

        Raises:
            MessagingError: The timeout is none (at once); or as `receive` (at a step).
            StalledError: In virtual time, a step without a timeout waits for a message that nothing can bring.
        """
        self._caller.optional_milliseconds(timeout, "timeout")
        return iterate(lambda: self.receive(timeout), lambda: self.ended)

    def __iter__(self) -> Iterator[Delivery]:
        """Iterate over the messages until the subscription has ended: `messages` without a timeout."""
        return self.messages()

    def unsubscribe(self, *, ttl: int | None = None) -> None:
        """End it, at once where `ttl` is 0, and otherwise when its time to live is over."""
        self._end(ttl)

    def __repr__(self) -> str:
        return f"Subscription({self.pattern!r}, share={self.share!r})"


def handing(caller: Caller, on_message: Callable[[Delivery], None] | None) -> OnDelivery | None:
    """A callback of the application as the engine calls it."""
    if on_message is None:
        return None
    handle = on_message

    def hand_over(found: LightDelivery) -> None:
        handle(Delivery(caller, found))

    return hand_over
