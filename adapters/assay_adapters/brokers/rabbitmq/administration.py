"""Administration of RabbitMQ by its management API: queues, policies, and the bindings of an exchange."""

from __future__ import annotations

import re

from msgspec import Struct

from assay_adapters.brokers.amqp.administration import Administrator, Management
from assay_adapters.brokers.amqp.rest import Path, Rest
from assay_adapters.brokers.http import HttpServer
from assay_adapters.ports.outcome import Mqrc, Ok, Outcome, Refused

_ROOT = "/api"
_HOST = "/"
"""The name of the virtual host in paths."""
_TOPICS = "amq.topic"
"""The exchange whose routing keys are the topics."""
_NOW = {"disable_stats": "true", "enable_queue_totals": "true"}
"""The query for the present number of messages; RabbitMQ's statistics are up to five seconds old."""


class _Queue(Struct, frozen=True):
    messages: int = 0


class _Binding(Struct, frozen=True):
    destination: str
    routing_key: str


class RabbitMqAdministrator(Administrator):
    """The operations of RabbitMQ.

    Args:
        rest: The client of the broker's management API.
    """

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    def define(self, queue: str) -> Outcome[None]:
        """Create a durable classic queue, as a client's attach does; do nothing if the queue exists."""
        return self._rest.change("PUT", _queue(queue), {"durable": True, "arguments": {"x-queue-type": "classic"}})

    def delete(self, queue: str) -> Outcome[None]:
        """Delete a queue with its messages and its limit, and detach its consumers."""
        unlimited = self._rest.change("DELETE", _limit(queue))
        if isinstance(unlimited, Refused) and unlimited.mqrc != Mqrc.UNKNOWN_OBJECT_NAME:
            return unlimited
        return self._rest.change("DELETE", _queue(queue))

    def clear(self, queue: str) -> Outcome[None]:
        """Remove a queue's messages, except those that are delivered and not settled."""
        return self._rest.change("DELETE", _queue(queue, "contents"))

    def depth(self, queue: str) -> Outcome[int]:
        """Return the number of messages on a queue, including those that are delivered and not settled."""
        shown = self._rest.read(_Queue, _queue(queue), _NOW)
        return shown if isinstance(shown, Refused) else Ok(shown.value.messages)

    def limit(self, queue: str, depth: int) -> Outcome[None]:
        """Limit the number of messages on a queue; delivered messages that are not settled do not count."""
        policy = {
            "pattern": f"^{re.escape(queue)}$",
            "apply-to": "queues",
            "definition": {"max-length": depth, "overflow": "reject-publish"},
        }
        return self._rest.change("PUT", _limit(queue), policy)

    def subscriptions(self, topic: str) -> Outcome[tuple[str, ...]]:
        """Return the names of the queues that are bound to a topic, in alphabetical order."""
        names = ("exchanges", _HOST, _TOPICS, "bindings", "source")
        bindings = self._rest.read(list[_Binding], Path("exchange", _TOPICS, names))
        if isinstance(bindings, Refused):
            return bindings
        return Ok(tuple(sorted(bound.destination for bound in bindings.value if bound.routing_key == topic)))


def _queue(name: str, *part: str) -> Path:
    return Path("queue", name, ("queues", _HOST, name, *part))


def _limit(queue: str) -> Path:
    """Return the path of the policy that limits a queue."""
    return Path("policy", queue, ("policies", _HOST, queue))


def _open(server: HttpServer) -> Administrator:
    return RabbitMqAdministrator(Rest(server, title="RabbitMQ", root=_ROOT))


MANAGEMENT = Management(port=15672, open=_open)
