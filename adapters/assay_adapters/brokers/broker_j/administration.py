"""Administration of Broker-J by its REST interface: queues, their messages, and the bindings of an exchange."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from assay_adapters.brokers.amqp.administration import Administrator, Management, descriptor_of
from assay_adapters.brokers.amqp.rest import Path, Rest
from assay_adapters.brokers.http import HttpServer
from assay_adapters.clients.keys import KID, key_in_encoded
from assay_adapters.ports.administration import RawMessage
from assay_adapters.ports.outcome import Mqrc, Ok, Outcome, Refused
from assay_sdk.runners.machine_clock import MachineClock
from assay_sdk.time import NS_PER_MS

_ROOT = "/api/latest"
_QUOTED = 2
"""How many times Broker-J decodes the percent-encoding of a name in a path: twice, so names can contain slashes."""
_HOST = ("default", "default")
"""The names of the virtual host's node and of the virtual host in paths."""
_TOPICS = "amq.topic"
"""The exchange whose binding keys are the topics."""
_ABSENT = ("Held", "")
"""The states of messages that do not count: their delay is not over, or they have just been removed."""
_BEGINNING = 500
"""The number of octets at the beginning of a body in which the kit's id is searched for."""
_PROPERTY = (str, int)  # bool, too: it is a subclass of int


class _Shown(Struct, frozen=True, kw_only=True, rename="camel"):
    id: int
    state: str
    persistent: bool
    priority: int
    message_id: str | None = None
    correlation_id: str | None = None
    expiration_time: int = 0
    headers: dict[str, Any] = {}


class _Binding(Struct, frozen=True, rename="camel"):
    destination: str
    binding_key: str


class _Exchange(Struct, frozen=True):
    bindings: tuple[_Binding, ...] = ()


class BrokerJAdministrator(Administrator):
    """The operations of Broker-J.

    Args:
        rest: The client of the broker's REST interface.
    """

    def __init__(self, rest: Rest) -> None:
        self._rest = rest
        self._clock = MachineClock()

    def define(self, queue: str) -> Outcome[None]:
        """Create a durable queue; do nothing if the queue exists."""
        return self._rest.change("PUT", _queue(queue), {})

    def delete(self, queue: str) -> Outcome[None]:
        """Delete a queue with its messages, and detach its consumers."""
        return self._rest.change("DELETE", _queue(queue))

    def clear(self, queue: str) -> Outcome[None]:
        """Remove all messages of a queue, except those whose delay is not over."""
        shown = self._shown(queue)
        if isinstance(shown, Refused):
            return shown
        if not shown.value:  # a request without ids deletes all messages
            return Ok(None)
        named = {"messageIds": [one.id for one in shown.value]}
        return self._rest.change("POST", _queue(queue, "deleteMessages"), named)

    def depth(self, queue: str) -> Outcome[int]:
        """Return the number of messages on a queue, without those whose delay is not over (Broker-J counts them)."""
        shown = self._shown(queue)
        return shown if isinstance(shown, Refused) else Ok(len(shown.value))

    def limit(self, queue: str, depth: int) -> Outcome[None]:
        """Limit a queue to this number of messages, including delayed messages; the queue then rejects more."""
        limited = {"overflowPolicy": "REJECT", "maximumQueueDepthMessages": depth}
        return self._rest.change("POST", _queue(queue), limited)

    def browse(self, queue: str) -> Outcome[tuple[RawMessage, ...]]:
        """Return a queue's messages without their bodies, including messages that are delivered and not settled."""
        shown = self._shown(queue)
        if not isinstance(shown, Refused):
            return Ok(tuple(self._raw(queue, one) for one in shown.value))
        return Ok(()) if shown.mqrc == Mqrc.UNKNOWN_OBJECT_NAME else shown

    def browse_subscription(self, name: str) -> Outcome[tuple[RawMessage, ...]]:
        """Return the messages on the queue of a subscription, without their bodies."""
        return self.browse(name)

    def subscriptions(self, topic: str) -> Outcome[tuple[str, ...]]:
        """Return the names of the queues that are bound to a topic, in alphabetical order."""
        exchange = self._rest.read(_Exchange, Path("exchange", _TOPICS, ("exchange", *_HOST, _TOPICS)))
        if isinstance(exchange, Refused):
            return exchange
        return Ok(tuple(sorted(bound.destination for bound in exchange.value.bindings if bound.binding_key == topic)))

    def _shown(self, queue: str) -> Outcome[list[_Shown]]:
        """Return Broker-J's descriptions of the messages on a queue, without messages whose delay is not over."""
        shown = self._rest.read(list[_Shown], _queue(queue, "getMessageInfo"), {"includeHeaders": "true"})
        return shown if isinstance(shown, Refused) else Ok([one for one in shown.value if one.state not in _ABSENT])

    def _raw(self, queue: str, shown: _Shown) -> RawMessage:
        properties = {name: value for name, value in shown.headers.items() if isinstance(value, _PROPERTY)}
        if not properties and (key := self._key(queue, shown.id)):
            properties[KID] = key
        descriptor = descriptor_of(
            shown.message_id or "",
            shown.correlation_id or "",
            persistent=shown.persistent,
            priority=shown.priority,
            expires_ms=shown.expiration_time,
            now_ms=self._clock.wall_ns() // NS_PER_MS,
        )
        return RawMessage(descriptor=descriptor, properties={**properties}, body=None)

    def _key(self, queue: str, message: int) -> str:
        """Return the kit's id in a message without properties; empty if it has no id, or has just left its queue."""
        asked = {"messageId": str(message), "limit": str(_BEGINNING)}
        content = self._rest.octets(_queue(queue, "getMessageContent"), asked)
        return "" if isinstance(content, Refused) else key_in_encoded(content.value)


def _queue(name: str, *operation: str) -> Path:
    return Path("queue", name, ("queue", *_HOST, name, *operation))


def _open(server: HttpServer) -> Administrator:
    return BrokerJAdministrator(Rest(server, title="Broker-J", root=_ROOT, quoted=_QUOTED))


MANAGEMENT = Management(port=8080, open=_open)
