"""Defects of the client with delivery modes and durable subscriptions.

The name of each module with defects begins with the name of its feature file.
"""

from __future__ import annotations

from assay_steps.defects.persistence.delivery_mode import PERSISTENCE_DELIVERY_MODE_DEFECTS
from assay_steps.defects.persistence.subscriptions import PERSISTENCE_SUBSCRIPTIONS_DEFECTS

PERSISTENCE_DEFECTS = (
    *PERSISTENCE_DELIVERY_MODE_DEFECTS,
    *PERSISTENCE_SUBSCRIPTIONS_DEFECTS,
)
