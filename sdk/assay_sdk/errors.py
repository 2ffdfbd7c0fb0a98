"""The errors: one class for each kind of refusal, in one version for each face.

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

The classic face raises `MessagingError` and its subclasses (JMS's checked exceptions), the simplified face
`MessagingRuntimeError` and its subclasses (JMS's runtime exceptions).  Reason, objects and text are the same in both
(DD-18).  `CHECKED` and `RUNTIME` give the class for each kind.  Calls of an XA resource raise `XAError` in both faces,
as JTA's XAException is a class of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused
from assay_sdk.model.xa import XaCode


class JmsError(Exception):
    """A refusal by the SDK, or by the broker.

    Args:
        refused: The refusal.

    Attributes:
        refused: The refusal as a value.
        kind: Kind of the error, which JMS's exception classes stand for.
        reason: MQRC code; None without one.
        objects: Names of the objects that caused the refusal.
        text: One sentence: what was refused, and why.
    """

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.text)
        self.refused = refused

    @property
    def kind(self) -> JmsErrorKind:
        """Kind of the error, which JMS's exception classes stand for."""
        return self.refused.kind

    @property
    def reason(self) -> Mqrc | None:
        """MQRC code; None without one, or for a number that `Mqrc` lacks (`JmsError.refused` has the number)."""
        code = self.refused.mqrc
        return Mqrc(code) if code is not None and code in _KNOWN else None

    @property
    def objects(self) -> tuple[str, ...]:
        """Names of the objects that caused the refusal."""
        return self.refused.objects

    @property
    def text(self) -> str:
        """One sentence: what was refused, and why."""
        return self.refused.text

    def __reduce__(self) -> tuple[type[JmsError], tuple[Refused]]:
        return type(self), (self.refused,)


_KNOWN = frozenset(int(code) for code in Mqrc)


class MessagingError(JmsError):
    """Base of the classic face's errors, JMS's checked exceptions."""


class MessagingRuntimeError(JmsError, RuntimeError):
    """Base of the simplified face's errors, JMS's runtime exceptions."""


class XAError(JmsError):
    """A negative answer of an XA resource."""

    @property
    def code(self) -> XaCode:
        """The answer's code in X/Open XA."""
        return XaCode(self.refused.xa or XaCode.XAER_RMERR)


class IllegalStateError(MessagingError):
    """The object is closed, or its state does not allow the call."""


class InvalidClientIdError(MessagingError):
    """The client id is in use or invalid."""


class InvalidDestinationError(MessagingError):
    """The destination does not exist, or does not allow the use."""


class InvalidSelectorError(MessagingError):
    """The selector is invalid."""


class SecurityError(MessagingError):
    """The login failed, or the user lacks an authority."""


class MessageFormatError(MessagingError):
    """A body or a header is not of the expected type."""


class ResourceAllocationError(MessagingError):
    """A limit or a storage is exhausted."""


class TransactionInProgressError(MessagingError):
    """A unit of work in progress forbids the call."""


class TransactionRolledBackError(MessagingError):
    """The broker rolled the unit of work back instead of committing it."""


class UnsupportedError(MessagingError):
    """The driver or the broker lacks the capability; nothing was sent."""


class ConnectionLostError(MessagingError):
    """The connection is lost."""


class StaleDeliveryError(MessagingError):
    """The message came over an earlier connection: it cannot be settled any more, and may be delivered again."""


class IllegalStateRuntimeError(MessagingRuntimeError):
    """The object is closed, or its state does not allow the call."""


class InvalidClientIdRuntimeError(MessagingRuntimeError):
    """The client id is in use or invalid."""


class InvalidDestinationRuntimeError(MessagingRuntimeError):
    """The destination does not exist, or does not allow the use."""


class InvalidSelectorRuntimeError(MessagingRuntimeError):
    """The selector is invalid."""


class SecurityRuntimeError(MessagingRuntimeError):
    """The login failed, or the user lacks an authority."""


class MessageFormatRuntimeError(MessagingRuntimeError):
    """A body or a header is not of the expected type."""


class ResourceAllocationRuntimeError(MessagingRuntimeError):
    """A limit or a storage is exhausted."""


class TransactionInProgressRuntimeError(MessagingRuntimeError):
    """A unit of work in progress forbids the call."""


class TransactionRolledBackRuntimeError(MessagingRuntimeError):
    """The broker rolled the unit of work back instead of committing it."""


class UnsupportedRuntimeError(MessagingRuntimeError):
    """The driver or the broker lacks the capability; nothing was sent."""


class ConnectionLostRuntimeError(MessagingRuntimeError):
    """The connection is lost."""


class StaleDeliveryRuntimeError(MessagingRuntimeError):
    """The message came over an earlier connection: it cannot be settled any more, and may be delivered again."""


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
"""The classic face's class for each kind of error."""

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
"""The simplified face's class for each kind of error."""
