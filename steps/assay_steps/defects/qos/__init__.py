"""Defects of the client with qualities of service: sends, deliveries, lost connections, dispositions and answers."""

from __future__ import annotations

from assay_steps.defects.qos.dispositions import DISPOSITION_DEFECTS
from assay_steps.defects.qos.going_on import GOING_ON_QOS_DEFECTS
from assay_steps.defects.qos.qualities import QUALITY_DEFECTS
from assay_steps.defects.qos.returning import RETURNING_QOS_DEFECTS

QOS_DEFECTS = (
    *QUALITY_DEFECTS,
    *RETURNING_QOS_DEFECTS,
    *GOING_ON_QOS_DEFECTS,
    *DISPOSITION_DEFECTS,
)
