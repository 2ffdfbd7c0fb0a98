"""The tolerated variants of the reference pair: correct behaviours that differ from it.

Each variant proves that the scenarios of its rules also accept correct brokers and clients that behave differently.
Like a defect, a variant is a filter: at a seam of the broker (`assay_broker.variants`), between the client's engine and
driver (``wire``), or in front of the client port (``port``).
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
    """Return every variant by its name, the broker's first."""
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
    """Return the variant with a name.

    Raises:
        LookupError: No variant has this name; the error names the most similar one.
    """
    variants = all_variants()
    if name in variants:
        return variants[name]
    raise LookupError(unknown("variant", name, variants))
