"""The table of predicates: the function that decides each kind of claim, by the predicate's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay_evidence.events import Claim, Predicate
from assay_evidence.history import History
from assay_evidence.predicates import (
    answers,
    batches,
    delivery,
    dispositions,
    faults,
    fields,
    redelivery,
    storage,
    timing,
    wholeness,
    wire,
)
from assay_evidence.verdicts import Finding

Decide = Callable[[Claim, History], Finding]

PREDICATES: Mapping[Predicate, Decide] = {
    "accepted": answers.accepted,
    "refused-with": answers.refused_with,
    "not-before": timing.not_before,
    "by": timing.by,
    "delivered-exactly": delivery.delivered_exactly,
    "delivered-at-most": delivery.delivered_at_most,
    "never-seen": delivery.never_seen,
    "delivered-at-least": delivery.delivered_at_least,
    "redelivered": redelivery.redelivered,
    "in-order": delivery.in_order,
    "equal-fields": fields.equal_fields,
    "mentions": fields.mentions,
    "in-range": fields.in_range,
    "found-by-browse": fields.found_by_browse,
    "flushed-before": storage.flushed_before,
    "batch-shape": batches.batch_shape,
    "transferred": wire.transferred,
    "disposed": dispositions.disposed,
    "one-of": answers.one_of,
    "all-or-nothing": wholeness.all_or_nothing,
    "only-sent": wholeness.only_sent,
    "comes-back": faults.comes_back,
    "queue-kept": faults.queue_kept,
    "own-check": answers.own_check,
}
