"""The AMQP server's interface to proton's engine.

Only this package calls proton.  It calls the cffi functions of the C engine, because proton's Python classes take many
times as long for each message; the broker `plain` of `bench/broker.py` uses these classes.

The engine does not report or write a link's desired and offered capabilities and a source's default outcome (OASIS AMQP
1.0, 2.7.3, 3.5.3).  Therefore `assay_broker.amqp.frames.validation` reads the client's attach from its frame, and
`assay_broker.amqp.frames.completion` adds the fields to the server's attach.

No call raises an exception because of a client's input.  The methods of a freed session or link do nothing.
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
