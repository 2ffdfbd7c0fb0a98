"""Texts for durations and counts, for the judge, the reports and the command."""

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
    """Return a duration as text with at most four significant digits: ``2.001 s``, ``850 µs``, ``0 s``.

    A sentence that compares two durations must also state their difference, because rounded durations can look equal.

    Args:
        ns: The duration in nanoseconds; it may be negative.
    """
    size = abs(ns)
    for unit_ns, unit in _NS_UNITS:
        if size >= unit_ns:
            return f"{_significant(ns / unit_ns)} {unit}"
    return f"{ns} ns" if ns else "0 s"


def _significant(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"  # noqa: PLR2004 - four digits before the point


def seconds(value: float) -> str:
    """Return a duration in seconds as text, in the form of `duration`.

    Args:
        value: The duration in seconds.
    """
    return duration(round(value * _NS_PER_SECOND))


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: ``1 time``, ``3 times``, ``0 copies``.

    Args:
        number: The number.
        one: The noun in the singular.
        many: The noun in the plural; if it is empty, the plural is `one` with an s.
    """
    return f"{number} {one}" if number == 1 else f"{number} {many or f'{one}s'}"
