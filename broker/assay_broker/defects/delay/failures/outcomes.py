"""Filters that change what the broker does at the end of a delay."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from assay_broker.core.states.release import Act, Result, Step
from assay_broker.core.states.tables import Tables
from assay_broker.seams import Seams

Cells = Mapping[tuple[Step, Result], tuple[Step, Act]]


def outcome_cells(cells: Cells) -> Seams:
    """Make filters that replace cells of `RELEASE`, the state table for the end of a delay."""

    def other(tables: Tables) -> Tables:
        return replace(tables, release=MappingProxyType({**tables.release, **cells}))

    return Seams(tables=other)
