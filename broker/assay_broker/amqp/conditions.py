"""The AMQP error conditions for refusals, chosen by the reason code or, without one, by the kind of error.

The info of a condition contains the reason code and the names of the objects at fault, if the refusal has them.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import frame
from assay_sdk.amqp.terms import CONTAINER_ID, DELIVERY_TAG, INVALID_FIELD, MQRC_KEY, OBJECTS_KEY
from assay_sdk.model.reasons import REASONS, JmsErrorKind, Mqrc, Refused

FORCED = "amqp:connection:forced"
STOLEN = "amqp:link:stolen"
TRANSFER_LIMIT = "amqp:link:transfer-limit-exceeded"
MESSAGE_SIZE = "amqp:link:message-size-exceeded"
UNKNOWN_TRANSACTION = "amqp:transaction:unknown-id"
ROLLED_BACK = "amqp:transaction:rollback"
DECODE_ERROR = "amqp:decode-error"
INTERNAL_ERROR = "amqp:internal-error"
NOT_FOUND = "amqp:not-found"
UNAUTHORIZED = "amqp:unauthorized-access"
NOT_IMPLEMENTED = "amqp:not-implemented"
BAD_FIELD = "amqp:invalid-field"
ILLEGAL_STATE = "amqp:illegal-state"
RESOURCE_LIMIT = "amqp:resource-limit-exceeded"
FRAME_TOO_SMALL = "amqp:frame-size-too-small"
FRAMING_ERROR = "amqp:connection:framing-error"
NOT_ALLOWED = "amqp:not-allowed"
HANDLE_IN_USE = "amqp:session:handle-in-use"
UNATTACHED_HANDLE = "amqp:session:unattached-handle"
WINDOW_VIOLATION = "amqp:session:window-violation"

_CLOSE, _ERROR = 0x18, 0x1D

_KINDS: Mapping[JmsErrorKind, str] = {
    JmsErrorKind.MESSAGING: INTERNAL_ERROR,
    JmsErrorKind.ILLEGAL_STATE: ILLEGAL_STATE,
    JmsErrorKind.INVALID_CLIENT_ID: BAD_FIELD,
    JmsErrorKind.INVALID_DESTINATION: NOT_FOUND,
    JmsErrorKind.INVALID_SELECTOR: BAD_FIELD,
    JmsErrorKind.SECURITY: UNAUTHORIZED,
    JmsErrorKind.MESSAGE_FORMAT: DECODE_ERROR,
    JmsErrorKind.RESOURCE_ALLOCATION: RESOURCE_LIMIT,
    JmsErrorKind.TRANSACTION_IN_PROGRESS: ILLEGAL_STATE,
    JmsErrorKind.TRANSACTION_ROLLED_BACK: ROLLED_BACK,
    JmsErrorKind.UNSUPPORTED: NOT_IMPLEMENTED,
    JmsErrorKind.CONNECTION_LOST: FORCED,
    JmsErrorKind.STALE_DELIVERY: ILLEGAL_STATE,
}
"""The AMQP error conditions for refusals without a reason code, by kind of error."""

_CLIENT_ID = {types.symbol(INVALID_FIELD): types.symbol(CONTAINER_ID)}
"""The info map of the error with which the server refuses a container id that is in use (sole-connection, 3.2)."""


class Condition(Struct, frozen=True):
    """An error condition (OASIS AMQP 1.0, 2.8.14).

    Args:
        name: The condition's symbol, such as ``amqp:not-found``.
        description: A text for the user.
        info: An encoded map with details; empty for no map.
    """

    name: str
    description: str
    info: bytes = b""


def condition(why: Refused, tag: bytes = b"") -> Condition:
    """Return the error condition for a refusal.

    Args:
        why: The refusal.
        tag: The tag of the refused delivery, which an error of the anonymous relay contains; empty for other errors.
    """
    info: dict[bytes, bytes] = {}
    name, text = _KINDS[why.kind], why.text
    if why.mqrc is not None:
        reason = Mqrc(why.mqrc)
        name = REASONS[reason].condition
        if reason.label not in text:
            text = f"{reason.label}: {text}"
        info[types.symbol(MQRC_KEY)] = types.integer(why.mqrc)
    if why.kind is JmsErrorKind.INVALID_CLIENT_ID:
        # The info names no objects, because the client knows its own id.
        return Condition(name, _plain(text), types.mapping(info | _CLIENT_ID))
    if why.objects:
        info[types.symbol(OBJECTS_KEY)] = types.compound(types.string(_plain(one)) for one in why.objects)
    if tag:
        info[types.symbol(DELIVERY_TAG)] = types.binary(tag)
    return Condition(name, _plain(text), types.mapping(info) if info else b"")


def _plain(text: str) -> str:
    """Return a text with lone surrogates replaced, because UTF-8 cannot encode them."""
    return text.encode(errors="replace").decode()


def encode_error(problem: Condition) -> bytes:
    """Encode a condition as an AMQP error, for a rejected outcome or a close."""
    return types.described(
        _ERROR,
        types.fields(
            (types.symbol(problem.name), types.string(problem.description), problem.info or types.null()),
        ),
    )


def close_frame(problem: Condition) -> bytes:
    """Encode a close frame with this condition as its error."""
    return frame(types.described(_CLOSE, types.fields((encode_error(problem),))))
