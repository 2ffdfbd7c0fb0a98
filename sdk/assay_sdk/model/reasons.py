"""The table of MQRC reason codes, with the JMS error kind and the AMQP error condition of each code.

Numbers and names are IBM MQ's (``cmqc.h``).  The client and the broker both use this table, so a refusal has the same
meaning for both.  ``docs/reasons.md`` is generated from this table.  `assay_sdk.model.command_reasons` has the codes
that only administrative commands return.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum

from msgspec import Struct


class JmsErrorKind(StrEnum):
    """Kind of an error, after the exception classes of JMS 2.0 (Jakarta Messaging 3.1, 10.3).

    `MESSAGING` stands for the base class.  The last three kinds are the SDK's own; JMS has no exception class for them.
    """

    MESSAGING = "messaging"
    ILLEGAL_STATE = "illegal-state"
    INVALID_CLIENT_ID = "invalid-client-id"
    INVALID_DESTINATION = "invalid-destination"
    INVALID_SELECTOR = "invalid-selector"
    SECURITY = "security"
    MESSAGE_FORMAT = "message-format"
    RESOURCE_ALLOCATION = "resource-allocation"
    TRANSACTION_IN_PROGRESS = "transaction-in-progress"
    TRANSACTION_ROLLED_BACK = "transaction-rolled-back"
    UNSUPPORTED = "unsupported"
    CONNECTION_LOST = "connection-lost"
    STALE_DELIVERY = "stale-delivery"


class Mqrc(IntEnum):
    """The MQRC reason codes that the rules, the protocols and the reference broker use."""

    ALIAS_BASE_Q_TYPE_ERROR = 2001
    BACKED_OUT = 2003
    CONNECTION_BROKEN = 2009
    EXPIRY_ERROR = 2013
    FEEDBACK_ERROR = 2014
    GET_INHIBITED = 2016
    SYNCPOINT_LIMIT_REACHED = 2024
    MISSING_REPLY_TO_Q = 2027
    MSG_TYPE_ERROR = 2029
    MSG_TOO_BIG_FOR_Q = 2030
    MSG_TOO_BIG_FOR_Q_MGR = 2031
    NO_MSG_AVAILABLE = 2033
    NOT_AUTHORIZED = 2035
    OBJECT_IN_USE = 2042
    OPTIONS_ERROR = 2046
    PERSISTENCE_ERROR = 2047
    PERSISTENT_NOT_ALLOWED = 2048
    PRIORITY_ERROR = 2050
    PUT_INHIBITED = 2051
    Q_DELETED = 2052
    Q_FULL = 2053
    Q_NOT_EMPTY = 2055
    Q_MGR_NAME_ERROR = 2058
    Q_MGR_NOT_AVAILABLE = 2059
    REPORT_OPTIONS_ERROR = 2061
    STORAGE_NOT_AVAILABLE = 2071
    UNKNOWN_ALIAS_BASE_Q = 2082
    UNKNOWN_OBJECT_NAME = 2085
    OBJECT_DAMAGED = 2101
    RESOURCE_PROBLEM = 2102
    UNKNOWN_REPORT_OPTION = 2104
    STORAGE_CLASS_ERROR = 2105
    STORAGE_MEDIUM_FULL = 2192
    UNEXPECTED_ERROR = 2195
    CONNECTION_QUIESCING = 2202
    MSG_TOO_BIG_FOR_CHANNEL = 2218
    MSG_SEQ_NUMBER_ERROR = 2250
    GROUP_ID_ERROR = 2258
    NO_DESTINATIONS_AVAILABLE = 2270
    FUNCTION_NOT_SUPPORTED = 2298
    OBJECT_NOT_UNIQUE = 2343
    BACKOUT_THRESHOLD_REACHED = 2362
    Q_INDEX_TYPE_ERROR = 2394
    TOPIC_STRING_ERROR = 2425
    NO_SUBSCRIPTION = 2428
    SUBSCRIPTION_IN_USE = 2429
    SUB_ALREADY_EXISTS = 2432
    IDENTITY_MISMATCH = 2434
    DURABILITY_NOT_ALLOWED = 2436
    SUB_NAME_ERROR = 2440
    SELECTOR_SYNTAX_ERROR = 2459
    PUT_NOT_RETAINED = 2479
    PUBLICATION_FAILURE = 2502
    SUB_INHIBITED = 2503
    RETAINED_NOT_DELIVERED = 2526
    CALL_INTERRUPTED = 2549
    NO_SUBS_MATCHED = 2550

    @property
    def label(self) -> str:
        """IBM MQ's name with the number, such as ``MQRC_Q_FULL (2053)``."""
        return f"MQRC_{self.name} ({self.value})"


class Reason(Struct, frozen=True):
    """The row of `REASONS` for one reason code.

    Args:
        kind: Kind of the error that a client raises.
        condition: Error condition that a broker sends over AMQP (OASIS AMQP 1.0, 2.8.14 to 2.8.18, 4.5.8).
        meaning: Meaning of the code, as a clause.
    """

    kind: JmsErrorKind
    condition: str
    meaning: str


_RESOURCE_LIMIT = "amqp:resource-limit-exceeded"
_TOO_BIG = "amqp:link:message-size-exceeded"
_LOCKED = "amqp:resource-locked"
_FORCED = "amqp:connection:forced"
_PRECONDITION = "amqp:precondition-failed"
_NOT_FOUND = "amqp:not-found"
_ILLEGAL_STATE = "amqp:illegal-state"
_INTERNAL = "amqp:internal-error"
_NOT_ALLOWED = "amqp:not-allowed"
_INVALID_FIELD = "amqp:invalid-field"

REASONS: dict[Mqrc, Reason] = {
    Mqrc.ALIAS_BASE_Q_TYPE_ERROR: Reason(
        JmsErrorKind.INVALID_DESTINATION,
        _INVALID_FIELD,
        "the target of an alias is not a local or remote queue, but for example another alias",
    ),
    Mqrc.BACKED_OUT: Reason(
        JmsErrorKind.TRANSACTION_ROLLED_BACK,
        "amqp:transaction:rollback",
        "the unit of work was backed out instead of committed",
    ),
    Mqrc.CONNECTION_BROKEN: Reason(JmsErrorKind.CONNECTION_LOST, _FORCED, "the connection is lost"),
    Mqrc.EXPIRY_ERROR: Reason(
        JmsErrorKind.MESSAGING, _PRECONDITION, "the time to live is not valid, or ends before the delivery delay"
    ),
    Mqrc.FEEDBACK_ERROR: Reason(JmsErrorKind.MESSAGING, _INVALID_FIELD, "the feedback code is not valid"),
    Mqrc.GET_INHIBITED: Reason(
        JmsErrorKind.MESSAGING, _NOT_ALLOWED, "the queue, or an alias on the way to it, is disabled for gets"
    ),
    Mqrc.SYNCPOINT_LIMIT_REACHED: Reason(
        JmsErrorKind.RESOURCE_ALLOCATION,
        _RESOURCE_LIMIT,
        "the unit of work holds as many messages as it may (MAXUMSGS)",
    ),
    Mqrc.MISSING_REPLY_TO_Q: Reason(
        JmsErrorKind.MESSAGING, _INVALID_FIELD, "the message requests a report or a reply, but has no reply-to queue"
    ),
    Mqrc.MSG_TYPE_ERROR: Reason(JmsErrorKind.MESSAGING, _INVALID_FIELD, "the message type is not valid"),
    Mqrc.MSG_TOO_BIG_FOR_Q: Reason(
        JmsErrorKind.RESOURCE_ALLOCATION, _TOO_BIG, "the message is longer than the queue takes (MAXMSGL)"
    ),
    Mqrc.MSG_TOO_BIG_FOR_Q_MGR: Reason(
        JmsErrorKind.RESOURCE_ALLOCATION, _TOO_BIG, "the message is longer than the queue manager takes (MAXMSGL)"
    ),
    Mqrc.NO_MSG_AVAILABLE: Reason(JmsErrorKind.MESSAGING, _NOT_FOUND, "no such message exists"),
    Mqrc.NOT_AUTHORIZED: Reason(JmsErrorKind.SECURITY, "amqp:unauthorized-access", "the user lacks the authority"),
    Mqrc.OBJECT_IN_USE: Reason(JmsErrorKind.ILLEGAL_STATE, _LOCKED, "another application has the object open"),
    Mqrc.OPTIONS_ERROR: Reason(
        JmsErrorKind.MESSAGING, _NOT_ALLOWED, "options exclude each other, or are not valid for the object"
    ),
    Mqrc.PERSISTENCE_ERROR: Reason(JmsErrorKind.MESSAGING, _INVALID_FIELD, "the persistence is not valid"),
    Mqrc.PERSISTENT_NOT_ALLOWED: Reason(
        JmsErrorKind.MESSAGING, _NOT_ALLOWED, "the queue takes no persistent messages, because it is temporary dynamic"
    ),
    Mqrc.PRIORITY_ERROR: Reason(JmsErrorKind.MESSAGING, _INVALID_FIELD, "the priority is not valid"),
    Mqrc.PUT_INHIBITED: Reason(
        JmsErrorKind.MESSAGING, _NOT_ALLOWED, "the queue, or an alias on the way to it, is disabled for puts"
    ),
    Mqrc.Q_DELETED: Reason(
        JmsErrorKind.INVALID_DESTINATION, "amqp:resource-deleted", "the queue was deleted after it was opened"
    ),
    Mqrc.Q_FULL: Reason(
        JmsErrorKind.RESOURCE_ALLOCATION, _RESOURCE_LIMIT, "the queue holds as many messages as it may (MAXDEPTH)"
    ),
    Mqrc.Q_NOT_EMPTY: Reason(
        JmsErrorKind.ILLEGAL_STATE, _ILLEGAL_STATE, "the queue cannot be deleted while it holds messages"
    ),
    Mqrc.Q_MGR_NAME_ERROR: Reason(JmsErrorKind.INVALID_DESTINATION, _NOT_FOUND, "no queue manager has this name"),
    Mqrc.Q_MGR_NOT_AVAILABLE: Reason(
        JmsErrorKind.CONNECTION_LOST, _FORCED, "the queue manager is not running, or cannot be reached"
    ),
    Mqrc.REPORT_OPTIONS_ERROR: Reason(
        JmsErrorKind.MESSAGING,
        _INVALID_FIELD,
        "report options exclude each other, or are unknown and must not be ignored",
    ),
    Mqrc.STORAGE_NOT_AVAILABLE: Reason(
        JmsErrorKind.RESOURCE_ALLOCATION, _RESOURCE_LIMIT, "the store could not write a message or record"
    ),
    Mqrc.UNKNOWN_ALIAS_BASE_Q: Reason(
        JmsErrorKind.INVALID_DESTINATION, _NOT_FOUND, "the target of an alias does not exist"
    ),
    Mqrc.UNKNOWN_OBJECT_NAME: Reason(JmsErrorKind.INVALID_DESTINATION, _NOT_FOUND, "no object has this name"),
    Mqrc.OBJECT_DAMAGED: Reason(JmsErrorKind.MESSAGING, _INTERNAL, "the stored object cannot be read"),
    Mqrc.RESOURCE_PROBLEM: Reason(
        JmsErrorKind.RESOURCE_ALLOCATION, _RESOURCE_LIMIT, "the queue manager lacks a resource, such as memory"
    ),
    Mqrc.UNKNOWN_REPORT_OPTION: Reason(
        JmsErrorKind.MESSAGING, _INVALID_FIELD, "a warning: the queue manager has ignored an unknown report option"
    ),
    Mqrc.STORAGE_CLASS_ERROR: Reason(
        JmsErrorKind.MESSAGING, _INTERNAL, "the queue's storage class does not exist (z/OS)"
    ),
    Mqrc.STORAGE_MEDIUM_FULL: Reason(
        JmsErrorKind.RESOURCE_ALLOCATION, _RESOURCE_LIMIT, "the disk, page set or coupling facility structure is full"
    ),
    Mqrc.UNEXPECTED_ERROR: Reason(JmsErrorKind.MESSAGING, _INTERNAL, "the queue manager failed unexpectedly"),
    Mqrc.CONNECTION_QUIESCING: Reason(
        JmsErrorKind.CONNECTION_LOST, _FORCED, "the connection or the queue manager is ending"
    ),
    Mqrc.MSG_TOO_BIG_FOR_CHANNEL: Reason(
        JmsErrorKind.RESOURCE_ALLOCATION, _TOO_BIG, "the message is longer than the connection takes"
    ),
    Mqrc.MSG_SEQ_NUMBER_ERROR: Reason(
        JmsErrorKind.MESSAGING, _INVALID_FIELD, "the sequence number in the group is not valid"
    ),
    Mqrc.GROUP_ID_ERROR: Reason(
        JmsErrorKind.MESSAGING, _INVALID_FIELD, "the group id is not valid, or is given where none is allowed"
    ),
    Mqrc.NO_DESTINATIONS_AVAILABLE: Reason(
        JmsErrorKind.INVALID_DESTINATION, _NOT_FOUND, "no instance of the cluster queue can be reached"
    ),
    Mqrc.FUNCTION_NOT_SUPPORTED: Reason(
        JmsErrorKind.MESSAGING, "amqp:not-implemented", "the queue manager's level or platform lacks the function"
    ),
    Mqrc.OBJECT_NOT_UNIQUE: Reason(
        JmsErrorKind.INVALID_DESTINATION,
        _ILLEGAL_STATE,
        "a private and a shared queue both have this name (z/OS)",
    ),
    Mqrc.BACKOUT_THRESHOLD_REACHED: Reason(
        JmsErrorKind.MESSAGING, _ILLEGAL_STATE, "the message was backed out as often as it may be (BOTHRESH)"
    ),
    Mqrc.Q_INDEX_TYPE_ERROR: Reason(
        JmsErrorKind.MESSAGING, _ILLEGAL_STATE, "the queue lacks the index that the get needs (z/OS)"
    ),
    Mqrc.TOPIC_STRING_ERROR: Reason(JmsErrorKind.INVALID_DESTINATION, _INVALID_FIELD, "the topic string is not valid"),
    Mqrc.NO_SUBSCRIPTION: Reason(JmsErrorKind.INVALID_DESTINATION, _NOT_FOUND, "no subscription has this name"),
    Mqrc.SUBSCRIPTION_IN_USE: Reason(JmsErrorKind.ILLEGAL_STATE, _LOCKED, "the subscription has a consumer"),
    Mqrc.SUB_ALREADY_EXISTS: Reason(
        JmsErrorKind.MESSAGING, _ILLEGAL_STATE, "a subscription of this name exists already"
    ),
    Mqrc.IDENTITY_MISMATCH: Reason(
        JmsErrorKind.MESSAGING, _ILLEGAL_STATE, "the subscription of this name has another identity"
    ),
    Mqrc.DURABILITY_NOT_ALLOWED: Reason(
        JmsErrorKind.MESSAGING, _NOT_ALLOWED, "the topic takes no durable subscriptions (DURSUB)"
    ),
    Mqrc.SUB_NAME_ERROR: Reason(
        JmsErrorKind.MESSAGING, _INVALID_FIELD, "the subscription's name is not valid, or is missing"
    ),
    Mqrc.SELECTOR_SYNTAX_ERROR: Reason(JmsErrorKind.INVALID_SELECTOR, _INVALID_FIELD, "the selector does not parse"),
    Mqrc.PUT_NOT_RETAINED: Reason(
        JmsErrorKind.RESOURCE_ALLOCATION,
        _PRECONDITION,
        "the publication could not be retained, and was delivered to no subscription",
    ),
    Mqrc.PUBLICATION_FAILURE: Reason(
        JmsErrorKind.MESSAGING,
        _PRECONDITION,
        "the publication did not reach all subscriptions that it must reach (PMSGDLV, NPMSGDLV)",
    ),
    Mqrc.SUB_INHIBITED: Reason(JmsErrorKind.MESSAGING, _NOT_ALLOWED, "the topic is disabled for subscriptions (SUB)"),
    Mqrc.RETAINED_NOT_DELIVERED: Reason(
        JmsErrorKind.MESSAGING,
        _PRECONDITION,
        "the new subscription's queue cannot take all retained publications of its topics",
    ),
    Mqrc.CALL_INTERRUPTED: Reason(
        JmsErrorKind.MESSAGING, _INTERNAL, "the client does not know whether the queue manager carried the call out"
    ),
    Mqrc.NO_SUBS_MATCHED: Reason(
        JmsErrorKind.MESSAGING, _NOT_FOUND, "the publication has no subscriber, and the sender requested this warning"
    ),
}


class Refused(Struct, frozen=True):
    """A refusal by the broker or by a check of the client, as a value; the faces raise it as an error.

    Args:
        kind: Kind of the error.
        text: One sentence that says what was refused, and why.
        checked: Whether the face raised a checked exception (`assay_sdk.errors.MessagingError` or a subclass).  The kit
            sets it for the journal; it is False in refusals of the SDK and the broker.
        mqrc: Number of the MQRC reason code; None if the refusal has none.
        objects: Names of the objects that caused the refusal.
        xa: Number of the return code in X/Open XA (`assay_sdk.model.xa.XaCode`); None for other refusals.
    """

    kind: JmsErrorKind
    text: str
    checked: bool = False
    mqrc: int | None = None
    objects: tuple[str, ...] = ()
    xa: int | None = None


def refused(mqrc: Mqrc, text: str, *objects: str) -> Refused:
    """Return a refusal with a reason code and the error kind of that code in `REASONS`.

    Args:
        mqrc: The reason code.
        text: One sentence that says what was refused, and why.
        objects: Names of the objects that caused the refusal.
    """
    return Refused(kind=REASONS[mqrc].kind, text=text, mqrc=int(mqrc), objects=objects)
