"""The mapping file: a TOML file with a log's own names and units, and with statements about the log."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from assay.exits import UsageProblem
from assay.importing.columns import COLUMNS, EVENT, Kind, Type
from assay_adapters.suggestions import unknown
from assay_evidence.spans import NS_PER_MS

Unit = Literal["", "iso", "s", "ms", "us", "ns"]
Statement = Literal["consumers", "incidents"]


class ColumnName(Struct, frozen=True, forbid_unknown_fields=True):
    """The form of a column in the log.

    Args:
        name: The log's name of the column; a name with dots can lead to a value in a nested object.
        unit: The unit of a time or a duration. Without it, a time is text in the form of ISO 8601, and a duration is
            a number of milliseconds.
        values: Assay's word for each word of the log, such as ``{ "2" = "persistent" }``.
    """

    name: str
    unit: Unit = ""
    values: dict[str, str] = {}


class AboutLog(Struct, frozen=True, forbid_unknown_fields=True):
    """Statements about the log.

    Args:
        complete: What the log records completely: ``consumers`` or ``incidents``.
    """

    complete: tuple[Statement, ...] = ()


class AboutClocks(Struct, frozen=True, forbid_unknown_fields=True):
    """Statements about the clocks.

    Args:
        uncertainty_ms: The largest error of any time in the log, plus or minus, in milliseconds.
    """

    uncertainty_ms: float = 1_000


class LogMapping(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a mapping file; the defaults, for a log without a file, are Assay's own names and no statements.

    Args:
        log: Statements about the log.
        clock: Statements about the clocks.
        columns: The name or form of each column in the log, by Assay's name.
        events: The log's word for each kind of row, by Assay's word.
    """

    log: AboutLog = AboutLog()
    clock: AboutClocks = AboutClocks()
    columns: dict[str, str | ColumnName] = {}
    events: dict[str, str] = {}

    @property
    def uncertainty_ns(self) -> int:
        """The uncertainty of the times in nanoseconds."""
        return round(self.clock.uncertainty_ms * NS_PER_MS)

    def column(self, name: str) -> ColumnName:
        """Return the form of a column in the log, by Assay's name."""
        form = self.columns.get(name, name)
        return form if isinstance(form, ColumnName) else ColumnName(form)

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kinds of rows by the log's words."""
        return {self.events.get(kind.value, kind.value): kind for kind in Kind}


def read_mapping(file: Path | None) -> LogMapping:
    """Read a mapping file.

    Args:
        file: The file; None for a log with Assay's own names.

    Raises:
        UsageProblem: The file cannot be read, is not valid TOML, or has a mistake.
    """
    if file is None:
        return LogMapping()
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        mapping = msgspec.convert(content, LogMapping)
    except OSError as problem:
        raise UsageProblem(f"{file} cannot be read ({problem.strerror}): name a mapping file.") from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UsageProblem(f"{file} is not valid TOML ({problem}): correct the mapping file.") from problem
    except msgspec.ValidationError as problem:
        raise UsageProblem(f"{file} has a mistake ({problem}): docs/import.md lists the keys.") from problem
    _check(mapping, file)
    return mapping


def _check(mapping: LogMapping, file: Path) -> None:
    for name in mapping.columns:
        if name not in COLUMNS:
            raise UsageProblem(f"{file}: {unknown('column', name, COLUMNS)}")
        unit, of = mapping.column(name).unit, COLUMNS[name].type
        if unit and (of not in (Type.TIME, Type.DURATION) or (unit == "iso" and of is Type.DURATION)):
            raise UsageProblem(f"{file}: the column {name} ({of.value}) cannot have the unit {unit}: remove the unit.")
    for name in mapping.events:
        if name not in set(Kind):
            raise UsageProblem(f"{file}: {unknown(EVENT, name, [kind.value for kind in Kind])}")
    if len(mapping.kinds) != len(Kind):
        raise UsageProblem(f"{file}: two kinds of rows in [events] have the same word: give each its own.")
    if not 0 <= mapping.clock.uncertainty_ms < 1e12:  # noqa: PLR2004 - milliseconds in 30 years
        raise UsageProblem(f"{file}: uncertainty_ms is not a number of milliseconds from 0 on: correct it.")
