"""Named misbehaviours of the reference broker: each proves that the scenarios of its rules can fail.

A defect is a set of filters at the seams (`assay_broker.seams`); it overrides no code of the broker.  Each defect is
narrow, as real faults are.

The first line of the docstring of a defect's function says what the broker does wrong.  `assay defects` and
the pages of docs/rules show this line.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay_broker.defects.batch.acknowledgement import BATCH_DEFECTS
from assay_broker.defects.batch.branches import BRANCH_DEFECTS
from assay_broker.defects.batch.several_branches import SEVERAL_BRANCHES_DEFECTS
from assay_broker.defects.delay.delivery import DELIVERY_DEFECTS
from assay_broker.defects.delay.delivery_after_restart import DELIVERY_AFTER_RESTART_DEFECTS
from assay_broker.defects.delay.early import EARLY_DEFECTS
from assay_broker.defects.delay.expiry import EXPIRY_DEFECTS
from assay_broker.defects.delay.expiry_interval import EXPIRY_INTERVAL_DEFECTS
from assay_broker.defects.delay.failures.failure import FAILURE_DEFECTS
from assay_broker.defects.delay.failures.failure_publications import FAILURE_PUBLICATIONS_DEFECTS
from assay_broker.defects.delay.failures.failure_reports import FAILURE_REPORTS_DEFECTS
from assay_broker.defects.delay.failures.reports import REPORTS_DEFECTS
from assay_broker.defects.delay.fan_out import FAN_OUT_DEFECTS
from assay_broker.defects.delay.networks.clusters import CLUSTERS_DEFECTS
from assay_broker.defects.delay.networks.hierarchy import HIERARCHY_DEFECTS
from assay_broker.defects.delay.networks.shared_queues import SHARED_QUEUES_DEFECTS
from assay_broker.defects.delay.publish import PUBLISH_DEFECTS
from assay_broker.defects.delay.resolution import RESOLUTION_DEFECTS
from assay_broker.defects.delay.restart import DELAY_RESTART_DEFECTS
from assay_broker.defects.delay.sends.authority import AUTHORITY_DEFECTS
from assay_broker.defects.delay.sends.levels import LEVELS_DEFECTS
from assay_broker.defects.delay.sends.native import NATIVE_DEFECTS
from assay_broker.defects.delay.sends.refusals import REFUSALS_DEFECTS
from assay_broker.defects.delay.sends.retained_and_grouped import RETAINED_AND_GROUPED_DEFECTS
from assay_broker.defects.delay.sends.send_checks import SEND_CHECKS_DEFECTS
from assay_broker.defects.delay.sends.target_checks import TARGET_CHECKS_DEFECTS
from assay_broker.defects.delay.staging.processor import PROCESSOR_DEFECTS
from assay_broker.defects.delay.staging.processor_zos import PROCESSOR_ZOS_DEFECTS
from assay_broker.defects.delay.staging.staged_message import STAGED_MESSAGE_DEFECTS
from assay_broker.defects.delay.staging.staged_message_gets import STAGED_MESSAGE_GETS_DEFECTS
from assay_broker.defects.delay.staging.staging_queue import STAGING_QUEUE_DEFECTS
from assay_broker.defects.delay.staging.staging_queue_limits import STAGING_QUEUE_LIMITS_DEFECTS
from assay_broker.defects.delay.units import UNITS_DEFECTS
from assay_broker.defects.delay.zos import ZOS_DEFECTS
from assay_broker.defects.model import Defect, by_name
from assay_broker.defects.persistence.backlog import BACKLOG_DEFECTS
from assay_broker.defects.persistence.consumers import CONSUMER_DEFECTS
from assay_broker.defects.persistence.endings import ENDING_DEFECTS
from assay_broker.defects.persistence.lookalikes import LOOKALIKE_DEFECTS
from assay_broker.defects.persistence.neighbours import NEIGHBOUR_DEFECTS
from assay_broker.defects.persistence.plain_messages import PLAIN_MESSAGE_DEFECTS
from assay_broker.defects.persistence.queues import QUEUE_DEFECTS
from assay_broker.defects.persistence.reopening import REOPENING_DEFECTS
from assay_broker.defects.persistence.second_times import SECOND_TIME_DEFECTS
from assay_broker.defects.persistence.storage.later_restarts import LATER_RESTART_DEFECTS
from assay_broker.defects.persistence.storage.restarts import RESTART_DEFECTS
from assay_broker.defects.persistence.storage.store import STORE_DEFECTS
from assay_broker.defects.persistence.storage.store_refusals import STORE_REFUSAL_DEFECTS
from assay_broker.defects.persistence.subscribers import SUBSCRIBER_DEFECTS
from assay_broker.defects.persistence.subscriptions import SUBSCRIPTION_DEFECTS
from assay_broker.defects.persistence.units import UNIT_OF_WORK_DEFECTS
from assay_broker.defects.persistence.waiting_messages import WAITING_MESSAGE_DEFECTS
from assay_broker.defects.qos.delivering import DELIVERING_DEFECTS
from assay_broker.defects.qos.persistence import QOS_PERSISTENCE_DEFECTS
from assay_broker.defects.qos.qualities import QOS_DEFECTS
from assay_broker.defects.qos.repetition import REPETITION_DEFECTS
from assay_broker.defects.qos.returning import RETURNING_DEFECTS
from assay_broker.defects.qos.subscription_lifetime import SUBSCRIPTION_LIFETIME_DEFECTS

__all__ = ["DEFECTS", "Defect"]

DEFECTS: Mapping[str, Defect] = by_name(
    (
        *DELIVERY_DEFECTS,
        *DELIVERY_AFTER_RESTART_DEFECTS,
        *EARLY_DEFECTS,
        *EXPIRY_DEFECTS,
        *EXPIRY_INTERVAL_DEFECTS,
        *FAILURE_DEFECTS,
        *FAILURE_PUBLICATIONS_DEFECTS,
        *FAILURE_REPORTS_DEFECTS,
        *REPORTS_DEFECTS,
        *FAN_OUT_DEFECTS,
        *CLUSTERS_DEFECTS,
        *HIERARCHY_DEFECTS,
        *SHARED_QUEUES_DEFECTS,
        *PUBLISH_DEFECTS,
        *RESOLUTION_DEFECTS,
        *DELAY_RESTART_DEFECTS,
        *AUTHORITY_DEFECTS,
        *LEVELS_DEFECTS,
        *NATIVE_DEFECTS,
        *REFUSALS_DEFECTS,
        *RETAINED_AND_GROUPED_DEFECTS,
        *SEND_CHECKS_DEFECTS,
        *TARGET_CHECKS_DEFECTS,
        *PROCESSOR_DEFECTS,
        *PROCESSOR_ZOS_DEFECTS,
        *STAGED_MESSAGE_DEFECTS,
        *STAGED_MESSAGE_GETS_DEFECTS,
        *STAGING_QUEUE_DEFECTS,
        *STAGING_QUEUE_LIMITS_DEFECTS,
        *UNITS_DEFECTS,
        *ZOS_DEFECTS,
        *QUEUE_DEFECTS,
        *CONSUMER_DEFECTS,
        *WAITING_MESSAGE_DEFECTS,
        *PLAIN_MESSAGE_DEFECTS,
        *STORE_DEFECTS,
        *STORE_REFUSAL_DEFECTS,
        *SUBSCRIPTION_DEFECTS,
        *SUBSCRIBER_DEFECTS,
        *BACKLOG_DEFECTS,
        *ENDING_DEFECTS,
        *RESTART_DEFECTS,
        *LATER_RESTART_DEFECTS,
        *UNIT_OF_WORK_DEFECTS,
        *SECOND_TIME_DEFECTS,
        *NEIGHBOUR_DEFECTS,
        *LOOKALIKE_DEFECTS,
        *REOPENING_DEFECTS,
        *BATCH_DEFECTS,
        *BRANCH_DEFECTS,
        *SEVERAL_BRANCHES_DEFECTS,
        *QOS_DEFECTS,
        *REPETITION_DEFECTS,
        *RETURNING_DEFECTS,
        *DELIVERING_DEFECTS,
        *SUBSCRIPTION_LIFETIME_DEFECTS,
        *QOS_PERSISTENCE_DEFECTS,
    )
)
"""All defects by name."""
