"""Proton's engine for the server's side of one connection: octets in, events out, and back.

The one package that touches proton.  It calls the C engine through its cffi functions: proton's Python classes cost
twenty times as much for each message.  What an attach says is not the engine's affair: the peer's is read from its
frame (`assay_broker.amqp.screen`), and ours is written by hand (`EngineLink.open`), because proton's engine knows
neither a link's desired and offered capabilities nor a source's default outcome (OASIS AMQP 1.0, 2.7.3, 3.5.3).

Nothing here raises for what the peer does.  What has been freed stays a Python object on which every call does nothing.
"""

from __future__ import annotations

from assay_broker.amqp.engine._connection import Engine, Events
from assay_broker.amqp.engine._data import Problem
from assay_broker.amqp.engine._deliveries import (
    Delivery,
    State,
    accept,
    answer,
    is_aborted,
    is_partial,
    is_settled,
    is_updated,
    modified,
    reject,
    settle,
    state_fields,
    state_of,
    tag_of,
)
from assay_broker.amqp.engine._links import SHORT, EngineLink, EngineSession, SettleMode

__all__ = [
    "SHORT",
    "Delivery",
    "Engine",
    "EngineLink",
    "EngineSession",
    "Events",
    "Problem",
    "SettleMode",
    "State",
    "accept",
    "answer",
    "is_aborted",
    "is_partial",
    "is_settled",
    "is_updated",
    "modified",
    "reject",
    "settle",
    "state_fields",
    "state_of",
    "tag_of",
]
