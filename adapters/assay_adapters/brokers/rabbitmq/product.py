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
    # Links use addresses of version 1, which are deprecated and still permitted: with version 2, a queue must exist
    # before a client attaches, and a client cannot attach to a topic. Addresses in a message must have version 2.
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
    defines_queues=True,  # an attach creates a queue, but a message that names a new queue in its field `to` does not
    profiles=(Profile.PERSISTENCE, Profile.QOS, Profile.BATCH),
    capabilities={
        **OF_THE_KIT,
        Capability.QUEUE_DEPTH: Source(
            "Management API: a queue is declared, purged, deleted, and shown with its number of messages.", _MANAGEMENT
        ),
        Capability.QUEUE_LIMIT: Source("Management API: a policy with reject-publish and max-length.", _MANAGEMENT),
        Capability.SUBSCRIPTION_LIST: Source("Management API: the bindings of the exchange amq.topic.", _MANAGEMENT),
        Capability.TIME_TO_LIVE: Source(
            "RabbitMQ does not deliver a message after the ttl of its header.",
            "RabbitMQ 4.0 documentation, Time-To-Live",
        ),
        Capability.NON_PERSISTENT: Source(
            "A message is durable if the header's durable field is true or absent.", "mc_amqp.erl"
        ),
        Capability.RETURN_TO_OTHERS: Source(
            "RabbitMQ puts a released or modified message back on its queue.", _SESSION
        ),
        Capability.TOPIC: Source("An address /topic/KEY names the exchange amq.topic with this key.", _SESSION),
        Capability.QUALITY_OF_SERVICE: Source("RabbitMQ accepts and sends settled and unsettled transfers.", _SESSION),
    },
    lacks={
        **lacks_of(_TITLE),
        Capability.AUTHORITY: Source(
            "A right to send belongs to an exchange, and messages to all queues go through the same exchange.",
            "RabbitMQ 4.0 documentation, Access Control: Authorisation",
        ),
        **dict.fromkeys(
            (Capability.QUEUE_LOOK, Capability.SUBSCRIPTION_LOOK),
            Source(
                "An administrator looks at a message by a get; RabbitMQ then marks the message as redelivered.",
                "rabbit_mgmt_wm_queue_get.erl",
            ),
        ),
        Capability.GET_INHIBIT: Source("RabbitMQ has no command that stops the deliveries of a queue.", _MANAGEMENT),
        Capability.PUT_INHIBIT: Source(
            "A queue of RabbitMQ refuses all messages only if its limit is zero, like a full queue.", _MANAGEMENT
        ),
        Capability.DEFAULT_PERSISTENCE: Source(
            "A message without the durable header is durable; no setting of a queue changes this.", "mc_amqp.erl"
        ),
        Capability.DELIVERY_DELAY: Source(
            "RabbitMQ 4.0 ignores a delivery time over AMQP 1.0, and does not offer DELAYED_DELIVERY.",
            "rabbit_amqp_reader.erl",
        ),
        Capability.PRIORITY: Source(
            "A queue has priorities only if it is declared with x-max-priority; an address cannot declare this.",
            "RabbitMQ 4.0 documentation, Classic Queues Support Priorities",
        ),
        Capability.SELECTOR: Source(
            "RabbitMQ 4.0 applies filters to streams only, and applies no selectors.", _SESSION
        ),
        Capability.BROWSE: Source("RabbitMQ ignores the distribution mode of a source.", _SESSION),
        Capability.TEMPORARY_DESTINATION: Source("RabbitMQ refuses dynamic sources and targets.", _SESSION),
        Capability.DURABLE_SUBSCRIPTION: Source(
            "A later link cannot open the queue of a topic's receiver again: RabbitMQ has no expiry policies.",
            _LIMITATIONS,
        ),
        Capability.SHARED_SUBSCRIPTION: Source("RabbitMQ does not offer SHARED-SUBS.", "rabbit_amqp_reader.erl"),
        Capability.LASTING_SUBSCRIPTION: Source(
            "A later link cannot open the queue of a topic's receiver again: RabbitMQ has no expiry policies.",
            _LIMITATIONS,
        ),
        Capability.ANSWERED_ACKNOWLEDGEMENT: Source(
            "RabbitMQ 4.0 ends the session of a receiver that asks for the settle mode 'second'.", _SESSION
        ),
        Capability.SUBSCRIPTION_TTL: Source("RabbitMQ ignores the timeout of a source.", _SESSION),
        Capability.LOCAL_TRANSACTION: Source("RabbitMQ does not support AMQP transactions.", _LIMITATIONS),
        Capability.CLIENT_ID: Source(
            "RabbitMQ accepts a second connection with the same container id.", "rabbit_amqp_reader.erl"
        ),
    },
)
