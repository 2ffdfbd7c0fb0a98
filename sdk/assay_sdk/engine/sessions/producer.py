"""The engine's producer: its settings, and sending."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import msgspec

from assay_sdk.driver import Arrived, CloseLink, PeerProperties, Send
from assay_sdk.engine.calls import RefusedError, lost
from assay_sdk.engine.checks import Moment, SettingsToCheck, check_priority, check_rules, check_send_capabilities
from assay_sdk.engine.operations import Operation, Wait, result_of
from assay_sdk.engine.ports import SessionPort
from assay_sdk.engine.sessions import requests
from assay_sdk.engine.settings import AS_DESTINATION, DeliveryMode, ProducerSettings
from assay_sdk.engine.states import LIFE, Act, Life, LifeEvent, Machine
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.durations import LONGEST_MS
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused
from assay_sdk.time import NS_PER_MS

_DURABLE: Mapping[DeliveryMode, bool | None] = {
    DeliveryMode.PERSISTENT: True,
    DeliveryMode.NON_PERSISTENT: False,
    DeliveryMode.AS_DESTINATION: None,
}
"""Durable header of each delivery mode; None (no header) lets the broker apply the destination's default (DD-52,
QS-33)."""


class EngineProducer:
    """A producer, with or without a destination.

    Args:
        session: Session of the producer.
        number: Number of the link.
        address: Destination; None when each send gives one.
    """

    def __init__(self, session: SessionPort, number: int, address: Address | None) -> None:
        self.number = number
        self.address = address
        self.settings = ProducerSettings()
        self._session = session
        self._connection = session.connection
        self._life: Machine[Life, LifeEvent] = Machine(LIFE, Life.OPENING, "the producer")
        self._ended: Refused | None = None
        self._destination: PeerProperties = {}
        self._offered: frozenset[Capability] = frozenset()

    def opened(self, destination: PeerProperties, capabilities: frozenset[Capability]) -> None:
        """Mark the producer as open, and store the properties of its destination.

        Args:
            destination: Properties that the broker gave for the destination; ignored if each send names one.
            capabilities: Capabilities that the broker offers on this link, in addition to the connection's
                capabilities.
        """
        self._offered = capabilities
        self._destination = destination if self.address is not None else {}
        self._life.take(LifeEvent.OPENED)

    # -- operations ------------------------------------------------------------------------------------------------

    def set_delivery_delay(self, delay_ms: int) -> Operation[None]:
        """Set the delivery delay of later sends, in milliseconds (JMS 2.0, 7.9, DD-01).

        Raises:
            RefusedError: The producer is closed or lost, the delay is longer than the time to live (DD-13), or the
                connection does not support a delivery delay (DD-10).  The setting keeps its earlier value (DD-15).
        """
        yield from self._set(msgspec.structs.replace(self.settings, delay_ms=delay_ms), Moment.SET_DELAY)

    def set_time_to_live(self, ttl_ms: int) -> Operation[None]:
        """Set the time to live of later sends, in milliseconds; 0 for no expiry (JMS 2.0, 7.8).

        Raises:
            RefusedError: The producer is closed or lost, the time to live is shorter than the delivery delay (DD-12),
                or the connection does not support a time to live.  The setting keeps its earlier value (DD-15).
        """
        yield from self._set(msgspec.structs.replace(self.settings, ttl_ms=ttl_ms), Moment.SET_TTL)

    def set_delivery_mode(self, mode: int) -> Operation[None]:
        """Set the delivery mode of later sends (PD-02).

        Raises:
            RefusedError: The producer is closed or lost, the mode is invalid, or the connection does not support it.
        """
        yield from self._set(msgspec.structs.replace(self.settings, mode=_mode(mode)), None)

    def set_priority(self, priority: int) -> Operation[None]:
        """Set the priority of later sends.

        Raises:
            RefusedError: The producer is closed or lost, the priority is neither 0 to 9 nor `AS_DESTINATION`, or the
                connection does not support priorities.
        """
        check_priority(priority)
        yield from self._set(msgspec.structs.replace(self.settings, priority=priority), None)

    def send(
        self,
        draft: Message,
        *,
        to: Address | None = None,
        mode: int | None = None,
        priority: int | None = None,
        ttl_ms: int | None = None,
    ) -> Operation[Message]:
        """Send a message and wait until the broker has accepted it.

        Args:
            draft: Body, properties and the headers that the application sets.
            to: Destination; None if the producer has a destination.
            mode: Delivery mode of this send (PD-03); None for the producer's delivery mode.
            priority: Priority of this send: 0 to 9, or `AS_DESTINATION`; None for the producer's priority.
            ttl_ms: Time to live of this send, in milliseconds, 0 for no expiry; None for the producer's time to live.

        Returns:
            The message with the headers of the send.

        Raises:
            RefusedError: The producer is closed, a setting is invalid, the message cannot have the producer's delay
                (DD-11, DD-14, DD-16, DD-17), the connection lacks a capability, or the broker refuses the message.
        """
        # Delay and time to live count from the start of the call, even if it waits for a unit of work (DD-27, DD-56).
        wall_ns = self._connection.clock.wall_ns()
        self._use()
        address = self._address(to)
        settings = self._settings_for(mode, priority, ttl_ms)
        check_send_capabilities(settings, self._capabilities)
        self._check(Moment.SEND, settings, address, draft)
        message = self._filled(draft, address, settings, wall_ns)
        unit = yield from self._session.unit_of_work()
        self._use()
        yield from result_of(
            self._connection.submit(lambda token: Send(token, self.number, message, settled=False, unit=unit))
        )
        return message

    def cancel(self, message_id: str) -> Operation[bool]:
        """Cancel the delayed message with this id, and return whether the broker has cancelled the message."""
        return requests.cancel(self._session, message_id)

    def close(self) -> Operation[None]:
        """Close the producer; a second call does nothing."""
        if self._life.take(LifeEvent.CLOSE) is not Act.GO:
            return
        answer = self._connection.post(lambda token: CloseLink(token, self.number))
        if not answer.done:
            yield Wait(answer)
        self._end(LifeEvent.CLOSED)

    # -- events ----------------------------------------------------------------------------------------------------

    def arrived(self, event: Arrived) -> None:
        """Raise an error: a sender receives no messages, so the driver has a bug.

        Raises:
            AssertionError: Always.
        """
        raise AssertionError(f"a delivery {event.delivery} on the sender {self.number}")

    def drained(self) -> None:
        """Do nothing, because the client never drains a sender."""

    def peer_closed(self, refused: Refused | None) -> None:
        """End the producer, because the broker has closed the link; later sends are refused with the broker's reason.

        Args:
            refused: The broker's reason; None if it gave none.
        """
        self._ended = refused or lost("the broker has closed this producer: create a new one")
        self._end(LifeEvent.LOSE)

    def end(self, *, lost: bool) -> None:
        """End the producer, because its session has ended.

        Args:
            lost: Whether the connection was lost; otherwise the session was closed.
        """
        self._end(LifeEvent.LOSE if lost else LifeEvent.CLOSED)

    @property
    def _capabilities(self) -> frozenset[Capability]:
        return self._connection.capabilities | self._offered

    # -- inside ----------------------------------------------------------------------------------------------------

    def _end(self, event: LifeEvent) -> None:
        self._life.take(event)
        self._connection.unroute(self.number)
        self._session.forget_producer(self.number)

    def _use(self) -> None:
        if self._ended is not None:
            raise RefusedError(self._ended)
        self._life.take(LifeEvent.USE)

    def _set(self, settings: ProducerSettings, moment: Moment | None) -> Operation[None]:
        yield from ()
        self._use()
        check_send_capabilities(settings, self._capabilities)
        if moment is not None:
            self._check(moment, settings, self.address)
        self.settings = settings

    def _check(
        self, moment: Moment, settings: ProducerSettings, to: Address | None, message: Message | None = None
    ) -> None:
        if self._connection.options.checks:
            peer = self._connection.peer
            check_rules(
                moment,
                SettingsToCheck(settings=settings, peer=peer, to=to, destination=self._destination, message=message),
            )

    def _address(self, to: Address | None) -> Address:
        if self.address is not None and to is not None:
            raise RefusedError(
                refused(
                    Mqrc.OPTIONS_ERROR,
                    f"this producer sends to {self.address} only: create one without a destination to name it with"
                    " each send",
                    str(to),
                )
            )
        address = self.address or to
        if address is None:
            raise RefusedError(
                refused(
                    Mqrc.UNKNOWN_OBJECT_NAME, "this producer has no destination: name one with the send", "destination"
                )
            )
        return address

    def _settings_for(self, mode: int | None, priority: int | None, ttl_ms: int | None) -> ProducerSettings:
        if mode is None and priority is None and ttl_ms is None:
            return self.settings
        if priority is not None:
            check_priority(priority)
        return msgspec.structs.replace(
            self.settings,
            mode=self.settings.mode if mode is None else _mode(mode),
            priority=self.settings.priority if priority is None else priority,
            ttl_ms=self.settings.ttl_ms if ttl_ms is None else ttl_ms,
        )

    def _filled(self, draft: Message, to: Address, settings: ProducerSettings, wall_ns: int) -> Message:
        # Timestamp, expiry and delivery time all come from this creation time.  It is rounded up, because rounding down
        # would let the broker deliver early (DD-02), and let a message expire before its time to live is over (DD-56).
        creation_ms = -(-wall_ns // NS_PER_MS)
        _check_end("delivery delay", settings.delay_ms, creation_ms)
        _check_end("time to live", settings.ttl_ms, creation_ms)
        return msgspec.structs.replace(
            draft,
            message_id=self._connection.next_message_id(),
            to=to,
            durable=_DURABLE[settings.mode],
            priority=None if settings.priority == AS_DESTINATION else settings.priority,
            ttl_ms=settings.ttl_ms or None,
            creation_ms=creation_ms,
            expiry_ms=creation_ms + settings.ttl_ms if settings.ttl_ms else None,
            delivery_time_ms=creation_ms + settings.delay_ms if settings.delay_ms else None,
            encoded=None,
        )


def _check_end(what: str, span_ms: int, begin_ms: int) -> None:
    """Check that the end of a duration fits into a message's header; JMS times are 64-bit integers.

    Args:
        what: Name of the duration in the error.
        span_ms: The duration in milliseconds.
        begin_ms: Start of the duration, in milliseconds since the epoch.

    Raises:
        RefusedError: The duration ends too late.
    """
    if begin_ms + span_ms > LONGEST_MS:
        limit = f"is too long for a message sent now: give at most {LONGEST_MS - begin_ms} ms"
        raise RefusedError(Refused(JmsErrorKind.MESSAGING, f"a {what} of {span_ms} ms {limit}"))


def _mode(mode: int) -> DeliveryMode:
    with suppress(ValueError):
        if not isinstance(mode, bool):  # True equals 1, which is the number of non-persistent
            return DeliveryMode(mode)
    text = f"a delivery mode is 1 (non-persistent), 2 (persistent) or {AS_DESTINATION} (as the destination defines)"
    raise RefusedError(refused(Mqrc.PERSISTENCE_ERROR, f"{text}, not {mode!r}"))
