"""Capabilities of a client, a driver or a broker.

A capability is a word in a feature's tag (``@needs-<word>``), in a driver's declaration and in a report.  A call that
needs an undeclared capability raises before anything is sent.
"""

from __future__ import annotations

from enum import StrEnum


class Capability(StrEnum):
    """Every capability that a scenario may need of the client and the broker."""

    # what a connection can do
    DELIVERY_DELAY = "delivery-delay"
    TIME_TO_LIVE = "time-to-live"
    PRIORITY = "priority"
    NON_PERSISTENT = "non-persistent"
    SELECTOR = "selector"
    BROWSE = "browse"
    QUEUE = "queue"
    """The client sends to queues and receives from them; MQ Light has topics only."""
    TOPIC = "topic"
    DURABLE_SUBSCRIPTION = "durable-subscription"
    SHARED_SUBSCRIPTION = "shared-subscription"
    TEMPORARY_DESTINATION = "temporary-destination"
    SESSION = "session"
    """Consumers end with their session and their connection.  MQ Light has no sessions: its client subscribes again
    after it has reconnected (AMQP:18)."""
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
    """Senders and receivers choose between at most once and at least once (AMQP:11-13)."""
    AUTO_CONFIRM = "auto-confirm"
    """The client confirms received messages itself, or lets the application confirm them (AMQP:25-28)."""
    SUBSCRIPTION_TTL = "subscription-ttl"
    """A subscription remains for some time after its last receiver has gone (AMQP:31)."""
    LASTING_SUBSCRIPTION = "lasting-subscription"
    """A subscription with a chosen quality of service remains until it is removed: a durable subscription, by a client
    that chooses the quality."""
    TOPIC_WILDCARD = "topic-wildcard"
    """Subscriptions to patterns of topics are possible."""
    RECONNECT = "reconnect"
    """The client reconnects by itself (AMQP:18)."""
    NAMELESS_CONNECTION = "nameless-connection"
    """A connection may have no client id; over AMQP 1.0 each connection has one, its container id."""
    # administration, observation and faults that an instance offers to the kit
    ADMIN = "admin"
    STAGING_QUEUE = "staging-queue"
    FLUSH_TRACE = "flush-trace"
    DATA_FOLDER = "data-folder"
    RESTART = "restart"
    RESTART_AT_LEVEL = "restart-at-level"
    STORE_ERROR = "store-error"
    WORKER_DIES = "worker-dies"
    KILL = "kill"
    KILL_AT_ANSWER = "kill-at-answer"
    KILL_AT_FIRST_SIGHT = "kill-at-first-sight"
    CUT = "cut"
    BLOCK_WRITE = "block-write"
    VIRTUAL_TIME = "virtual-time"


SITUATIONAL = frozenset({Capability.NAMELESS_CONNECTION, Capability.VIRTUAL_TIME})
"""Capabilities that describe the situation rather than an ability.

Without them a scenario's situation cannot arise (every AMQP connection has a client id) or would take too long to wait
for (a month).  Such a scenario says nothing about the client and the broker, so it does not decide its rule; other
scenarios try the rule."""
