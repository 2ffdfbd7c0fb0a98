"""Defects of the delay processor on distributed platforms (DD-60, DD-65)."""

from __future__ import annotations

from assay_broker.core.commands import Command, StoreFailed, WorkerDied
from assay_broker.core.states.processor import ProcessorAction, ProcessorInput, ProcessorState
from assay_broker.core.states.tables import Tables
from assay_broker.defects.delay.staging.processor_filters import cells, early_when, moved_when, with_cells
from assay_broker.defects.model import Defect, defect
from assay_broker.defects.shapes import Commands, commands
from assay_broker.defects.view import View
from assay_broker.seams import Seams

_S, _I, _A = ProcessorState, ProcessorInput, ProcessorAction


def _stays_closed(tables: Tables) -> Tables:
    cells = {
        (_S.CLOSED, _I.AVAILABLE): (_S.CLOSED, _A.STAY),
        (_S.CLOSED, _I.PUT_DISABLED): (_S.CLOSED, _A.STAY),
    }
    return with_cells(tables, "distributed", cells)


@defect(commands, "moved-twice-after-a-failure", "DD-65")
def _twice_after_failure(command: Command, now_ms: int, view: View) -> Commands | None:
    """After a failure of the store, the delay processor puts overdue messages to their targets once more."""
    return (command, *moved_when(view, now_ms, due=True)) if isinstance(command, StoreFailed) else None


@defect(commands, "early-after-a-death", "DD-65")
def _early_after_death(command: Command, now_ms: int, view: View) -> Commands | None:
    """When the delay processor's worker dies, the broker moves all staged messages to their targets at once."""
    return (*early_when(view, now_ms), command) if isinstance(command, WorkerDied) else None


PROCESSOR_DEFECTS = (
    Defect(
        name="distributed-stays-closed",
        rules=("DD-65",),
        text="On distributed platforms the processor stays down once its queue was disabled for gets.",
        apply=lambda: Seams(tables=_stays_closed),
    ),
    Defect(
        name="closed-while-puts-are-disabled",
        rules=("DD-65",),
        text="On distributed platforms a processor whose queue was disabled for gets also waits for PUT(ENABLED).",
        apply=lambda: cells("distributed", {(_S.CLOSED, _I.PUT_DISABLED): (_S.CLOSED, _A.STAY)}),
    ),
    Defect(
        name="not-started-while-puts-are-disabled",
        rules=("DD-60",),
        text="On distributed platforms, a queue manager whose staging queue is disabled for puts starts no processor.",
        apply=lambda: cells("distributed", {(_S.DOWN, _I.PUT_DISABLED): (_S.CLOSED, _A.REST)}),
    ),
    Defect(
        name="failed-for-good",
        rules=("DD-65",),
        text="On distributed platforms a processor that has failed does not start again by itself.",
        apply=lambda: cells("distributed", {(_S.WATCHING, _I.FAILURE): (_S.FAILED, _A.REST)}),
    ),
    Defect(
        name="second-failure-final",
        rules=("DD-65",),
        text="On distributed platforms a processor that fails again before its restart does not start again by itself.",
        apply=lambda: cells("distributed", {(_S.FAILED, _I.FAILURE): (_S.CLOSED, _A.REST)}),
    ),
    _twice_after_failure,
    _early_after_death,
)
