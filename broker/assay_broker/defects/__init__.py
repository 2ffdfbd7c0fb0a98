"""Named misbehaviours of the reference broker: each proves that the scenarios of its rules can fail.

A defect is a set of filters at the seams (`assay_broker.seams`); it overrides no code of the broker.  Each defect is
narrow, as real faults are.

The first line of the docstring of a defect's function says what the broker does wrong.  `assay defects` and
the pages of docs/rules show this line.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay_broker.defects.batch.acknowledgement import BATCH_DEFECTS
from assay_broker.defects.batch.branches import BRANCHES_DEFECTS
from assay_broker.defects.batch.branches_in_doubt import BRANCHES_IN_DOUBT_DEFECTS
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
from assay_broker.defects.model import Defect, by_name, rarely
from assay_broker.defects.persistence.delivery_mode import PERSISTENCE_DELIVERY_MODE_DEFECTS
from assay_broker.defects.persistence.matrix_queue import PERSISTENCE_MATRIX_QUEUE_DEFECTS
from assay_broker.defects.persistence.matrix_queue_storage import PERSISTENCE_MATRIX_QUEUE_STORAGE_DEFECTS
from assay_broker.defects.persistence.matrix_queue_waiting import PERSISTENCE_MATRIX_QUEUE_WAITING_DEFECTS
from assay_broker.defects.persistence.matrix_topic import PERSISTENCE_MATRIX_TOPIC_DEFECTS
from assay_broker.defects.persistence.matrix_topic_restarts import PERSISTENCE_MATRIX_TOPIC_RESTARTS_DEFECTS
from assay_broker.defects.persistence.subscriptions import PERSISTENCE_SUBSCRIPTIONS_DEFECTS
from assay_broker.defects.persistence.subscriptions_durable import PERSISTENCE_SUBSCRIPTIONS_DURABLE_DEFECTS
from assay_broker.defects.persistence.subscriptions_identity import PERSISTENCE_SUBSCRIPTIONS_IDENTITY_DEFECTS
from assay_broker.defects.persistence.subscriptions_queues import PERSISTENCE_SUBSCRIPTIONS_QUEUES_DEFECTS
from assay_broker.defects.qos.confirmation import QOS_CONFIRMATION_DEFECTS
from assay_broker.defects.qos.persistence import QOS_PERSISTENCE_DEFECTS
from assay_broker.defects.qos.receiving import QOS_RECEIVING_DEFECTS
from assay_broker.defects.qos.receiving_unsettled import QOS_RECEIVING_UNSETTLED_DEFECTS
from assay_broker.defects.qos.sending import QOS_SENDING_DEFECTS
from assay_broker.defects.qos.subscription_lifetime import QOS_SUBSCRIPTION_LIFETIME_DEFECTS
from assay_broker.defects.qos.subscription_lifetime_ends import QOS_SUBSCRIPTION_LIFETIME_ENDS_DEFECTS

__all__ = ["DEFECTS", "SWITCHES", "Defect"]

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
        *BATCH_DEFECTS,
        *BRANCHES_DEFECTS,
        *BRANCHES_IN_DOUBT_DEFECTS,
        *PERSISTENCE_DELIVERY_MODE_DEFECTS,
        *PERSISTENCE_MATRIX_QUEUE_DEFECTS,
        *PERSISTENCE_MATRIX_QUEUE_STORAGE_DEFECTS,
        *PERSISTENCE_MATRIX_QUEUE_WAITING_DEFECTS,
        *PERSISTENCE_MATRIX_TOPIC_DEFECTS,
        *PERSISTENCE_MATRIX_TOPIC_RESTARTS_DEFECTS,
        *PERSISTENCE_SUBSCRIPTIONS_DEFECTS,
        *PERSISTENCE_SUBSCRIPTIONS_DURABLE_DEFECTS,
        *PERSISTENCE_SUBSCRIPTIONS_IDENTITY_DEFECTS,
        *PERSISTENCE_SUBSCRIPTIONS_QUEUES_DEFECTS,
        *QOS_CONFIRMATION_DEFECTS,
        *QOS_PERSISTENCE_DEFECTS,
        *QOS_RECEIVING_DEFECTS,
        *QOS_RECEIVING_UNSETTLED_DEFECTS,
        *QOS_SENDING_DEFECTS,
        *QOS_SUBSCRIPTION_LIFETIME_DEFECTS,
        *QOS_SUBSCRIPTION_LIFETIME_ENDS_DEFECTS,
    )
)
"""All defects by name."""


def _rare(name: str, every: int) -> Defect:
    """Return a form of a defect that shows only once in many cases, so only `assay soak` finds it.

    Args:
        name: The name of the defect in `DEFECTS`.
        every: The number of cases of which one shows the defect.
    """
    often = DEFECTS[name]
    return Defect(
        name=f"{name}-once-in-{every}",
        rules=often.rules,
        text=f"{often.text} It does so once in {every} cases.",
        apply=lambda: rarely(often.apply(), every),
    )


SWITCHES: Mapping[str, Defect] = by_name(
    (*DEFECTS.values(), _rare("early-delivery", 1_000), _rare("early-delivery", 10_000))
)
"""All defects that a server can have, by name: `DEFECTS`, and rare forms of them that no scenario finds."""
