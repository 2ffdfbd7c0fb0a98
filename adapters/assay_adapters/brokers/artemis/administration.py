"""Administration of Artemis: the MBeans of its broker, addresses and queues, through Jolokia."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from assay_adapters.brokers.amqp.administration import Administrator, Management, descriptor_of
from assay_adapters.brokers.amqp.jolokia import Jolokia, quoted
from assay_adapters.brokers.http import HttpServer
from assay_adapters.clients.keys import KID, key_in
from assay_adapters.ports.administration import RawMessage
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Outcome, Refused, refused
from assay_sdk.runners.machine_clock import MachineClock

_PATH = "/console/jolokia/"
_DOMAIN = "org.apache.activemq.artemis"
_PROPERTY = "applicationProperties."
_CORRELATION = "properties.correlationId"
_SHOWN = 200
"""The most messages that Artemis shows in one answer (management-browse-page-size)."""
_NS_PER_MS = 1_000_000


class _Shown(Struct, frozen=True, kw_only=True, rename={"strings": "StringProperties", "message_id": "userID"}):
    message_id: str | None = None
    durable: bool
    priority: int
    expiration: int = 0
    text: str | None = None
    strings: dict[str, str] | None = None


class ArtemisAdministrator(Administrator):
    """The operations of Artemis.

    Args:
        jolokia: The MBeans of the broker.
    """

    def __init__(self, jolokia: Jolokia) -> None:
        self._jolokia = jolokia
        self._clock = MachineClock()

    def define(self, queue: str) -> Outcome[None]:
        """Create a durable queue on an address of the same name; no effect if it exists."""
        found = self._search(queue)
        if isinstance(found, Refused):
            return found
        if found.value:
            return Ok(None)
        configuration = {"name": queue, "address": queue, "routing-type": "ANYCAST", "durable": True}
        return self._of_broker("createQueue(java.lang.String)", msgspec.json.encode(configuration).decode())

    def delete(self, queue: str) -> Outcome[None]:
        """Delete a queue with its messages, and detach its consumers."""
        return self._of_broker("destroyQueue(java.lang.String,boolean)", queue, True)  # noqa: FBT003 - Jolokia's form

    def clear(self, queue: str) -> Outcome[None]:
        """Remove all messages of a queue, except those whose delay is not over."""
        return self._of_queue(queue, "removeAllMessages()")

    def hold(self, queue: str, *, held: bool) -> Outcome[None]:
        """Pause or resume a queue."""
        return self._of_queue(queue, "pause()" if held else "resume()")

    def depth(self, queue: str) -> Outcome[int]:
        """Return the number of messages on a queue; Artemis's own count includes those whose delay is not over."""
        mbean = self._mbean(queue)
        if isinstance(mbean, Refused):
            return mbean
        depth = 0
        for attribute, sign in (("MessageCount", 1), ("ScheduledCount", -1)):
            count = self._jolokia.read(mbean.value, attribute)
            if isinstance(count, Refused):
                return count
            depth += sign * int(count.value)
        return Ok(depth)

    def look(self, queue: str) -> Outcome[tuple[RawMessage, ...]]:
        """Return the messages on a queue that no consumer holds, without their bodies."""
        found = self._search(queue)
        if isinstance(found, Refused):
            return found
        if not found.value:
            return Ok(())
        shown = self._jolokia.run(found.value[0], "browse()")
        if isinstance(shown, Refused):
            return shown
        if len(shown.value) >= _SHOWN:
            text = f"Artemis shows {_SHOWN} messages of queue {queue} at most"
            return Refused(JmsErrorKind.UNSUPPORTED, text, objects=(queue,))
        return Ok(tuple(map(self._raw, msgspec.convert(shown.value, list[_Shown]))))

    def look_at_subscription(self, name: str) -> Outcome[tuple[RawMessage, ...]]:
        """Return the messages on the queue of a subscription that no consumer holds, without their bodies."""
        return self.look(name)

    def subscriptions(self, topic: str) -> Outcome[tuple[str, ...]]:
        """Return the names of all multicast queues of an address."""
        found = self._jolokia.search(
            f'{_DOMAIN}:component=addresses,address={quoted(topic)},subcomponent=queues,routing-type="multicast",*'
        )
        return found if isinstance(found, Refused) else Ok(tuple(map(_queue_in, found.value)))

    # --- MBeans

    def _search(self, queue: str) -> Outcome[tuple[str, ...]]:
        return self._jolokia.search(f"{_DOMAIN}:component=addresses,subcomponent=queues,queue={quoted(queue)},*")

    def _mbean(self, queue: str) -> Outcome[str]:
        found = self._search(queue)
        if isinstance(found, Refused):
            return found
        if not found.value:
            return refused(Mqrc.UNKNOWN_OBJECT_NAME, f"Artemis has no queue {queue}", queue)
        return Ok(found.value[0])

    def _of_queue(self, queue: str, operation: str) -> Outcome[None]:
        mbean = self._mbean(queue)
        return mbean if isinstance(mbean, Refused) else _nothing(self._jolokia.run(mbean.value, operation))

    def _of_broker(self, operation: str, *arguments: str | bool) -> Outcome[None]:
        found = self._jolokia.search(f"{_DOMAIN}:broker=*")
        if isinstance(found, Refused):
            return found
        if not found.value:
            return Refused(JmsErrorKind.MESSAGING, "Artemis shows no broker through Jolokia: is JMX switched on?")
        return _nothing(self._jolokia.run(found.value[0], operation, *arguments))

    def _raw(self, shown: _Shown) -> RawMessage:
        strings = shown.strings or {}
        properties = {
            name.removeprefix(_PROPERTY): value for name, value in strings.items() if name.startswith(_PROPERTY)
        }
        if KID not in properties and (key := key_in(shown.text or "")):
            properties[KID] = key
        descriptor = descriptor_of(
            shown.message_id or "",
            strings.get(_CORRELATION, ""),
            persistent=shown.durable,
            priority=shown.priority,
            expires_ms=shown.expiration,
            now_ms=self._clock.wall_ns() // _NS_PER_MS,
        )
        return RawMessage(descriptor=descriptor, properties={**properties}, body=None)


def _nothing(outcome: Outcome[Any]) -> Outcome[None]:
    return outcome if isinstance(outcome, Refused) else Ok(None)


def _queue_in(mbean: str) -> str:
    """Return the queue's name in the name of its MBean."""
    named = mbean.partition(',queue="')[2]
    name = ""
    characters = iter(named)
    for character in characters:
        if character == '"':
            break
        name += next(characters) if character == "\\" else character
    return name


def _open(server: HttpServer) -> Administrator:
    return ArtemisAdministrator(Jolokia(server, _PATH))


MANAGEMENT = Management(port=8161, open=_open)
