"""Formats durations and counts for the judge, the reports and the command."""

from __future__ import annotations

from functools import lru_cache

_NS_UNITS = (
    (3_600_000_000_000, "h"),
    (60_000_000_000, "min"),
    (1_000_000_000, "s"),
    (1_000_000, "ms"),
    (1_000, "µs"),
)
_NS_PER_SECOND = 1_000_000_000


@lru_cache(maxsize=4096)
def duration(ns: int) -> str:
    """Write a duration to four significant digits: ``2.001 s``, ``850 µs``, ``0 s``.

    A text that compares two durations must also give their difference, since rounding may make the two look equal.

    Args:
        ns: Nanoseconds; may be negative.
    """
    size = abs(ns)
    for unit_ns, unit in _NS_UNITS:
        if size >= unit_ns:
            return f"{_significant(ns / unit_ns)} {unit}"
    return f"{ns} ns" if ns else "0 s"


def _significant(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"  # noqa: PLR2004 - four digits before the point


def seconds(value: float) -> str:
    """Write a duration given in seconds."""
    return duration(round(value * _NS_PER_SECOND))


def counted(number: int, one: str, many: str = "") -> str:
    """Write a number with its noun: ``1 time``, ``3 times``, ``0 copies``.

    Args:
        number: How many.
        one: The noun for one.
        many: The noun for any other number; empty for `one` with an s.
    """
    return f"{number} {one}" if number == 1 else f"{number} {many or f'{one}s'}"
