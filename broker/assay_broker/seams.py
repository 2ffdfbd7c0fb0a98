"""The seams: the only places in a queue manager where a defect or a tolerated variant can change its behaviour.

The seams are the commands to the core, its effects, the records to and from the store, the store itself, the settings,
and the cells of the state tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from assay_broker.core.commands import Command
from assay_broker.core.effects import Effect
from assay_broker.core.records import Record
from assay_broker.core.settings import Settings
from assay_broker.core.states.tables import Tables
from assay_broker.stores import Store


def _same_command(command: Command, _now_ms: int) -> tuple[Command, ...]:
    return (command,)


def _same_effects(effects: tuple[Effect, ...], _now_ms: int) -> tuple[Effect, ...]:
    return effects


def _same_records(records: Sequence[Record]) -> tuple[Record, ...]:
    return tuple(records)


def _same_settings(settings: Settings) -> Settings:
    return settings


def _same_tables(tables: Tables) -> Tables:
    return tables


def _same_store(store: Store) -> Store:
    return store


class Seams(Struct, frozen=True, kw_only=True):
    """The filters of a queue manager's seams; each default changes nothing.

    Args:
        command: Takes a command and the time, in milliseconds since the epoch; returns the commands for the core.
        effects: Takes the effects of one turn and the time; returns the effects that the shell carries out.
        written: Takes the records of a batch; returns the records that the store writes.
        read: Takes the store's durable records; returns the records from which the core starts.
        settings: Takes the settings when the queue manager is created and at each `QueueManager.restart`; returns the
            settings that the queue manager uses.
        tables: Takes the state tables at each start; returns the state tables that the core uses.
        store: Takes the store; returns the store that the shell uses.
    """

    command: Callable[[Command, int], tuple[Command, ...]] = _same_command
    effects: Callable[[tuple[Effect, ...], int], tuple[Effect, ...]] = _same_effects
    written: Callable[[Sequence[Record]], tuple[Record, ...]] = _same_records
    read: Callable[[Sequence[Record]], tuple[Record, ...]] = _same_records
    settings: Callable[[Settings], Settings] = _same_settings
    tables: Callable[[Tables], Tables] = _same_tables
    store: Callable[[Store], Store] = _same_store


NO_SEAMS = Seams()
