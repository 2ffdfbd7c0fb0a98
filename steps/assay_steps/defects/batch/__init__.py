"""Defects of the client with batch listeners.

The name of each module with defects begins with the name of its feature file.
"""

from __future__ import annotations

from assay_steps.defects.batch.acknowledgement import BATCH_ACKNOWLEDGEMENT_DEFECTS
from assay_steps.defects.batch.acknowledgement_calls import BATCH_ACKNOWLEDGEMENT_CALLS_DEFECTS
from assay_steps.defects.batch.acknowledgement_closed_receivers import BATCH_ACKNOWLEDGEMENT_CLOSED_RECEIVERS_DEFECTS
from assay_steps.defects.batch.acknowledgement_returned import BATCH_ACKNOWLEDGEMENT_RETURNED_DEFECTS
from assay_steps.defects.batch.acknowledgement_units import BATCH_ACKNOWLEDGEMENT_UNITS_DEFECTS
from assay_steps.defects.batch.branches import BATCH_BRANCHES_DEFECTS
from assay_steps.defects.batch.dups_ok import BATCH_DUPS_OK_DEFECTS
from assay_steps.defects.batch.listener import BATCH_LISTENER_DEFECTS
from assay_steps.defects.batch.shape import BATCH_SHAPE_DEFECTS
from assay_steps.defects.batch.single_message_rules import BATCH_SINGLE_MESSAGE_RULES_DEFECTS

BATCH_DEFECTS = (
    *BATCH_ACKNOWLEDGEMENT_DEFECTS,
    *BATCH_ACKNOWLEDGEMENT_CALLS_DEFECTS,
    *BATCH_ACKNOWLEDGEMENT_CLOSED_RECEIVERS_DEFECTS,
    *BATCH_ACKNOWLEDGEMENT_RETURNED_DEFECTS,
    *BATCH_ACKNOWLEDGEMENT_UNITS_DEFECTS,
    *BATCH_BRANCHES_DEFECTS,
    *BATCH_DUPS_OK_DEFECTS,
    *BATCH_LISTENER_DEFECTS,
    *BATCH_SHAPE_DEFECTS,
    *BATCH_SINGLE_MESSAGE_RULES_DEFECTS,
)
