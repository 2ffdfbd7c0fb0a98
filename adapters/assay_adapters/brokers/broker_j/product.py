"""Apache Qpid Broker-J: its conventions, image and capabilities."""

from __future__ import annotations

from assay_adapters.brokers.amqp.common import OF_THE_KIT, lacks_of
from assay_adapters.brokers.amqp.product import Product
from assay_adapters.brokers.broker_j.administration import MANAGEMENT
from assay_adapters.ports.client import Source
from assay_sdk.amqp.conventions import Conventions
from assay_sdk.driver import Login
from assay_sdk.model.capabilities import Capability

_TITLE = "Apache Qpid Broker-J"
_LOGIN = Login("guest", "guest")
_OPEN = "AMQPConnection_1_0Impl.java: offered capabilities"
_SENDING = "SendingLinkEndpoint.java"
_METADATA = "MessageMetaData_1_0.java"
_MANAGEMENT = "Apache Qpid Broker-J documentation, REST API"

BROKER_J = Product(
    name="broker-j",
    title=_TITLE,
    images=("assay/broker-j:10.1.0",),
    login=_LOGIN,
    conventions=Conventions(topic_prefix="amq.topic/"),
    data_folders=("/var/lib/broker-j",),
    management=MANAGEMENT,
    capabilities={
        **OF_THE_KIT,
        Capability.QUEUE_DEPTH: Source("REST: a queue is created, deleted, and shown with its messages.", _MANAGEMENT),
        Capability.QUEUE_LOOK: Source("REST: getMessageInfo, getMessageContent.", _MANAGEMENT),
        Capability.QUEUE_LIMIT: Source("REST: overflowPolicy REJECT, maximumQueueDepthMessages.", _MANAGEMENT),
        Capability.SUBSCRIPTION_LIST: Source("REST: the bindings of the exchange amq.topic.", _MANAGEMENT),
        Capability.SUBSCRIPTION_LOOK: Source("REST: getMessageInfo of the subscription's queue.", _MANAGEMENT),
        Capability.DELIVERY_DELAY: Source(
            "Queues with holdOnPublishEnabled apply x-opt-delivery-time, and offer this on the link.",
            "NodeReceivingDestination.java: getCapabilities",
        ),
        Capability.TIME_TO_LIVE: Source("Broker-J does not deliver expired messages.", _METADATA),
        Capability.NON_PERSISTENT: Source("The header's durable field decides.", _METADATA),
        Capability.SELECTOR: Source("Broker-J applies the jms-selector filter.", _SENDING),
        Capability.BROWSE: Source("A receiver with the distribution mode 'copy' browses a queue.", _SENDING),
        Capability.TEMPORARY_DESTINATION: Source(
            "Broker-J creates a dynamic node, and removes it with its link.",
            "Session_1_0.java: createDynamicDestination",
        ),
        Capability.TOPIC: Source(
            "A receiver with an address EXCHANGE/KEY subscribes to a topic of this exchange.", _SENDING
        ),
        Capability.DURABLE_SUBSCRIPTION: Source("A durable source on an exchange has a durable queue.", _SENDING),
        Capability.SHARED_SUBSCRIPTION: Source("Broker-J offers SHARED-SUBS.", _OPEN),
        Capability.LASTING_SUBSCRIPTION: Source("A durable source on an exchange has a durable queue.", _SENDING),
        Capability.QUALITY_OF_SERVICE: Source("Broker-J accepts and sends settled and unsettled transfers.", _SENDING),
        Capability.LOCAL_TRANSACTION: Source(
            "Broker-J has a transaction coordinator.", "TxnCoordinatorReceivingLinkEndpoint.java"
        ),
        Capability.ANSWERED_ACKNOWLEDGEMENT: Source(
            "Broker-J grants a receiver the settle mode 'second'.", "seen with Broker-J 10.1.0: attach"
        ),
        Capability.RETURN_TO_OTHERS: Source(
            "Broker-J puts a released or modified message back on its queue.",
            "seen with Broker-J 10.1.0: two receivers",
        ),
        Capability.CLIENT_ID: Source("Broker-J offers sole-connection-for-container.", _OPEN),
    },
    lacks={
        **lacks_of(_TITLE),
        Capability.AUTHORITY: Source(
            "The rights of all users are one list of rules, which scenarios that run at once cannot change separately.",
            "Broker-J documentation, Access Control Lists",
        ),
        Capability.GET_INHIBIT: Source("Broker-J has no command that stops the deliveries of a queue.", _MANAGEMENT),
        Capability.PUT_INHIBIT: Source(
            "A queue of Broker-J refuses all messages only if its limit is zero, like a full queue.", _MANAGEMENT
        ),
        Capability.PRIORITY: Source(
            "Queues of the type 'standard' ignore priorities, and queues of the type 'priority' lose short delays.",
            "docs/findings.md",
        ),
        Capability.SUBSCRIPTION_TTL: Source("Broker-J ignores the timeout of a source.", _SENDING),
    },
)
