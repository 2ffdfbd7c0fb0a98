"""Turns a line of a log into a row: finds the columns with the mapping, and converts their values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from msgspec import Struct

from assay.importing.columns import COLUMNS, EVENT, TIMES, Kind, Row, Type
from assay.importing.mapping import ColumnName, LogMapping
from assay_adapters.suggestions import unknown

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
_LATEST = 2**63 - 1
"""The latest time in nanoseconds since the epoch that a journal can hold (in the year 2262)."""
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_SCHEMES = ("queue://", "topic://")

Record = Mapping[str, object]
"""A line of a log: a JSON object, the values of a CSV line by the names in the file's first line, or a Parquet row."""


class Line(Struct, frozen=True):
    """A line of a log.

    Args:
        number: The number of the line in its file, from 1.
        record: The values; None if the line cannot be read.
        why: Why the line cannot be read, as a clause; empty if it can be read.
    """

    number: int
    record: Record | None
    why: str = ""


class RowError(ValueError):
    """A line of a log cannot become a row; the text is a clause with the reason."""


class RowReader:
    """Turns lines into rows.

    Args:
        mapping: The mapping of the log.
    """

    def __init__(self, mapping: LogMapping) -> None:
        self._kinds = mapping.kinds
        self._event = mapping.column(EVENT)
        self._columns = {
            kind: [
                (name, mapping.column(name), column.type, kind in column.needed)
                for name, column in COLUMNS.items()
                if kind in column.rows and name != EVENT
            ]
            for kind in Kind
        }

    def row(self, line: Line) -> Row:
        """Return the row of a line.

        Raises:
            RowError: The line cannot be read, a needed column is missing, a value cannot be converted, or the times
                contradict each other.
        """
        record = line.record
        if record is None:
            raise RowError(line.why)
        kind = self._kind(record)
        values: dict[str, Any] = {}
        for name, form, of, is_needed in self._columns[kind]:
            value = _value(record, form)
            if value is not None:
                values[name] = _convert(value, name, form, of)
            elif is_needed:
                raise RowError(f"the column {_named(name, form)} is missing")
        for name in TIMES:
            if values.get(name, values["time"]) < values["time"]:
                raise RowError(f"{name} is earlier than time")
        if "destination" in values:
            values["destination"] = _place(values["destination"], values.pop("kind", "queue"))
        return Row(event=kind, **values)

    def _kind(self, record: Record) -> Kind:
        value = _value(record, self._event)
        if value is None:
            raise RowError(f"the column {_named(EVENT, self._event)} is missing")
        word = self._event.values.get(_text(value), _text(value))
        kind = self._kinds.get(word)
        if kind is None:
            raise RowError(unknown("kind of row", word, self._kinds).rstrip("."))
        return kind


def _value(record: Record, form: ColumnName) -> object:
    """Return a column's value; None if the record lacks the column, or if the value is an empty text."""
    if form.name in record:
        value = record[form.name]
    else:
        value = record
        for part in form.name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    return None if value == "" else value


def _named(name: str, form: ColumnName) -> str:
    return name if form.name == name else f"{name} (in the log: {form.name})"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)


def _convert(value: object, name: str, form: ColumnName, of: Type) -> object:
    if isinstance(value, (Mapping, list)):
        raise RowError(f"{_named(name, form)} is a JSON {'array' if isinstance(value, list) else 'object'}")
    if form.values:
        value = form.values.get(_text(value), value)
    try:
        return _CONVERTERS[of](value, form.unit)
    except (ValueError, InvalidOperation, OverflowError) as error:
        why = f": {error}" if isinstance(error, RowError) else ""
        article = "" if " or " in of.value else "a "
        raise RowError(f"{_named(name, form)} is {_text(value)[:60]!r}, not {article}{of.value}{why}") from error


def _as_text(value: object, _unit: str) -> str:
    text = _text(value)
    text.encode()  # raises a ValueError for half of a surrogate pair
    return text


def _as_whole(value: object, _unit: str) -> int:
    number = int(_text(value))
    if abs(number) > _LATEST:
        raise ValueError(number)
    return number


def _as_truth(value: object, _unit: str) -> bool:
    word = _WORDS.get(_text(value).lower())
    if word is None:
        raise ValueError(value)
    return word


def _as_time(value: object, unit: str) -> int:
    if isinstance(value, datetime):
        moment = value
    elif unit not in ("", "iso"):
        return _number(value, unit)
    elif isinstance(value, str):
        moment = datetime.fromisoformat(value)
    else:
        raise RowError("the mapping must state the unit of a number")
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    return _in_range(since // timedelta(microseconds=1) * 1_000)


def _as_duration(value: object, unit: str) -> int:
    return _number(value, unit or "ms") // _NS["ms"]


def _number(value: object, unit: str) -> int:
    """Return nanoseconds, computed with decimals: a float has too few digits for a time since the epoch."""
    if isinstance(value, bool) or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(value)
    return _in_range(math.floor(Decimal(_text(value)) * _NS[unit]))


def _in_range(ns: int) -> int:
    if not 0 <= ns <= _LATEST:
        raise ValueError(ns)
    return ns


def _one_of(*words: str) -> Callable[[object, str], str]:
    def convert(value: object, _unit: str) -> str:
        word = _text(value).lower()
        if word not in words:
            raise ValueError(value)
        return word

    return convert


_CONVERTERS: Mapping[Type, Callable[[object, str], object]] = {
    Type.TEXT: _as_text,
    Type.WHOLE: _as_whole,
    Type.TRUTH: _as_truth,
    Type.TIME: _as_time,
    Type.DURATION: _as_duration,
    Type.MODE: _one_of("persistent", "non-persistent"),
    Type.PLACE: _one_of("queue", "topic"),
}


def _place(name: str, kind: str) -> str:
    return name if name.startswith(_SCHEMES) else f"{kind}://{name}"
