"""What an administrator asks for, one handler a change; and how a changed object takes effect."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

from assay_broker.core import changes
from assay_broker.core.changes import Change
from assay_broker.core.effects import Value
from assay_broker.core.native import native_browse, native_put, native_take
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Namespace
from assay_broker.core.queues import home_of
from assay_broker.core.records import ObjectDefined, ObjectRemoved
from assay_broker.core.release import look
from assay_broker.core.state import State
from assay_broker.core.turn import Turn


def define(state: State, turn: Turn, definition: Definition) -> None:
    """An object is what it is from now on; queues and the delivery delay processor see it at once."""
    before = state.objects.find(definition.namespace, definition.name)
    turn.record(ObjectDefined(definition), partial(_back_to, state, definition, before))
    state.objects.put(definition)
    _take_effect(state, turn, definition.namespace, definition.name)


def remove(state: State, turn: Turn, definition: Definition) -> None:
    """An object is gone; what of it was in use is the caller's to refuse before."""
    turn.record(ObjectRemoved(definition.namespace, definition.name), partial(_back_to, state, definition, definition))
    state.objects.remove(definition.namespace, definition.name)
    _take_effect(state, turn, definition.namespace, definition.name)


def _back_to(state: State, definition: Definition, before: Definition | None, turn: Turn) -> None:
    """Undo `define` and `remove`."""
    if before is None:
        state.objects.remove(definition.namespace, definition.name)
    else:
        state.objects.put(before)
    _take_effect(state, turn, definition.namespace, definition.name)


def _take_effect(state: State, turn: Turn, namespace: Namespace, name: str) -> None:
    if namespace is not Namespace.QUEUE:
        return
    definition = state.objects.queue(name)
    queue = state.queues.find(home_of(name))
    if queue is not None and definition is not None:
        queue.definition = definition
        turn.touch(queue)
    if name == STAGING_QUEUE:
        look(state, turn)


Handler = Callable[[State, Turn, Change], Value]

# Each handler takes its own change; the key says which, and no type can say that of a mapping.
CHANGES: dict[type[Change], Handler] = cast(
    "dict[type[Change], Handler]",
    {
        changes.NativePut: native_put,
        changes.NativeBrowse: native_browse,
        changes.NativeTake: native_take,
    },
)


def administer(state: State, turn: Turn, change: Change) -> Value:
    """Do what an administrator asks.

    Returns:
        What the answer brings.

    Raises:
        RefusalError: It cannot be done; nothing is changed.
    """
    return CHANGES[type(change)](state, turn, change)
