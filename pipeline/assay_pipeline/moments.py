"""Time between two events, as column expressions over moments.

A *moment* is a struct of an event's place and time: writer, seq, boot, mono_ns, wall_ns, unc_ns.  Two moments of the
same boot are compared by its monotonic clock, others by wall clocks.  The uncertainty of a comparison is the sum of
both.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

MOMENT = ("writer", "seq", "boot", "mono_ns", "wall_ns", "unc_ns")
NS_PER_MS = 1_000_000


def moment() -> Column:
    """The moment of an event, from its own columns."""
    return F.struct(*MOMENT)


def elapsed(start: Column, end: Column) -> Column:
    """Nanoseconds from one moment to another; negative if the other is earlier, null if one is missing."""
    same_clock = start["boot"] == end["boot"]
    return F.when(same_clock, end["mono_ns"] - start["mono_ns"]).otherwise(end["wall_ns"] - start["wall_ns"])


def uncertainty(start: Column, end: Column) -> Column:
    """The uncertainty of `elapsed`, plus or minus, in nanoseconds."""
    return start["unc_ns"] + end["unc_ns"]


def precedes(first: Column, second: Column) -> Column:
    """Whether one moment is certainly before the other: by a writer's own count, or by more than the uncertainty."""
    return F.when(first["writer"] == second["writer"], first["seq"] < second["seq"]).otherwise(
        elapsed(first, second) > uncertainty(first, second)
    )


def reference(at: Column) -> Column:
    """The reference of a moment's event in claims and findings: ``writer:seq``."""
    return F.concat_ws(":", at["writer"], at["seq"].cast("string"))


def number(arguments: Column, name: str) -> Column:
    """A whole number among a call's arguments, which the flat schema holds as text; null for any other value."""
    return arguments[name].try_cast("bigint")


def duration(arguments: Column, name: str) -> Column:
    """A duration in milliseconds among a call's arguments, in nanoseconds; 0 without one."""
    return F.coalesce(number(arguments, name), F.lit(0).cast("bigint")) * F.lit(NS_PER_MS).cast("bigint")


def any_of(condition: Column) -> Column:
    """Whether the condition holds in any row of a group."""
    return F.coalesce(F.bool_or(condition), no())


def no() -> Column:
    """The constant false, for conditions that are null without a value to compare."""
    return F.lit(False)  # noqa: FBT003 - pyspark's parameter has no public name
