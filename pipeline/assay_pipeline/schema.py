"""The Spark schema of the journal as one flat table, in which every field of every kind of event is a column.

The schema is derived from the event types (`assay_evidence.events`), so a new field of an event becomes a column.  A
field must have the same type in all kinds of event.

A value of mixed type (`Scalar`) becomes text as in JSON: ``true``, ``12``, ``abc``.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from assay_evidence import events

KIND = "kind"
CHECKSUM = "sum"
CORRUPT = "_corrupt_record"
"""The column in which `from_json` puts an invalid line.  It also keeps Spark from pruning the schema."""

_PLAIN: Mapping[type, DataType] = {str: StringType(), int: LongType(), bool: BooleanType()}


def _column_type(annotation: Any) -> DataType:
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return StringType()
    if origin in (Union, types.UnionType):
        kinds = {_column_type(argument).simpleString() for argument in arguments if argument is not type(None)}
        # No column type holds values of several types, so they are text as in JSON.
        return StringType() if len(kinds) > 1 else _column_type(next(a for a in arguments if a is not type(None)))
    if origin is tuple:
        return ArrayType(_column_type(arguments[0]))
    if origin is dict:
        return MapType(StringType(), _column_type(arguments[1]))
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        hints = typing.get_type_hints(annotation)
        fields = msgspec.structs.fields(annotation)
        return StructType([StructField(field.encode_name, _column_type(hints[field.name])) for field in fields])
    raise TypeError(f"The journal's type {annotation!r} has no column type; add it to assay_pipeline.schema.")


@cache
def kinds() -> Mapping[str, type[events.Event]]:
    """Return every kind of event, by its tag."""
    return {str(kind.__struct_config__.tag): kind for kind in get_args(events.AnyEvent)}


@cache
def required_fields() -> Mapping[str, tuple[str, ...]]:
    """Return the required fields of each kind of event: the fields without a default."""
    return {
        tag: tuple(field.encode_name for field in msgspec.structs.fields(kind) if field.required)
        for tag, kind in kinds().items()
    }


@cache
def event_schema() -> StructType:
    """Make one struct for all kinds of event: the kind, then their fields in order of first appearance.

    Raises:
        TypeError: A field has different types in two kinds of event, or a type without a column type.
    """
    columns: dict[str, DataType] = {KIND: StringType()}
    for tag, kind in kinds().items():
        hints = typing.get_type_hints(kind)
        for field in msgspec.structs.fields(kind):
            column = _column_type(hints[field.name])
            if columns.setdefault(field.encode_name, column) != column:
                raise TypeError(
                    f"The field {field.encode_name!r} has another type in {tag!r} than in an earlier kind of event."
                )
    return StructType([StructField(name, column) for name, column in columns.items()])


def parsing_schema() -> StructType:
    """Make the schema with which `from_json` reads a line: all fields, the checksum, and `CORRUPT`."""
    return StructType([*event_schema().fields, StructField(CHECKSUM, StringType()), StructField(CORRUPT, StringType())])
