"""The outcomes that a client gives deliveries, outside or inside a transaction (OASIS AMQP 1.0, 3.4 and 4.4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import cast

from msgspec import Struct

from assay_broker.amqp import engine
from assay_broker.amqp.engine import Delivery, DeliveryState
from assay_sdk.amqp import terms, types
from assay_sdk.amqp.editing import parts, with_entries
from assay_sdk.amqp.sections import MESSAGE_ANNOTATIONS, simple_entries, split
from assay_sdk.amqp.types import MAX_DEPTH, DecodeError, Described
from assay_sdk.amqp.values import skip
from assay_sdk.driver import Outcome


class Disposition(Struct, frozen=True, gc=False):
    """An outcome, with the further fields of *modified* (AMQP 1.0, 3.4.5).

    Args:
        outcome: The outcome; *modified* without delivery-failed counts as *released*.
        leave_out: Whether the message must not be sent on this link again (undeliverable-here).
        annotations: The entries to add to the message's annotations, as an encoded map; empty for none.
    """

    outcome: Outcome
    leave_out: bool = False
    annotations: bytes = b""

    @property
    def is_plain(self) -> bool:
        """Whether the outcome has no further fields."""
        return not (self.leave_out or self.annotations)


_DESCRIPTORS: Mapping[object, Outcome] = {
    int(DeliveryState.ACCEPTED): Outcome.ACCEPTED,
    int(DeliveryState.REJECTED): Outcome.REJECTED,
    int(DeliveryState.RELEASED): Outcome.RELEASED,
    "amqp:accepted:list": Outcome.ACCEPTED,
    "amqp:rejected:list": Outcome.REJECTED,
    "amqp:released:list": Outcome.RELEASED,
}
_MODIFIED_STATE = int(DeliveryState.MODIFIED)
_MODIFIED = (_MODIFIED_STATE, "amqp:modified:list")
BARE: Mapping[object, Disposition] = {code: Disposition(outcome) for code, outcome in _DESCRIPTORS.items()}
"""The outcomes without further fields, by code and by symbolic descriptor.

The links look them up here without a function call, because nearly every disposition has one of them.
"""
_NONE = (b"", types.null())
MAX_ADDED = 1_024
"""The most octets of annotations that one outcome may add to a message; a longer map is ignored as a whole."""
_REMEMBERED = 64
_KEPT = frozenset((terms.DELIVERY_TIME, terms.DELIVERY_DELAY, terms.DESTINATION, terms.REPLY_TO, terms.PRIORITY))
"""The annotations by which the sender instructs the queue manager; a receiver cannot change them."""


def outcome_of(delivery: Delivery, state: int) -> Disposition | None:
    """Return the outcome that the client has given a delivery.

    Args:
        delivery: The delivery.
        state: The code of the delivery's state.

    Returns:
        The outcome; None if the state is not an outcome, such as *received*.

    Raises:
        DecodeError: The annotations of a *modified* outcome are not valid.
    """
    if state != _MODIFIED_STATE:
        return BARE.get(state)
    failed, leave_out, annotations = engine.modified(delivery)
    return Disposition(_modified(failed=failed), leave_out, _annotations(annotations))


def described(outcome: Described | None, default: Outcome) -> Outcome:
    """Return the outcome that a decoded value means.

    Args:
        outcome: The value; None for no outcome.
        default: The result if the value is None or an unknown outcome.
    """
    if outcome is None:
        return default
    if outcome.descriptor in _MODIFIED:
        return _modified(failed=isinstance(outcome.value, list) and outcome.value[:1] == [True])
    return _DESCRIPTORS.get(outcome.descriptor, default)


def read_state(octets: bytes) -> tuple[bytes, Disposition]:
    """Read the fields of a transactional state (AMQP 1.0, 4.5.6).

    Args:
        octets: The fields, as an encoded list.

    Returns:
        The transaction's id, and the outcome; *accepted* if the state names no outcome.

    Raises:
        DecodeError: The transaction's id is missing, or the annotations of a *modified* outcome are not valid.
    """
    fields = types.decode(octets) if octets else None
    values = cast("list[object]", fields) if isinstance(fields, list) else []
    if not values or not isinstance(values[0], bytes):
        raise DecodeError("a transactional state without a transaction id")
    outcome = values[1] if len(values) > 1 else None
    if not isinstance(outcome, Described):
        return values[0], Disposition(Outcome.ACCEPTED)
    meant = described(outcome, Outcome.ACCEPTED)
    if outcome.descriptor not in _MODIFIED or not isinstance(outcome.value, list):
        return values[0], Disposition(meant)
    encoded = parts(octets)[1]
    _, leave_out, annotations, *_ = (*parts(encoded, skip(encoded, 1)), b"", b"", b"")
    return values[0], Disposition(meant, bool(leave_out) and types.decode(leave_out) is True, _annotations(annotations))


def _modified(*, failed: bool) -> Outcome:
    return Outcome.MODIFIED if failed else Outcome.RELEASED


def _annotations(encoded: bytes) -> bytes:
    """Return the annotations to add to a message, as an encoded map; empty for none, or if they are too long."""
    return b"" if encoded in _NONE or len(encoded) > MAX_ADDED else _checked(encoded)


@lru_cache(_REMEMBERED)
def _checked(encoded: bytes) -> bytes:
    """Check annotations, and return those that a receiver may change.

    The result is cached, because one disposition gives several deliveries the same annotations: the check
    takes 6 us (timeit, 2026-11-28).

    Raises:
        DecodeError: The annotations are not valid.
    """
    section = types.described(MESSAGE_ANNOTATIONS, encoded)
    (span,) = split(section)
    simple_entries(section, span, MAX_DEPTH)  # checks the annotations by the same rules as a sender's
    return with_entries(section, MESSAGE_ANNOTATIONS, {}, _KEPT, name=types.symbol)[span.value :]
