"""Defects of the client with batch listeners: their settings, the contents of batches, and the acknowledgements."""

from __future__ import annotations

from assay_steps.defects.batch.acknowledgement import ACKNOWLEDGEMENT_DEFECTS
from assay_steps.defects.batch.answers import ANSWER_DEFECTS
from assay_steps.defects.batch.closed_receivers import CLOSED_RECEIVER_DEFECTS
from assay_steps.defects.batch.contents import CONTENT_DEFECTS
from assay_steps.defects.batch.forgotten import FORGOTTEN_DEFECTS
from assay_steps.defects.batch.listeners import LISTENER_DEFECTS
from assay_steps.defects.batch.other_sessions import OTHER_SESSION_DEFECTS
from assay_steps.defects.batch.refused_calls import REFUSED_CALL_DEFECTS
from assay_steps.defects.batch.returning import RETURNING_DEFECTS
from assay_steps.defects.batch.sessions import SESSION_DEFECTS
from assay_steps.defects.batch.stopping import STOPPING_DEFECTS

BATCH_DEFECTS = (
    *LISTENER_DEFECTS,
    *CONTENT_DEFECTS,
    *ACKNOWLEDGEMENT_DEFECTS,
    *SESSION_DEFECTS,
    *RETURNING_DEFECTS,
    *CLOSED_RECEIVER_DEFECTS,
    *FORGOTTEN_DEFECTS,
    *OTHER_SESSION_DEFECTS,
    *STOPPING_DEFECTS,
    *ANSWER_DEFECTS,
    *REFUSED_CALL_DEFECTS,
)
