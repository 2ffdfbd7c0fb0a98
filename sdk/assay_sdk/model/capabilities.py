"""Capabilities: the abilities of a client, a driver or a broker that a scenario may need.

A feature names a capability in a tag (``@needs-<word>``), and reports name it by the same word.  A driver declares the
capabilities of a connection.  A call that needs an undeclared capability raises an error before the client sends
anything.
"""

from __future__ import annotations

from enum import StrEnum


class Capability(StrEnum):
    """A capability that a scenario may need of the client and the broker."""

    # capabilities of a connection
    DELIVERY_DELAY = "delivery-delay"
    TIME_TO_LIVE = "time-to-live"
    PRIORITY = "priority"
    NON_PERSISTENT = "non-persistent"
    SELECTOR = "selector"
    BROWSE = "browse"
    QUEUE = "queue"
    """The client sends to queues and receives from them; MQ Light has only topics."""
    TOPIC = "topic"
    DURABLE_SUBSCRIPTION = "durable-subscription"
    SHARED_SUBSCRIPTION = "shared-subscription"
    TEMPORARY_DESTINATION = "temporary-destination"
    SESSION = "session"
    """Consumers end with their session and their connection.  MQ Light has no sessions: its client attaches its
    subscriptions again after it has reconnected (AMQP:18)."""
    LOCAL_TRANSACTION = "local-transaction"
    XA = "xa"
    BATCH_LISTENER = "batch-listener"
    CLIENT_ID = "client-id"
    CANCEL = "cancel"
    CHECKS_OFF = "checks-off"
    RETAINED_PUBLICATION = "retained-publication"
    OWN_UNCOMMITTED = "own-uncommitted"
    """A unit of work receives its own uncommitted messages (DD-25)."""
    QUALITY_OF_SERVICE = "quality-of-service"
    """The application chooses between at most once and at least once for each send and subscription (AMQP:11-13)."""
    AUTO_CONFIRM = "auto-confirm"
    """The application can choose whether the client or the application confirms received messages (AMQP:25-28)."""
    SUBSCRIPTION_TTL = "subscription-ttl"
    """A subscription remains for a chosen time after its last receiver has disconnected (AMQP:31)."""
    LASTING_SUBSCRIPTION = "lasting-subscription"
    """A subscription with a chosen quality of service remains until the client removes it."""
    TOPIC_WILDCARD = "topic-wildcard"
    """The application can subscribe to a pattern of topics."""
    RECONNECT = "reconnect"
    """The client reconnects by itself (AMQP:18)."""
    ANSWERED_ACKNOWLEDGEMENT = "answered-acknowledgement"
    """A receiver learns when the broker has received its acknowledgement (AMQP 1.0: ``rcv-settle-mode`` second)."""
    RETURN_TO_OTHERS = "return-to-others"
    """A message that a receiver gives back can go to another receiver while the first receiver's link is open.

    AMQP 1.0, 3.4.4, leaves the choice of the receiver to the broker."""
    RELEASE = "release"
    """A client gives single messages back, and the broker itself delivers them again (AMQP 1.0: the outcomes released
    and modified)."""
    MESSAGE_ID = "message-id"
    """The sender of a message learns the message id and the timestamp that receivers see."""
    TYPED_PROPERTIES = "typed-properties"
    """The broker learns the types of properties, so a selector can compare numbers."""
    NAMELESS_CONNECTION = "nameless-connection"
    """A connection may have no client id; over AMQP 1.0 each connection has one, its container id."""
    # administration, observation and faults that an instance offers to the kit
    ADMIN = "admin"
    """An administrator changes those objects and attributes of IBM MQ for which `Capability` has no other member."""
    QUEUE_DEPTH = "queue-depth"
    """An administrator defines, clears and deletes queues, and reads how many messages they have."""
    QUEUE_LOOK = "queue-look"
    """An administrator inspects the messages of a queue, with their ids, persistence and remaining time to live."""
    QUEUE_LIMIT = "queue-limit"
    """An administrator limits the number of messages on a queue, which then refuses further ones (MAXDEPTH)."""
    MESSAGE_LIMIT = "message-limit"
    """An administrator limits the length of messages on a queue, which then refuses longer ones (MAXMSGL)."""
    PUT_INHIBIT = "put-inhibit"
    """An administrator makes a queue refuse all messages (PUT)."""
    GET_INHIBIT = "get-inhibit"
    """An administrator makes a queue refuse to deliver messages (GET)."""
    SUBSCRIPTION_LIST = "subscription-list"
    """An administrator lists the subscriptions to a topic, with the queue of each."""
    SUBSCRIPTION_LOOK = "subscription-look"
    """An administrator inspects the messages on the queue of a subscription, persistent or not."""
    DEFAULT_PERSISTENCE = "default-persistence"
    """An administrator sets the persistence of messages whose senders set none, for a queue or topic (DEFPSIST)."""
    ALIAS = "alias"
    """An administrator defines other names for queues and topics."""
    DEAD_LETTER_QUEUE = "dead-letter-queue"
    """Messages that cannot be put to their target go to a queue that an administrator chooses (DEADQ)."""
    AUTHORITY = "authority"
    """An administrator gives users authorities on a queue or topic, and takes them away."""
    NATIVE_PUT = "native-put"
    """An application puts messages through the broker's own interface instead of JMS (MQI)."""
    FACTORY_SETTINGS = "factory-settings"
    """The kit starts a broker whose objects nobody has changed since its installation."""
    STAGING_QUEUE = "staging-queue"
    FLUSH_TRACE = "flush-trace"
    DATA_FOLDER = "data-folder"
    RESTART = "restart"
    RESTART_AT_LEVEL = "restart-at-level"
    STORE_ERROR = "store-error"
    WORKER_DIES = "worker-dies"
    KILL = "kill"
    POWER_LOSS = "power-loss"
    """The kit ends the broker and discards what the broker has not flushed to its disk."""
    KILL_AT_ANSWER = "kill-at-answer"
    KILL_AT_FIRST_SIGHT = "kill-at-first-sight"
    CUT = "cut"
    BLOCK_WRITE = "block-write"
    VIRTUAL_TIME = "virtual-time"


SITUATIONAL = frozenset({Capability.NAMELESS_CONNECTION, Capability.VIRTUAL_TIME})
"""Capabilities that depend on the test's circumstances, and not on the client or the broker.

Without them, the situation of a scenario cannot arise (every AMQP connection has a client id), or would take too long
(a delay of a month).  A scenario that was not run for this reason says nothing about the client and the broker, so it
does not decide its rule."""

ADMINISTRATION = frozenset(
    {
        Capability.ADMIN,
        Capability.QUEUE_DEPTH,
        Capability.QUEUE_LOOK,
        Capability.QUEUE_LIMIT,
        Capability.MESSAGE_LIMIT,
        Capability.PUT_INHIBIT,
        Capability.GET_INHIBIT,
        Capability.SUBSCRIPTION_LIST,
        Capability.SUBSCRIPTION_LOOK,
        Capability.DEFAULT_PERSISTENCE,
        Capability.ALIAS,
        Capability.DEAD_LETTER_QUEUE,
        Capability.AUTHORITY,
        Capability.NATIVE_PUT,
    }
)
"""The capabilities of an administrator of IBM MQ and of the reference broker; other products have some of them."""
