"""Selection of a log's lines for the journal: at most a fixed number, shortened, and without passwords."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypeVar

T = TypeVar("T")
FIRST, LAST = 40, 40
"""The largest numbers of lines from the beginning and from the end of a scenario's part of a log."""
LONGEST = 500
"""The largest number of characters of a line."""
_HIDDEN = "***"
_LEAST = 4
"""The kit does not hide a password with fewer characters than this, because it may also occur within other words."""
_SECRETS = re.compile(
    r"""
    ( (?: passwo?r?d | passcode | passphrase | pwd | secret | credentials? | token | api[_-]?key ) [\w.-]{0,40}
      ["']? \s* [=:] \s* ["']?
    | authorization ["']? \s* [=:] \s* ["']? (?: basic \s+ | bearer \s+ )?
    )
    [^\s"',;&<>}\])]+
    """,
    re.IGNORECASE | re.VERBOSE,
)
_IN_URL = re.compile(r"(://[^\s/:@]+:)[^\s/@]+(?=@)")
_STYLES = re.compile(r"\x1b\[[0-9;]*m")
"""Sequences that set colours and styles of a terminal."""
_READ = 4 * LONGEST
"""The length to which `safe` first cuts a line; above `LONGEST`, because hiding a password can shorten the line."""
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?")
_HEAD = 1_000
"""How many characters at a line's beginning are searched for its time; in JSON, the time may not come first."""


def few(lines: Sequence[T]) -> list[tuple[T, int]]:
    """Return the first and the last lines, each with the number of lines before it that are left out."""
    if len(lines) <= FIRST + LAST:
        return [(line, 0) for line in lines]
    gap = len(lines) - FIRST - LAST
    last = lines[-LAST:]
    return [*((line, 0) for line in lines[:FIRST]), (last[0], gap), *((line, 0) for line in last[1:])]


def safe(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a line without passwords and without a terminal's colours, shortened to `LONGEST` characters.

    Args:
        text: The line.
        secrets: Passwords to hide at any place of the line.
    """
    text = _STYLES.sub("", text)
    for secret in secrets:
        if len(secret) >= _LEAST:
            text = text.replace(secret, _HIDDEN)
    text = text.rstrip()[:_READ]
    for pattern in (_SECRETS, _IN_URL):
        text = pattern.sub(rf"\1{_HIDDEN}", text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def time_in(text: str) -> int | None:
    """Return the first timestamp in a line's first 1,000 characters, in nanoseconds since the epoch; None without one.

    A timestamp without a time zone is in this machine's zone.
    """
    found = _TIME.search(text[:_HEAD])
    if found is None:
        return None
    try:
        return int(datetime.fromisoformat(found[0].replace(",", ".")).timestamp() * 1_000_000) * 1_000
    except (ValueError, OverflowError):
        return None
