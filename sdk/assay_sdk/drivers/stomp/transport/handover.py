"""The bounded queue between stomp.py's thread and the runner."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

from assay_sdk.time import Runner

T = TypeVar("T")

MOST = 1_024
"""The most frames that wait for the runner; then stomp.py's thread waits, and TCP makes the broker wait."""

_TOGETHER = 64
"""The most frames of one job, so that timers and other connections are served in between."""


class HandOver(Generic[T]):
    """A bounded queue: one thread adds items, and the runner takes them in the same order.

    stomp.py calls its listeners on its own thread, and an exception or a slow call there ends the connection.  So the
    thread only puts each frame into this queue.

    Args:
        runner: Runs the jobs that take items.
        take: Called on the runner with each item.
        most: The largest number of items in the queue.
    """

    def __init__(self, runner: Runner, take: Callable[[T], None], most: int = MOST) -> None:
        self._runner = runner
        self._take = take
        self._most = most
        self._items: deque[T] = deque()
        self._changed = threading.Condition()
        self._due = False
        self._closed = False
        self.full = False
        """Whether the thread waits for the runner; it then reads nothing, so no heart-beats are noticed."""

    def put(self, item: T) -> None:
        """Add an item; wait while the queue is full.  After `close`, the item is dropped."""
        with self._changed:
            while len(self._items) >= self._most and not self._closed:
                self.full = True
                self._changed.wait()
            self.full = False
            if self._closed:
                return
            self._items.append(item)
            if self._due:
                return
            self._due = True
        with suppress(RuntimeError):  # a closed runner runs no jobs, and nobody needs the item then
            self._runner.call_soon(self._pass_on)

    def close(self) -> None:
        """Drop all items, and let the waiting thread go on."""
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()

    def _pass_on(self) -> None:
        for _ in range(_TOGETHER):
            with self._changed:
                if not self._items:
                    self._due = False
                    return
                item = self._items.popleft()
                if self.full:
                    self._changed.notify_all()
            try:
                self._take(item)
            except BaseException:
                self._runner.call_soon(self._pass_on)  # the other items must not wait for ever
                raise
        self._runner.call_soon(self._pass_on)
