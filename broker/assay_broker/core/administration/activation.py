"""How a changed object takes effect, and how that is undone."""

from __future__ import annotations

from functools import partial

from assay_broker.core.delay.release import look
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Kind, Namespace
from assay_broker.core.records import ObjectDefined, ObjectRemoved
from assay_broker.core.state import State
from assay_broker.core.topics.administrative_subscriptions import take_up
from assay_broker.core.turn import Turn


def define(state: State, turn: Turn, definition: Definition) -> None:
    """An object is what it is from now on; queues and the delivery delay processor see it at once."""
    before = state.objects.find(definition.namespace, definition.name)
    turn.record(ObjectDefined(definition), partial(_back_to, state, definition, before))
    state.objects.put(definition)
    _take_effect(state, turn, definition.namespace, definition.name)
    if _is_staging_queue(definition):
        look(state, turn)


def remove(state: State, turn: Turn, definition: Definition) -> None:
    """An object is gone; what of it was in use is the caller's to refuse before."""
    turn.record(ObjectRemoved(definition.namespace, definition.name), partial(_back_to, state, definition, definition))
    state.objects.remove(definition.namespace, definition.name)
    _take_effect(state, turn, definition.namespace, definition.name)
    if _is_staging_queue(definition):
        look(state, turn)


def _back_to(state: State, definition: Definition, before: Definition | None, turn: Turn) -> None:
    """Undo `define` and `remove`."""
    if before is None:
        state.objects.remove(definition.namespace, definition.name)
    else:
        state.objects.put(before)
    _take_effect(state, turn, definition.namespace, definition.name)
    turn.looks |= _is_staging_queue(definition)


def _is_staging_queue(definition: Definition) -> bool:
    return definition.namespace is Namespace.QUEUE and definition.name == STAGING_QUEUE


def _take_effect(state: State, turn: Turn, namespace: Namespace, name: str) -> None:
    if namespace is Namespace.SUB:
        take_up(state, name)
    if namespace is not Namespace.QUEUE:
        return
    definition = state.objects.queue(name)
    queue = state.queues.named(name)
    if queue is not None and definition is not None and definition.kind is Kind.QLOCAL:
        queue.definition = definition
        turn.touch(queue)
