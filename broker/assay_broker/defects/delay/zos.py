"""Defects of delayed delivery on z/OS (DD-40 to DD-44)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import (
    AlterObject,
    Change,
    DefineObject,
    DeleteObject,
    DisplayObjects,
    NativeTake,
)
from assay_broker.core.commands import Command, Put
from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Kind
from assay_broker.core.records import ObjectDefined, Record
from assay_broker.core.settings import Settings
from assay_broker.core.states.processor import ProcessorAction, ProcessorInput, ProcessorState
from assay_broker.core.states.tables import Tables
from assay_broker.defects.delay.staging.processor_filters import with_cells
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import cancelled, change_of, handed_in, is_staged, undelayed
from assay_broker.defects.shapes import Commands, changes, commands, filters, reading, starting
from assay_broker.defects.view import View
from assay_broker.seams import Seams

_S, _I, _A = ProcessorState, ProcessorInput, ProcessorAction
Cells = Mapping[tuple[ProcessorState, ProcessorInput], tuple[ProcessorState, ProcessorAction]]
_PRESCRIBED = {"INDXTYPE": "NONE", "MSGDLVSQ": "FIFO"}
_UNUSED_ID = bytes(24)  # a correlation id that no staged message has
_WITH_DELAYS = "8.0"


@defect(starting, "processor-not-started-again", "DD-44", "DD-46", "DD-60")
def _not_started_again(tables: Tables, view: View) -> Tables:
    """The delivery delay processor starts only when the queue manager starts for the first time."""
    if view.starts == 1:
        return tables
    at_rest: Cells = {(_S.DOWN, _I.AVAILABLE): (_S.CLOSED, _A.REST)}
    return with_cells(with_cells(tables, "distributed", at_rest), "zos", at_rest)


def _on_zos(view: View) -> bool:
    """Check whether the queue manager simulates a queue manager on z/OS."""
    return view.settings.platform == "zos"


def _there_by_default(settings: Settings) -> Settings:
    """Give a new queue manager on z/OS a staging queue, as on other platforms."""
    if settings.platform != "zos":
        return settings
    staging = Definition(Kind.QLOCAL, STAGING_QUEUE, {**defaults(Kind.QLOCAL), **_PRESCRIBED})
    return replace(settings, objects=(*settings.fresh_objects(), staging))


@defect(changes, "zos-staging-definition-forgotten", "DD-40", "DD-41")
def _definition_forgotten(change: Change, view: View) -> Change | None:
    """On z/OS the broker accepts a definition of the staging queue and does not define it."""
    if not _on_zos(view) or not isinstance(change, DefineObject) or change.name != STAGING_QUEUE:
        return None
    return DisplayObjects(kinds=(Kind.QLOCAL,), name=STAGING_QUEUE)


@defect(changes, "zos-any-staging-definition", "DD-41")
def _any_definition(change: Change, view: View) -> Change | None:
    """On z/OS the staging queue can be defined and altered with any INDXTYPE and MSGDLVSQ."""
    if not _on_zos(view) or not isinstance(change, DefineObject | AlterObject) or change.name != STAGING_QUEUE:
        return None
    return replace(change, attributes={**change.attributes, **_PRESCRIBED})


@defect(made, "zos-undelayed-without-staging-queue", "DD-40", "DD-45")
def _undelayed_without_staging() -> Seams:
    """On z/OS a queue manager without a staging queue delivers delayed messages at once."""
    defined = False

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        nonlocal defined
        change = change_of(command)
        if isinstance(change, DefineObject | DeleteObject) and change.name == STAGING_QUEUE:
            defined = isinstance(change, DefineObject)
        if not _on_zos(view) or defined or not isinstance(command, Put):
            return None
        return undelayed(command)

    return commands(rewrite)


def _delivers_at_any_level(settings: Settings) -> Settings:
    return settings if settings.delays else replace(settings, level=_WITH_DELAYS)


@defect(changes, "migrated-back-and-out-of-reach", "DD-43")
def _take_in_vain(change: Change, view: View) -> Change | None:
    """At an earlier level, an administrator's get by correlation id finds no message on the staging queue."""
    if view.settings.delays or not isinstance(change, NativeTake):
        return None
    return replace(change, correlation_id=_UNUSED_ID)


@defect(made, "marooned-for-good", "DD-43")
def _marooned_for_good() -> Seams:
    """When the queue manager returns to its later level, messages that were staged before a migration back are lost."""
    been_back = False

    def read(records: Sequence[Record], view: View) -> tuple[Record, ...]:
        nonlocal been_back
        been_back = been_back or not view.settings.delays
        forth = been_back and view.settings.delays
        return tuple(record for record in records if not (forth and is_staged(record)))

    return filters(read=read)


@defect(starting, "zos-protected-by-opmode", "DD-44")
def _protected_by_opmode(tables: Tables, view: View) -> Tables:
    """On z/OS the delay processor does not start with OPMODE(COMPAT), so the broker delivers no staged message."""
    if not _on_zos(view) or view.settings.opmode != "COMPAT":
        return tables
    at_rest = {(ProcessorState.DOWN, ProcessorInput.AVAILABLE): (ProcessorState.CLOSED, ProcessorAction.REST)}
    return with_cells(tables, "zos", at_rest)


@defect(reading, "zos-staging-queue-made-at-restart", "DD-40")
def _made_at_restart(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """On z/OS a restart defines the staging queue."""
    if view.settings.platform != "zos" or view.starts == 1:
        return tuple(records)
    staging = Definition(Kind.QLOCAL, STAGING_QUEUE, {**defaults(Kind.QLOCAL), "MSGDLVSQ": "FIFO"})
    return (ObjectDefined(staging), *records)


@defect(commands, "lower-level-heeds-enabling", "DD-43")
def _lower_level_heeds(command: Command, _now_ms: int, view: View) -> Commands | None:
    """At a level without delivery delay, enabling the staging queue delivers the messages on it."""
    change = change_of(command)
    if not isinstance(change, AlterObject) or change.name != STAGING_QUEUE or view.settings.delays:
        return None
    if "ENABLED" not in change.attributes.values():
        return None
    moved = (
        one
        for sent in view.delayed.values()
        for one in handed_in(view, sent.target, replace(sent.message, delivery_time_ms=None))
    )
    return (command, *cancelled(view, *view.delayed), *moved)


def _level_for_one_start() -> Seams:
    """Make the seams of a queue manager that forgets the level of a migration back at its second start."""
    levels: list[str] = []

    def started(settings: Settings) -> Settings:
        levels.append(settings.level)
        is_second = len(levels) > 1 and levels[-2] == settings.level != levels[0]
        return replace(settings, level=levels[0]) if is_second else settings

    return Seams(settings=started)


ZOS_DEFECTS = (
    _not_started_again,
    Defect(
        name="zos-staging-queue-by-default",
        rules=("DD-40",),
        text="On z/OS the staging queue exists from the beginning.",
        apply=lambda: Seams(settings=_there_by_default),
    ),
    _definition_forgotten,
    _undelayed_without_staging,
    _any_definition,
    Defect(
        name="migrated-back-and-delivered",
        rules=("DD-43",),
        text="After a migration back, the queue manager of the earlier level delivers the staged messages.",
        apply=lambda: Seams(settings=_delivers_at_any_level),
    ),
    Defect(
        name="migrated-back-for-one-start",
        rules=("DD-43",),
        text="After a migration back, the second start of the queue manager is at the later level again.",
        apply=_level_for_one_start,
    ),
    _take_in_vain,
    _marooned_for_good,
    _protected_by_opmode,
    _made_at_restart,
    _lower_level_heeds,
)
