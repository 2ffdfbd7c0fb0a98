"""Tolerated variants of the reference pair: right, and different from ours.

Each proves that the scenarios of its rules do not demand what only our broker or our client does.  A variant is a
filter at a seam, as a defect is: at the broker's (`assay_broker.variants`), between engine and driver (``wire``), or in
front of the client port (``port``).
"""

from __future__ import annotations

from collections.abc import Mapping

from assay_adapters.suggestions import unknown
from assay_broker.defects.model import by_name
from assay_broker.variants import VARIANTS as BROKER_VARIANTS
from assay_steps.variants.batches import BATCH_VARIANTS
from assay_steps.variants.checks import CHECK_VARIANTS
from assay_steps.variants.model import Variant
from assay_steps.variants.pace import PACE_VARIANTS
from assay_steps.variants.qos import QOS_VARIANTS


def all_variants() -> Mapping[str, Variant]:
    """Every variant by name, the broker's first."""
    broker = (
        Variant(
            name=variant.name,
            rules=variant.rules,
            text=variant.text,
            allowed_by=variant.allowed_by,
            broker=variant.name,
        )
        for variant in BROKER_VARIANTS.values()
    )
    return by_name((*broker, *CHECK_VARIANTS, *PACE_VARIANTS, *QOS_VARIANTS, *BATCH_VARIANTS))


def find_variant(name: str) -> Variant:
    """The variant of that name.

    Raises:
        LookupError: There is none; names the nearest.
    """
    variants = all_variants()
    if name in variants:
        return variants[name]
    raise LookupError(unknown("variant", name, variants))
