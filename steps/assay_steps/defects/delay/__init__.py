"""Defects of the client with delivery delay and time to live.

The name of each module with defects begins with the name of its feature file.
"""

from __future__ import annotations

from assay_steps.defects.delay.clusters import DELAY_CLUSTERS_DEFECTS
from assay_steps.defects.delay.delivery import DELAY_DELIVERY_DEFECTS
from assay_steps.defects.delay.expiry import DELAY_EXPIRY_DEFECTS
from assay_steps.defects.delay.levels import DELAY_LEVELS_DEFECTS
from assay_steps.defects.delay.refusals import DELAY_REFUSALS_DEFECTS
from assay_steps.defects.delay.refusals_and_producers import DELAY_REFUSALS_AND_PRODUCERS_DEFECTS
from assay_steps.defects.delay.retained_and_grouped import DELAY_RETAINED_AND_GROUPED_DEFECTS
from assay_steps.defects.delay.setting import DELAY_SETTING_DEFECTS
from assay_steps.defects.delay.staging_queue import DELAY_STAGING_QUEUE_DEFECTS
from assay_steps.defects.delay.units import DELAY_UNITS_DEFECTS

DELAY_DEFECTS = (
    *DELAY_CLUSTERS_DEFECTS,
    *DELAY_DELIVERY_DEFECTS,
    *DELAY_EXPIRY_DEFECTS,
    *DELAY_LEVELS_DEFECTS,
    *DELAY_REFUSALS_DEFECTS,
    *DELAY_REFUSALS_AND_PRODUCERS_DEFECTS,
    *DELAY_RETAINED_AND_GROUPED_DEFECTS,
    *DELAY_SETTING_DEFECTS,
    *DELAY_STAGING_QUEUE_DEFECTS,
    *DELAY_UNITS_DEFECTS,
)
