"""RabbitMQ 4: its conventions, image and capabilities."""

from __future__ import annotations

from assay_adapters.brokers.amqp.common import OF_THE_KIT, lacks_of
from assay_adapters.brokers.amqp.product import Product
from assay_adapters.brokers.rabbitmq.administration import MANAGEMENT
from assay_adapters.ports.client import Source
from assay_features import Profile
from assay_sdk.amqp.conventions import Conventions
from assay_sdk.driver import Login
from assay_sdk.model.capabilities import Capability

_TITLE = "RabbitMQ"
_LOGIN = Login("guest", "guest")
_LIMITATIONS = "RabbitMQ 4.0 documentation, AMQP 1.0: Limitations"
_SESSION = "rabbit_amqp_session.erl"
_MANAGEMENT = "RabbitMQ 4.0 documentation, HTTP API"

RABBITMQ = Product(
    name="rabbitmq",
    title=_TITLE,
    images=("assay/rabbitmq:4.0", "rabbitmq:4.0-management"),
    login=_LOGIN,
    # Addresses of version 1, which are deprecated and still permitted. With version 2, a queue must be there before a
    # client attaches, and no source is a topic. In a message, RabbitMQ knows version 2 only.
    conventions=Conventions(
        queue_prefix="/queue/",
        topic_prefix="/topic/",
        message_queue_prefix="/queues/",
        message_topic_prefix="/exchanges/amq.topic/",
        settles_second=False,
        durable_termini=True,
        slash="%2F",
        first_acquirer=True,
        released_publications=True,
    ),
    data_folders=("/var/lib/rabbitmq",),
    management=MANAGEMENT,
    defines_queues=True,  # an attach makes a queue, and a message whose own address names a new queue does not
    profiles=(Profile.PERSISTENCE, Profile.QOS, Profile.BATCH),
    capabilities={
        **OF_THE_KIT,
        Capability.QUEUE_DEPTH: Source(
            "Management API: a queue is declared, purged, deleted, and shown with its number of messages.", _MANAGEMENT
        ),
        Capability.QUEUE_LIMIT: Source("Management API: a policy with reject-publish and max-length.", _MANAGEMENT),
        Capability.SUBSCRIPTION_LIST: Source("Management API: the bindings of the exchange amq.topic.", _MANAGEMENT),
        Capability.TIME_TO_LIVE: Source(
            "Expired messages are not delivered: the header's ttl.", "RabbitMQ 4.0 documentation, Time-To-Live"
        ),
        Capability.NON_PERSISTENT: Source("The header's durable field decides; absent, it is true.", "mc_amqp.erl"),
        Capability.TOPIC: Source("An address /topic/KEY is the exchange amq.topic with this key.", _SESSION),
        Capability.QUALITY_OF_SERVICE: Source("Settled and unsettled transfers are taken and sent.", _SESSION),
    },
    lacks={
        **lacks_of(_TITLE),
        **dict.fromkeys(
            (Capability.QUEUE_LOOK, Capability.SUBSCRIPTION_LOOK),
            Source(
                "RabbitMQ shows a message to an administrator by a get, and marks it as redelivered afterwards.",
                "rabbit_mgmt_wm_queue_get.erl",
            ),
        ),
        Capability.GET_INHIBIT: Source("RabbitMQ has no command that lets a queue hand out no messages.", _MANAGEMENT),
        Capability.PUT_INHIBIT: Source(
            "A queue of RabbitMQ refuses all messages only as a full queue does, with a limit of zero.", _MANAGEMENT
        ),
        Capability.DEFAULT_PERSISTENCE: Source(
            "A message without the durable header is durable; no queue has another default.", "mc_amqp.erl"
        ),
        Capability.DELIVERY_DELAY: Source(
            "RabbitMQ 4.0 knows no delivery time of AMQP 1.0 and offers no DELAYED_DELIVERY.", "rabbit_amqp_reader.erl"
        ),
        Capability.PRIORITY: Source(
            "A queue has priorities only if it is declared with x-max-priority, which no address does.",
            "RabbitMQ 4.0 documentation, Classic Queues Support Priorities",
        ),
        Capability.SELECTOR: Source("RabbitMQ 4.0 applies filters to streams only, and no selectors.", _SESSION),
        Capability.BROWSE: Source("A source's distribution mode is not looked at.", _SESSION),
        Capability.TEMPORARY_DESTINATION: Source("Dynamic sources and targets are refused.", _SESSION),
        Capability.DURABLE_SUBSCRIPTION: Source(
            "The link of a topic has a queue that no name finds again: termini have no expiry policy.", _LIMITATIONS
        ),
        Capability.SHARED_SUBSCRIPTION: Source("SHARED-SUBS is not offered.", "rabbit_amqp_reader.erl"),
        Capability.LASTING_SUBSCRIPTION: Source(
            "The link of a topic has a queue that no name finds again: termini have no expiry policy.", _LIMITATIONS
        ),
        Capability.ANSWERED_ACKNOWLEDGEMENT: Source(
            "RabbitMQ 4.0 ends the session of a receiver that asks for the settle mode 'second'.", _SESSION
        ),
        Capability.SUBSCRIPTION_TTL: Source("The timeout of a source is not looked at.", _SESSION),
        Capability.LOCAL_TRANSACTION: Source("AMQP transactions are not supported.", _LIMITATIONS),
        Capability.CLIENT_ID: Source(
            "A second connection with the same container id is taken.", "rabbit_amqp_reader.erl"
        ),
    },
)
