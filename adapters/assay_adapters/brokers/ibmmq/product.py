"""IBM MQ: its conventions, image and capabilities, from IBM's documentation and from the source of IBM's container.

The kit's authors have not checked these statements on a queue manager. Where the documentation leaves a question open,
the client requests less from the broker, and docs/how-to/test-ibm-mq.md lists the question as unverified.
"""

from __future__ import annotations

from assay_adapters.brokers.amqp.common import OF_THE_KIT, lacks_of
from assay_adapters.brokers.amqp.product import Licence, Product
from assay_adapters.brokers.ibmmq.administration import MqManagement
from assay_adapters.brokers.ibmmq.not_run import NOT_RUN
from assay_adapters.ports.client import Source
from assay_features import Profile
from assay_sdk.amqp.conventions import Conventions
from assay_sdk.driver import Login
from assay_sdk.model.capabilities import Capability

_TITLE = "IBM MQ"
_QUEUE_MANAGER = "QM1"
_ADMINISTRATOR = Login("admin", "assay-admin")
_APPLICATION = Login("app", "assay-app")
"""The login of applications. Only this machine reaches the container, so both passwords may be public.

IBM's image requires passwords of at least eight characters.
"""

_MQSC = "IBM MQ documentation, POST /admin/action/qmgr/{qmgrName}/mqsc, JSON formatted command"
_BROWSE = "IBM MQ documentation, GET /messaging/qmgr/{qmgrName}/queue/{queueName}/message"
_SUPPORT = "IBM MQ 9.2 documentation, AMQP 1.0 support"
_QUEUES = "IBM MQ 9.2 documentation, Point-to-point support on AMQP channels"
_INCOMING = "IBM MQ 9.2 documentation, Mapping AMQP fields onto IBM MQ fields (incoming messages)"
_SAMPLE = "ibm-messaging/mq-dev-patterns, amqp-qpid/README.md"
_LIGHT = "IBM MQ documentation, q123795_: quality of service of MQ Light messages"
_INTEROPERABILITY = "IBM MQ 9.2 documentation, Interoperability between IBM MQ Light and Apache Qpid JMS applications"

IBM_MQ = Product(
    name="ibmmq",
    title=_TITLE,
    images=("localhost/ibmmq-amqp:9.4.5.0",),
    source_of_images="build an image with AMQP as docs/how-to/test-ibm-mq.md says",
    licence=Licence("ASSAY_LICENSE_IBMMQ", "LICENSE"),
    not_run_here=NOT_RUN,
    login=_APPLICATION,
    # The passwords as variables are deprecated since IBM MQ 9.4.0.0 in favour of secrets, and 9.4.5.0 still reads them.
    environment={
        "MQ_QMGR_NAME": _QUEUE_MANAGER,
        "MQ_ADMIN_PASSWORD": _ADMINISTRATOR.password,
        "MQ_APP_PASSWORD": _APPLICATION.password,
    },
    conventions=Conventions(message_annotations=False, settles_second=False),
    data_folders=("/mnt/mqm",),
    management=MqManagement(queue_manager=_QUEUE_MANAGER, administrator=_ADMINISTRATOR, application=_APPLICATION),
    defines_queues=True,
    start_limit_s=300,  # the first start creates the queue manager
    profiles=(Profile.PERSISTENCE, Profile.QOS),
    capabilities={
        **{name: source for name, source in OF_THE_KIT.items() if name is not Capability.POWER_LOSS},
        Capability.ADMIN: Source("MQSC: DEFINE, ALTER, DELETE, DISPLAY of queues, topics, subscriptions.", _MQSC),
        Capability.QUEUE_DEPTH: Source("MQSC: DEFINE, CLEAR, DELETE QLOCAL; CURDEPTH.", _MQSC),
        Capability.QUEUE_LIMIT: Source("MQSC: MAXDEPTH of a queue.", _MQSC),
        Capability.MESSAGE_LIMIT: Source("MQSC: MAXMSGL of a queue.", _MQSC),
        Capability.PUT_INHIBIT: Source("MQSC: PUT(DISABLED) of a queue.", _MQSC),
        Capability.GET_INHIBIT: Source("MQSC: GET(DISABLED) of a queue.", _MQSC),
        Capability.ALIAS: Source("MQSC: DEFINE QALIAS with TARGET and TARGTYPE.", _MQSC),
        Capability.QUEUE_LOOK: Source("REST: messagelist, then each message; texts only.", _BROWSE),
        Capability.SUBSCRIPTION_LIST: Source("MQSC: DISPLAY SUB with TOPICSTR and DEST.", _MQSC),
        Capability.SUBSCRIPTION_LOOK: Source("REST: the messages of the local queue that DEST names.", _BROWSE),
        Capability.TIME_TO_LIVE: Source("The header's ttl becomes the message's Expiry.", _INCOMING),
        Capability.PRIORITY: Source("The header's priority becomes the message's Priority.", _INCOMING),
        Capability.NON_PERSISTENT: Source("The header's durable field decides the persistence.", _INCOMING),
        Capability.BROWSE: Source("A receiver with the distribution mode 'copy' browses a queue.", _SUPPORT),
        Capability.TEMPORARY_DESTINATION: Source(
            "A temporary queue is made from the model queue, and can be deleted.", _QUEUES
        ),
        Capability.TOPIC: Source("A link with the capability 'topic' publishes or subscribes.", _SUPPORT),
        Capability.DURABLE_SUBSCRIPTION: Source("Clients of Qpid JMS may subscribe durably.", _SAMPLE),
        Capability.SHARED_SUBSCRIPTION: Source(
            "Clients that give the same share name share a subscription.", _INTEROPERABILITY
        ),
        Capability.QUALITY_OF_SERVICE: Source(
            "Settled transfers mean at most once, unsettled transfers at least once.", _LIGHT
        ),
        Capability.SUBSCRIPTION_TTL: Source("A subscription's time to live begins with the last detach.", _LIGHT),
        Capability.TOPIC_WILDCARD: Source(
            "A client can subscribe to a pattern of topics.",
            "IBM MQ 9.2 documentation, AMQP clients communicating over IBM MQ",
        ),
    },
    lacks={
        **{
            capability: why
            for capability, why in lacks_of(_TITLE).items()
            if capability
            not in {
                Capability.ADMIN,
                Capability.MESSAGE_LIMIT,
                Capability.PUT_INHIBIT,
                Capability.ALIAS,
                Capability.TOPIC_WILDCARD,
            }
        },
        Capability.DELIVERY_DELAY: Source(
            "An AMQP channel offers no DELAYED_DELIVERY; IBM MQ delays messages for its own JMS client only.", _SAMPLE
        ),
        Capability.STAGING_QUEUE: Source("No client of an AMQP channel can send a message with a delay.", _SAMPLE),
        Capability.CANCEL: Source("No client of an AMQP channel can send a message with a delay.", _SAMPLE),
        Capability.WORKER_DIES: Source("No client of an AMQP channel can send a message with a delay.", _SAMPLE),
        Capability.SELECTOR: Source("An AMQP channel closes a receiver that has a selector.", _SAMPLE),
        Capability.LOCAL_TRANSACTION: Source(
            "An AMQP channel has no transactions: it refuses the coordinator with AMQXR0025E.", _SAMPLE
        ),
        Capability.OWN_UNCOMMITTED: Source("An AMQP channel has no transactions.", _SAMPLE),
        Capability.XA: Source("An AMQP channel has no transactions, and so no branches of global ones.", _SAMPLE),
        Capability.CLIENT_ID: Source(
            "A second client with the same id is accepted, and the first one is disconnected.",
            "IBM MQ 9.2 documentation, Restricting AMQP client takeover",
        ),
        Capability.LASTING_SUBSCRIPTION: Source(
            "A client cannot give its subscription an unlimited time to live; only an administrator can.",
            "developer.ibm.com, 2018-02-26: subscriptions of MQ Light clients",
        ),
        Capability.ANSWERED_ACKNOWLEDGEMENT: Source(
            "IBM's documentation does not say whether a receiver may ask for the settle mode 'second', so the kit's "
            "client does not ask for it."
        ),
        Capability.RETURN_TO_OTHERS: Source(
            "IBM's documentation does not say which receiver gets a message that another one has given back."
        ),
        Capability.RETAINED_PUBLICATION: Source(
            "IBM MQ maps no field of an AMQP message to the option to retain a publication.", _INCOMING
        ),
        Capability.DEFAULT_PERSISTENCE: Source(
            "Over AMQP a message without the durable field is not persistent, whatever DEFPSIST says.", _INCOMING
        ),
        Capability.DEAD_LETTER_QUEUE: Source(
            "The REST interface shows only text messages, so it shows no message with a dead-letter header.", _BROWSE
        ),
        Capability.AUTHORITY: Source(
            "SET AUTHREC works, but in IBM's image only the users app and admin can log in.",
            "ibm-messaging/mq-container, docs/pluggable-connauth.md",
        ),
        Capability.NATIVE_PUT: Source(
            "The kit has no client for the MQI; a put over REST has few fields and ignores DEFPSIST.",
            "IBM MQ documentation, POST /messaging/qmgr/{qmgrName}/queue/{queueName}/message",
        ),
        Capability.FACTORY_SETTINGS: Source(
            "The kit's user and the delayed publications need changes of the factory settings.",
            "docs/how-to/test-ibm-mq.md",
        ),
        Capability.POWER_LOSS: Source("The kit's authors never ran IBM MQ on the disk that can lose its power."),
        Capability.RESTART_AT_LEVEL: Source("An image has one command level, so a restart cannot migrate it."),
    },
)
