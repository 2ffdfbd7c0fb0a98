"""RabbitMQ 4 with clients over STOMP: its capabilities."""

from __future__ import annotations

from assay_adapters.brokers.amqp.stomp import over_stomp
from assay_adapters.brokers.rabbitmq.product import RABBITMQ
from assay_adapters.ports.client import Source
from assay_sdk.model.capabilities import Capability
from assay_sdk.stomp import conventions

_STOMP = "RabbitMQ 4.0 documentation, STOMP"
_PROCESSOR = "rabbit_stomp_processor.erl"

RABBITMQ_STOMP = over_stomp(
    RABBITMQ,
    conventions.RABBITMQ,
    has={
        Capability.TIME_TO_LIVE: Source("The header expiration is the message's time to live.", _STOMP),
        Capability.NON_PERSISTENT: Source("The header persistent decides; absent, it is false.", _STOMP),
        Capability.TOPIC: Source("A destination /topic/KEY is the exchange amq.topic with this key.", _STOMP),
        Capability.LOCAL_TRANSACTION: Source(
            "BEGIN, COMMIT and ABORT are there; COMMIT carries the stored frames out one after the other.", _PROCESSOR
        ),
    },
    lacks={
        Capability.QUEUE_LIMIT: Source(
            "A message that a full queue refuses ends the sender's connection without an ERROR.",
            "seen with RabbitMQ 4.0.5 and a plain socket: docs/findings.md",
        ),
        Capability.DELIVERY_DELAY: Source("A delay needs the plugin rabbitmq_delayed_message_exchange.", _STOMP),
        Capability.PRIORITY: Source(
            "A queue has priorities only if it is declared with x-max-priority, which a SEND does not say.", _STOMP
        ),
        Capability.SELECTOR: Source("A SUBSCRIBE has no selector.", _STOMP),
        Capability.BROWSE: Source("A SUBSCRIBE cannot browse.", _STOMP),
        Capability.TEMPORARY_DESTINATION: Source(
            "A temporary queue is there for reply-to only, and its messages come without a SUBSCRIBE.", _STOMP
        ),
        Capability.DURABLE_SUBSCRIPTION: Source(
            "A durable subscription belongs to no client id: all clients share the one of an id and a topic.", _STOMP
        ),
        Capability.SHARED_SUBSCRIPTION: Source("A SUBSCRIBE has no name that clients could share.", _STOMP),
        Capability.ANSWERED_ACKNOWLEDGEMENT: Source(
            "It was not shown that the receipt of an ACK comes after the queue has the acknowledgement."
        ),
        Capability.CLIENT_ID: Source("The header client-id of CONNECT is not looked at.", _PROCESSOR),
    },
)
"""RabbitMQ over STOMP."""
