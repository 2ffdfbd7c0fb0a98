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
        Capability.DELIVERY_DELAY: Source("ActiveMQ applies x-opt-delivery-time if its scheduler is on.", _INBOUND),
        Capability.TIME_TO_LIVE: Source("ActiveMQ does not deliver expired messages.", _AMQP),
        Capability.PRIORITY: Source("ActiveMQ keeps the header's priority.", _INBOUND),
        Capability.NON_PERSISTENT: Source(
            "The header's durable field decides whether ActiveMQ stores a message.", _INBOUND
        ),
        Capability.SELECTOR: Source("ActiveMQ applies the jms-selector filter.", _SESSION),
        Capability.BROWSE: Source("A receiver with the distribution mode 'copy' browses a queue.", _SESSION),
        Capability.TEMPORARY_DESTINATION: Source(
            "ActiveMQ creates a dynamic node, and deletes it with its connection.", _SESSION
        ),
        Capability.TOPIC: Source("An address with the prefix topic:// names a topic.", _AMQP),
        Capability.DURABLE_SUBSCRIPTION: Source("A durable source on a topic is a durable subscription.", _SESSION),
        Capability.LASTING_SUBSCRIPTION: Source("A durable source on a topic is a durable subscription.", _SESSION),
        Capability.QUALITY_OF_SERVICE: Source("ActiveMQ accepts and sends settled and unsettled transfers.", _AMQP),
        Capability.LOCAL_TRANSACTION: Source("ActiveMQ has a transaction coordinator.", _AMQP),
        Capability.CLIENT_ID: Source("ActiveMQ refuses a container id in use.", "AmqpConnection.java"),
    },
    lacks={
        **lacks_of(_TITLE),
        Capability.AUTHORITY: Source(
            "ActiveMQ reads users and rights from its configuration, and has no command to change them while it runs.",
            "ActiveMQ Classic documentation, Security: simpleAuthenticationPlugin, authorizationPlugin",
        ),
        Capability.QUEUE_LIMIT: Source(
            "ActiveMQ limits the memory of a queue, not its number of messages.", _MANAGEMENT
        ),
        Capability.SUBSCRIPTION_LOOK: Source(
            "ActiveMQ shows what its store has for the whole topic, not for one subscription.",
            "ManagedRegionBroker.java: getSubscriberMessages",
        ),
        Capability.SHARED_SUBSCRIPTION: Source("ActiveMQ does not offer SHARED-SUBS.", "AmqpConnection.java: offered"),
        Capability.ANSWERED_ACKNOWLEDGEMENT: Source(
            "ActiveMQ lets receivers settle first, so they do not learn when the broker has their acknowledgement.",
            "seen with ActiveMQ 6.3.1: rcv-settle-mode of the attach",
        ),
        Capability.RETURN_TO_OTHERS: Source(
            "ActiveMQ gives a released or modified message to the same link again until the link is closed.",
            "AmqpSender.java: settle; seen with ActiveMQ 6.3.1",
        ),
        Capability.SUBSCRIPTION_TTL: Source("ActiveMQ ignores the timeout of a source.", _SESSION),
    },
)
