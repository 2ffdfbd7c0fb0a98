"""The time between two events, as column expressions over moments.

A *moment* is a struct with an event's writer, number and times: writer, seq, boot, mono_ns, wall_ns, unc_ns.  The
monotonic clock compares two moments of the same boot, and the wall clocks compare other moments.  The uncertainty of a
comparison is the sum of both moments' uncertainties.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.spans import NS_PER_MS

MOMENT = ("writer", "seq", "boot", "mono_ns", "wall_ns", "unc_ns")


def moment() -> Column:
    """Return the moment of an event, from the event's columns."""
    return F.struct(*MOMENT)


def elapsed(start: Column, end: Column) -> Column:
    """Return the nanoseconds from one moment to another: negative if `end` is earlier, null if a moment is null."""
    same_clock = start["boot"] == end["boot"]
    return F.when(same_clock, end["mono_ns"] - start["mono_ns"]).otherwise(end["wall_ns"] - start["wall_ns"])


def uncertainty(start: Column, end: Column) -> Column:
    """Return the uncertainty of `elapsed`, plus or minus, in nanoseconds."""
    return start["unc_ns"] + end["unc_ns"]


def precedes(first: Column, second: Column) -> Column:
    """Return whether the moment `first` is certainly earlier than `second`.

    For moments of one writer, the sequence numbers decide. For others, the clocks must differ by more than the
    uncertainty.
    """
    return F.when(first["writer"] == second["writer"], first["seq"] < second["seq"]).otherwise(
        elapsed(first, second) > uncertainty(first, second)
    )


def reference(at: Column) -> Column:
    """Return the reference of a moment's event, as in claims and findings: ``writer:seq``."""
    return F.concat_ws(":", at["writer"], at["seq"].cast("string"))


def number(arguments: Column, name: str) -> Column:
    """Return a whole number from a call's arguments, which are text in the schema; null for any other value."""
    return arguments[name].try_cast("bigint")


def duration(arguments: Column, name: str) -> Column:
    """Convert an argument of a call from milliseconds to nanoseconds; 0 if the argument is not a whole number."""
    return F.coalesce(number(arguments, name), F.lit(0).cast("bigint")) * F.lit(NS_PER_MS).cast("bigint")


def any_of(condition: Column) -> Column:
    """Return whether a condition is true in at least one row of a group."""
    return F.coalesce(F.bool_or(condition), no())


def different(value: Column) -> Column:
    """Return the number of different values in a group, without nulls; for groups with few different values.

    `count_distinct` would make Spark copy each row once more for each such count of a query.
    """
    return F.size(F.collect_set(value))


def no() -> Column:
    """Return the constant false, as a default for conditions that are null."""
    return F.lit(False)  # noqa: FBT003 - pyspark's parameter has no public name
