"""Waiting for what another thread must do: never a fixed time, always a condition and a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable

LIMIT_S = 10.0
_PAUSE_S = 0.005
_STILL_S = 0.5


def until(reached: Callable[[], bool], what: str, limit_s: float = LIMIT_S) -> None:
    """Wait for something that must come.

    Args:
        reached: Whether it is there.
        what: What it is, for who reads that it did not come.
        limit_s: How long it may take, in seconds.
    """
    end = time.monotonic() + limit_s
    while not reached():
        assert time.monotonic() < end, f"not within {limit_s} s: {what}"
        time.sleep(_PAUSE_S)  # the other thread needs the interpreter


def until_still(count: Callable[[], int], what: str, limit_s: float = LIMIT_S) -> int:
    """Wait until something has begun and then does not go on, of which nothing tells but that no more comes.

    Args:
        count: How far it is; 0 until it begins.
        what: What it is, for who reads that it did not stop.
        limit_s: How long it may take, in seconds.

    Returns:
        How far it got.
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
