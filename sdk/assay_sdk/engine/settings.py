"""What can be set: on a connection, on a producer, for one consumer."""

from __future__ import annotations

from enum import IntEnum

from msgspec import Struct

from assay_sdk.driver import Durability
from assay_sdk.engine.deliveries.poison import PoisonPolicy
from assay_sdk.model.message import Address


class DeliveryMode(IntEnum):
    """JMSDeliveryMode, with JMS's numbers (JMS 3.4.2)."""

    NON_PERSISTENT = 1
    PERSISTENT = 2
    AS_DESTINATION = -1
    """For a producer to be set to.  A message that was sent so shows it, since only the broker knows more; one that
    was received shows what the broker decided."""


class Qos(IntEnum):
    """Quality of service, with MQ Light's numbers (AMQP:11-13, QS-01)."""

    AT_MOST_ONCE = 0
    AT_LEAST_ONCE = 1


AS_DESTINATION = -1
"""As delivery mode or priority: whatever the destination defines (DEFPSIST, DEFPRTY), which the broker decides when the
message is sent (DELAY:58).  IBM MQ has the same number for it in the URI of a destination (``persistence=-1``)."""


DEFAULT_PRIORITY = 4
"""JMS 3.4.10."""

MAX_PRIORITY = 9
"""JMS 3.4.10."""

LISTENER_WINDOW = 100
"""How many messages a message listener lets the broker send ahead.  Far enough to hide a round trip (a loopback trip
takes some 50 µs, a callback rarely less than 1 µs), near enough that a failing callback gives few of them back and a
second consumer of the queue is not starved; brokers' own clients choose between 10 and 1000."""

DUPS_OK_LIMIT = 10
"""How many messages a dups-ok session leaves unacknowledged at most, hence how many may come twice after a failure."""


class ConnectionOptions(Struct, frozen=True, kw_only=True):
    """How a connection behaves.

    Args:
        checks: Whether the client enforces rules of its own (`assay_sdk.engine.checks`).
        prefetch: How many messages a receiving consumer may have sent ahead; 0 asks for each as it is wanted.
        listener_window: The same for a message listener; at least 1.
        id_prefix: What message ids begin with; unique to the connection.
    """

    id_prefix: str
    checks: bool = True
    prefetch: int = 0
    listener_window: int = LISTENER_WINDOW


class ProducerSettings(Struct, frozen=True, kw_only=True):
    """What a producer sends with (JMS 7.8, 7.9, PD-01).

    Args:
        priority: 0 to 9, or `AS_DESTINATION`.
        ttl_ms: Time to live in milliseconds; 0 is for ever.
        delay_ms: Delivery delay in milliseconds.
    """

    mode: DeliveryMode = DeliveryMode.PERSISTENT
    priority: int = DEFAULT_PRIORITY
    ttl_ms: int = 0
    delay_ms: int = 0


class Source(Struct, frozen=True, kw_only=True):
    """What a consumer consumes (`assay_sdk.driver.OpenReceiver` says what the fields mean)."""

    address: Address
    selector: str | None = None
    no_local: bool = False
    durability: Durability = Durability.NON_DURABLE
    name: str | None = None
    shared: bool = False
    poison: PoisonPolicy = PoisonPolicy()
