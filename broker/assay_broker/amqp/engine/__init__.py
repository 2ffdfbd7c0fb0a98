"""Proton's engine, as the AMQP server uses it.

The only package that calls proton.  It calls the C engine through its cffi functions, because proton's Python classes
cost twenty times as much for each message.

The engine does not know a link's desired and offered capabilities, nor a source's default outcome (OASIS AMQP 1.0,
2.7.3, 3.5.3).  So the client's attach is read from its frame (`assay_broker.amqp.frames.validation`), and ours is
written by hand (`EngineLink.open`).

Nothing here raises for what a client sends.  A freed object stays a Python object whose calls do nothing.
"""

from __future__ import annotations

from assay_broker.amqp.engine._connection import Engine, Events
from assay_broker.amqp.engine._deliveries import (
    Delivery,
    DeliveryState,
    accept,
    answer,
    clear_state,
    is_aborted,
    is_partial,
    is_settled,
    is_updated,
    modified,
    reject,
    release,
    settle,
    state_fields,
    state_of,
    tag_of,
)
from assay_broker.amqp.engine._links import SHORT, EngineLink, EngineSession, SettleMode

__all__ = [
    "SHORT",
    "Delivery",
    "DeliveryState",
    "Engine",
    "EngineLink",
    "EngineSession",
    "Events",
    "SettleMode",
    "accept",
    "answer",
    "clear_state",
    "is_aborted",
    "is_partial",
    "is_settled",
    "is_updated",
    "modified",
    "reject",
    "release",
    "settle",
    "state_fields",
    "state_of",
    "tag_of",
]
