"""The producer that the classic and the simplified face share, and the receipt of a send."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from assay_sdk.engine.sessions.producer import EngineProducer
from assay_sdk.engine.settings import DeliveryMode
from assay_sdk.faces.caller import Caller, Duration
from assay_sdk.faces.closing import Closing
from assay_sdk.faces.message import Message, drafted, show_sent
from assay_sdk.model.contents import ContentError
from assay_sdk.model.converters import ConversionError
from assay_sdk.model.destinations import Destination, DestinationError
from assay_sdk.model.message import Address
from assay_sdk.model.properties import PropertyError
from assay_sdk.model.reasons import JmsErrorKind, Refused

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """Result of a send.

    Args:
        message_id: JMSMessageID; empty if the broker gives each message an id that the sender does not learn (ActiveMQ
            and Artemis over STOMP).
        delivery_time: JMSDeliveryTime in milliseconds since the epoch; None without a delay.
        timestamp: JMSTimestamp in milliseconds since the epoch.
        expiration: JMSExpiration in milliseconds since the epoch; None for no expiry.
        delivery_mode: Delivery mode of the send, or `DeliveryMode.AS_DESTINATION`.
        priority: Priority of the send, or `AS_DESTINATION`.
    """

    message_id: str
    delivery_time: int | None
    timestamp: int
    expiration: int | None
    delivery_mode: DeliveryMode
    priority: int
    _cancel: Callable[[str], bool] = field(repr=False, compare=False)

    def cancel(self) -> bool:
        """Cancel the message before its delay ends, like `cancel` of the session or context that sent it.

        Returns:
            True if the broker has cancelled the message.  False if the message is not staged: it was delivered or
            cancelled, has expired, had no delay, or its unit of work is not committed yet.

        Raises:
            JmsError: The broker cannot cancel messages (`JmsErrorKind.UNSUPPORTED`, raised before anything is sent),
                the session is closed or lost, or the user has lost the authority.
        """
        return self._cancel(self.message_id)


class ProducerBase(Closing, Generic[T]):
    """Base of `MessageProducer` and `Producer`; created by a session or a context.

    Assigning an attribute that the class does not define raises AttributeError, so a misspelt setting is noticed.
    """

    __slots__ = ("__weakref__", "_caller", "_destination", "_engine")

    def __init__(self, caller: Caller, engine: EngineProducer, destination: Destination[T] | None) -> None:
        self._caller = caller
        self._engine = engine
        self._destination = destination

    @property
    def destination(self) -> Destination[T] | None:
        """Destination of the producer; None when each send gives one."""
        return self._destination

    @property
    def delivery_delay(self) -> int:
        """Delivery delay of later sends, in milliseconds (DD-01).

        It can be set to a `timedelta` or to milliseconds.
        """
        return self._engine.settings.delay_ms

    @delivery_delay.setter
    def delivery_delay(self, delay: Duration) -> None:
        self._caller(self._engine.set_delivery_delay(self._caller.milliseconds(delay, "a delivery delay")))

    @property
    def time_to_live(self) -> int:
        """Time to live of later sends, in milliseconds; 0 for no expiry.

        It can be set to a `timedelta` or to milliseconds.
        """
        return self._engine.settings.ttl_ms

    @time_to_live.setter
    def time_to_live(self, ttl: Duration) -> None:
        self._caller(self._engine.set_time_to_live(self._caller.milliseconds(ttl, "a time to live")))

    @property
    def delivery_mode(self) -> DeliveryMode:
        """Delivery mode of later sends; persistent by default (PD-01).

        With `DeliveryMode.AS_DESTINATION` the broker applies the destination's default (DEFPSIST).
        """
        return self._engine.settings.mode

    @delivery_mode.setter
    def delivery_mode(self, mode: int) -> None:
        self._caller(self._engine.set_delivery_mode(mode))

    @property
    def priority(self) -> int:
        """Priority of later sends: 0 to 9, or `AS_DESTINATION` for the destination's default (DEFPRTY)."""
        return self._engine.settings.priority

    @priority.setter
    def priority(self, priority: int) -> None:
        self._caller(self._engine.set_priority(priority))

    def send(
        self,
        message: Message[T] | T,
        *,
        delivery_mode: DeliveryMode | None = None,
        priority: int | None = None,
        time_to_live: Duration | None = None,
    ) -> Receipt:
        """Send a message or a body, and wait until the broker has accepted it.

        The keyword arguments apply to this send only (PD-03).  In JMS 2.0 a single send cannot have its own delivery
        delay: set `delivery_delay` of the producer.

        Args:
            message: A `Message`, whose headers the send sets, or a body of the destination's type.
            delivery_mode: Persistent, non-persistent, or as the destination defines; None for the producer's mode.
            priority: 0 to 9, or `AS_DESTINATION`; None for the producer's priority.
            time_to_live: Time until the message expires; 0 for no expiry, None for the producer's time to live.

        Raises:
            JmsError: The producer is closed or has no destination, the body or a property is invalid, or the message
                cannot have the producer's delivery delay (DD-11, DD-14, DD-16, DD-17).  Or the broker or the driver
                lacks a capability, or the broker refuses the message.
        """
        if self._destination is None:
            text = "the producer has no destination: call send_to, or create a producer with one"
            raise self._caller.error(Refused(JmsErrorKind.INVALID_DESTINATION, text))
        return self._send(
            message, self._destination, delivery_mode=delivery_mode, priority=priority, time_to_live=time_to_live
        )

    def send_to(
        self,
        destination: Destination[U],
        message: Message[U] | U,
        *,
        delivery_mode: DeliveryMode | None = None,
        priority: int | None = None,
        time_to_live: Duration | None = None,
    ) -> Receipt:
        """Send a message or a body to a destination, with a producer that was created without one.

        Args:
            destination: Queue or topic.
            message: A `Message`, whose headers the send sets, or a body of the destination's type.
            delivery_mode: Persistent, non-persistent, or as the destination defines; None for the producer's mode.
            priority: 0 to 9, or `AS_DESTINATION`; None for the producer's priority.
            time_to_live: Time until the message expires; 0 for no expiry, None for the producer's time to live.

        Raises:
            JmsError: The producer has a destination of its own, the broker refuses the destination, or `send` would
                fail.
        """
        return self._send(
            message,
            destination,
            to=self._caller.address(destination),
            delivery_mode=delivery_mode,
            priority=priority,
            time_to_live=time_to_live,
        )

    def _cancel(self, message_id: str) -> bool:
        return self._caller(self._engine.cancel(message_id))

    def close(self) -> None:
        """Close the producer; a second call does nothing."""
        self._caller(self._engine.close())

    def _send(
        self,
        value: Message[U] | U,
        destination: Destination[U],
        *,
        to: Address | None = None,
        delivery_mode: DeliveryMode | None,
        priority: int | None,
        time_to_live: Duration | None,
    ) -> Receipt:
        message: Message[U] = value if isinstance(value, Message) else Message(value)
        try:
            draft = drafted(message, destination.converter)
        except DestinationError as error:
            raise self._caller.error(Refused(JmsErrorKind.INVALID_DESTINATION, str(error))) from error
        except (ContentError, ConversionError, PropertyError) as error:
            objects = (destination.name,)
            raise self._caller.error(Refused(JmsErrorKind.MESSAGE_FORMAT, str(error), objects=objects)) from error
        ttl_ms = self._caller.optional_milliseconds(time_to_live, "a time to live")
        sent = self._caller(self._engine.send(draft, to=to, mode=delivery_mode, priority=priority, ttl_ms=ttl_ms))
        show_sent(message, sent)
        return Receipt(
            message_id=sent.message_id or "",
            delivery_time=sent.delivery_time_ms,
            timestamp=sent.creation_ms or 0,
            expiration=sent.expiry_ms,
            delivery_mode=message.delivery_mode,
            priority=message.priority,
            _cancel=self._cancel,
        )
