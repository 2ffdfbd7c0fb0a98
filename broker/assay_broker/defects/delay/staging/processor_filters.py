"""Filters for the defects of the delay processor on several platforms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject
from assay_broker.core.commands import Cancel, Command, Connect
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.settings import Platform
from assay_broker.core.states.processor import ProcessorAction, ProcessorInput, ProcessorState, ProcessorTable
from assay_broker.core.states.tables import Tables
from assay_broker.defects.sends import cancelled, change_of, handed_in
from assay_broker.defects.shapes import Commands, commands
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams

Cells = Mapping[tuple[ProcessorState, ProcessorInput], tuple[ProcessorState, ProcessorAction]]


def shuts(command: Command) -> bool:
    """Check whether a command disables the staging queue for gets or puts."""
    change = change_of(command)
    named = isinstance(change, AlterObject) and change.name == STAGING_QUEUE
    return isinstance(change, AlterObject) and named and "DISABLED" in change.attributes.values()


def lost_when_shut(wanted: Callable[[Sent], bool]) -> Seams:
    """Make filters that drop the staged messages that `wanted` chooses, when the staging queue is disabled."""

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        lost = [id_ for id_, one in view.delayed.items() if wanted(one)] if shuts(command) else []
        return (*cancelled(view, *lost), command) if lost else None

    return commands(rewrite)


def with_cells(tables: Tables, platform: Platform, cells: Cells) -> Tables:
    """Return state tables in which some cells of the delay processor's table for one platform are replaced."""
    table: ProcessorTable = MappingProxyType({**tables.processor[platform], **cells})
    return replace(tables, processor=MappingProxyType({**tables.processor, platform: table}))


def cells(platform: Platform, cells: Cells) -> Seams:
    """Make filters that replace cells of the delay processor's state table for one platform."""

    def other(tables: Tables) -> Tables:
        return with_cells(tables, platform, cells)

    return Seams(tables=other)


def moved_when(view: View, now_ms: int, *, due: bool = False) -> Commands:
    """Return sends of the staged messages to their targets; the staged messages stay.

    Args:
        view: The defect's view.
        now_ms: The time in milliseconds since the epoch.
        due: Whether only messages whose delay is over are sent.
    """
    chosen = [one for one in view.delayed.values() if not due or one.due_ms <= now_ms]
    return tuple(
        command
        for one in chosen
        for command in handed_in(view, one.target, replace(one.message, delivery_time_ms=None))
    )


def early_when(view: View, now_ms: int) -> Commands:
    """Return commands that move staged messages to their targets before the end of their delay."""
    early = [one for one in view.delayed.values() if one.due_ms > now_ms]
    unstaged = (Cancel(view.agent, None, one.message.message_id or "") for one in early)
    return (Connect(view.agent, None), *unstaged, *moved_when(view, now_ms)) if early else ()
