"""Tolerated variants of the reference broker: each keeps its rules in another way, which the documents allow too.

They are the other half of the proof that defects begin.  A defect must be caught by the scenarios of its rules; a
variant must pass them all, so that no scenario demands what only the reference broker does.  A variant is a filter at
the seams (`assay_broker.seams`), as a defect is.  Each topic has a module.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay_broker.defects.model import by_name
from assay_broker.variants.batch import BATCH_VARIANTS
from assay_broker.variants.delay import DELAY_VARIANTS
from assay_broker.variants.model import Variant
from assay_broker.variants.persistence import PERSISTENCE_VARIANTS
from assay_broker.variants.qos import QOS_VARIANTS
from assay_broker.variants.reports import REPORT_VARIANTS
from assay_broker.variants.staging import STAGING_VARIANTS

VARIANTS: Mapping[str, Variant] = by_name(
    (*DELAY_VARIANTS, *STAGING_VARIANTS, *REPORT_VARIANTS, *PERSISTENCE_VARIANTS, *QOS_VARIANTS, *BATCH_VARIANTS)
)
"""All variants of the broker by name."""
