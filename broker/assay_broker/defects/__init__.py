"""Named misbehaviours of the reference broker: each proves that the scenarios of its rules can fail.

A defect is a filter at the seams (`assay_broker.seams`), never an override; it is narrow, as real faults are.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay_broker.defects.authority import AUTHORITY_DEFECTS
from assay_broker.defects.backlog import BACKLOG_DEFECTS
from assay_broker.defects.batch import BATCH_DEFECTS
from assay_broker.defects.branches import BRANCH_DEFECTS
from assay_broker.defects.branches_again import BRANCH_AGAIN_DEFECTS
from assay_broker.defects.checks import CHECK_DEFECTS
from assay_broker.defects.consumers import CONSUMER_DEFECTS
from assay_broker.defects.corners import CORNER_DEFECTS
from assay_broker.defects.corners_of_release import CORNER_RELEASE_DEFECTS
from assay_broker.defects.corners_of_staging import CORNER_STAGING_DEFECTS
from assay_broker.defects.delay import DELAY_DEFECTS
from assay_broker.defects.failures import FAILURE_DEFECTS
from assay_broker.defects.fan_out import FAN_OUT_DEFECTS
from assay_broker.defects.keeping import KEEPING_DEFECTS
from assay_broker.defects.members import MEMBER_DEFECTS
from assay_broker.defects.model import Defect, by_name
from assay_broker.defects.processor import PROCESSOR_DEFECTS
from assay_broker.defects.qos import QOS_DEFECTS
from assay_broker.defects.qos_again import QOS_AGAIN_DEFECTS
from assay_broker.defects.qos_lasting import LASTING_DEFECTS
from assay_broker.defects.qos_persistence import QOS_PERSISTENCE_DEFECTS
from assay_broker.defects.queues import QUEUE_DEFECTS
from assay_broker.defects.reporting import REPORTING_DEFECTS
from assay_broker.defects.resolving import RESOLVING_DEFECTS
from assay_broker.defects.staged import STAGED_DEFECTS
from assay_broker.defects.staging import STAGING_DEFECTS
from assay_broker.defects.staging_queue import STAGING_QUEUE_DEFECTS
from assay_broker.defects.storing import STORING_DEFECTS
from assay_broker.defects.subscribers import SUBSCRIBER_DEFECTS
from assay_broker.defects.subscriptions import SUBSCRIPTION_DEFECTS
from assay_broker.defects.uncommitted import UNCOMMITTED_DEFECTS
from assay_broker.defects.units import UNIT_DEFECTS
from assay_broker.defects.zos import ZOS_DEFECTS

__all__ = ["DEFECTS", "Defect"]

DEFECTS: Mapping[str, Defect] = by_name(
    (
        *DELAY_DEFECTS,
        *STAGING_DEFECTS,
        *CHECK_DEFECTS,
        *UNIT_DEFECTS,
        *UNCOMMITTED_DEFECTS,
        *QUEUE_DEFECTS,
        *CONSUMER_DEFECTS,
        *KEEPING_DEFECTS,
        *STORING_DEFECTS,
        *SUBSCRIPTION_DEFECTS,
        *SUBSCRIBER_DEFECTS,
        *BACKLOG_DEFECTS,
        *BATCH_DEFECTS,
        *BRANCH_DEFECTS,
        *BRANCH_AGAIN_DEFECTS,
        *FAILURE_DEFECTS,
        *REPORTING_DEFECTS,
        *STAGING_QUEUE_DEFECTS,
        *STAGED_DEFECTS,
        *AUTHORITY_DEFECTS,
        *RESOLVING_DEFECTS,
        *FAN_OUT_DEFECTS,
        *PROCESSOR_DEFECTS,
        *ZOS_DEFECTS,
        *MEMBER_DEFECTS,
        *CORNER_DEFECTS,
        *CORNER_STAGING_DEFECTS,
        *CORNER_RELEASE_DEFECTS,
        *QOS_DEFECTS,
        *QOS_AGAIN_DEFECTS,
        *LASTING_DEFECTS,
        *QOS_PERSISTENCE_DEFECTS,
    )
)
"""All defects by name."""
