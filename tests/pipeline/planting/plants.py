"""The table of plants: three for each rule that has an invariant."""

from __future__ import annotations

from tests.pipeline.planting.kinds import batches, delays, durable, queues, topics
from tests.pipeline.planting.plant import Plant

PLANTS: tuple[Plant, ...] = tuple(
    sorted(
        (*delays.PLANTS, *durable.PLANTS, *topics.PLANTS, *queues.PLANTS, *batches.PLANTS),
        key=lambda plant: (plant.rule, plant.name),
    )
)
"""All plants, sorted by rule."""
