"""Administration of ActiveMQ Classic: the MBeans of its broker, destinations and subscriptions, through Jolokia."""

from __future__ import annotations

from msgspec import Struct

from assay_adapters.brokers.amqp.administration import Administrator, Management, descriptor_of
from assay_adapters.brokers.amqp.jolokia import Jolokia, Mbeans
from assay_adapters.brokers.http import HttpServer
from assay_adapters.clients.keys import KID, key_in_encoded
from assay_adapters.ports.administration import RawMessage
from assay_adapters.ports.outcome import Ok, Outcome, Refused
from assay_sdk.runners.machine_clock import MachineClock
from assay_sdk.time import NS_PER_MS

_PATH = "/api/jolokia/"
_BROKER = "org.apache.activemq:type=Broker,brokerName=*"
_OWN = "JMS_AMQP_"
"""The prefix of properties in which ActiveMQ stores parts of an AMQP message."""
_SHOWN = 400
"""The largest number of messages that ActiveMQ shows in one answer (maxBrowsePageSize)."""

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
    """The administrator of ActiveMQ Classic.

    Args:
        jolokia: The client for the broker's MBeans.
    """

    def __init__(self, jolokia: Jolokia) -> None:
        self._mbeans = Mbeans(jolokia, title="ActiveMQ", broker=_BROKER, queue=_of_queue, shown=_SHOWN)
        self._clock = MachineClock()

    def define(self, queue: str) -> Outcome[None]:
        """Create a queue; do nothing if it exists."""
        return self._mbeans.run_on_broker("addQueue", queue)

    def delete(self, queue: str) -> Outcome[None]:
        """Delete a queue with its messages; ActiveMQ refuses while the queue has consumers."""
        return self._mbeans.run_on_broker("removeQueue", queue)

    def clear(self, queue: str) -> Outcome[None]:
        """Remove all messages of a queue."""
        return self._mbeans.run_on_queue(queue, "purge()")

    def hold(self, queue: str, *, held: bool) -> Outcome[None]:
        """Pause or resume a queue."""
        return self._mbeans.run_on_queue(queue, "pause()" if held else "resume()")

    def depth(self, queue: str) -> Outcome[int]:
        """Return the number of messages on a queue, without the messages whose delay is not over."""
        mbean = self._mbeans.queue(queue)
        if isinstance(mbean, Refused):
            return mbean
        count = self._mbeans.jolokia.read(mbean.value, "QueueSize")
        return count if isinstance(count, Refused) else Ok(int(count.value))

    def browse(self, queue: str) -> Outcome[tuple[RawMessage, ...]]:
        """Return the messages on a queue, without their bodies."""
        shown = self._mbeans.browse(queue, list[_Shown])
        return shown if isinstance(shown, Refused) else Ok(tuple(map(self._raw, shown.value)))

    def subscriptions(self, topic: str) -> Outcome[tuple[str, ...]]:
        """Return the names of the MBeans of all subscriptions to a topic, including inactive durable subscriptions."""
        pattern = f"{_BROKER},destinationType=Topic,destinationName={topic},endpoint=Consumer,*"
        return self._mbeans.jolokia.search(pattern)

    def _raw(self, shown: _Shown) -> RawMessage:
        properties = {name: value for name, value in shown.strings.items() if not name.startswith(_OWN)}
        if KID not in properties and (key := key_in_encoded(bytes(octet % 256 for octet in shown.preview))):
            properties[KID] = key
        descriptor = descriptor_of(
            shown.message_id,
            shown.correlation_id or "",
            persistent=shown.mode == "PERSISTENT",
            priority=shown.priority,
            expires_ms=shown.expiration,
            now_ms=self._clock.wall_ns() // NS_PER_MS,
        )
        return RawMessage(descriptor=descriptor, properties={**properties}, body=None)


def _of_queue(queue: str) -> str:
    return f"{_BROKER},destinationType=Queue,destinationName={queue}"


def _open(server: HttpServer) -> Administrator:
    return ActiveMqAdministrator(Jolokia(server, _PATH))


MANAGEMENT = Management(port=8161, open=_open)
