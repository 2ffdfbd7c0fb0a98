"""Defects of the client with qualities of service.

The name of each module with defects begins with the name of its feature file.
"""

from __future__ import annotations

from assay_steps.defects.qos.confirmation import QOS_CONFIRMATION_DEFECTS
from assay_steps.defects.qos.confirmation_refusals import QOS_CONFIRMATION_REFUSALS_DEFECTS
from assay_steps.defects.qos.no_header import QOS_NO_HEADER_DEFECTS
from assay_steps.defects.qos.qualities import QOS_QUALITIES_DEFECTS
from assay_steps.defects.qos.receiving import QOS_RECEIVING_DEFECTS
from assay_steps.defects.qos.resending import QOS_RESENDING_DEFECTS
from assay_steps.defects.qos.sending import QOS_SENDING_DEFECTS
from assay_steps.defects.qos.subscription_lifetime import QOS_SUBSCRIPTION_LIFETIME_DEFECTS

QOS_DEFECTS = (
    *QOS_CONFIRMATION_DEFECTS,
    *QOS_CONFIRMATION_REFUSALS_DEFECTS,
    *QOS_NO_HEADER_DEFECTS,
    *QOS_QUALITIES_DEFECTS,
    *QOS_RECEIVING_DEFECTS,
    *QOS_RESENDING_DEFECTS,
    *QOS_SENDING_DEFECTS,
    *QOS_SUBSCRIPTION_LIFETIME_DEFECTS,
)
