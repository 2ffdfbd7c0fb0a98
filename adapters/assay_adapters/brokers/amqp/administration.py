"""Administration of products that are not IBM MQ: the `Admin` port over the interface of each product.

A product's `Administrator` has the operations that many products have. `ProductAdmin` translates the port's commands,
which are commands of IBM MQ, to these operations. It refuses any other command, and its refusal names the capability
that the product lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from assay_adapters.brokers.http import HttpServer
from assay_adapters.containers.host_ports import LOOPBACK
from assay_adapters.ports.administration import (
    Alter,
    Authorise,
    Change,
    Clear,
    Define,
    Delete,
    ObjectKind,
    RawMessage,
    Scalar,
)
from assay_adapters.ports.client import Endpoint, Source
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused
from assay_broker.core.messages.descriptor import native_id
from assay_sdk.driver import Login
from assay_sdk.model.capabilities import Capability

_TENTH_MS = 100

_OF_ATTRIBUTES: Mapping[str, Capability] = {
    "MAXDEPTH": Capability.QUEUE_LIMIT,
    "GET": Capability.GET_INHIBIT,
    "PUT": Capability.PUT_INHIBIT,
    "MAXMSGL": Capability.MESSAGE_LIMIT,
    "DEFPSIST": Capability.DEFAULT_PERSISTENCE,
    "DEADQ": Capability.DEAD_LETTER_QUEUE,
}
"""The capability that each attribute of an object needs; any other attribute needs `Capability.ADMIN`."""


class Administrator:
    """The operations that products offer to an administrator; a product's subclass overrides those it has.

    Each method returns a refusal if the product does not have the operation, or refuses it.
    """

    def define(self, queue: str) -> Outcome[None]:
        """Create a queue; do nothing if it exists."""
        return not_offered(f"queue {queue} cannot be defined")

    def delete(self, queue: str) -> Outcome[None]:
        """Delete a queue with its messages."""
        return not_offered(f"queue {queue} cannot be deleted")

    def clear(self, queue: str) -> Outcome[None]:
        """Remove all messages of a queue."""
        return not_offered(f"queue {queue} cannot be cleared")

    def depth(self, queue: str) -> Outcome[int]:
        """Return the number of messages on a queue, without the messages whose delay is not over."""
        return not_offered(f"the depth of queue {queue} cannot be read")

    def limit(self, queue: str, depth: int) -> Outcome[None]:
        """Limit the number of messages on a queue, which then refuses further messages."""
        return not_offered(f"queue {queue} cannot be limited to {depth} messages")

    def hold(self, queue: str, *, held: bool) -> Outcome[None]:
        """Stop all deliveries from a queue (``held``), or let the queue deliver again."""
        return not_offered(f"queue {queue} cannot be {'paused' if held else 'resumed'}")

    def browse(self, queue: str) -> Outcome[tuple[RawMessage, ...]]:
        """Return the messages on a queue, without delayed messages; none if the queue does not exist."""
        return not_offered(f"the messages of queue {queue} cannot be inspected")

    def browse_subscription(self, name: str) -> Outcome[tuple[RawMessage, ...]]:
        """Return the messages of the subscription with this name, which `subscriptions` has returned."""
        return not_offered(f"the messages of subscription {name} cannot be inspected")

    def subscriptions(self, topic: str) -> Outcome[tuple[str, ...]]:
        """Return a name for each subscription to a topic, usually its queue's name; in the same order at each call."""
        return not_offered(f"the subscriptions to {topic} cannot be listed")

    def withhold(self, name: str) -> Outcome[None]:
        """Take all authorities on a queue or topic from the ordinary users (`ORDINARY_USERS`).

        The users keep the authorities that `grant` gave.
        """
        return not_offered(f"ordinary users cannot lose their authority on {name}")

    def grant(self, user: str, name: str, authorities: Collection[str]) -> Outcome[None]:
        """Give a user authorities (MQSC's names) on a queue or topic."""
        return not_offered(f"user {user} cannot get {', '.join(authorities)} on {name}")

    def revoke(self, user: str, name: str, authorities: Collection[str]) -> Outcome[None]:
        """Take authorities that `grant` gave (MQSC's names; ``ALL`` for all) from a user."""
        return not_offered(f"user {user} cannot lose {', '.join(authorities)} on {name}")


OFFERED_BY: Mapping[Capability, tuple[str, ...]] = {
    Capability.QUEUE_DEPTH: ("define", "delete", "clear", "depth"),
    Capability.QUEUE_LIMIT: ("define", "limit"),
    Capability.GET_INHIBIT: ("define", "hold"),
    Capability.QUEUE_LOOK: ("browse",),
    Capability.SUBSCRIPTION_LIST: ("subscriptions",),
    Capability.SUBSCRIPTION_LOOK: ("subscriptions", "browse_subscription"),
    Capability.AUTHORITY: ("withhold", "grant", "revoke"),
}
"""For each capability, the methods of `Administrator` that a product with this capability overrides."""


def not_offered(text: str) -> Refused:
    """Return the refusal of an operation that a product does not have."""
    return Refused(JmsErrorKind.UNSUPPORTED, f"{text} by this product's interface")


class Management(Struct, frozen=True):
    """The HTTP interface of a product for administrators.

    Args:
        port: The port for HTTP inside the container.
        open: Returns the administrator that uses the HTTP server at that port.
    """

    port: int
    open: Callable[[HttpServer], Administrator]

    def endpoint(self, port: int, login: Login) -> Endpoint:
        """Return the endpoint of the interface at a port of the loopback address."""
        return Endpoint(f"http://{LOOPBACK}:{port}", login)

    def admin(
        self, title: str, at: Endpoint, has: Mapping[Capability, Source], lacks: Mapping[Capability, Source]
    ) -> ProductAdmin:
        """Return the administrator of the broker at an endpoint, as the `Admin` port."""
        return ProductAdmin(title, self.administrator(at), has, lacks)

    def answers(self, at: Endpoint) -> bool:
        """Return True: the product starts this interface before AMQP, or the kit does not need it at the start."""
        del at
        return True

    def administrator(self, at: Endpoint) -> Administrator:
        """Return the administrator of the broker at an endpoint.

        Raises:
            ValueError: The endpoint's URL has no host or port.
        """
        url = urlsplit(at.url)
        port = url.port
        if url.hostname is None or port is None:
            raise ValueError(f"The administrator's URL {at.url} has no host or no port.")
        return self.open(HttpServer(url.hostname, lambda: port, at.login))


class ProductAdmin:
    """The `Admin` port for a product: one broker, with the operations of its administrator.

    Args:
        title: The product's name.
        administrator: The product's operations.
        capabilities: The capabilities of the pair.
        lacks: The missing capabilities, each with the reason.
    """

    def __init__(
        self,
        title: str,
        administrator: Administrator,
        capabilities: Mapping[Capability, Source],
        lacks: Mapping[Capability, Source],
    ) -> None:
        self._title = title
        self._administrator = administrator
        self._has = capabilities
        self._lacks = lacks
        self._subscriptions: set[str] = set()
        """The names that the method `subscriptions` has returned."""

    def execute(self, change: Change, member: str | None = None) -> Outcome[None]:
        """Carry out a change; refuse a change that the product does not offer."""
        del member  # these products have a single broker
        lacking = next((capability for capability in _needed(change) if capability not in self._has), None)
        if lacking is not None:
            return self._lack(lacking)
        match change:
            case Define(name=name, attributes=attributes):
                done = self._define(name, attributes)
            case Alter(name=name, attributes=attributes):
                done = self._alter(name, attributes)
            case Delete(name=name):
                done = self._administrator.delete(name)
            case Clear(name=name):
                done = self._administrator.clear(name)
            case Authorise():
                done = self._authorise(change)
            case _:
                done = self._lack(Capability.ADMIN)
        return done

    def _define(self, queue: str, attributes: Mapping[str, Scalar]) -> Outcome[None]:
        defined = self._administrator.define(queue)
        return defined if isinstance(defined, Refused) else self._alter(queue, attributes)

    def _alter(self, queue: str, attributes: Mapping[str, Scalar]) -> Outcome[None]:
        for name, value in attributes.items():
            limits = name == "MAXDEPTH"
            done = (
                self._administrator.limit(queue, int(value))
                if limits
                else self._administrator.hold(queue, held=value == "DISABLED")
            )
            if isinstance(done, Refused):
                return done
        return Ok(None)

    def _authorise(self, change: Authorise) -> Outcome[None]:
        if change.group:
            # The queue must exist: otherwise a client that may only put to it would also need the right to create it.
            made = self._administrator.define(change.name) if change.kind is ObjectKind.QUEUE else Ok(None)
            return made if isinstance(made, Refused) else self._administrator.withhold(change.name)
        revoked: Outcome[None] = Ok(None)
        if change.revoke:
            revoked = self._administrator.revoke(change.user, change.name, change.revoke)
        if isinstance(revoked, Refused) or not change.grant:
            return revoked
        return self._administrator.grant(change.user, change.name, change.grant)

    def _lack(self, capability: Capability) -> Refused:
        unexplained = Source(f"{self._title} lacks {capability.value}.")
        source = self._lacks.get(capability, unexplained)
        return Refused(JmsErrorKind.UNSUPPORTED, f"{capability.value}: {source.text}")

    def inspect(self, kind: ObjectKind, name: str, member: str | None = None) -> Outcome[Mapping[str, Scalar]]:
        """Return the depth of a queue, as ``CURDEPTH``."""
        del member
        if kind is not ObjectKind.QUEUE:
            return self._lack(Capability.ADMIN)
        depth = self._administrator.depth(name)
        return depth if isinstance(depth, Refused) else Ok({"QUEUE": name, "CURDEPTH": depth.value})

    def subscriptions(self, topic: str, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        """Return each subscription to a topic; ``SUB`` and ``DEST`` are both the name from `Administrator`."""
        del member
        found = self._administrator.subscriptions(topic)
        if isinstance(found, Refused):
            return found
        self._subscriptions.update(found.value)
        return Ok(tuple({"SUB": name, "DEST": name} for name in found.value))

    def units(self, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        """Refuse, because only IBM MQ lists its units of work."""
        del member
        return self._lack(Capability.ADMIN)

    def browse(self, queue: str, member: str | None = None) -> Outcome[tuple[RawMessage, ...]]:
        """Return the messages of a queue, or of a subscription whose name `subscriptions` has returned."""
        del member
        if queue in self._subscriptions:
            return self._administrator.browse_subscription(queue)
        return self._administrator.browse(queue)

    def take(self, queue: str, *, correlation_id: bytes, member: str | None = None) -> Outcome[RawMessage | None]:
        """Refuse, because only IBM MQ lets an administrator get a message by its correlation id."""
        del queue, correlation_id, member
        return self._lack(Capability.ADMIN)

    def put_native(self, queue: str, message: RawMessage, *, delay_ms: int | None = None) -> Outcome[None]:
        """Refuse, because only IBM MQ has an interface for native messages (MQI)."""
        del queue, message, delay_ms
        return self._lack(Capability.NATIVE_PUT)

    def identify(self, text: str) -> bytes:
        """Return the 24 bytes that stand for a JMS message id or correlation id in a message descriptor."""
        return native_id(text)


def _needed(change: Change) -> tuple[Capability, ...]:
    """Return the capabilities that a change needs."""
    match change:
        case Define(kind=ObjectKind.QUEUE, attributes=attributes) | Alter(kind=ObjectKind.QUEUE, attributes=attributes):
            return (Capability.QUEUE_DEPTH, *(_OF_ATTRIBUTES.get(name, Capability.ADMIN) for name in attributes))
        case Delete(kind=ObjectKind.QUEUE) | Clear():
            return (Capability.QUEUE_DEPTH,)
        case Define(kind=ObjectKind.ALIAS) | Alter(kind=ObjectKind.ALIAS) | Delete(kind=ObjectKind.ALIAS):
            return (Capability.ALIAS,)
        case Define(attributes=attributes) | Alter(attributes=attributes):
            return (*(_OF_ATTRIBUTES.get(name, Capability.ADMIN) for name in attributes), Capability.ADMIN)
        case Authorise():
            return (Capability.AUTHORITY,)
        case _:
            return (Capability.ADMIN,)


def descriptor_of(
    message_id: str, correlation_id: str, *, persistent: bool, priority: int, expires_ms: int, now_ms: int
) -> dict[str, Scalar]:
    """Return a message's descriptor with the fields that products show to an administrator.

    Args:
        message_id: The JMS message id.
        correlation_id: The JMS correlation id; an empty text for a message without one.
        persistent: Whether the message is persistent.
        priority: The priority.
        expires_ms: The time of expiry, in milliseconds since the epoch; 0 for a message that does not expire.
        now_ms: The present time, in milliseconds since the epoch.
    """
    return {
        "MsgId": native_id(message_id).hex(),
        "CorrelId": native_id(correlation_id).hex(),
        "Persistence": int(persistent),
        "Priority": priority,
        "Expiry": max(0, expires_ms - now_ms) // _TENTH_MS if expires_ms else -1,
    }
