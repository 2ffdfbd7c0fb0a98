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
        Capability.TIME_TO_LIVE: Source("The expiration header holds the message's time to live.", _STOMP),
        Capability.MESSAGE_ID: Source(
            "The headers amqp-message-id and timestamp hold the sender's message id and time.", "rabbit_stomp_util.erl"
        ),
        Capability.NON_PERSISTENT: Source("A message without the persistent header is not persistent.", _STOMP),
        Capability.TOPIC: Source("A destination /topic/KEY names the exchange amq.topic with this key.", _STOMP),
        Capability.LOCAL_TRANSACTION: Source(
            "RabbitMQ has BEGIN, COMMIT and ABORT; a COMMIT executes the stored frames one after the other.", _PROCESSOR
        ),
    },
    lacks={
        Capability.QUEUE_LIMIT: Source(
            "A message that a full queue refuses ends the sender's connection without an ERROR.",
            "seen with RabbitMQ 4.0.5 and a plain socket: docs/findings.md",
        ),
        Capability.DELIVERY_DELAY: Source("A delay needs the plugin rabbitmq_delayed_message_exchange.", _STOMP),
        Capability.PRIORITY: Source(
            "A queue has priorities only if it is declared with x-max-priority; a SEND does not declare this.", _STOMP
        ),
        Capability.SELECTOR: Source("A SUBSCRIBE has no selector.", _STOMP),
        Capability.BROWSE: Source("A SUBSCRIBE cannot browse.", _STOMP),
        Capability.TEMPORARY_DESTINATION: Source(
            "RabbitMQ has temporary queues for reply-to only, and delivers their messages without a SUBSCRIBE.", _STOMP
        ),
        Capability.DURABLE_SUBSCRIPTION: Source(
            "A durable subscription belongs to no client id: all clients that name its id and topic share it.", _STOMP
        ),
        Capability.SHARED_SUBSCRIPTION: Source("A SUBSCRIBE has no name that clients could share.", _STOMP),
        Capability.RELEASE: Source(
            "After a NACK a message comes after later ones, so the driver itself delivers returned messages again.",
            "seen with RabbitMQ 4.0.5: docs/findings.md",
        ),
        Capability.ANSWERED_ACKNOWLEDGEMENT: Source(
            "The kit has no proof that RabbitMQ sends the receipt of an ACK after the queue has the acknowledgement."
        ),
        Capability.CLIENT_ID: Source("RabbitMQ ignores the client-id header of a CONNECT.", _PROCESSOR),
    },
)
"""RabbitMQ over STOMP."""
