"""Translation of the SDK's events into events of the `Client` port, with actors' names and JMS names of headers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Literal

from assay_adapters.clients.bodies import kind_of
from assay_adapters.clients.keys import key_among
from assay_adapters.clients.xids import name_of
from assay_adapters.ports.client import ClientEvent, Seen
from assay_sdk.engine.settings import DeliveryMode
from assay_sdk.faces.message import Message, show_received
from assay_sdk.model.message import Property
from assay_sdk.observer import (
    CallbackEnded,
    ConnectionLost,
    FrameSeen,
    Handed,
    Reconnected,
    SdkEvent,
    SessionEnded,
    Settled,
    UnitTurned,
)
from assay_sdk.observer import Seen as SdkSeen

_KEPT_SETTLED = 1_000
"""The number of settled messages whose objects a `Teller` keeps, so that an application can acknowledge an old one."""

Fields = dict[str, str | int | bool | None]
KitMessage = Message[str | bytes]
"""A message object of the SDK whose body is a text or bytes."""


def fields_of(message: KitMessage) -> Fields:
    """Return headers and properties by JMS name; values that a journal cannot hold become text."""
    fields: Fields = {
        "JMSMessageID": message.message_id,
        "JMSTimestamp": message.timestamp,
        "JMSCorrelationID": message.correlation_id,
        "JMSType": message.jms_type,
        "JMSReplyTo": None if message.reply_to is None else str(message.reply_to),
        "JMSDeliveryMode": DeliveryMode(message.delivery_mode).name,
        "JMSPriority": message.priority,
        "JMSExpiration": message.expiration,
        "JMSDeliveryTime": message.delivery_time,
        "JMSRedelivered": message.redelivered,
        "JMSXDeliveryCount": message.delivery_count,
    }
    fields.update((name, _scalar(value)) for name, value in message.properties.items())
    return fields


def _scalar(value: Property) -> str | int | bool | None:
    return value if value is None or isinstance(value, str | int) else str(value)


def seen_in(message: KitMessage, handle: int) -> Seen:
    """Convert a message of the SDK to the form of the `Client` port."""
    return Seen(
        key=key_among(message.properties, message.body),
        handle=handle,
        body=message.body,
        message_id=message.message_id,
        count=message.delivery_count,
        redelivered=message.redelivered,
        fields=fields_of(message),
    )


def seen_of(handed: Handed, handle: int) -> Seen:
    """Convert the message in an event of the SDK to the form of the `Client` port."""
    message: KitMessage = Message(handed.message.body or "")
    show_received(message, handed.message)
    message.redelivered = handed.redelivered
    message.delivery_count = handed.count
    seen = seen_in(message, handle)
    seen.fields["body"] = kind_of(handed.message.body)
    return seen


def _unit_name(unit: int | bytes | None) -> str | None:
    return name_of(unit) if isinstance(unit, bytes) else None if unit is None else str(unit)


class EventMaker:
    """Makes the `Client` port's events from the events of one connection of the SDK.

    The object stores the names that the consumers have in the scenario.

    Args:
        tell: Called with each event of the port.
        connection: The connection's name, which is part of the names of links because consumers of two connections can
            have the same number.
    """

    def __init__(self, tell: Callable[[ClientEvent], None], connection: str) -> None:
        self._tell = tell
        self._connection = connection
        self._actors: dict[int, str] = {}

    def name(self, consumer: int, actor: str) -> None:
        """Note the name that a consumer has in the scenario."""
        self._actors[consumer] = actor

    def called(self, consumer: int) -> None:
        """Report that a callback of a consumer's listener has begun."""
        self._tell(ClientEvent(what="called", actor=self._actors[consumer], link=self._link(consumer)))

    def _link(self, consumer: int) -> str:
        return f"{self._actors[consumer]}/{self._connection}/{consumer}"

    def _tell_callback(self, event: CallbackEnded) -> None:
        actor, link = self._actors[event.consumer], self._link(event.consumer)
        self._tell(ClientEvent(what="callback", actor=actor, link=link, batch=event.batch, outcome=event.ended))

    def _tell_session(self, event: SessionEnded) -> None:
        self._tell(ClientEvent(what="session-ended", actor=self._connection, refused=event.refused))

    def _tell_message(
        self,
        what: Literal["seen", "settle"],
        handed: Handed,
        seen: Seen,
        *,
        outcome: str = "",
        unit: str | None = None,
    ) -> None:
        self._tell(
            ClientEvent(
                what=what,
                actor=self._actors[handed.consumer],
                link=self._link(handed.consumer),
                destination=str(handed.source),
                seen=seen,
                batch=handed.batch,
                outcome=outcome,
                unit=unit,
            )
        )


class Teller(EventMaker):
    """An observer of one connection of the SDK, which reports its events as events of the `Client` port.

    Args:
        tell: Called with each event of the port.
        connection: The connection's name.
    """

    def __init__(self, tell: Callable[[ClientEvent], None], connection: str) -> None:
        super().__init__(tell, connection)
        self._seen: dict[tuple[int, int], Seen] = {}
        """The messages that the application received and has not settled, by consumer and delivery."""
        self._unmatched: dict[int, deque[Seen]] = {}
        """The messages of each consumer that the SDK has reported in an event, but has not returned yet."""
        self._messages: dict[int, KitMessage | None] = {}
        """The SDK's messages by handle: all unsettled ones, and the last settled ones."""
        self._settled: deque[int] = deque()
        """The handles of the settled messages in `_messages`, in the order of their settlement."""
        self._enlisted: dict[tuple[int, int], int] = {}
        """The numbers of the local units of work that settle messages, by the messages' keys in `_seen`."""
        self._handles = 0

    def match(self, consumer: int, message: KitMessage) -> Seen:
        """Return the port's form of a message that the SDK has just returned."""
        seen = self._unmatched[consumer].popleft()
        if seen.handle in self._messages:
            self._messages[seen.handle] = message
        return seen

    def message(self, handle: int) -> KitMessage | None:
        """Return the SDK's message object with a handle.

        The result is None if the SDK has not returned the message yet, or if the message was settled long ago
        (`_KEPT_SETTLED`).
        """
        return self._messages.get(handle)

    def __call__(self, event: SdkEvent) -> None:
        """Convert one event of the SDK, and report it to the steps."""
        match event:
            case SdkSeen(handed=handed):
                self._tell_seen(handed)
            case Settled(handed=handed):
                self._tell_settled(event, handed)
            case CallbackEnded():
                self._tell_callback(event)
            case ConnectionLost():
                # One event for each consumer, because all watches on this connection end.
                for actor in tuple(self._actors.values()) or ("",):
                    self._tell(ClientEvent(what="lost", actor=actor))
            case SessionEnded():
                self._tell_session(event)
            case UnitTurned(unit=unit, op="commit"):
                for key in [key for key, number in self._enlisted.items() if number == unit]:
                    self._forget(key)
            case UnitTurned() | FrameSeen() | Reconnected():
                pass  # the steps record units of work; the JMS faces do not trace frames and do not reconnect

    def _tell_seen(self, handed: Handed) -> None:
        self._handles += 1
        seen = seen_of(handed, self._handles)
        self._seen[handed.consumer, handed.delivery] = seen
        self._messages[seen.handle] = None
        self._unmatched.setdefault(handed.consumer, deque()).append(seen)
        self._tell_message("seen", handed, seen)

    def _tell_settled(self, event: Settled, handed: Handed) -> None:
        key = handed.consumer, handed.delivery
        seen = self._seen.get(key)
        if seen is None:
            return  # before the application received the message, the SDK released it or it expired
        self._tell_message("settle", handed, seen, outcome=event.outcome.value, unit=_unit_name(event.unit))
        if isinstance(event.unit, int):
            self._enlisted[key] = event.unit  # after a rollback, the SDK gives the message back in another event
        else:
            self._forget(key)  # the SDK reports nothing more about the message, also if a branch settles it

    def _forget(self, key: tuple[int, int]) -> None:
        self._enlisted.pop(key, None)
        seen = self._seen.pop(key, None)
        if seen is None:
            return
        self._settled.append(seen.handle)
        if len(self._settled) > _KEPT_SETTLED:
            del self._messages[self._settled.popleft()]
