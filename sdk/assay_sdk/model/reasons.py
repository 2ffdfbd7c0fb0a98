"""Reasons: the one table MQRC -> JMS error class -> AMQP condition (I-6).

Numbers and names are IBM MQ's (``cmqc.h``).  Client and broker read this table and nothing else, so a refusal means the
same on both sides of every wire.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum

from msgspec import Struct


class JmsErrorKind(StrEnum):
    """The error classes of JMS 2.0 (Jakarta Messaging 3.1, 10.3), as words; `MESSAGING` is the root."""

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


class Mqrc(IntEnum):
    """MQRC reason codes, as far as the documents and the protocols need them."""

    BACKED_OUT = 2003
    CONNECTION_BROKEN = 2009
    EXPIRY_ERROR = 2013
    GET_INHIBITED = 2016
    MSG_TOO_BIG_FOR_Q = 2030
    MSG_TOO_BIG_FOR_Q_MGR = 2031
    NO_MSG_AVAILABLE = 2033
    NOT_AUTHORIZED = 2035
    OBJECT_IN_USE = 2042
    OPTIONS_ERROR = 2046
    PERSISTENCE_ERROR = 2047
    PRIORITY_ERROR = 2050
    PUT_INHIBITED = 2051
    Q_DELETED = 2052
    Q_FULL = 2053
    Q_MGR_NOT_AVAILABLE = 2059
    STORAGE_NOT_AVAILABLE = 2071
    UNKNOWN_OBJECT_NAME = 2085
    RESOURCE_PROBLEM = 2102
    STORAGE_MEDIUM_FULL = 2192
    UNEXPECTED_ERROR = 2195
    CONNECTION_QUIESCING = 2202
    FUNCTION_NOT_SUPPORTED = 2298
    TOPIC_STRING_ERROR = 2425
    NO_SUBSCRIPTION = 2428
    SUBSCRIPTION_IN_USE = 2429
    IDENTITY_MISMATCH = 2434
    SUB_NAME_ERROR = 2440
    SELECTOR_SYNTAX_ERROR = 2459
    PUBLICATION_FAILURE = 2502

    @property
    def label(self) -> str:
        """IBM's name with the number, as in ``MQRC_Q_FULL (2053)``."""
        return f"MQRC_{self.name} ({self.value})"


class Reason(Struct, frozen=True):
    """One row of the table.

    Args:
        kind: The JMS error class that a client raises.
        condition: The AMQP 1.0 error condition on the wire (OASIS AMQP 1.0, 2.8.14 to 2.8.18, 4.5.8).
    """

    kind: JmsErrorKind
    condition: str


_RESOURCE_LIMIT = "amqp:resource-limit-exceeded"
_PRECONDITION = "amqp:precondition-failed"
_NOT_FOUND = "amqp:not-found"
_ILLEGAL_STATE = "amqp:illegal-state"
_INTERNAL = "amqp:internal-error"
_NOT_ALLOWED = "amqp:not-allowed"
_INVALID_FIELD = "amqp:invalid-field"

REASONS: dict[Mqrc, Reason] = {
    Mqrc.BACKED_OUT: Reason(JmsErrorKind.TRANSACTION_ROLLED_BACK, "amqp:transaction:rollback"),
    Mqrc.CONNECTION_BROKEN: Reason(JmsErrorKind.CONNECTION_LOST, "amqp:connection:forced"),
    Mqrc.EXPIRY_ERROR: Reason(JmsErrorKind.MESSAGING, _PRECONDITION),
    Mqrc.GET_INHIBITED: Reason(JmsErrorKind.MESSAGING, _NOT_ALLOWED),
    Mqrc.MSG_TOO_BIG_FOR_Q: Reason(JmsErrorKind.RESOURCE_ALLOCATION, "amqp:link:message-size-exceeded"),
    Mqrc.MSG_TOO_BIG_FOR_Q_MGR: Reason(JmsErrorKind.RESOURCE_ALLOCATION, "amqp:link:message-size-exceeded"),
    Mqrc.NO_MSG_AVAILABLE: Reason(JmsErrorKind.MESSAGING, _NOT_FOUND),
    Mqrc.NOT_AUTHORIZED: Reason(JmsErrorKind.SECURITY, "amqp:unauthorized-access"),
    Mqrc.OBJECT_IN_USE: Reason(JmsErrorKind.ILLEGAL_STATE, "amqp:resource-locked"),
    Mqrc.OPTIONS_ERROR: Reason(JmsErrorKind.MESSAGING, _NOT_ALLOWED),
    Mqrc.PERSISTENCE_ERROR: Reason(JmsErrorKind.MESSAGING, _INVALID_FIELD),
    Mqrc.PRIORITY_ERROR: Reason(JmsErrorKind.MESSAGING, _INVALID_FIELD),
    Mqrc.PUT_INHIBITED: Reason(JmsErrorKind.MESSAGING, _NOT_ALLOWED),
    Mqrc.Q_DELETED: Reason(JmsErrorKind.INVALID_DESTINATION, "amqp:resource-deleted"),
    Mqrc.Q_FULL: Reason(JmsErrorKind.RESOURCE_ALLOCATION, _RESOURCE_LIMIT),
    Mqrc.Q_MGR_NOT_AVAILABLE: Reason(JmsErrorKind.CONNECTION_LOST, "amqp:connection:forced"),
    Mqrc.STORAGE_NOT_AVAILABLE: Reason(JmsErrorKind.RESOURCE_ALLOCATION, _RESOURCE_LIMIT),
    Mqrc.UNKNOWN_OBJECT_NAME: Reason(JmsErrorKind.INVALID_DESTINATION, _NOT_FOUND),
    Mqrc.RESOURCE_PROBLEM: Reason(JmsErrorKind.RESOURCE_ALLOCATION, _RESOURCE_LIMIT),
    Mqrc.STORAGE_MEDIUM_FULL: Reason(JmsErrorKind.RESOURCE_ALLOCATION, _RESOURCE_LIMIT),
    Mqrc.UNEXPECTED_ERROR: Reason(JmsErrorKind.MESSAGING, _INTERNAL),
    Mqrc.CONNECTION_QUIESCING: Reason(JmsErrorKind.CONNECTION_LOST, "amqp:connection:forced"),
    Mqrc.FUNCTION_NOT_SUPPORTED: Reason(JmsErrorKind.MESSAGING, "amqp:not-implemented"),
    Mqrc.TOPIC_STRING_ERROR: Reason(JmsErrorKind.INVALID_DESTINATION, _INVALID_FIELD),
    Mqrc.NO_SUBSCRIPTION: Reason(JmsErrorKind.INVALID_DESTINATION, _NOT_FOUND),
    Mqrc.SUBSCRIPTION_IN_USE: Reason(JmsErrorKind.ILLEGAL_STATE, "amqp:resource-locked"),
    Mqrc.IDENTITY_MISMATCH: Reason(JmsErrorKind.MESSAGING, _ILLEGAL_STATE),
    Mqrc.SUB_NAME_ERROR: Reason(JmsErrorKind.MESSAGING, _INVALID_FIELD),
    Mqrc.SELECTOR_SYNTAX_ERROR: Reason(JmsErrorKind.INVALID_SELECTOR, _INVALID_FIELD),
    Mqrc.PUBLICATION_FAILURE: Reason(JmsErrorKind.MESSAGING, _PRECONDITION),
}


class Refused(Struct, frozen=True):
    """The peer, or a check on the way to it, said no.  A value: no exception crosses a port for the peer's fault.

    Args:
        kind: JMS error class.
        text: One sentence: what was refused and why.
        checked: Whether the face raised the checked exception; False below the faces.
        mqrc: MQRC number, where one is known.
        objects: Names of the objects at fault.
    """

    kind: JmsErrorKind
    text: str
    checked: bool = False
    mqrc: int | None = None
    objects: tuple[str, ...] = ()


def refused(mqrc: Mqrc, text: str, *objects: str) -> Refused:
    """A refusal by its reason code; the JMS error class comes from `REASONS`."""
    return Refused(kind=REASONS[mqrc].kind, text=text, mqrc=int(mqrc), objects=objects)
