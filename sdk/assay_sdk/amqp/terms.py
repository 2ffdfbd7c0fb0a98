"""Names that AMQP 1.0 leaves to applications: capabilities, filters, annotations, and keys of error conditions.

Most names are those of Apache Qpid JMS (``AmqpSupport``, ``AmqpSubscriptionTracker``, ``AmqpJmsSelectorFilter``), which
JMS brokers implement.  Names for reason codes, cancelling and IBM MQ's behaviour are the kit's own.
"""

from __future__ import annotations

SOLE_CONNECTION = "sole-connection-for-container"
"""Desired capability of an open: the broker refuses a client id that another connection uses."""
OWN_UNCOMMITTED = "OWN-UNCOMMITTED"
"""Desired capability of an open: a receiver gets uncommitted messages of its own session's unit of work, as in IBM MQ
(DD-25).  JMS clients must not request it, because they may prefetch such messages (JMS 2.0, 6.2.7)."""
DELAYED_DELIVERY = "DELAYED_DELIVERY"
ANONYMOUS_RELAY = "ANONYMOUS-RELAY"
SHARED_SUBSCRIPTIONS = "SHARED-SUBS"

CANCEL_DELAYED = "CANCEL-DELAYED"
"""Desired and offered capability of an open: the broker cancels delayed messages at `CANCEL_NODE`."""
CANCEL_NODE = "$cancel"
"""Target of a link for cancel requests.  The body of each request is an amqp-value with a string: the id of a delayed
message.  The outcome is accepted if the broker has cancelled the message, and rejected with ``amqp:not-found`` if the
broker has no such message."""

OPEN_FAILED = "amqp:connection-establishment-failed"
"""Property of an open with which a broker announces that it refuses the connection; the next close has the reason."""
INVALID_FIELD = "invalid-field"
CONTAINER_ID = "container-id"
"""Value of ``invalid-field`` in the info of a close: the broker refuses the client id."""

SELECTOR = "jms-selector"
SELECTOR_CODE = 0x468C00000004
NO_LOCAL = "no-local"
NO_LOCAL_CODE = 0x468C00000003
NO_LOCAL_VALUE = "NoLocalFilter{}"
"""Keys and registered descriptors of a source's filters, and the value of the no-local filter."""

SHARED = "shared"
GLOBAL = "global"
"""Capabilities of a subscription's source.

``shared``: several receivers share the subscription.  ``global``: the subscription belongs to no client id."""
DELIMITER = "|"
"""Separates the name of a subscription from the suffix that makes the name of its link unique.  No subscription's name
contains it."""
VOLATILE = "volatile"

MESSAGE_TYPE = "x-opt-jms-msg-type"
DESTINATION = "x-opt-jms-dest"
REPLY_TO = "x-opt-jms-reply-to"
DELIVERY_TIME = "x-opt-delivery-time"
"""Message annotations of the JMS mapping: type of the message, kinds of its destinations, and delivery time."""
DELIVERY_DELAY = "x-opt-delivery-delay"
"""Message annotation with the delay from the message's arrival, in milliseconds; some brokers support only this."""

PRIORITY = "x-opt-mq-priority"
AS_DEFINED = -1
"""Message annotation, and its value for the destination's default priority (MQPRI_PRIORITY_AS_Q_DEF).  The annotation
is necessary, because a header without a priority means priority 4 (AMQP 1.0, 3.2.1)."""

LOCAL_TRANSACTIONS = "amqp:local-transactions"

MQRC_KEY = "x-opt-mqrc"
OBJECTS_KEY = "x-opt-mqrc-objects"
"""Keys of an error condition's info: the reason code, and the names of the objects that caused the refusal."""
DELIVERY_TAG = "delivery-tag"
"""Key of an error condition's info: delivery tag of the message that an anonymous relay could not forward (Anonymous
Terminus, 2.2.2)."""
