"""Conversion of durations to milliseconds: a `timedelta` or int from the API, and texts in features (``5 minutes``)."""

from __future__ import annotations

import re
from datetime import timedelta

LONGEST_MS = 2**63 - 1
"""Longest duration, in milliseconds; JMS durations are 64-bit integers."""

_MILLISECOND = timedelta(milliseconds=1)
_UNITS_MS = {"ms": 1, "s": 1_000, "minutes": 60_000, "h": 3_600_000, "days": 86_400_000}
"""Length in milliseconds of each unit that `format_duration` writes, shortest unit first."""
_SPELLINGS: dict[str, int] = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), _UNITS_MS["ms"]),
    **dict.fromkeys(("s", "sec", "second", "seconds"), _UNITS_MS["s"]),
    **dict.fromkeys(("m", "min", "minute", "minutes"), _UNITS_MS["minutes"]),
    **dict.fromkeys(("h", "hour", "hours"), _UNITS_MS["h"]),
    **dict.fromkeys(("d", "day", "days"), _UNITS_MS["days"]),
}
_ONE = {"minutes": "minute", "days": "day"}
_TEXT = re.compile(r"(?P<figure>[0-9]{1,19}(?:\.[0-9]{1,19})?) ?(?P<unit>[a-z]+)", re.ASCII)
DURATION = rf"[0-9]+(?:\.[0-9]+)? ?(?:{'|'.join(_SPELLINGS)})"
"""Regular expression, without capturing groups, for texts that `parse_duration` reads; patterns of steps contain it."""


class DurationError(ValueError):
    """The error for a value or text that is not a valid duration; the error's text names the fault."""


def milliseconds(value: timedelta | int, what: str) -> int:
    """Convert a duration to milliseconds.

    Args:
        value: A `timedelta`, or milliseconds.
        what: Name of the duration, which begins the text of the error, such as ``"a time to live"``.

    Returns:
        Milliseconds, from 0 to `LONGEST_MS`.

    Raises:
        DurationError: The value is negative, not a whole number of milliseconds, not a timedelta or int, or does
            not fit a 64-bit integer.
    """
    whole = _whole(value, what)
    if whole < 0:
        raise DurationError(f"{what} is {_figure(whole)} ms; a duration cannot be negative.")
    if whole > LONGEST_MS:
        raise DurationError(f"{what} is {_figure(whole)} ms; the longest duration is {LONGEST_MS} ms.")
    return whole


def _whole(given: object, what: str) -> int:
    """Convert a duration to milliseconds, without a check of its range.

    Raises:
        DurationError: The value is of another type, or not a whole number of milliseconds.
    """
    if isinstance(given, timedelta):
        whole, rest = divmod(given, _MILLISECOND)
        if rest:
            raise DurationError(f"{what} is {given!r}, which is no whole number of milliseconds; round it.")
        return whole
    if isinstance(given, int) and not isinstance(given, bool):
        return int(given)
    raise DurationError(f"{what} is {given!r}; give a timedelta or an int of milliseconds.")


def parse_duration(text: str) -> int:
    """Convert a text such as ``500 ms``, ``1.5 s``, ``5 minutes``, ``10m`` or ``1 h`` to milliseconds.

    Raises:
        DurationError: The text is not a number with a unit, not a whole number of milliseconds, or too long.
    """
    found = _TEXT.fullmatch(text)
    unit = _SPELLINGS.get(found["unit"]) if found else None
    if found is None or unit is None:
        raise DurationError(
            f"{text!r} is no duration; write a figure and a unit (ms, s, m, h or d), as in '500 ms', '2 s' or '10 m'."
        )
    from decimal import Decimal  # here, because only texts need it, and the import takes 2 ms

    exact = Decimal(found["figure"]) * unit
    if exact > LONGEST_MS:
        raise DurationError(f"{text!r} is too long; the longest duration is {LONGEST_MS} ms.")
    if exact != exact.to_integral_value():
        raise DurationError(f"{text!r} is no whole number of milliseconds; round it.")
    return int(exact)


def format_duration(duration_ms: int) -> str:
    """Return a duration as text, in the longest unit that divides it: 90000 is ``90 s``.

    `parse_duration` converts the text back.

    Args:
        duration_ms: Milliseconds, 0 or more.

    Raises:
        DurationError: The duration is negative or longer than `LONGEST_MS`.
    """
    whole = milliseconds(duration_ms, "The duration")
    if whole == 0:
        return "0 ms"
    unit, size = max(((unit, size) for unit, size in _UNITS_MS.items() if whole % size == 0), key=lambda one: one[1])
    figure = whole // size
    return f"{figure} {_ONE.get(unit, unit) if figure == 1 else unit}"


def _figure(number: int) -> str:
    """Return a number as text; for a number of more than 30 digits, the approximate power of two instead."""
    return str(number) if abs(number) < 10**30 else f"about {'-' if number < 0 else ''}2**{number.bit_length()}"
