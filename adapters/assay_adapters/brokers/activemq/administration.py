"""Administration of ActiveMQ Classic: the MBeans of its broker, destinations and subscriptions, through Jolokia."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from assay_adapters.brokers.amqp.administration import Administrator, Management, descriptor_of
from assay_adapters.brokers.amqp.jolokia import Jolokia
from assay_adapters.brokers.http import HttpServer
from assay_adapters.clients.keys import KID, key_in
from assay_adapters.ports.administration import RawMessage
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Outcome, Refused, refused
from assay_sdk.runners.machine_clock import MachineClock

_PATH = "/api/jolokia/"
_BROKER = "org.apache.activemq:type=Broker,brokerName=*"
_OWN = "JMS_AMQP_"
"""The prefix of properties with which ActiveMQ keeps parts of an AMQP message."""
_SHOWN = 400
"""The most messages that ActiveMQ shows in one answer (maxBrowsePageSize)."""
_DATA_BEGINS = (b"\x00\x53\x77\xa1", b"\x00\x53\x75\xa0")
"""How a short body begins in an encoded AMQP message: a value that is a string, or data (AMQP 1.0, 3.2)."""
_NS_PER_MS = 1_000_000

_FIELDS = {
    "message_id": "JMSMessageID",
    "correlation_id": "JMSCorrelationID",
    "mode": "JMSDeliveryMode",
    "priority": "JMSPriority",
    "expiration": "JMSExpiration",
    "strings": "StringProperties",
    "preview": "BodyPreview",
}


class _Shown(Struct, frozen=True, kw_only=True, rename=_FIELDS):
    message_id: str
    correlation_id: str | None = None
    mode: str
    priority: int
    expiration: int = 0
    strings: dict[str, str] = {}
    preview: list[int] = []


class ActiveMqAdministrator(Administrator):
    """The operations of ActiveMQ.

    Args:
        jolokia: The MBeans of the broker.
    """

    def __init__(self, jolokia: Jolokia) -> None:
        self._jolokia = jolokia
        self._clock = MachineClock()

    def define(self, queue: str) -> Outcome[None]:
        """Create a queue; no effect if it exists."""
        return self._of_broker("addQueue", queue)

    def delete(self, queue: str) -> Outcome[None]:
        """Delete a queue with its messages; ActiveMQ refuses while it has consumers."""
        return self._of_broker("removeQueue", queue)

    def clear(self, queue: str) -> Outcome[None]:
        """Remove all messages of a queue."""
        return self._of_queue(queue, "purge()")

    def hold(self, queue: str, *, held: bool) -> Outcome[None]:
        """Pause or resume a queue."""
        return self._of_queue(queue, "pause()" if held else "resume()")

    def depth(self, queue: str) -> Outcome[int]:
        """Return the number of messages on a queue; those whose delay is not over wait elsewhere."""
        mbean = self._mbean(queue)
        if isinstance(mbean, Refused):
            return mbean
        count = self._jolokia.read(mbean.value, "QueueSize")
        return count if isinstance(count, Refused) else Ok(int(count.value))

    def look(self, queue: str) -> Outcome[tuple[RawMessage, ...]]:
        """Return the messages on a queue, without their bodies."""
        found = self._search(queue)
        if isinstance(found, Refused):
            return found
        if not found.value:
            return Ok(())
        shown = self._jolokia.run(found.value[0], "browse()")
        if isinstance(shown, Refused):
            return shown
        if len(shown.value) >= _SHOWN:
            text = f"ActiveMQ shows {_SHOWN} messages of queue {queue} at most"
            return Refused(JmsErrorKind.UNSUPPORTED, text, objects=(queue,))
        return Ok(tuple(map(self._raw, msgspec.convert(shown.value, list[_Shown]))))

    def subscriptions(self, topic: str) -> Outcome[tuple[str, ...]]:
        """Return the MBeans of all subscriptions to a topic: of each subscriber, and of each inactive durable one."""
        return self._jolokia.search(f"{_BROKER},destinationType=Topic,destinationName={topic},endpoint=Consumer,*")

    # --- MBeans

    def _search(self, queue: str) -> Outcome[tuple[str, ...]]:
        return self._jolokia.search(f"{_BROKER},destinationType=Queue,destinationName={queue}")

    def _mbean(self, queue: str) -> Outcome[str]:
        found = self._search(queue)
        if isinstance(found, Refused):
            return found
        if not found.value:
            return refused(Mqrc.UNKNOWN_OBJECT_NAME, f"ActiveMQ has no queue {queue}", queue)
        return Ok(found.value[0])

    def _of_queue(self, queue: str, operation: str) -> Outcome[None]:
        mbean = self._mbean(queue)
        return mbean if isinstance(mbean, Refused) else _nothing(self._jolokia.run(mbean.value, operation))

    def _of_broker(self, operation: str, queue: str) -> Outcome[None]:
        found = self._jolokia.search(_BROKER)
        if isinstance(found, Refused):
            return found
        if not found.value:
            return Refused(JmsErrorKind.MESSAGING, "ActiveMQ shows no broker through Jolokia: is JMX switched on?")
        return _nothing(self._jolokia.run(found.value[0], operation, queue))

    def _raw(self, shown: _Shown) -> RawMessage:
        properties = {name: value for name, value in shown.strings.items() if not name.startswith(_OWN)}
        if KID not in properties and (key := _key_in(bytes(octet % 256 for octet in shown.preview))):
            properties[KID] = key
        descriptor = descriptor_of(
            shown.message_id,
            shown.correlation_id or "",
            persistent=shown.mode == "PERSISTENT",
            priority=shown.priority,
            expires_ms=shown.expiration,
            now_ms=self._clock.wall_ns() // _NS_PER_MS,
        )
        return RawMessage(descriptor=descriptor, properties={**properties}, body=None)


def _key_in(encoded: bytes) -> str:
    """Return the kit's id at the beginning of the body of an encoded message without properties; empty if none."""
    for begins in _DATA_BEGINS:
        _, found, body = encoded.partition(begins)
        if found and (key := key_in(body[1:])):  # after the length, of one octet
            return key
    return ""


def _nothing(outcome: Outcome[Any]) -> Outcome[None]:
    return outcome if isinstance(outcome, Refused) else Ok(None)


def _open(server: HttpServer) -> Administrator:
    return ActiveMqAdministrator(Jolokia(server, _PATH))


MANAGEMENT = Management(port=8161, open=_open)
