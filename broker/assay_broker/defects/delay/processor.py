"""Defects of the delivery delay processor: changed cells of its state tables, and filters."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, Change, DeleteObject
from assay_broker.core.commands import Cancel, Command, Connect, StoreFailed, WorkerDied
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.settings import Platform
from assay_broker.core.states.processor import ProcessorAction, ProcessorInput, ProcessorState, ProcessorTable
from assay_broker.core.states.tables import Tables
from assay_broker.defects.model import Defect, defect
from assay_broker.defects.sends import cancelled, change_of, handed_in, published
from assay_broker.defects.shapes import Commands, commands, starting
from assay_broker.defects.view import View
from assay_broker.seams import Seams

_S, _I, _A = ProcessorState, ProcessorInput, ProcessorAction
_WATCHES, _STAYS = (_S.WATCHING, _A.LOOK), (_S.WATCHING, _A.STAY)

Cells = Mapping[tuple[ProcessorState, ProcessorInput], tuple[ProcessorState, ProcessorAction]]


def with_cells(tables: Tables, platform: Platform, cells: Cells) -> Tables:
    """Return state tables in which some cells of the delay processor's table for one platform are replaced."""
    table: ProcessorTable = MappingProxyType({**tables.processor[platform], **cells})
    return replace(tables, processor=MappingProxyType({**tables.processor, platform: table}))


def _cells(platform: Platform, cells: Cells) -> Seams:
    """Make filters that replace cells of the delay processor's state table for one platform."""

    def other(tables: Tables) -> Tables:
        return with_cells(tables, platform, cells)

    return Seams(tables=other)


@defect(starting, "processor-not-started-again", "DD-44", "DD-46", "DD-60")
def _not_started_again(tables: Tables, view: View) -> Tables:
    """The delivery delay processor starts only when the queue manager starts for the first time."""
    if view.starts == 1:
        return tables
    at_rest: Cells = {(_S.DOWN, _I.AVAILABLE): (_S.CLOSED, _A.REST)}
    return with_cells(with_cells(tables, "distributed", at_rest), "zos", at_rest)


def _moved(view: View, now_ms: int, *, due: bool = False) -> Commands:
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


def _early(view: View, now_ms: int) -> Commands:
    """Return commands that move the staged messages whose delay is not over to their targets."""
    early = [one for one in view.delayed.values() if one.due_ms > now_ms]
    unstaged = (Cancel(view.agent, None, one.message.message_id or "") for one in early)
    return (Connect(view.agent, None), *unstaged, *_moved(view, now_ms)) if early else ()


def _of_staging(command: Command) -> Change | None:
    """Return an administrator's alteration or deletion of the staging queue; None for any other command."""
    change = change_of(command)
    named = isinstance(change, AlterObject | DeleteObject) and change.name == STAGING_QUEUE
    return change if named else None


@defect(commands, "deleted-staging-queue-is-delivered", "DD-61")
def _deleted_is_delivered(command: Command, now_ms: int, view: View) -> Commands | None:
    """When the staging queue is deleted, the broker moves the messages on it to their targets at once."""
    return (command, *_moved(view, now_ms)) if isinstance(_of_staging(command), DeleteObject) else None


@defect(commands, "early-when-enabled", "DD-62", "DD-63", "DD-64")
def _early_when_enabled(command: Command, now_ms: int, view: View) -> Commands | None:
    """When the staging queue is enabled for gets or puts, the broker moves its messages to their targets at once."""
    change = _of_staging(command)
    if not isinstance(change, AlterObject) or "ENABLED" not in change.attributes.values():
        return None
    return (*_early(view, now_ms), command)


@defect(commands, "moved-twice-after-a-failure", "DD-65")
def _twice_after_failure(command: Command, now_ms: int, view: View) -> Commands | None:
    """After a failure of the store, the processor puts overdue messages to their targets once more."""
    return (command, *_moved(view, now_ms, due=True)) if isinstance(command, StoreFailed) else None


@defect(commands, "early-after-a-death", "DD-65")
def _early_after_death(command: Command, now_ms: int, view: View) -> Commands | None:
    """When the processor's worker dies, the broker moves all staged messages to their targets at once."""
    return (*_early(view, now_ms), command) if isinstance(command, WorkerDied) else None


@defect(commands, "publications-lost-when-enabled", "DD-62")
def _publications_lost(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When the staging queue is enabled for gets, the publications on it are lost."""
    change = change_of(command)
    if not isinstance(change, AlterObject) or change.name != STAGING_QUEUE:
        return None
    if change.attributes.get("GET") != "ENABLED":
        return None
    return (*cancelled(view, *published(view)), command)


PROCESSOR_DEFECTS = (
    _not_started_again,
    Defect(
        name="zos-disabled-for-gets-unheeded",
        rules=("DD-61",),
        text="On z/OS the processor takes messages off a staging queue that is disabled for gets.",
        apply=lambda: _cells("zos", {(_S.DOWN, _I.UNAVAILABLE): _WATCHES, (_S.WATCHING, _I.UNAVAILABLE): _STAYS}),
    ),
    Defect(
        name="zos-restarts-by-itself",
        rules=("DD-61",),
        text="On z/OS the processor starts again by itself after a failure.",
        apply=lambda: _cells(
            "zos",
            {
                (_S.WATCHING, _I.FAILURE): (_S.FAILED, _A.RESTART_LATER),
                (_S.FAILED, _I.RESTART): _WATCHES,
            },
        ),
    ),
    _deleted_is_delivered,
    Defect(
        name="zos-closed-for-good",
        rules=("DD-62",),
        text="On z/OS a processor that stopped with the staging queue stays down when the queue is available again.",
        apply=lambda: _cells("zos", {(_S.CLOSED, _I.AVAILABLE): (_S.CLOSED, _A.STAY)}),
    ),
    Defect(
        name="zos-failed-for-good",
        rules=("DD-63",),
        text="On z/OS a processor that has failed stays down although PUT is disabled and enabled again.",
        apply=lambda: _cells("zos", {(_S.FAILED, _I.PUT_DISABLED): (_S.FAILED, _A.STAY)}),
    ),
    Defect(
        name="zos-disabled-for-puts-unheeded",
        rules=("DD-64",),
        text="On z/OS the processor goes on although the staging queue is disabled for puts.",
        apply=lambda: _cells(
            "zos",
            {
                (_S.DOWN, _I.PUT_DISABLED): _WATCHES,
                (_S.CLOSED, _I.PUT_DISABLED): _WATCHES,
                (_S.WATCHING, _I.PUT_DISABLED): _STAYS,
            },
        ),
    ),
    Defect(
        name="zos-stopped-for-good",
        rules=("DD-63", "DD-64"),
        text="On z/OS a processor that PUT(DISABLED) has stopped stays down after PUT(ENABLED).",
        apply=lambda: _cells("zos", {(_S.STOPPED, _I.AVAILABLE): (_S.STOPPED, _A.STAY)}),
    ),
    _early_when_enabled,
    Defect(
        name="zos-started-by-any-alteration",
        rules=("DD-63", "DD-64"),
        text="On z/OS any alteration of the staging queue starts a processor that is stopped or has failed.",
        apply=lambda: _cells("zos", {(_S.STOPPED, _I.PUT_DISABLED): _WATCHES, (_S.FAILED, _I.AVAILABLE): _WATCHES}),
    ),
    Defect(
        name="closed-while-puts-are-disabled",
        rules=("DD-65",),
        text="On distributed platforms a processor whose queue was disabled for gets also waits for PUT(ENABLED).",
        apply=lambda: _cells("distributed", {(_S.CLOSED, _I.PUT_DISABLED): (_S.CLOSED, _A.STAY)}),
    ),
    Defect(
        name="not-started-while-puts-are-disabled",
        rules=("DD-60",),
        text="On distributed platforms a start with a staging queue disabled for puts does not start the processor.",
        apply=lambda: _cells("distributed", {(_S.DOWN, _I.PUT_DISABLED): (_S.CLOSED, _A.REST)}),
    ),
    Defect(
        name="failed-for-good",
        rules=("DD-65",),
        text="On distributed platforms a processor that has failed does not start again by itself.",
        apply=lambda: _cells("distributed", {(_S.WATCHING, _I.FAILURE): (_S.FAILED, _A.REST)}),
    ),
    _twice_after_failure,
    _early_after_death,
    _publications_lost,
)
