"""Names that both ends write: capabilities, filters, and what stands in a link's name or in a condition's info.

AMQP 1.0 leaves them to its users.  Those of JMS are as Apache Qpid JMS writes them (``AmqpSupport``,
``AmqpSubscriptionTracker``, ``AmqpJmsSelectorFilter``), which brokers take as the reference; the reasons' are our own.
"""

from __future__ import annotations

SOLE_CONNECTION = "sole-connection-for-container"
"""Desired of an open: a client id that is in use is refused."""
OWN_UNCOMMITTED = "OWN-UNCOMMITTED"
"""Desired of an open: a receiver gets what its own session has put in a unit of work and not committed, as IBM MQ lets
an application (DD-25).  To a JMS client, which may ask for messages before it wants them, it is wrong (JMS 6.2.7)."""
DELAYED_DELIVERY = "DELAYED_DELIVERY"
ANONYMOUS_RELAY = "ANONYMOUS-RELAY"
SHARED_SUBSCRIPTIONS = "SHARED-SUBS"

CANCEL_DELAYED = "CANCEL-DELAYED"
"""Desired and offered of an open: the broker takes delayed messages back at `CANCEL_NODE`."""
CANCEL_NODE = "$cancel"
"""Target of a link each of whose messages has the id of a delayed message as its body, an amqp-value with a string.
The outcome is the answer: accepted, taken back; rejected with ``amqp:not-found``, no such message is staged."""

OPEN_FAILED = "amqp:connection-establishment-failed"
"""A property of an Open that only comes before a close with the reason."""
INVALID_FIELD = "invalid-field"
CONTAINER_ID = "container-id"
"""A close for a client id in use has this in its condition's info: ``invalid-field`` is ``container-id``."""

SELECTOR = "jms-selector"
SELECTOR_CODE = 0x468C00000004
NO_LOCAL = "no-local"
NO_LOCAL_CODE = 0x468C00000003
NO_LOCAL_VALUE = "NoLocalFilter{}"
"""Filters of a source: keys, and the registered descriptors of what stands behind them."""

SHARED = "shared"
GLOBAL = "global"
"""Capabilities of a subscription's source: shared by several receivers; belonging to no client id."""
DELIMITER = "|"
"""Parts a subscription's name from what makes its links' names unique; so no subscription may have it in its name."""
VOLATILE = "volatile"

MESSAGE_TYPE = "x-opt-jms-msg-type"
DESTINATION = "x-opt-jms-dest"
REPLY_TO = "x-opt-jms-reply-to"
DELIVERY_TIME = "x-opt-delivery-time"
"""Message annotations of the JMS mapping: what kind of message, what kinds of destinations, and when it may come."""
DELIVERY_DELAY = "x-opt-delivery-delay"
"""The same as a span from the message's arrival on; brokers know it that Qpid JMS does not speak to."""

PRIORITY = "x-opt-mq-priority"
AS_DEFINED = -1
"""Message annotation that leaves the priority to the destination (MQPRI_PRIORITY_AS_Q_DEF): a header that names none
says 4 (3.2.1), and has no other way to."""

LOCAL_TRANSACTIONS = "amqp:local-transactions"

MQRC_KEY = "x-opt-mqrc"
OBJECTS_KEY = "x-opt-mqrc-objects"
"""Keys of a condition's info: the reason code, and the names of the objects at fault (I-6)."""
DELIVERY_TAG = "delivery-tag"
"""Key of a condition's info: which message an anonymous relay could not pass on (Anonymous Terminus, 2.2.2)."""
