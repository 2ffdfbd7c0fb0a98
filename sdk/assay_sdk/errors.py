"""The error tree: one class for each refusal, once for each face.

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

The classic face raises the first branch (JMS's checked exceptions), the simplified face the second (its runtime ones).
Reason, objects and text are the same in both (DD-18); `CHECKED` and `RUNTIME` say which class stands for which kind.
What an XA resource answers to a transaction manager is an `XAError` in both, as JTA's XAException stands apart too.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused
from assay_sdk.model.xa import XaCode


class JmsError(Exception):
    """Whatever the SDK refuses, or passes on as refused by a broker.

    Args:
        refused: The refusal.

    Attributes:
        refused: The refusal as a value.
        kind: JMS error class, as a word.
        reason: MQRC code; None when there is none.
        objects: Names of the objects at fault.
        text: One sentence.
    """

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.text)
        self.refused = refused

    @property
    def kind(self) -> JmsErrorKind:
        """JMS error class, as a word."""
        return self.refused.kind

    @property
    def reason(self) -> Mqrc | None:
        """MQRC code; None when there is none, or none that the table knows (see `JmsError.refused`)."""
        code = self.refused.mqrc
        return Mqrc(code) if code is not None and code in _KNOWN else None

    @property
    def objects(self) -> tuple[str, ...]:
        """Names of the objects at fault."""
        return self.refused.objects

    @property
    def text(self) -> str:
        """What was refused, and why."""
        return self.refused.text

    def __reduce__(self) -> tuple[type[JmsError], tuple[Refused]]:
        return type(self), (self.refused,)


_KNOWN = frozenset(int(code) for code in Mqrc)


class MessagingError(JmsError):
    """The classic face's errors: what JMS calls checked."""


class MessagingRuntimeError(JmsError, RuntimeError):
    """The simplified face's errors: what JMS calls runtime."""


class XAError(JmsError):
    """What an XA resource answers other than "done"."""

    @property
    def code(self) -> XaCode:
        """The answer, as X/Open XA numbers it."""
        return XaCode(self.refused.xa or XaCode.XAER_RMERR)


class IllegalStateError(MessagingError):
    """It was asked at the wrong moment, or of something closed."""


class InvalidClientIdError(MessagingError):
    """The client id is in use, or is none."""


class InvalidDestinationError(MessagingError):
    """There is no such destination, or it cannot be used so."""


class InvalidSelectorError(MessagingError):
    """The selector does not parse."""


class SecurityError(MessagingError):
    """The login or an authority was refused."""


class MessageFormatError(MessagingError):
    """A body is not what its destination's type says."""


class ResourceAllocationError(MessagingError):
    """Something is full."""


class TransactionInProgressError(MessagingError):
    """A unit of work is in the way."""


class TransactionRolledBackError(MessagingError):
    """The unit of work was rolled back instead of committed."""


class UnsupportedError(MessagingError):
    """Driver or broker cannot do it; nothing was sent."""


class ConnectionLostError(MessagingError):
    """The connection is gone."""


class StaleDeliveryError(MessagingError):
    """The message came over an earlier connection: it cannot be settled any more, and may come again."""


class IllegalStateRuntimeError(MessagingRuntimeError):
    """It was asked at the wrong moment, or of something closed."""


class InvalidClientIdRuntimeError(MessagingRuntimeError):
    """The client id is in use, or is none."""


class InvalidDestinationRuntimeError(MessagingRuntimeError):
    """There is no such destination, or it cannot be used so."""


class InvalidSelectorRuntimeError(MessagingRuntimeError):
    """The selector does not parse."""


class SecurityRuntimeError(MessagingRuntimeError):
    """The login or an authority was refused."""


class MessageFormatRuntimeError(MessagingRuntimeError):
    """A body is not what its destination's type says."""


class ResourceAllocationRuntimeError(MessagingRuntimeError):
    """Something is full."""


class TransactionInProgressRuntimeError(MessagingRuntimeError):
    """A unit of work is in the way."""


class TransactionRolledBackRuntimeError(MessagingRuntimeError):
    """The unit of work was rolled back instead of committed."""


class UnsupportedRuntimeError(MessagingRuntimeError):
    """Driver or broker cannot do it; nothing was sent."""


class ConnectionLostRuntimeError(MessagingRuntimeError):
    """The connection is gone."""


class StaleDeliveryRuntimeError(MessagingRuntimeError):
    """The message came over an earlier connection: it cannot be settled any more, and may come again."""


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
"""The classic face's class for each kind."""

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
"""The simplified face's class for each kind."""
