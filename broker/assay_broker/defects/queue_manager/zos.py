"""Defects of what z/OS asks besides: a staging queue that must be defined, migration back, OPMODE."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import (
    AlterObject,
    Change,
    DefineObject,
    DeleteObject,
    DisplayObjects,
    NativeTake,
)
from assay_broker.core.commands import Administer, Command, Put
from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Kind
from assay_broker.core.records import MessageStored, Record
from assay_broker.core.settings import Settings
from assay_broker.core.states.processor import ProcessorAction, ProcessorInput, ProcessorState
from assay_broker.core.states.tables import Tables
from assay_broker.defects.model import Defect, Watch, commands
from assay_broker.defects.queue_manager.processor import with_cells
from assay_broker.seams import Seams

_PRESCRIBED = {"INDXTYPE": "NONE", "MSGDLVSQ": "FIFO"}
_NOBODYS = bytes(24)  # the correlation id of no staged message
_WITH_DELAYS = "8.0"


class _Host:
    """What the queue manager was last started as."""

    def __init__(self) -> None:
        self.settings = Settings()

    def start(self, settings: Settings) -> Settings:
        """Take note of a start."""
        self.settings = settings
        return settings

    @property
    def zos(self) -> bool:
        """Whether it is on z/OS."""
        return self.settings.platform == "zos"


def _change(command: Command) -> Change | None:
    """What an administrator asks for; None for any other command."""
    return command.change if isinstance(command, Administer) else None


def _asked(rewrite: Callable[[Change, _Host], Change | None]) -> Seams:
    """Filters that rewrite what an administrator asks for; None lets it pass."""
    host = _Host()

    def other(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
        changed = rewrite(command.change, host) if isinstance(command, Administer) else None
        return (replace(command, change=changed),) if changed is not None and isinstance(command, Administer) else None

    return replace(commands(other), settings=host.start)


def _there_by_default(settings: Settings) -> Settings:
    """On z/OS too the queue manager begins with a staging queue."""
    if settings.platform != "zos":
        return settings
    staging = Definition(Kind.QLOCAL, STAGING_QUEUE, {**defaults(Kind.QLOCAL), **_PRESCRIBED})
    return replace(settings, objects=(*settings.fresh_objects(), staging))


def _definition_forgotten(change: Change, host: _Host) -> Change | None:
    if not host.zos or not isinstance(change, DefineObject) or change.name != STAGING_QUEUE:
        return None
    return DisplayObjects(kinds=(Kind.QLOCAL,), name=STAGING_QUEUE)


def _any_definition(change: Change, host: _Host) -> Change | None:
    """What is not as prescribed is taken as if it were."""
    if not host.zos or not isinstance(change, DefineObject | AlterObject) or change.name != STAGING_QUEUE:
        return None
    return replace(change, attributes={**change.attributes, **_PRESCRIBED})


def _undelayed_without_staging() -> Seams:
    """On z/OS, a queue manager without a staging queue delivers delayed messages at once."""
    host = _Host()
    defined = False

    def rewrite(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
        nonlocal defined
        change = _change(command)
        if isinstance(change, DefineObject | DeleteObject) and change.name == STAGING_QUEUE:
            defined = isinstance(change, DefineObject)
        if not host.zos or defined or not isinstance(command, Put):
            return None
        return (replace(command, message=replace(command.message, delivery_time_ms=None)),)

    return replace(commands(rewrite), settings=host.start)


def _delivers_at_any_level(settings: Settings) -> Settings:
    return settings if settings.delays else replace(settings, level=_WITH_DELAYS)


def _take_in_vain(change: Change, host: _Host) -> Change | None:
    if host.settings.delays or not isinstance(change, NativeTake):
        return None
    return replace(change, correlation_id=_NOBODYS)


def _marooned_for_good() -> Seams:
    """What was staged before a migration back is gone after the migration forth."""
    host = _Host()
    been_back = False

    def start(settings: Settings) -> Settings:
        nonlocal been_back
        been_back = been_back or not settings.delays
        return host.start(settings)

    def read(records: Sequence[Record]) -> tuple[Record, ...]:
        forth = been_back and host.settings.delays
        return tuple(
            record
            for record in records
            if not (forth and isinstance(record, MessageStored) and record.due_ms is not None)
        )

    return Seams(settings=start, read=read)


def _protected_by_opmode() -> Seams:
    """With OPMODE(COMPAT) the processor does not start."""
    host = _Host()

    def other(tables: Tables) -> Tables:
        if not host.zos or host.settings.opmode != "COMPAT":
            return tables
        return with_cells(
            tables,
            "zos",
            {(ProcessorState.DOWN, ProcessorInput.AVAILABLE): (ProcessorState.CLOSED, ProcessorAction.REST)},
        )

    return Seams(settings=host.start, tables=other)


ZOS_DEFECTS = (
    Defect(
        name="zos-staging-queue-by-default",
        rules=("DD-40",),
        text="On z/OS the staging queue is there from the beginning.",
        apply=lambda: Seams(settings=_there_by_default),
    ),
    Defect(
        name="zos-staging-definition-forgotten",
        rules=("DD-40", "DD-41"),
        text="On z/OS a definition of the staging queue is accepted, and there is no staging queue afterwards.",
        apply=lambda: _asked(_definition_forgotten),
    ),
    Defect(
        name="zos-undelayed-without-staging-queue",
        rules=("DD-40", "DD-45"),
        text="On z/OS a queue manager without a staging queue delivers delayed messages at once.",
        apply=_undelayed_without_staging,
    ),
    Defect(
        name="zos-any-staging-definition",
        rules=("DD-41",),
        text="On z/OS the staging queue can be defined and altered with any INDXTYPE and MSGDLVSQ.",
        apply=lambda: _asked(_any_definition),
    ),
    Defect(
        name="migrated-back-and-delivered",
        rules=("DD-43",),
        text="A queue manager of an earlier level delivers what a later one has staged.",
        apply=lambda: Seams(settings=_delivers_at_any_level),
    ),
    Defect(
        name="migrated-back-and-out-of-reach",
        rules=("DD-43",),
        text="At an earlier level an administrator finds no message of the staging queue by its correlation id.",
        apply=lambda: _asked(_take_in_vain),
    ),
    Defect(
        name="marooned-for-good",
        rules=("DD-43",),
        text="What was staged before a migration back is gone once the queue manager is at its later level again.",
        apply=_marooned_for_good,
    ),
    Defect(
        name="zos-protected-by-opmode",
        rules=("DD-44",),
        text="On z/OS the processor does not start with OPMODE(COMPAT), so that nothing staged is delivered.",
        apply=_protected_by_opmode,
    ),
)
