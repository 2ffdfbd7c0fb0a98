"""Apache Artemis with clients over STOMP: its capabilities."""

from __future__ import annotations

from assay_adapters.brokers.amqp.stomp import over_stomp
from assay_adapters.brokers.artemis.product import ARTEMIS
from assay_adapters.ports.client import Source
from assay_sdk.model.capabilities import Capability
from assay_sdk.stomp import conventions

_STOMP = "Artemis 2.56.0 user manual, stomp.adoc"
_UTILS = "StompUtils.java"
_SESSION = "StompSession.java"

ARTEMIS_STOMP = over_stomp(
    ARTEMIS,
    conventions.ARTEMIS,
    has={
        Capability.DELIVERY_DELAY: Source("Artemis applies AMQ_SCHEDULED_TIME.", _UTILS),
        Capability.TIME_TO_LIVE: Source("The expires header holds the time of expiry.", _UTILS),
        Capability.PRIORITY: Source("The priority header holds the message's priority.", _UTILS),
        Capability.NON_PERSISTENT: Source("A message without the persistent header is not persistent.", _UTILS),
        Capability.SELECTOR: Source("Artemis applies the selector header of a SUBSCRIBE.", _STOMP),
        Capability.TOPIC: Source("The acceptor treats destinations with the prefix /topic/ as multicast.", _STOMP),
        Capability.DURABLE_SUBSCRIPTION: Source(
            "The client-id and durable-subscription-name headers make a subscription durable.", _STOMP
        ),
        Capability.ANSWERED_ACKNOWLEDGEMENT: Source("Artemis acknowledges before it sends the receipt.", _SESSION),
        Capability.CLIENT_ID: Source("Artemis reads the client-id header of a CONNECT.", _STOMP),
    },
    lacks={
        Capability.BROWSE: Source("A SUBSCRIBE cannot browse.", _STOMP),
        Capability.TEMPORARY_DESTINATION: Source("Over STOMP, Artemis has no temporary destinations.", _STOMP),
        Capability.SHARED_SUBSCRIPTION: Source("A SUBSCRIBE has no name that clients could share.", _SESSION),
        Capability.MESSAGE_ID: Source(
            "The broker gives each message an id of its own, which the RECEIPT of the SEND does not name.",
            "seen with Artemis 2.56.0: docs/findings.md",
        ),
        Capability.RELEASE: Source(
            "A NACK removes a message as an ACK does, so the driver itself delivers returned messages again.",
            "seen with Artemis 2.56.0 and a plain socket: docs/findings.md",
        ),
        Capability.LOCAL_TRANSACTION: Source(
            "An ACK in a transaction takes effect at once, and an ABORT does not take it back.",
            "Artemis 2.56.0 user manual, stomp.adoc; seen with a plain socket: docs/findings.md",
        ),
    },
)
"""Apache Artemis over STOMP."""
