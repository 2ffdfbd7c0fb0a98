"""Apache ActiveMQ Classic: its conventions, image and capabilities."""

from __future__ import annotations

from assay_adapters.brokers.activemq.administration import MANAGEMENT
from assay_adapters.brokers.amqp.common import OF_THE_KIT, lacks_of
from assay_adapters.brokers.amqp.product import Product
from assay_adapters.ports.client import Source
from assay_sdk.driver import Login
from assay_sdk.model.capabilities import Capability

_TITLE = "Apache ActiveMQ Classic"
_AMQP = "ActiveMQ Classic documentation, AMQP"
_MANAGEMENT = "ActiveMQ Classic documentation, JMX"
_LOGIN = Login("admin", "admin")
_INBOUND = "InboundTransformer.java"
_SESSION = "AmqpSession.java: createSender"

ACTIVEMQ = Product(
    name="activemq",
    title=_TITLE,
    images=("assay/activemq:6.3.1", "apache/activemq-classic:6.3.1"),
    login=_LOGIN,
    environment={"ACTIVEMQ_CONNECTION_USER": _LOGIN.user, "ACTIVEMQ_CONNECTION_PASSWORD": _LOGIN.password},
    management=MANAGEMENT,
    data_folders=("/var/lib/activemq/data", "/opt/apache-activemq/data"),
    capabilities={
        **OF_THE_KIT,
        Capability.QUEUE_DEPTH: Source("Jolokia: addQueue, removeQueue, purge, QueueSize.", _MANAGEMENT),
        Capability.QUEUE_LOOK: Source("Jolokia: browse.", _MANAGEMENT),
        Capability.GET_INHIBIT: Source("Jolokia: pause, resume.", _MANAGEMENT),
        Capability.SUBSCRIPTION_LIST: Source(
            "Jolokia: the consumers of a topic, with the inactive durable ones.", _MANAGEMENT
        ),
        Capability.DELIVERY_DELAY: Source("x-opt-delivery-time is honoured if the scheduler is on.", _INBOUND),
        Capability.TIME_TO_LIVE: Source("Expired messages are not delivered.", _AMQP),
        Capability.PRIORITY: Source("The header's priority is kept.", _INBOUND),
        Capability.NON_PERSISTENT: Source("The header's durable field decides.", _INBOUND),
        Capability.SELECTOR: Source("The jms-selector filter is applied.", _SESSION),
        Capability.BROWSE: Source("Distribution mode copy on a queue browses.", _SESSION),
        Capability.TEMPORARY_DESTINATION: Source("A dynamic node is made, and removed with its connection.", _SESSION),
        Capability.TOPIC: Source("The prefix topic:// makes a topic.", _AMQP),
        Capability.DURABLE_SUBSCRIPTION: Source("A durable source on a topic is a durable subscription.", _SESSION),
        Capability.LASTING_SUBSCRIPTION: Source("A durable source on a topic is a durable subscription.", _SESSION),
        Capability.QUALITY_OF_SERVICE: Source("Settled and unsettled transfers are taken and sent.", _AMQP),
        Capability.LOCAL_TRANSACTION: Source("A transaction coordinator is there.", _AMQP),
        Capability.CLIENT_ID: Source("A container id in use is refused.", "AmqpConnection.java"),
    },
    lacks={
        **lacks_of(_TITLE),
        Capability.QUEUE_LIMIT: Source(
            "ActiveMQ limits the memory of a queue, not its number of messages.", _MANAGEMENT
        ),
        Capability.SUBSCRIPTION_LOOK: Source(
            "ActiveMQ shows what its store has for the whole topic, not for one subscription.",
            "ManagedRegionBroker.java: getSubscriberMessages",
        ),
        Capability.SHARED_SUBSCRIPTION: Source("SHARED-SUBS is not offered.", "AmqpConnection.java: offered"),
        Capability.ANSWERED_ACKNOWLEDGEMENT: Source(
            "ActiveMQ lets receivers settle first, so they do not learn when it has their acknowledgement.",
            "attach of a live 6.3.1: rcv-settle-mode",
        ),
        Capability.SUBSCRIPTION_TTL: Source("The timeout of a source is not looked at.", _SESSION),
    },
)
