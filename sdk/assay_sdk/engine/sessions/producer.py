"""A producer: what it is set to, and sending."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from assay_sdk.driver import Arrived, CloseLink, PeerProperties, Send
from assay_sdk.engine.calls import RefusedError, lost
from assay_sdk.engine.checks import Moment, SettingsToCheck, check_priority, check_rules, check_send_capabilities
from assay_sdk.engine.operations import Operation, Wait, result_of
from assay_sdk.engine.ports import SessionPort
from assay_sdk.engine.settings import AS_DESTINATION, DeliveryMode, ProducerSettings
from assay_sdk.engine.states import LIFE, Act, Life, LifeEvent, Machine
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import Mqrc, Refused, refused

_NS_PER_MS = 1_000_000

_DURABLE: Mapping[DeliveryMode, bool | None] = {
    DeliveryMode.PERSISTENT: True,
    DeliveryMode.NON_PERSISTENT: False,
    DeliveryMode.AS_DESTINATION: None,
}
"""What the durable header says of a mode: nothing, where the destination defines it (DD-52, QS-33)."""


class EngineProducer:
    """A producer of either style.

    Args:
        session: Whose it is.
        number: Its link's number.
        address: Where it sends; None when each send says so.
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

    def opened(self, destination: PeerProperties) -> None:
        """The link is attached.

        Args:
            destination: What the peer said of the destination; it means nothing where each send names its own.
        """
        self._destination = destination if self.address is not None else {}
        self._life.take(LifeEvent.OPENED)

    # -- operations ------------------------------------------------------------------------------------------------

    def set_delivery_delay(self, delay_ms: int) -> Operation[None]:
        """Delay what is sent from now on, in milliseconds (JMS 7.9, DD-01).

        Raises:
            RefusedError: DD-10, DD-13, or the wire has no delivery delay; the earlier value stays (DD-15).
        """
        yield from self._set(msgspec.structs.replace(self.settings, delay_ms=delay_ms), Moment.SET_DELAY)

    def set_time_to_live(self, ttl_ms: int) -> Operation[None]:
        """Let what is sent from now on expire after so many milliseconds; 0 never (JMS 7.8).

        Raises:
            RefusedError: DD-12, or the wire has no time to live; the earlier value stays (DD-15).
        """
        yield from self._set(msgspec.structs.replace(self.settings, ttl_ms=ttl_ms), Moment.SET_TTL)

    def set_delivery_mode(self, mode: int) -> Operation[None]:
        """Send persistent, non-persistent or as the destination defines from now on (PD-02).

        Raises:
            RefusedError: There is no such mode, or the wire does not have it.
        """
        yield from self._set(msgspec.structs.replace(self.settings, mode=_mode(mode)), None)

    def set_priority(self, priority: int) -> Operation[None]:
        """Send with this priority from now on.

        Raises:
            RefusedError: It is neither 0 to 9 nor `AS_DESTINATION`, or the wire has no priorities.
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
        """Send a message and wait until the broker has it.

        Args:
            draft: Body, properties and what else the application decides; the rest is filled in here.
            to: Where to, for a producer without a destination.
            mode: For this send only (PD-03), as are the next two.
            priority: 0 to 9, or `AS_DESTINATION`.
            ttl_ms: Milliseconds; 0 never expires.

        Returns:
            The message with everything that was used.

        Raises:
            RefusedError: By a rule (DD-11, DD-14, DD-16, DD-17), by a missing capability, or by the broker.
        """
        # The send starts here: delay and time to live count from now, whatever has to be waited for (DD-27, DD-56).
        wall_ns = self._connection.clock.wall_ns()
        self._use()
        address = self._address(to)
        settings = self._settings_for(mode, priority, ttl_ms)
        check_send_capabilities(settings, self._connection.capabilities)
        self._check(Moment.SEND, settings, address, draft)
        message = self._filled(draft, address, settings, wall_ns)
        unit = yield from self._session.unit_of_work()
        self._use()
        yield from result_of(
            self._connection.submit(lambda token: Send(token, self.number, message, settled=False, unit=unit))
        )
        return message

    def cancel(self, message_id: str) -> Operation[bool]:
        """Take a delayed message back; as `Session.cancel`."""
        return self._session.cancel(message_id)

    def close(self) -> Operation[None]:
        """Close it; closing again does nothing."""
        if self._life.take(LifeEvent.CLOSE) is not Act.GO:
            return
        answer = self._connection.post(lambda token: CloseLink(token, self.number))
        if not answer.done:
            yield Wait(answer)
        self._end(LifeEvent.CLOSED)

    # -- events ----------------------------------------------------------------------------------------------------

    def arrived(self, event: Arrived) -> None:
        """Nothing arrives on a sender; a driver that says so is wrong."""
        raise AssertionError(f"a delivery {event.delivery} on the sender {self.number}")

    def drained(self) -> None:
        """The peer asked for nothing to be kept back: there is nothing."""

    def peer_closed(self, refused: Refused | None) -> None:
        """The peer has closed the link: later sends are refused with its reason."""
        self._ended = refused or lost("the broker has closed this producer: make a new one")
        self._end(LifeEvent.LOSE)

    def end(self, *, lost: bool) -> None:
        """The session is gone: lost with its connection, or closed."""
        self._end(LifeEvent.LOSE if lost else LifeEvent.CLOSED)

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
        check_send_capabilities(settings, self._connection.capabilities)
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
                    f"this producer sends to {self.address}: make one without a destination to name it at each send",
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
        # One moment for all three.  Rounded up: a fraction of a millisecond cut off would let the broker deliver early
        # (DD-02), and let a message expire before its time to live is over (DD-56).
        creation_ms = -(-wall_ns // _NS_PER_MS)
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


def _mode(mode: int) -> DeliveryMode:
    try:
        return DeliveryMode(mode)
    except ValueError:
        text = f"a delivery mode is 1 (non-persistent), 2 (persistent) or {AS_DESTINATION} (as the destination defines)"
        raise RefusedError(refused(Mqrc.PERSISTENCE_ERROR, f"{text}, not {mode!r}")) from None
