"""The tolerated variants of the reference broker: different behaviours that the documents also allow.

Defects and variants test the scenarios.  The scenarios of a rule must catch the rule's defects.  They must also pass
with every variant, so that no scenario demands a behaviour that only the reference broker has.  Like a defect, a
variant is a set of filters at the seams (`assay_broker.seams`).  Each module holds the variants of one topic.
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
