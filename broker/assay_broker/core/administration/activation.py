"""Applies and records changes of object definitions, and undoes them if the store refuses the records."""

from __future__ import annotations

from functools import partial

from assay_broker.core.delay.release import check_staging_queue
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Kind, Namespace
from assay_broker.core.records import ObjectDefined, ObjectRemoved
from assay_broker.core.state import State
from assay_broker.core.topics.administrative_subscriptions import activate_sub
from assay_broker.core.turn import Turn


def define(state: State, turn: Turn, definition: Definition) -> None:
    """Define an object, or replace its definition; queues and the delay processor use the new definition at once."""
    before = state.objects.find(definition.namespace, definition.name)
    turn.record(ObjectDefined(definition), partial(_back_to, state, definition, before))
    state.objects.put(definition)
    _take_effect(state, turn, definition.namespace, definition.name)
    if _is_staging_queue(definition):
        check_staging_queue(state, turn)


def remove(state: State, turn: Turn, definition: Definition) -> None:
    """Remove an object; the caller has checked that it is not in use."""
    turn.record(ObjectRemoved(definition.namespace, definition.name), partial(_back_to, state, definition, definition))
    state.objects.remove(definition.namespace, definition.name)
    _take_effect(state, turn, definition.namespace, definition.name)
    if _is_staging_queue(definition):
        check_staging_queue(state, turn)


def _back_to(state: State, definition: Definition, before: Definition | None, turn: Turn) -> None:
    """Undo `define` or `remove`: restore the former definition.

    Args:
        state: The queue manager.
        definition: The changed or removed object.
        before: The definition before the change; None if the object was new.
        turn: The turn that handles the store's refusal.
    """
    if before is None:
        state.objects.remove(definition.namespace, definition.name)
    else:
        state.objects.put(before)
    _take_effect(state, turn, definition.namespace, definition.name)
    turn.checks_staging_queue |= _is_staging_queue(definition)


def _is_staging_queue(definition: Definition) -> bool:
    return definition.namespace is Namespace.QUEUE and definition.name == STAGING_QUEUE


def _take_effect(state: State, turn: Turn, namespace: Namespace, name: str) -> None:
    if namespace is Namespace.SUB:
        activate_sub(state, name)
    if namespace is not Namespace.QUEUE:
        return
    definition = state.objects.queue(name)
    queue = state.queues.named(name)
    if queue is not None and definition is not None and definition.kind is Kind.QLOCAL:
        queue.definition = definition
        turn.touch(queue)
