"""Defects of the client with delayed retained publications and messages in groups (DD-16, DD-17)."""

from __future__ import annotations

from assay_steps.defects.delay.undelayed import is_grouped, is_retained, sent_at_once
from assay_steps.defects.model import Defect
from assay_steps.defects.ports import twisted

DELAY_RETAINED_AND_GROUPED_DEFECTS = (
    Defect(
        name="retained-sent-at-once",
        rules=("DD-16",),
        text="The client sends a delayed retained publication without the delay.",
        port=twisted(sent_at_once(is_retained)),
    ),
    Defect(
        name="grouped-sent-at-once",
        rules=("DD-17",),
        text="The client sends a delayed message in a group without the delay.",
        port=twisted(sent_at_once(is_grouped)),
    ),
)
