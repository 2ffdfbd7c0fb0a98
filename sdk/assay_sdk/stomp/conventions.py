"""Conventions of STOMP brokers: choices that STOMP leaves to the broker and that a client must know."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import AddressKind
from assay_sdk.stomp.extensions import AS_DEFINED

_ALL = frozenset(
    (
        Capability.DELIVERY_DELAY,
        Capability.TIME_TO_LIVE,
        Capability.PRIORITY,
        Capability.NON_PERSISTENT,
        Capability.SELECTOR,
        Capability.BROWSE,
        Capability.TOPIC,
        Capability.DURABLE_SUBSCRIPTION,
        Capability.SHARED_SUBSCRIPTION,
        Capability.TEMPORARY_DESTINATION,
        Capability.LOCAL_TRANSACTION,
        Capability.CLIENT_ID,
    )
)


Headers = tuple[tuple[str, str], ...]
"""Headers as pairs of a name and a value."""


class Conventions(Struct, frozen=True, kw_only=True):
    """The conventions of a broker; the defaults are the reference broker's conventions.

    Args:
        capabilities: The capabilities that this broker offers to a client.
        host: The header host of CONNECT; empty for the host of the URL.  The driver sends CONNECT before the broker
            names itself, so it uses this field only for conventions that the application has given to the driver.
        prefixes: The prefix of each kind of destination, for kinds whose prefix differs from
            `assay_sdk.stomp.messages.PREFIXES`.
        slash: The text that stands for a slash in the name of a destination.
        aliases: Pairs of header names: a header that the broker adds to a MESSAGE, and the header of the reference
            broker that has the same meaning.  The second name is empty if the driver ignores the header.
        expires: The name of the header with the expiry.
        expires_in: Whether the value of this header is a duration, and not a time of day.
        delay: The name of the header with the delivery time.
        delay_for: Whether the value of this header is a duration from the send, and not a time of day.
        unset_priority: The value of the header priority for a message without a priority; empty for no header.
        to_queue: The headers that the driver adds to each SEND to a queue.
        message_id: The header with the sender's message id, if the broker delivers this id; empty if the broker gives
            each message an id of its own.
        durable_name: The header that names a durable subscription of the client id; empty for none.
        shared: The headers of a shared durable subscription, in addition to the header with its name.
        global_name: The header that names a durable subscription which all clients share; empty for none.
        shared_name: The header that names a shared subscription that is not durable; empty for none.
        no_local: The header that excludes messages of the subscriber's connection from a subscription; empty for none.
        browser: The header that makes a subscription a browser; empty if the broker has no browsers.
        window: The headers of SUBSCRIBE that limit how many unacknowledged messages the broker sends, for a broker
            without the extension `assay_sdk.stomp.extensions.CREDIT`.
        nack_returns: Whether the broker delivers a message again after a NACK, before later messages. If not, the
            driver keeps a message that the application gives back, and delivers it to the same receiver again.
        unsubscribe_returns: Whether an UNSUBSCRIBE returns the unsettled messages of the subscription. If not, only the
            end of the connection returns them, so the driver opens a connection for each receiver and for each
            transacted session.
        rejects: The headers that a NACK needs to reject a message for good, because no client can process it.
        counts_temporary: Whether other connections address a temporary destination by the id of its connection and a
            count.  Such a broker does not send this name to the connection that created the destination.
        receipt_before_commit: Whether the broker sends the receipt of a SEND in a transaction before the COMMIT.
    """

    capabilities: frozenset[Capability] = _ALL
    host: str = ""
    prefixes: Mapping[AddressKind, str] = {}
    slash: str = "/"
    aliases: Headers = ()
    expires: str = "expires"
    expires_in: bool = False
    delay: str = "AMQ_SCHEDULED_TIME"
    delay_for: bool = False
    unset_priority: str = AS_DEFINED
    to_queue: Headers = ()
    message_id: str = "message-id"
    durable_name: str = "durable-subscription-name"
    shared: Headers = (("shared", "true"),)
    global_name: str = "x-queue-name"
    shared_name: str = "shared-subscription-name"
    no_local: str = "no-local"
    browser: str = "browser"
    window: Headers = ()
    nack_returns: bool = True
    unsubscribe_returns: bool = True
    rejects: Headers = (("requeue", "false"),)
    counts_temporary: bool = False
    receipt_before_commit: bool = True


_WINDOW = "1000"
"""The number of unacknowledged messages that brokers may send ahead."""
_WINDOW_OCTETS = str(16 << 20)
"""The octets of unacknowledged messages that a broker may send ahead, for a broker that counts octets."""

REFERENCE = Conventions(window=(("activemq.prefetchSize", _WINDOW), ("prefetch-count", _WINDOW)))
"""The reference broker, and unknown brokers.  The window is for unknown brokers, which may support one of its
headers."""

ACTIVEMQ = Conventions(
    capabilities=_ALL - {Capability.SHARED_SUBSCRIPTION},
    aliases=(("scheduledJobId", ""),),
    delay="AMQ_SCHEDULED_DELAY",
    delay_for=True,
    unset_priority="",
    message_id="",
    durable_name="activemq.subscriptionName",
    shared=(),
    global_name="",
    shared_name="",
    no_local="activemq.noLocal",
    window=(("activemq.prefetchSize", _WINDOW),),
    nack_returns=False,
    rejects=(),
    counts_temporary=True,
)
"""Apache ActiveMQ Classic.  Its NACK moves a message to the dead-letter queue at once."""

ARTEMIS = Conventions(
    capabilities=_ALL
    - {
        Capability.SHARED_SUBSCRIPTION,
        Capability.BROWSE,
        Capability.TEMPORARY_DESTINATION,
        Capability.LOCAL_TRANSACTION,
    },
    aliases=(("_AMQ_SCHED_DELIVERY", "AMQ_SCHEDULED_TIME"), ("_AMQ_GROUP_ID", "JMSXGroupID")),
    unset_priority="",
    message_id="",
    shared=(),
    global_name="",
    shared_name="",
    browser="",
    window=(("consumer-window-size", _WINDOW_OCTETS),),
    nack_returns=False,
    rejects=(),
)
"""Apache ActiveMQ Artemis.  It treats a NACK as an ACK, and an ACK in a transaction takes effect at once."""

RABBITMQ = Conventions(
    capabilities=frozenset(
        (
            Capability.TIME_TO_LIVE,
            Capability.PRIORITY,
            Capability.NON_PERSISTENT,
            Capability.TOPIC,
            Capability.LOCAL_TRANSACTION,
        )
    ),
    host="/",
    slash="%2F",
    aliases=(("durable", ""),),
    to_queue=(("durable", "true"),),
    expires="expiration",
    expires_in=True,
    unset_priority="",
    message_id="amqp-message-id",
    durable_name="",
    shared=(),
    global_name="",
    shared_name="",
    no_local="",
    browser="",
    window=(("prefetch-count", _WINDOW),),
    nack_returns=False,
    unsubscribe_returns=False,
    receipt_before_commit=False,
)
"""RabbitMQ 4.0 without the plug-in for delayed messages, with its virtual host ``/``.  Its COMMIT is not atomic."""

PRODUCTS: Mapping[str, Conventions] = {
    "assay/": REFERENCE,
    "ActiveMQ-Artemis/": ARTEMIS,
    "ActiveMQ/": ACTIVEMQ,
    "RabbitMQ/": RABBITMQ,
}
"""The conventions of each known broker, by the beginning of the header server in the broker's CONNECTED."""


def conventions_of(server: str) -> Conventions:
    """Return the conventions of a broker by its header `server`; by default, the reference broker's conventions.

    Args:
        server: The header server of CONNECTED; empty if CONNECTED has none.
    """
    return next((found for begin, found in PRODUCTS.items() if server.startswith(begin)), REFERENCE)
