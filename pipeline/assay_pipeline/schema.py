"""The journal as one flat table: every field of every kind of event is a column.

The schema is derived from the event types, so a new field there becomes a column here.  A field must have the same type
in all kinds of event (`assay_evidence.events`).

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
"""The column in which `from_json` puts a line that does not fit.  It also keeps Spark from pruning the schema."""

_PLAIN: Mapping[type, DataType] = {str: StringType(), int: LongType(), bool: BooleanType()}


def _column_type(annotation: Any) -> DataType:
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return StringType()
    if origin in (Union, types.UnionType):
        kinds = {_column_type(argument).simpleString() for argument in arguments if argument is not type(None)}
        # No column type holds scalars of several types; text as in JSON holds them all.
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
    """Every kind of event by its tag."""
    return {str(kind.__struct_config__.tag): kind for kind in get_args(events.AnyEvent)}


@cache
def required_fields() -> Mapping[str, tuple[str, ...]]:
    """The fields that a line of each kind must have: those without a default."""
    return {
        tag: tuple(field.encode_name for field in msgspec.structs.fields(kind) if field.required)
        for tag, kind in kinds().items()
    }


@cache
def event_schema() -> StructType:
    """One struct for all kinds: their fields in order of first appearance, after the kind and before the checksum.

    Raises:
        TypeError: Two kinds give one field two types, or a field has a type that no column can hold.
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
    """The schema with which `from_json` reads a line: all fields, the checksum, and `CORRUPT`."""
    return StructType([*event_schema().fields, StructField(CHECKSUM, StringType()), StructField(CORRUPT, StringType())])
