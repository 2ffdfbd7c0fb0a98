"""Apache Artemis: its conventions, image and capabilities."""

from __future__ import annotations

from assay_adapters.brokers.amqp.common import OF_THE_KIT, lacks_of
from assay_adapters.brokers.amqp.product import Product
from assay_adapters.brokers.artemis.administration import MANAGEMENT
from assay_adapters.ports.client import Source
from assay_sdk.driver import Login
from assay_sdk.model.capabilities import Capability

_TITLE = "Apache Artemis"
_LOGIN = Login("artemis", "artemis")
_AMQP = "Artemis 2.56.0 user manual, amqp.adoc"
_OFFERED = "ExtCapability.java: capabilities"
_MANAGEMENT = "Artemis 2.56.0 user manual, management.adoc"
_ATTACH = "DefaultSenderController.java: init"

ARTEMIS = Product(
    name="artemis",
    title=_TITLE,
    images=("assay/artemis:2.56.0", "apache/artemis:2.56.0-alpine"),
    login=_LOGIN,
    # For the public image; the kit's own image has the account built in.
    environment={"ARTEMIS_USER": _LOGIN.user, "ARTEMIS_PASSWORD": _LOGIN.password, "ANONYMOUS_LOGIN": "false"},
    management=MANAGEMENT,
    data_folders=("/var/lib/artemis/data", "/var/lib/artemis-instance/data"),
    capabilities={
        **OF_THE_KIT,
        Capability.QUEUE_DEPTH: Source("Jolokia: createQueue, removeAllMessages, MessageCount ...", _MANAGEMENT),
        Capability.QUEUE_LOOK: Source("Jolokia: browse.", _MANAGEMENT),
        Capability.GET_INHIBIT: Source("Jolokia: pause, resume.", _MANAGEMENT),
        Capability.SUBSCRIPTION_LIST: Source("Jolokia: the multicast queues of an address.", _MANAGEMENT),
        Capability.SUBSCRIPTION_LOOK: Source("Jolokia: browse of the subscription's queue.", _MANAGEMENT),
        Capability.AUTHORITY: Source("Jolokia: addSecuritySettings.", _MANAGEMENT),
        Capability.DELIVERY_DELAY: Source("Artemis applies x-opt-delivery-time.", _AMQP),
        Capability.TIME_TO_LIVE: Source(
            "Artemis does not deliver expired messages.", "Artemis 2.56.0 user manual, message-expiry.adoc"
        ),
        Capability.PRIORITY: Source("A queue has ten priorities, higher ones first.", "QueueImpl.java: NUM_PRIORITIES"),
        Capability.NON_PERSISTENT: Source(
            "The header's durable field decides whether Artemis stores a message.", "AMQPMessage.java: isDurable"
        ),
        Capability.SELECTOR: Source("Artemis applies the jms-selector filter.", _ATTACH),
        Capability.BROWSE: Source("A receiver with the distribution mode 'copy' browses a queue.", _ATTACH),
        Capability.TEMPORARY_DESTINATION: Source("Artemis creates dynamic nodes, and deletes them after use.", _ATTACH),
        Capability.TOPIC: Source(
            "For a source with the capability 'topic', Artemis creates a multicast address.", _ATTACH
        ),
        Capability.DURABLE_SUBSCRIPTION: Source("A durable source on a topic has a durable queue.", _AMQP),
        Capability.SHARED_SUBSCRIPTION: Source("Artemis offers SHARED-SUBS.", _OFFERED),
        Capability.LASTING_SUBSCRIPTION: Source("A durable source on a topic has a durable queue.", _AMQP),
        Capability.QUALITY_OF_SERVICE: Source("Artemis accepts and sends settled and unsettled transfers.", _ATTACH),
        Capability.LOCAL_TRANSACTION: Source("Artemis offers a transaction coordinator.", _AMQP),
        Capability.RETURN_TO_OTHERS: Source(
            "Artemis puts a released or modified message back on its queue.", "seen with Artemis 2.56.0: two receivers"
        ),
        Capability.CLIENT_ID: Source("Artemis offers sole-connection-for-container.", _OFFERED),
    },
    lacks={
        **lacks_of(_TITLE),
        Capability.QUEUE_LIMIT: Source(
            "Over AMQP a full address of Artemis gives new senders no credit, and refuses nothing.",
            "seen with Artemis 2.56.0: addressFullMessagePolicy FAIL, maxSizeMessages 2",
        ),
        Capability.PUT_INHIBIT: Source(
            "A blocked address of Artemis gives senders no credit, and refuses nothing.", "AddressControl.java: block"
        ),
        Capability.STAGING_QUEUE: Source(
            "A delayed message waits inside the queue to which it was sent, not on a separate queue.",
            "ScheduledDeliveryHandlerImpl.java",
        ),
        Capability.FLUSH_TRACE: Source(
            "Artemis forces its journal to the disk for each send, and does not show clients when this happens.",
            "Artemis 2.56.0 user manual, persistence.adoc: journal-sync-non-transactional",
        ),
        Capability.XA: Source(
            "Over AMQP Artemis's transaction coordinator offers local transactions only.",
            "AMQPSessionContext.java: addTransactionHandler",
        ),
        Capability.CANCEL: Source("Artemis schedules a message sent over AMQP, and offers no way to cancel it.", _AMQP),
        Capability.ANSWERED_ACKNOWLEDGEMENT: Source(
            "Artemis lets receivers settle first, so they do not learn when the broker has their acknowledgement.",
            "seen with Artemis 2.56.0: rcv-settle-mode of the attach",
        ),
        Capability.SUBSCRIPTION_TTL: Source("Artemis ignores the timeout of a source.", _ATTACH),
        Capability.WORKER_DIES: Source(
            "Artemis has no separate process for delayed messages that the kit could end: its queues schedule them.",
            "ScheduledDeliveryHandlerImpl.java",
        ),
    },
)
