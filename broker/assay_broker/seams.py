"""The places in a queue manager where named defects can be put, and the only ones.

They are: commands on their way in, effects on their way out, records to and from the store, the store itself, the
settings, and the cells of the state tables.
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
    """Filters for defects; the default of each changes nothing.

    Args:
        command: From a command and the time, in milliseconds since the epoch, to the commands for the core.
        effects: From the effects of one command and the time to those that the shell carries out.
        written: From records to those that are written.
        read: From durable records to those from which the core starts.
        settings: Filters the settings at each start.
        tables: Filters the state tables at each start.
        store: From the store to the one that the shell uses.
    """

    command: Callable[[Command, int], tuple[Command, ...]] = _same_command
    effects: Callable[[tuple[Effect, ...], int], tuple[Effect, ...]] = _same_effects
    written: Callable[[Sequence[Record]], tuple[Record, ...]] = _same_records
    read: Callable[[Sequence[Record]], tuple[Record, ...]] = _same_records
    settings: Callable[[Settings], Settings] = _same_settings
    tables: Callable[[Tables], Tables] = _same_tables
    store: Callable[[Store], Store] = _same_store


NO_SEAMS = Seams()
