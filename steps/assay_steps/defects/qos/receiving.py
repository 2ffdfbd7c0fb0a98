"""Defects of an MQ Light client in its subscriptions after a reconnection (QS-09)."""

from __future__ import annotations

from assay_steps.defects.model import Defect
from assay_steps.defects.qos.light_clients import attaches_again

QOS_RECEIVING_DEFECTS = (
    Defect(
        name="one-subscription-attached-again",
        rules=("QS-09", "QS-11", "QS-21"),
        text="After a reconnection, the client opens only the first of its subscriptions.",
        wire=attaches_again(lambda _command, before: before == 0),
    ),
)
