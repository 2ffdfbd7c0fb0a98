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
        Capability.TIME_TO_LIVE: Source("The header expires is the time of expiry.", _TRANSLATOR),
        Capability.PRIORITY: Source("The header priority is the message's priority.", _TRANSLATOR),
        Capability.NON_PERSISTENT: Source("The header persistent decides; absent, it is false.", _TRANSLATOR),
        Capability.SELECTOR: Source("ActiveMQ applies the header selector of a SUBSCRIBE.", _STOMP),
        Capability.BROWSE: Source("The header browser of a SUBSCRIBE browses a queue.", _STOMP),
        Capability.TEMPORARY_DESTINATION: Source(
            "/temp-queue/NAME is a temporary queue of the connection; others know it as /remote-temp-queue/.", _STOMP
        ),
        Capability.TOPIC: Source("A destination with the prefix /topic/ is a topic.", _STOMP),
        Capability.DURABLE_SUBSCRIPTION: Source(
            "The headers client-id and activemq.subscriptionName make a durable subscription.", _STOMP
        ),
        Capability.LOCAL_TRANSACTION: Source("Messages and ACKs of a transaction count at COMMIT.", _CONVERTER),
        Capability.ANSWERED_ACKNOWLEDGEMENT: Source("The receipt comes after the broker has the ACK.", _CONVERTER),
        Capability.CLIENT_ID: Source("ActiveMQ refuses a client-id in use.", _CONVERTER),
    },
    lacks={Capability.SHARED_SUBSCRIPTION: Source("A SUBSCRIBE has no name that clients could share.", _CONVERTER)},
)
"""Apache ActiveMQ Classic over STOMP."""
