"""Names that both ends use: capabilities, filters, and keys of conditions and link names.

AMQP 1.0 leaves them to applications.  Those of JMS are the ones of Apache Qpid JMS (``AmqpSupport``,
``AmqpSubscriptionTracker``, ``AmqpJmsSelectorFilter``), which brokers implement; those for reason codes are our own.
"""

from __future__ import annotations

SOLE_CONNECTION = "sole-connection-for-container"
"""Desired capability of an open: the broker refuses a client id in use."""
OWN_UNCOMMITTED = "OWN-UNCOMMITTED"
"""Desired capability of an open: a receiver gets uncommitted messages of its own session's unit of work, as in IBM MQ
(DD-25).  JMS clients must not request it, because they may prefetch such messages (JMS 2.0, 6.2.7)."""
DELAYED_DELIVERY = "DELAYED_DELIVERY"
ANONYMOUS_RELAY = "ANONYMOUS-RELAY"
SHARED_SUBSCRIPTIONS = "SHARED-SUBS"

CANCEL_DELAYED = "CANCEL-DELAYED"
"""Desired and offered capability of an open: the broker cancels delayed messages at `CANCEL_NODE`."""
CANCEL_NODE = "$cancel"
"""Target of a link for cancel requests.  The body of each message is an amqp-value with a string, the id of a delayed
message.  The outcome is the answer: accepted for a cancelled message, rejected with ``amqp:not-found`` for an unknown
one."""

OPEN_FAILED = "amqp:connection-establishment-failed"
"""Property of an open that precedes a close with the reason of a refusal."""
INVALID_FIELD = "invalid-field"
CONTAINER_ID = "container-id"
"""Value of ``invalid-field`` in the info of a close for a client id in use."""

SELECTOR = "jms-selector"
SELECTOR_CODE = 0x468C00000004
NO_LOCAL = "no-local"
NO_LOCAL_CODE = 0x468C00000003
NO_LOCAL_VALUE = "NoLocalFilter{}"
"""Filters of a source: their keys and registered descriptors."""

SHARED = "shared"
GLOBAL = "global"
"""Capabilities of a subscription's source: shared by several receivers; belonging to no client id."""
DELIMITER = "|"
"""Separates a subscription's name from the part that makes its link's name unique, so no subscription name has it."""
VOLATILE = "volatile"

MESSAGE_TYPE = "x-opt-jms-msg-type"
DESTINATION = "x-opt-jms-dest"
REPLY_TO = "x-opt-jms-reply-to"
DELIVERY_TIME = "x-opt-delivery-time"
"""Message annotations of the JMS mapping: kind of message, kinds of destinations, and delivery time."""
DELIVERY_DELAY = "x-opt-delivery-delay"
"""Annotation with the delay from the message's arrival; some brokers know only this one."""

PRIORITY = "x-opt-mq-priority"
AS_DEFINED = -1
"""Message annotation that leaves the priority to the destination (MQPRI_PRIORITY_AS_Q_DEF); a header without a priority
means 4 (3.2.1)."""

LOCAL_TRANSACTIONS = "amqp:local-transactions"

MQRC_KEY = "x-opt-mqrc"
OBJECTS_KEY = "x-opt-mqrc-objects"
"""Keys of a condition's info: the reason code, and the names of the objects that caused the refusal."""
DELIVERY_TAG = "delivery-tag"
"""Key of a condition's info: the message that an anonymous relay could not forward (Anonymous Terminus, 2.2.2)."""
