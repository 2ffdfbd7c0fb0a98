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
from assay_broker.defects.delay.authority import AUTHORITY_DEFECTS
from assay_broker.defects.delay.branches import BRANCH_OF_DELAYED_DEFECTS
from assay_broker.defects.delay.delivery import DELAY_DEFECTS
from assay_broker.defects.delay.failure import FAILURE_DEFECTS
from assay_broker.defects.delay.fan_out import FAN_OUT_DEFECTS
from assay_broker.defects.delay.networks.clusters import CLUSTER_DEFECTS
from assay_broker.defects.delay.networks.shared_queues import SHARED_QUEUE_DEFECTS
from assay_broker.defects.delay.processor import PROCESSOR_DEFECTS
from assay_broker.defects.delay.release import RELEASE_DEFECTS
from assay_broker.defects.delay.reports import REPORT_DEFECTS
from assay_broker.defects.delay.resolution import RESOLUTION_DEFECTS
from assay_broker.defects.delay.send_checks import SEND_CHECK_DEFECTS
from assay_broker.defects.delay.staging.limits import LIMIT_DEFECTS
from assay_broker.defects.delay.staging.messages import STAGED_MESSAGE_DEFECTS
from assay_broker.defects.delay.staging.places import PLACE_DEFECTS
from assay_broker.defects.delay.staging.processing import PROCESSING_DEFECTS
from assay_broker.defects.delay.staging.producers import SEVERAL_PRODUCERS_DEFECTS
from assay_broker.defects.delay.staging.queue import STAGING_QUEUE_DEFECTS
from assay_broker.defects.delay.staging.senders import SENDER_DEFECTS
from assay_broker.defects.delay.storage import STAGING_DEFECTS
from assay_broker.defects.delay.timing import TIMING_DEFECTS
from assay_broker.defects.delay.units import UNIT_DEFECTS
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
        *DELAY_DEFECTS,
        *STAGING_DEFECTS,
        *SEND_CHECK_DEFECTS,
        *UNIT_DEFECTS,
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
        *FAILURE_DEFECTS,
        *REPORT_DEFECTS,
        *STAGING_QUEUE_DEFECTS,
        *STAGED_MESSAGE_DEFECTS,
        *LIMIT_DEFECTS,
        *PLACE_DEFECTS,
        *PROCESSING_DEFECTS,
        *SENDER_DEFECTS,
        *SEVERAL_PRODUCERS_DEFECTS,
        *AUTHORITY_DEFECTS,
        *RESOLUTION_DEFECTS,
        *FAN_OUT_DEFECTS,
        *PROCESSOR_DEFECTS,
        *ZOS_DEFECTS,
        *SHARED_QUEUE_DEFECTS,
        *CLUSTER_DEFECTS,
        *BRANCH_OF_DELAYED_DEFECTS,
        *TIMING_DEFECTS,
        *RELEASE_DEFECTS,
        *QOS_DEFECTS,
        *REPETITION_DEFECTS,
        *RETURNING_DEFECTS,
        *DELIVERING_DEFECTS,
        *SUBSCRIPTION_LIFETIME_DEFECTS,
        *QOS_PERSISTENCE_DEFECTS,
    )
)
"""All defects by name."""
