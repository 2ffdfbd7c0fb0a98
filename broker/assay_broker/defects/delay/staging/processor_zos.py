"""Defects of the delay processor on z/OS (DD-61 to DD-64)."""

from __future__ import annotations

from assay_broker.core.administration.changes import AlterObject, Change, DeleteObject
from assay_broker.core.commands import Command
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.states.processor import ProcessorAction, ProcessorInput, ProcessorState
from assay_broker.defects.delay.staging.processor_filters import cells, early_when, lost_when_shut, moved_when
from assay_broker.defects.model import Defect, defect
from assay_broker.defects.sends import cancelled, change_of, published
from assay_broker.defects.shapes import Commands, commands
from assay_broker.defects.view import View

_S, _I, _A = ProcessorState, ProcessorInput, ProcessorAction
_WATCHES, _STAYS = (_S.WATCHING, _A.OPEN), (_S.WATCHING, _A.STAY)


def _of_staging(command: Command) -> Change | None:
    """Return an administrator's alteration or deletion of the staging queue; None for any other command."""
    change = change_of(command)
    named = isinstance(change, AlterObject | DeleteObject) and change.name == STAGING_QUEUE
    return change if named else None


@defect(commands, "deleted-staging-queue-is-delivered", "DD-61")
def _deleted_is_delivered(command: Command, now_ms: int, view: View) -> Commands | None:
    """When the staging queue is deleted, the broker moves the messages on it to their targets at once."""
    return (command, *moved_when(view, now_ms)) if isinstance(_of_staging(command), DeleteObject) else None


@defect(commands, "early-when-enabled", "DD-62", "DD-63", "DD-64")
def _early_when_enabled(command: Command, now_ms: int, view: View) -> Commands | None:
    """When the staging queue is enabled for gets or puts, the broker moves its messages to their targets at once."""
    change = _of_staging(command)
    if not isinstance(change, AlterObject) or "ENABLED" not in change.attributes.values():
        return None
    return (*early_when(view, now_ms), command)


@defect(commands, "publications-lost-when-enabled", "DD-62")
def _publications_lost(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When the staging queue is enabled for gets, the publications on it are lost."""
    change = change_of(command)
    if not isinstance(change, AlterObject) or change.name != STAGING_QUEUE:
        return None
    if change.attributes.get("GET") != "ENABLED":
        return None
    return (*cancelled(view, *published(view)), command)


PROCESSOR_ZOS_DEFECTS = (
    Defect(
        name="shut-queue-loses-non-persistent",
        rules=("DD-62", "DD-64"),
        text="When the staging queue is disabled, the non-persistent messages on it are lost.",
        apply=lambda: lost_when_shut(lambda one: one.message.durable is False),
    ),
    Defect(
        name="zos-disabled-for-gets-unheeded",
        rules=("DD-61",),
        text="On z/OS the processor takes messages off a staging queue that is disabled for gets.",
        apply=lambda: cells("zos", {(_S.DOWN, _I.UNAVAILABLE): _WATCHES, (_S.WATCHING, _I.UNAVAILABLE): _STAYS}),
    ),
    Defect(
        name="zos-restarts-by-itself",
        rules=("DD-61",),
        text="On z/OS the processor starts again by itself after a failure.",
        apply=lambda: cells(
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
        apply=lambda: cells("zos", {(_S.CLOSED, _I.AVAILABLE): (_S.CLOSED, _A.STAY)}),
    ),
    Defect(
        name="zos-failed-for-good",
        rules=("DD-63",),
        text="On z/OS a processor that has failed stays down although PUT is disabled and enabled again.",
        apply=lambda: cells("zos", {(_S.FAILED, _I.PUT_DISABLED): (_S.FAILED, _A.STAY)}),
    ),
    Defect(
        name="zos-disabled-for-puts-unheeded",
        rules=("DD-64",),
        text="On z/OS the processor goes on although the staging queue is disabled for puts.",
        apply=lambda: cells(
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
        apply=lambda: cells("zos", {(_S.STOPPED, _I.AVAILABLE): (_S.STOPPED, _A.STAY)}),
    ),
    _early_when_enabled,
    Defect(
        name="zos-started-by-any-alteration",
        rules=("DD-63", "DD-64"),
        text="On z/OS any alteration of the staging queue starts a processor that is stopped or has failed.",
        apply=lambda: cells("zos", {(_S.STOPPED, _I.PUT_DISABLED): _WATCHES, (_S.FAILED, _I.AVAILABLE): _WATCHES}),
    ),
    _publications_lost,
)
