"""Administration of Artemis: the MBeans of its broker, addresses and queues, through Jolokia."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import msgspec
from msgspec import Struct

from assay_adapters.brokers.amqp.administration import Administrator, Management, descriptor_of
from assay_adapters.brokers.amqp.jolokia import Jolokia, Mbeans, quoted
from assay_adapters.brokers.artemis.rights import (
    Rights,
    Role,
    granted,
    revoked,
    rights_in,
    without_ordinary_users,
)
from assay_adapters.brokers.http import HttpServer
from assay_adapters.clients.keys import KID, key_in
from assay_adapters.ports.administration import ORDINARY_USERS, RawMessage
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused
from assay_sdk.runners.machine_clock import MachineClock
from assay_sdk.time import NS_PER_MS

_PATH = "/console/jolokia/"
_DOMAIN = "org.apache.activemq.artemis"
_PROPERTY = "applicationProperties."
_SECTION = "properties."
_CORRELATION = f"{_SECTION}correlationId"
_STOMP_CORRELATION = "JMSCorrelationID"
_RESERVED = ("_AMQ", "__AMQ", "JMS")
"""The prefixes of names that Artemis itself adds to the properties of a message from STOMP."""
_SHOWN = 200
"""The largest number of messages that Artemis shows in one answer (management-browse-page-size)."""
_SECURE = "addSecuritySettings(java.lang.String,java.lang.String)"


class _Shown(Struct, frozen=True, kw_only=True, rename={"strings": "StringProperties", "message_id": "userID"}):
    message_id: str | None = None
    durable: bool
    priority: int
    expiration: int = 0
    text: str | None = None
    strings: dict[str, str] | None = None


class _User(Struct, frozen=True):
    username: str


class ArtemisAdministrator(Administrator):
    """The administrator of Artemis.

    Args:
        jolokia: The client for the broker's MBeans.
    """

    def __init__(self, jolokia: Jolokia) -> None:
        self._mbeans = Mbeans(jolokia, title="Artemis", broker=f"{_DOMAIN}:broker=*", queue=_of_queue, shown=_SHOWN)
        self._clock = MachineClock()

    def define(self, queue: str) -> Outcome[None]:
        """Create a durable queue on an address of the same name; do nothing if the queue exists."""
        found = self._mbeans.queues(queue)
        if isinstance(found, Refused):
            return found
        if found.value:
            return Ok(None)
        configuration = {"name": queue, "address": queue, "routing-type": "ANYCAST", "durable": True}
        return self._mbeans.run_on_broker("createQueue(java.lang.String)", msgspec.json.encode(configuration).decode())

    def delete(self, queue: str) -> Outcome[None]:
        """Delete a queue with its messages, and detach its consumers."""
        return self._mbeans.run_on_broker("destroyQueue(java.lang.String,boolean)", queue, True)  # noqa: FBT003 - Jolokia's form

    def clear(self, queue: str) -> Outcome[None]:
        """Remove all messages of a queue, except messages whose delay is not over."""
        return self._mbeans.run_on_queue(queue, "removeAllMessages()")

    def hold(self, queue: str, *, held: bool) -> Outcome[None]:
        """Pause or resume a queue."""
        return self._mbeans.run_on_queue(queue, "pause()" if held else "resume()")

    def depth(self, queue: str) -> Outcome[int]:
        """Return the number of messages on a queue, without the delayed messages that Artemis's count includes."""
        mbean = self._mbeans.queue(queue)
        if isinstance(mbean, Refused):
            return mbean
        depth = 0
        for attribute, sign in (("MessageCount", 1), ("ScheduledCount", -1)):
            count = self._mbeans.jolokia.read(mbean.value, attribute)
            if isinstance(count, Refused):
                return count
            depth += sign * int(count.value)
        return Ok(depth)

    def browse(self, queue: str) -> Outcome[tuple[RawMessage, ...]]:
        """Return a queue's messages without their bodies, except messages that are delivered and not settled."""
        shown = self._mbeans.browse(queue, list[_Shown])
        return shown if isinstance(shown, Refused) else Ok(tuple(map(self._raw, shown.value)))

    def browse_subscription(self, name: str) -> Outcome[tuple[RawMessage, ...]]:
        """Return the messages on a subscription's queue, as `browse` does."""
        return self.browse(name)

    def subscriptions(self, topic: str) -> Outcome[tuple[str, ...]]:
        """Return the names of all multicast queues of an address."""
        found = self._mbeans.jolokia.search(
            f'{_DOMAIN}:component=addresses,address={quoted(topic)},subcomponent=queues,routing-type="multicast",*'
        )
        return found if isinstance(found, Refused) else Ok(tuple(map(_queue_in, found.value)))

    def withhold(self, name: str) -> Outcome[None]:
        """Take all permissions on an address from ordinary users; refuse if the broker's accounts lack these users."""
        listed = self._mbeans.decoded_from_broker(list[_User], "listUser(java.lang.String)", "")
        if isinstance(listed, Refused):
            return listed
        known = {one.username for one in listed.value}
        if missing := [user for user in ORDINARY_USERS if user not in known]:
            text = f"Artemis has no user {', '.join(missing)}: give it the accounts of images/artemis/etc"
            return Refused(JmsErrorKind.UNSUPPORTED, text)
        return self._set_rights(name, without_ordinary_users)

    def grant(self, user: str, name: str, authorities: Collection[str]) -> Outcome[None]:
        """Give the role with the user's name permissions on an address."""
        return self._set_rights(name, lambda rights: granted(rights, user, authorities))

    def revoke(self, user: str, name: str, authorities: Collection[str]) -> Outcome[None]:
        """Take permissions on an address from the role with the user's name."""
        return self._set_rights(name, lambda rights: revoked(rights, user, authorities))

    def _set_rights(self, address: str, change: Callable[[Rights], Rights]) -> Outcome[None]:
        shown = self._mbeans.decoded_from_broker(list[Role], "getRolesAsJSON(java.lang.String)", address)
        if isinstance(shown, Refused):
            return shown
        settings = msgspec.json.encode(change(rights_in(shown.value))).decode()
        return self._mbeans.run_on_broker(_SECURE, address, settings)

    def _raw(self, shown: _Shown) -> RawMessage:
        strings = shown.strings or {}
        properties = _properties(strings)
        if KID not in properties and (key := key_in(shown.text or "")):
            properties[KID] = key
        descriptor = descriptor_of(
            shown.message_id or "",
            strings.get(_CORRELATION) or strings.get(_STOMP_CORRELATION, ""),
            persistent=shown.durable,
            priority=shown.priority,
            expires_ms=shown.expiration,
            now_ms=self._clock.wall_ns() // NS_PER_MS,
        )
        return RawMessage(descriptor=descriptor, properties={**properties}, body=None)


def _properties(strings: Mapping[str, str]) -> dict[str, str]:
    """Return the application's properties among the texts that Artemis shows of a message.

    Only a message from AMQP has names that begin with ``applicationProperties.`` or ``properties.``.
    """
    if any(name.startswith((_PROPERTY, _SECTION)) for name in strings):
        return {name.removeprefix(_PROPERTY): value for name, value in strings.items() if name.startswith(_PROPERTY)}
    return {name: value for name, value in strings.items() if not name.startswith(_RESERVED)}


def _of_queue(queue: str) -> str:
    return f"{_DOMAIN}:component=addresses,subcomponent=queues,queue={quoted(queue)},*"


def _queue_in(mbean: str) -> str:
    """Return a queue's name, which the name of its MBean contains."""
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
