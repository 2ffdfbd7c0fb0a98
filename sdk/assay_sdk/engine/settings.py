"""Settings of connections and producers, and the source of a consumer."""

from __future__ import annotations

from enum import IntEnum

from msgspec import Struct

from assay_sdk.driver import Durability
from assay_sdk.engine.deliveries.poison import PoisonPolicy
from assay_sdk.model.message import DEFAULT_PRIORITY, Address


class DeliveryMode(IntEnum):
    """JMSDeliveryMode, with JMS's numbers (JMS 2.0, 3.4.2)."""

    NON_PERSISTENT = 1
    PERSISTENT = 2
    AS_DESTINATION = -1
    """The broker applies the destination's default.  After the send, the message shows this value, because the client
    does not learn the broker's choice; the received message shows the choice."""


class Qos(IntEnum):
    """Quality of service of a send or a subscription, with MQ Light's numbers (AMQP:11-13, QS-01)."""

    AT_MOST_ONCE = 0
    AT_LEAST_ONCE = 1


AS_DESTINATION = -1
"""Priority that stands for the destination's default (DEFPRTY); the broker applies the default at the send (DELAY:58).

`DeliveryMode.AS_DESTINATION` has the same number, for the default of the delivery mode (DEFPSIST).  IBM MQ uses this
number in the URI of a destination (``persistence=-1``).
"""

MAX_PRIORITY = 9
"""The highest priority (JMS 2.0, 3.4.10)."""

LISTENER_WINDOW = 100
"""The default number of messages that the broker may send ahead to a message listener.

The number is large enough to hide a round trip (about 50 µs on loopback; a listener rarely takes less than 1 µs).  It
is small enough that a failing listener gives few messages back, and that a second consumer gets its share.  Brokers'
own clients use 10 to 1000."""

DUPS_OK_LIMIT = 10
"""The number of received messages after which a dups-ok session acknowledges them.

After a failure, the application may get up to this number of messages twice; with a batch listener, the whole last
batch."""


class ConnectionOptions(Struct, frozen=True, kw_only=True):
    """Options of a connection.

    Args:
        checks: Whether the client refuses calls that break a rule of `assay_sdk.engine.checks.RULES`.
        prefetch: How many messages the broker may send ahead to a consumer that uses receive calls; with 0, each call
            requests one message.
        listener_window: How many messages the broker may send ahead to a message listener; at least 1.
        id_prefix: Prefix of message ids; unique to the connection.
    """

    id_prefix: str
    checks: bool = True
    prefetch: int = 0
    listener_window: int = LISTENER_WINDOW


class ProducerSettings(Struct, frozen=True, kw_only=True):
    """Settings of a producer (JMS 2.0, 7.8, 7.9, PD-01).

    Args:
        priority: 0 to 9, or `AS_DESTINATION`.
        ttl_ms: Time to live in milliseconds; 0 for no expiry.
        delay_ms: Delivery delay in milliseconds.
    """

    mode: DeliveryMode = DeliveryMode.PERSISTENT
    priority: int = DEFAULT_PRIORITY
    ttl_ms: int = 0
    delay_ms: int = 0


class Source(Struct, frozen=True, kw_only=True):
    """The queue or subscription from which a consumer receives.

    All fields other than `poison` have the same meaning as in `assay_sdk.driver.OpenReceiver`.

    Args:
        poison: The application's settings for poison messages.
    """

    address: Address
    selector: str | None = None
    no_local: bool = False
    durability: Durability = Durability.NON_DURABLE
    name: str | None = None
    shared: bool = False
    poison: PoisonPolicy = PoisonPolicy()
