"""The table of the handlers of administrators' commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from assay_broker.core.administration import changes
from assay_broker.core.administration.changes import Change
from assay_broker.core.administration.definitions import (
    alter_object,
    clear_queue,
    clear_topic,
    define_object,
    delete_object,
    set_authority,
)
from assay_broker.core.administration.displays import display_authority, display_objects, display_topic_status
from assay_broker.core.administration.native import native_browse, native_put, native_take
from assay_broker.core.administration.units import display_threads, resolve_indoubt
from assay_broker.core.effects import Value
from assay_broker.core.state import State
from assay_broker.core.turn import Turn

Handler = Callable[[State, Turn, Change], Value]

# The cast is needed because the type of a mapping cannot say that each handler takes the type in its key.
CHANGES: dict[type[Change], Handler] = cast(
    "dict[type[Change], Handler]",
    {
        changes.DefineObject: define_object,
        changes.AlterObject: alter_object,
        changes.DeleteObject: delete_object,
        changes.ClearQueue: clear_queue,
        changes.ClearRetained: clear_topic,
        changes.SetAuthority: set_authority,
        changes.DisplayObjects: display_objects,
        changes.DisplayAuthority: display_authority,
        changes.DisplayTopicStatus: display_topic_status,
        changes.DisplayThreads: display_threads,
        changes.ResolveIndoubt: resolve_indoubt,
        changes.NativePut: native_put,
        changes.NativeBrowse: native_browse,
        changes.NativeTake: native_take,
    },
)


def administer(state: State, turn: Turn, change: Change) -> Value:
    """Carry out an administrator's command; the caller has checked the user's authority.

    Returns:
        The result of the command, for the answer.

    Raises:
        RefusalError: The command is not valid or not possible now, and has changed nothing.
    """
    return CHANGES[type(change)](state, turn, change)
