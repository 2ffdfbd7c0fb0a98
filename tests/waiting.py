"""Waiting for another thread, by a condition and a time limit, never for a fixed time."""

from __future__ import annotations

import time
from collections.abc import Callable

LIMIT_S = 60.0
_PAUSE_S = 0.005
_STILL_S = 0.5


def until(reached: Callable[[], bool], what: str, limit_s: float = LIMIT_S) -> None:
    """Wait for a condition that must become true.

    Args:
        reached: The condition.
        what: The condition in words, for the error message.
        limit_s: The time limit in seconds.
    """
    end = time.monotonic() + limit_s
    while not reached():
        assert time.monotonic() < end, f"not within {limit_s} s: {what}"
        time.sleep(_PAUSE_S)  # gives the interpreter to the other thread


def until_still(count: Callable[[], int], what: str, limit_s: float = LIMIT_S) -> int:
    """Wait until a count has begun to grow and then stops, for events whose end no signal shows.

    Args:
        count: Returns the count; 0 until the growth begins.
        what: The count in words, for the error message.
        limit_s: The time limit in seconds.

    Returns:
        The final count.
    """
    last, since = 0, time.monotonic()

    def still() -> bool:
        nonlocal last, since
        now = count()
        if now != last:
            last, since = now, time.monotonic()
        return last > 0 and time.monotonic() - since > _STILL_S

    until(still, what, limit_s)
    return last
