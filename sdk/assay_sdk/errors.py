"""The errors of the SDK: each kind of refusal has one class in the classic and one in the simplified face.

    JmsError
    ├── XAError
    ├── MessagingError
    │   ├── IllegalStateError
    │   ├── InvalidClientIdError
    │   ├── InvalidDestinationError
    │   ├── InvalidSelectorError
    │   ├── SecurityError
    │   ├── MessageFormatError
    │   ├── ResourceAllocationError
    │   ├── TransactionInProgressError
    │   ├── TransactionRolledBackError
    │   ├── UnsupportedError
    │   ├── ConnectionLostError
    │   └── StaleDeliveryError
    └── MessagingRuntimeError
        ├── IllegalStateRuntimeError
        ├── InvalidClientIdRuntimeError
        ├── InvalidDestinationRuntimeError
        ├── InvalidSelectorRuntimeError
        ├── SecurityRuntimeError
        ├── MessageFormatRuntimeError
        ├── ResourceAllocationRuntimeError
        ├── TransactionInProgressRuntimeError
        ├── TransactionRolledBackRuntimeError
        ├── UnsupportedRuntimeError
        ├── ConnectionLostRuntimeError
        └── StaleDeliveryRuntimeError

The classic and the MQ Light face raise `MessagingError` and its subclasses (JMS's checked exceptions).  The simplified
face raises `MessagingRuntimeError` and its subclasses (JMS's runtime exceptions).  Reason, objects and text are the
same in all faces (DD-18).  Two errors have one class for all faces:

- Calls of an XA resource raise `XAError`, as JTA has XAException.
- A received message whose body, destination or reply-to cannot be read raises `MessageFormatError`.  For the body,
  `Consumer.receive_body` of the simplified face raises `MessageFormatRuntimeError` instead.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused
from assay_sdk.model.xa import XaCode


class JmsError(Exception):
    """Base of all errors of the SDK: the client or the broker has refused a call, or the connection is lost.

    Args:
        refused: The refusal.

    Attributes:
        refused: The refusal as a value.
        kind: Kind of the refusal; each kind has an error class in each face.
        reason: IBM MQ's reason code; None if the refusal has none, or has one that `Mqrc` lacks.
        objects: Names of the objects that caused the refusal.
        text: One sentence that says what was refused, and why.
    """

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.text)
        self.refused = refused

    @property
    def kind(self) -> JmsErrorKind:
        """The kind of the refusal; each kind has an error class in each face."""
        return self.refused.kind

    @property
    def reason(self) -> Mqrc | None:
        """IBM MQ's reason code; None if the refusal has none, or if `Mqrc` lacks its number (see `refused.mqrc`)."""
        code = self.refused.mqrc
        return Mqrc(code) if code is not None and code in _KNOWN else None

    @property
    def objects(self) -> tuple[str, ...]:
        """Names of the objects that caused the refusal."""
        return self.refused.objects

    @property
    def text(self) -> str:
        """One sentence that says what was refused, and why."""
        return self.refused.text

    def __reduce__(self) -> tuple[type[JmsError], tuple[Refused]]:
        return type(self), (self.refused,)


_KNOWN = frozenset(int(code) for code in Mqrc)


class MessagingError(JmsError):
    """Base of the errors of the classic and the MQ Light face (JMS's checked exceptions)."""


class MessagingRuntimeError(JmsError, RuntimeError):
    """Base of the errors of the simplified face (JMS's runtime exceptions)."""


class XAError(JmsError):
    """The error if the resource manager refuses an XA call, or ends the branch in another way than requested."""

    @property
    def code(self) -> XaCode:
        """The return code in X/Open XA, such as XAER_NOTA; XAER_RMERR if the refusal has none."""
        return XaCode(self.refused.xa or XaCode.XAER_RMERR)


class IllegalStateError(MessagingError):
    """The error if the object is closed, or its state does not allow the call."""


class InvalidClientIdError(MessagingError):
    """The error if the client id is in use or invalid."""


class InvalidDestinationError(MessagingError):
    """The error if the destination does not exist, is invalid, or cannot be used in this way."""


class InvalidSelectorError(MessagingError):
    """The error if the message selector is invalid."""


class SecurityError(MessagingError):
    """The error if the broker refused the login, or the user lacks an authority."""


class MessageFormatError(MessagingError):
    """The error if a message's body, header or property has an invalid type or value."""


class ResourceAllocationError(MessagingError):
    """The error if a queue is full, a message is too long, or the broker lacks another resource."""


class TransactionInProgressError(MessagingError):
    """The error if the call is not allowed in a unit of work, such as `commit` in an XA session."""


class TransactionRolledBackError(MessagingError):
    """The error if the broker rolled the unit of work back instead of committing it."""


class UnsupportedError(MessagingError):
    """The error if the driver or the broker lacks a capability that the call needs."""


class ConnectionLostError(MessagingError):
    """The error if the connection is lost, or the broker cannot be reached, or has closed the consumer or producer."""


class StaleDeliveryError(MessagingError):
    """The error if the application confirms a message that came over a connection or a subscription that has ended."""


class IllegalStateRuntimeError(MessagingRuntimeError):
    """The simplified face's error if the object is closed, or its state does not allow the call."""


class InvalidClientIdRuntimeError(MessagingRuntimeError):
    """The simplified face's error if the client id is in use or invalid."""


class InvalidDestinationRuntimeError(MessagingRuntimeError):
    """The simplified face's error if the destination does not exist, is invalid, or cannot be used in this way."""


class InvalidSelectorRuntimeError(MessagingRuntimeError):
    """The simplified face's error if the message selector is invalid."""


class SecurityRuntimeError(MessagingRuntimeError):
    """The simplified face's error if the broker refused the login, or the user lacks an authority."""


class MessageFormatRuntimeError(MessagingRuntimeError):
    """The simplified face's error if a message's body, header or property has an invalid type or value."""


class ResourceAllocationRuntimeError(MessagingRuntimeError):
    """The simplified face's error if a queue is full, a message is too long, or the broker lacks another resource."""


class TransactionInProgressRuntimeError(MessagingRuntimeError):
    """The simplified face's error if the call is not allowed in a unit of work, such as `commit` in an XA session."""


class TransactionRolledBackRuntimeError(MessagingRuntimeError):
    """The simplified face's error if the broker rolled the unit of work back instead of committing it."""


class UnsupportedRuntimeError(MessagingRuntimeError):
    """The simplified face's error if the driver or the broker lacks a capability that the call needs."""


class ConnectionLostRuntimeError(MessagingRuntimeError):
    """The error of the simplified face for the cases in which the classic face raises `ConnectionLostError`."""


class StaleDeliveryRuntimeError(MessagingRuntimeError):
    """The simplified face's counterpart of `StaleDeliveryError`; no call of this face raises it."""


CHECKED: Mapping[JmsErrorKind, type[MessagingError]] = {
    JmsErrorKind.MESSAGING: MessagingError,
    JmsErrorKind.ILLEGAL_STATE: IllegalStateError,
    JmsErrorKind.INVALID_CLIENT_ID: InvalidClientIdError,
    JmsErrorKind.INVALID_DESTINATION: InvalidDestinationError,
    JmsErrorKind.INVALID_SELECTOR: InvalidSelectorError,
    JmsErrorKind.SECURITY: SecurityError,
    JmsErrorKind.MESSAGE_FORMAT: MessageFormatError,
    JmsErrorKind.RESOURCE_ALLOCATION: ResourceAllocationError,
    JmsErrorKind.TRANSACTION_IN_PROGRESS: TransactionInProgressError,
    JmsErrorKind.TRANSACTION_ROLLED_BACK: TransactionRolledBackError,
    JmsErrorKind.UNSUPPORTED: UnsupportedError,
    JmsErrorKind.CONNECTION_LOST: ConnectionLostError,
    JmsErrorKind.STALE_DELIVERY: StaleDeliveryError,
}
"""The error class of the classic and the MQ Light face for each kind of refusal."""

RUNTIME: Mapping[JmsErrorKind, type[MessagingRuntimeError]] = {
    JmsErrorKind.MESSAGING: MessagingRuntimeError,
    JmsErrorKind.ILLEGAL_STATE: IllegalStateRuntimeError,
    JmsErrorKind.INVALID_CLIENT_ID: InvalidClientIdRuntimeError,
    JmsErrorKind.INVALID_DESTINATION: InvalidDestinationRuntimeError,
    JmsErrorKind.INVALID_SELECTOR: InvalidSelectorRuntimeError,
    JmsErrorKind.SECURITY: SecurityRuntimeError,
    JmsErrorKind.MESSAGE_FORMAT: MessageFormatRuntimeError,
    JmsErrorKind.RESOURCE_ALLOCATION: ResourceAllocationRuntimeError,
    JmsErrorKind.TRANSACTION_IN_PROGRESS: TransactionInProgressRuntimeError,
    JmsErrorKind.TRANSACTION_ROLLED_BACK: TransactionRolledBackRuntimeError,
    JmsErrorKind.UNSUPPORTED: UnsupportedRuntimeError,
    JmsErrorKind.CONNECTION_LOST: ConnectionLostRuntimeError,
    JmsErrorKind.STALE_DELIVERY: StaleDeliveryRuntimeError,
}
"""The error class of the simplified face for each kind of refusal."""
