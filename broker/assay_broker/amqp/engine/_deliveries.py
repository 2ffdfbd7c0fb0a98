"""Deliveries, and their states at the client and the server."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import NewType

from cproton import ffi, lib

from assay_broker.amqp.conditions import Condition
from assay_broker.amqp.engine._data import data, set_condition, set_data

Delivery = NewType("Delivery", object)
"""A delivery of the engine; the object is valid until the server settles the delivery or frees the link."""


class DeliveryState(IntEnum):
    """The descriptor codes of delivery states (AMQP 1.0, 3.4, 4.5); `NONE` for a delivery without a state."""

    NONE = 0
    RECEIVED = 0x23
    ACCEPTED = 0x24
    REJECTED = 0x25
    RELEASED = 0x26
    MODIFIED = 0x27
    DECLARED = 0x33
    TRANSACTIONAL = 0x34


# These are proton's own functions, because a Python function around each would double the cost for every message.

is_partial: Callable[[Delivery], bool] = lib.pn_delivery_partial
"""Returns whether more transfers of a delivery follow."""
is_aborted: Callable[[Delivery], bool] = lib.pn_delivery_aborted
"""Returns whether the client has aborted a delivery."""
is_settled: Callable[[Delivery], bool] = lib.pn_delivery_settled
"""Returns whether the client has settled a delivery."""
is_updated: Callable[[Delivery], bool] = lib.pn_delivery_updated
"""Returns whether the client has sent a new disposition for a delivery: a state, a settlement, or both."""
state_of: Callable[[Delivery], int] = lib.pn_delivery_remote_state
"""Returns the code of the state that the client has given a delivery."""
settle: Callable[[Delivery], None] = lib.pn_delivery_settle
"""Settles a delivery on the server's side."""

_ACCEPTED = DeliveryState.ACCEPTED.value
_update = lib.pn_delivery_update


def state_fields(delivery: Delivery) -> bytes:
    """Return the encoded fields of a client's delivery state, for states whose fields proton does not decode."""
    return data(lib.pn_disposition_data(lib.pn_delivery_remote(delivery)))


def modified(delivery: Delivery) -> tuple[bool, bool, bytes]:
    """Return the fields of the client's *modified* outcome.

    Returns:
        The values of delivery-failed and undeliverable-here, and the message-annotations as an encoded map, empty for
        none.
    """
    remote = lib.pn_delivery_remote(delivery)
    annotations = data(lib.pn_disposition_annotations(remote))
    return bool(lib.pn_disposition_is_failed(remote)), bool(lib.pn_disposition_is_undeliverable(remote)), annotations


def tag_of(delivery: Delivery) -> bytes:
    """Return the tag of a delivery; empty if the sender gave none."""
    tag = lib.pn_delivery_tag(delivery)
    octets: bytes = ffi.unpack(tag.start, tag.size) if tag.size else b""
    return octets


def accept(delivery: Delivery) -> None:
    """Accept and settle a delivery."""
    _update(delivery, _ACCEPTED)
    settle(delivery)


def release(delivery: Delivery) -> None:
    """Release and settle a delivery."""
    _update(delivery, DeliveryState.RELEASED)
    settle(delivery)


def reject(delivery: Delivery, problem: Condition) -> None:
    """Reject a delivery with an error, and settle it."""
    set_condition(lib.pn_disposition_condition(lib.pn_delivery_local(delivery)), problem)
    lib.pn_delivery_update(delivery, DeliveryState.REJECTED)
    lib.pn_delivery_settle(delivery)


def set_transactional(delivery: Delivery, fields: bytes) -> None:
    """Set the transactional state of an outgoing delivery; the state is sent with the transfer (AMQP 1.0, 4.5.6).

    Args:
        delivery: The delivery.
        fields: The fields of the state, as an encoded list.
    """
    set_data(lib.pn_disposition_data(lib.pn_delivery_local(delivery)), fields)
    _update(delivery, DeliveryState.TRANSACTIONAL)


def clear_state(delivery: Delivery) -> None:
    """Remove the transactional state of a delivery that was sent, so that its settlement does not repeat the state."""
    _update(delivery, DeliveryState.NONE)


def answer(delivery: Delivery, state: DeliveryState, fields: bytes) -> None:
    """Settle a delivery from the client with a transactional state or a declared outcome (AMQP 1.0, 4.5.5, 4.5.6).

    Args:
        delivery: The delivery.
        state: `DeliveryState.DECLARED` or `DeliveryState.TRANSACTIONAL`.
        fields: The fields of the state, as an encoded list.
    """
    set_data(lib.pn_disposition_data(lib.pn_delivery_local(delivery)), fields)
    lib.pn_delivery_update(delivery, state)
    lib.pn_delivery_settle(delivery)
