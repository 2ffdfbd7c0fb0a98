"""What a client, a driver or a broker may or may not be able to do.

A capability is a word in a feature's tag (``@needs-<word>``), in a driver's declaration and in a report.  Asking for
one that is not declared raises before anything is sent.
"""

from __future__ import annotations

from enum import StrEnum


class Capability(StrEnum):
    """Everything that a scenario may ask of the pair."""

    # what a connection can do
    DELIVERY_DELAY = "delivery-delay"
    TIME_TO_LIVE = "time-to-live"
    PRIORITY = "priority"
    NON_PERSISTENT = "non-persistent"
    SELECTOR = "selector"
    BROWSE = "browse"
    QUEUE = "queue"
    """The client sends to queues and receives from them; MQ Light has topics alone."""
    TOPIC = "topic"
    DURABLE_SUBSCRIPTION = "durable-subscription"
    SHARED_SUBSCRIPTION = "shared-subscription"
    TEMPORARY_DESTINATION = "temporary-destination"
    SESSION = "session"
    """Consumers end with their session and their connection; MQ Light has no sessions, and its client subscribes again
    by itself when it is connected again (AMQP:18)."""
    LOCAL_TRANSACTION = "local-transaction"
    XA = "xa"
    BATCH_LISTENER = "batch-listener"
    CLIENT_ID = "client-id"
    CANCEL = "cancel"
    CHECKS_OFF = "checks-off"
    RETAINED_PUBLICATION = "retained-publication"
    OWN_UNCOMMITTED = "own-uncommitted"
    """A unit of work gets what it has put and not committed itself (DD-25)."""
    QUALITY_OF_SERVICE = "quality-of-service"
    """Senders and receivers choose between at most once and at least once (AMQP:11-13)."""
    AUTO_CONFIRM = "auto-confirm"
    """The client confirms what it receives by itself, or leaves that to the application (AMQP:25-28)."""
    SUBSCRIPTION_TTL = "subscription-ttl"
    """A subscription outlives its last receiver for a time (AMQP:31)."""
    TOPIC_WILDCARD = "topic-wildcard"
    """Subscriptions to patterns of topics."""
    RECONNECT = "reconnect"
    """The client connects again by itself (AMQP:18)."""
    NAMELESS_CONNECTION = "nameless-connection"
    """A connection may be without a client id; over AMQP 1.0 each has that of its container."""
    # what an instance lets the kit do to it
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
"""What a situation is made of, and no ability of anybody's: where it is missing, the situation cannot arise (no AMQP
connection is without a client id) or nobody can wait for it (a month, a millisecond).  A scenario that needs it then
says nothing of client and broker, so it does not decide its rule, which others try."""
