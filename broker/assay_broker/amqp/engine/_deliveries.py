"""Deliveries and their states, the client's and ours."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import NewType

from cproton import ffi, lib

from assay_broker.amqp.conditions import Condition
from assay_broker.amqp.engine._data import data, set_condition, set_data

Delivery = NewType("Delivery", object)
"""One delivery of the engine; valid until it is settled or its link is gone."""


class DeliveryState(IntEnum):
    """Descriptor codes of delivery states (3.4, 4.5); `NONE` where there is none."""

    NONE = 0
    RECEIVED = 0x23
    ACCEPTED = 0x24
    REJECTED = 0x25
    RELEASED = 0x26
    MODIFIED = 0x27
    DECLARED = 0x33
    TRANSACTIONAL = 0x34


# Proton's own functions: a Python call around each would double their cost for every message.

is_partial: Callable[[Delivery], bool] = lib.pn_delivery_partial
"""Whether more transfers follow."""
is_aborted: Callable[[Delivery], bool] = lib.pn_delivery_aborted
"""Whether the client has aborted it."""
is_settled: Callable[[Delivery], bool] = lib.pn_delivery_settled
"""Whether the client has settled it."""
is_updated: Callable[[Delivery], bool] = lib.pn_delivery_updated
"""Whether it has a new state of the client's."""
state_of: Callable[[Delivery], int] = lib.pn_delivery_remote_state
"""The code of the client's state."""
settle: Callable[[Delivery], None] = lib.pn_delivery_settle
"""Settle it on our side."""

_ACCEPTED = DeliveryState.ACCEPTED.value
_update = lib.pn_delivery_update


def state_fields(delivery: Delivery) -> bytes:
    """Return the encoded fields of the client's state, for kinds of state that proton does not know."""
    return data(lib.pn_disposition_data(lib.pn_delivery_remote(delivery)))


def modified(delivery: Delivery) -> tuple[bool, bool, bytes]:
    """Return the fields of the client's modified outcome: failed, undeliverable here, and an encoded map."""
    remote = lib.pn_delivery_remote(delivery)
    annotations = data(lib.pn_disposition_annotations(remote))
    return bool(lib.pn_disposition_is_failed(remote)), bool(lib.pn_disposition_is_undeliverable(remote)), annotations


def tag_of(delivery: Delivery) -> bytes:
    """Return its tag; empty if its sender has left it out."""
    tag = lib.pn_delivery_tag(delivery)
    octets: bytes = ffi.unpack(tag.start, tag.size) if tag.size else b""
    return octets


def accept(delivery: Delivery) -> None:
    """Accept and settle."""
    _update(delivery, _ACCEPTED)
    settle(delivery)


def release(delivery: Delivery) -> None:
    """Release and settle."""
    _update(delivery, DeliveryState.RELEASED)
    settle(delivery)


def reject(delivery: Delivery, problem: Condition) -> None:
    """Reject and settle."""
    set_condition(lib.pn_disposition_condition(lib.pn_delivery_local(delivery)), problem)
    lib.pn_delivery_update(delivery, DeliveryState.REJECTED)
    lib.pn_delivery_settle(delivery)


def set_transactional(delivery: Delivery, fields: bytes) -> None:
    """Give a delivery a transactional state, which leaves with its transfer (4.5.8).

    Args:
        delivery: The delivery.
        fields: The state's fields, an encoded list.
    """
    set_data(lib.pn_disposition_data(lib.pn_delivery_local(delivery)), fields)
    _update(delivery, DeliveryState.TRANSACTIONAL)


def clear_state(delivery: Delivery) -> None:
    """Take back the transactional state of a delivery that has left, so that its settlement does not repeat it."""
    _update(delivery, DeliveryState.NONE)


def answer(delivery: Delivery, state: DeliveryState, fields: bytes) -> None:
    """Settle with a transactional state or a declared outcome (4.5.5, 4.5.8).

    Args:
        delivery: The delivery.
        state: `DeliveryState.DECLARED` or `DeliveryState.TRANSACTIONAL`.
        fields: Its fields, an encoded list.
    """
    set_data(lib.pn_disposition_data(lib.pn_delivery_local(delivery)), fields)
    lib.pn_delivery_update(delivery, state)
    lib.pn_delivery_settle(delivery)
