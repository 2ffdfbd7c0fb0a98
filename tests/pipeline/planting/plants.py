"""The table of plants: three for each rule that has an invariant."""

from __future__ import annotations

from tests.pipeline.planting.kinds import acknowledged, batches, delays, durable, finals, queues, topics
from tests.pipeline.planting.plant import Plant

KINDS = (acknowledged, batches, delays, durable, finals, queues, topics)
PLANTS: tuple[Plant, ...] = tuple(
    sorted(
        (one for kind in KINDS for one in kind.PLANTS),
        key=lambda plant: (plant.rule, plant.name),
    )
)
"""All plants, sorted by rule."""
