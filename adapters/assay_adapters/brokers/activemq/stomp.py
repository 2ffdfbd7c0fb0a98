"""Apache ActiveMQ Classic with clients over STOMP: its capabilities."""

from __future__ import annotations

from assay_adapters.brokers.activemq.product import ACTIVEMQ
from assay_adapters.brokers.amqp.stomp import over_stomp
from assay_adapters.ports.client import Source
from assay_sdk.model.capabilities import Capability
from assay_sdk.stomp import conventions

_STOMP = "ActiveMQ Classic documentation, STOMP"
_CONVERTER = "ProtocolConverter.java"
_TRANSLATOR = "FrameTranslator.java"

ACTIVEMQ_STOMP = over_stomp(
    ACTIVEMQ,
    conventions.ACTIVEMQ,
    has={
        Capability.DELIVERY_DELAY: Source("ActiveMQ applies AMQ_SCHEDULED_DELAY if its scheduler is on.", _TRANSLATOR),
        Capability.TIME_TO_LIVE: Source("The expires header holds the time of expiry.", _TRANSLATOR),
        Capability.PRIORITY: Source("The priority header holds the message's priority.", _TRANSLATOR),
        Capability.NON_PERSISTENT: Source("A message without the persistent header is not persistent.", _TRANSLATOR),
        Capability.SELECTOR: Source("ActiveMQ applies the selector header of a SUBSCRIBE.", _STOMP),
        Capability.BROWSE: Source("A SUBSCRIBE with the browser header browses a queue.", _STOMP),
        Capability.TEMPORARY_DESTINATION: Source(
            "/temp-queue/NAME is a temporary queue; other connections name it /remote-temp-queue/...", _STOMP
        ),
        Capability.TOPIC: Source("A destination with the prefix /topic/ names a topic.", _STOMP),
        Capability.DURABLE_SUBSCRIPTION: Source(
            "The client-id and activemq.subscriptionName headers make a subscription durable.", _STOMP
        ),
        Capability.LOCAL_TRANSACTION: Source(
            "Messages and ACKs of a transaction take effect at the COMMIT.", _CONVERTER
        ),
        Capability.ANSWERED_ACKNOWLEDGEMENT: Source("The receipt comes after the broker has the ACK.", _CONVERTER),
        Capability.CLIENT_ID: Source("ActiveMQ refuses a client-id in use.", _CONVERTER),
    },
    lacks={
        Capability.SHARED_SUBSCRIPTION: Source("A SUBSCRIBE has no name that clients could share.", _CONVERTER),
        Capability.MESSAGE_ID: Source(
            "The broker gives each message an id of its own, which the RECEIPT of the SEND does not name.",
            "seen with ActiveMQ 6.3.1: docs/findings.md",
        ),
        Capability.RELEASE: Source(
            "A NACK moves a message to the dead-letter queue, so the driver itself delivers returned messages again.",
            "seen with ActiveMQ 6.3.1 and a plain socket: docs/findings.md",
        ),
    },
)
"""Apache ActiveMQ Classic over STOMP."""
