"""Heart-beats (STOMP 1.2), on a thread of their own, so that a slow message handler does not delay them."""

from __future__ import annotations

import threading
from typing import Protocol

from assay_sdk.stomp import Pulse
from assay_sdk.time import NS_PER_MS, Clock


class Beating(Protocol):
    """The interface of a connection for its heart-beats; all methods may be called on any thread."""

    def beat(self) -> None:
        """Send a heart-beat (an end of line), unless other output already waits to be sent."""
        ...

    @property
    def is_reading(self) -> bool:
        """Whether the connection reads from its socket; otherwise it cannot notice the broker's heart-beats."""
        ...

    def silent(self, times: int) -> None:
        """Handle a broker that has been silent for too long; octets may still arrive before the connection acts.

        Args:
            times: How often octets had arrived before the silence (`Beats.times`).
        """
        ...


class Beats:
    """The heart-beats of one connection, in both directions.

    Args:
        connection: The connection.
        clock: The clock of `Pulse`.
        beats_ms: The time between heart-beats to the broker, in milliseconds; 0 for none.
        hears_ms: The time between heart-beats from the broker, in milliseconds; 0 for none.
    """

    def __init__(self, connection: Beating, clock: Clock, beats_ms: int, hears_ms: int) -> None:
        self._connection = connection
        self._clock = clock
        self.hears_ms = hears_ms
        self.times = 0
        """How often octets have arrived."""
        self._stopped = threading.Event()
        self._pulse = Pulse(beats_ms, hears_ms, self._now_ms())

    def start(self) -> None:
        """Start the thread, if there are heart-beats."""
        if self._pulse.next_ms() is not None:
            threading.Thread(target=self._run, name="assay-stomp-beats", daemon=True).start()

    def stop(self) -> None:
        """Stop the thread."""
        self._stopped.set()

    def heard(self) -> None:
        """Note that octets have arrived."""
        self._pulse.heard_ms = self._now_ms()
        self.times += 1  # last, because `_run` reads this number before the time

    def written(self) -> None:
        """Note that octets were written."""
        self._pulse.written_ms = self._now_ms()

    def _now_ms(self) -> int:
        return self._clock.monotonic_ns() // NS_PER_MS

    def _run(self) -> None:
        pulse = self._pulse
        while (due_ms := pulse.next_ms()) is not None:
            if self._stopped.wait(max(due_ms - self._now_ms(), 1) / 1_000):
                return
            times, now_ms = self.times, self._now_ms()
            if pulse.beat_is_due(now_ms):
                pulse.written_ms = now_ms
                self._connection.beat()
            if pulse.is_silent(now_ms):
                pulse.heard_ms = now_ms  # if the connection does not end, check again after the same time
                if self._connection.is_reading:
                    self._connection.silent(times)
