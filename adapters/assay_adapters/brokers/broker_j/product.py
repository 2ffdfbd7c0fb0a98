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
        Capability.SUBSCRIPTION_LOOK: Source("REST: getMessageInfo; a subscription has a queue.", _MANAGEMENT),
        Capability.DELIVERY_DELAY: Source(
            "x-opt-delivery-time is honoured by queues with holdOnPublishEnabled, which offer it on the link.",
            "NodeReceivingDestination.java: getCapabilities",
        ),
        Capability.TIME_TO_LIVE: Source("Expired messages are not delivered.", _METADATA),
        Capability.NON_PERSISTENT: Source("The header's durable field decides.", _METADATA),
        Capability.SELECTOR: Source("The jms-selector filter is applied.", _SENDING),
        Capability.BROWSE: Source("Distribution mode copy on a queue browses.", _SENDING),
        Capability.TEMPORARY_DESTINATION: Source(
            "A dynamic node is made, and removed with its link.", "Session_1_0.java: createDynamicDestination"
        ),
        Capability.TOPIC: Source("An address EXCHANGE/KEY is a subscription to a topic of this exchange.", _SENDING),
        Capability.DURABLE_SUBSCRIPTION: Source("A durable source on an exchange has a durable queue.", _SENDING),
        Capability.SHARED_SUBSCRIPTION: Source("SHARED-SUBS is offered.", _OPEN),
        Capability.LASTING_SUBSCRIPTION: Source("A durable source on an exchange has a durable queue.", _SENDING),
        Capability.QUALITY_OF_SERVICE: Source("Settled and unsettled transfers are taken and sent.", _SENDING),
        Capability.LOCAL_TRANSACTION: Source(
            "A transaction coordinator is there.", "TxnCoordinatorReceivingLinkEndpoint.java"
        ),
        Capability.ANSWERED_ACKNOWLEDGEMENT: Source(
            "A receiver that asks for the settle mode 'second' gets it.", "attach of a live 10.1.0"
        ),
        Capability.CLIENT_ID: Source("sole-connection-for-container is offered.", _OPEN),
    },
    lacks={
        **lacks_of(_TITLE),
        Capability.GET_INHIBIT: Source("Broker-J has no command that lets a queue hand out no messages.", _MANAGEMENT),
        Capability.PUT_INHIBIT: Source(
            "A queue of Broker-J refuses all messages only as a full queue does, with a limit of zero.", _MANAGEMENT
        ),
        Capability.PRIORITY: Source(
            "Queues of the type standard deliver by arrival alone, and those of the type priority lose short delays.",
            "docs/findings.md",
        ),
        Capability.SUBSCRIPTION_TTL: Source("The timeout of a source is not looked at.", _SENDING),
    },
)
