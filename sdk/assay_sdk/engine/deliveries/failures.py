"""The pause of a consumer whose listener raises, or whose poison message cannot be moved."""

from __future__ import annotations

from functools import partial
from typing import Protocol

from assay_sdk.engine.states import Link
from assay_sdk.time import NS_PER_MS, CancelJob, Runner

_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS = 100, 10_000


class Pausing(Protocol):
    """The attributes and methods of a consumer that `FailurePause` uses."""

    @property
    def runner(self) -> Runner:
        """Runner of the connection."""
        ...

    @property
    def state(self) -> Link:
        """State of the link."""
        ...

    def pause(self) -> None:
        """Stop delivering and requesting messages until `go_on`."""
        ...

    def go_on(self) -> None:
        """End one pause; the consumer continues when `go_on` was called as often as `pause`."""
        ...


class FailurePause:
    """The pause of a consumer after a failure; the pause grows with each failure in a row.

    This object has no reference to the consumer, so that a closed consumer is not part of a reference cycle.
    """

    def __init__(self) -> None:
        self._in_a_row = 0
        self._timer: CancelJob | None = None
        """Cancels the timer that ends the pause; None without a pause."""

    def failed(self, consumer: Pausing) -> None:
        """Count a failure, and pause the consumer; the first failure in a row causes no pause.

        A failure is an exception of the listener, or a poison message that could not be moved.
        """
        self._in_a_row += 1
        span_ms = pause_ms(self._in_a_row)
        if span_ms and self._timer is None and consumer.state is Link.ATTACHED:
            consumer.pause()
            due_ns = consumer.runner.clock.monotonic_ns() + span_ms * NS_PER_MS
            self._timer = consumer.runner.call_at(due_ns, partial(self.end, consumer))

    def succeeded(self) -> None:
        """Set the number of failures in a row to 0, because the listener has returned or was removed."""
        self._in_a_row = 0

    def end(self, consumer: Pausing) -> None:
        """End a consumer's pause; do nothing if the consumer is not paused."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer()
            consumer.go_on()

    def forget(self) -> None:
        """Cancel the timer of the pause, because the consumer has ended."""
        if self._timer is not None:
            self._timer()
            self._timer = None


def pause_ms(failures: int) -> int:
    """Return how long a consumer pauses after a failure.

    Args:
        failures: Number of failures in a row, at least 1.

    Returns:
        The pause in milliseconds: 0 after the first failure, 100 after the second, then doubled with each failure up
        to 10,000.
    """
    if failures <= 1:
        return 0
    return min(_FIRST_PAUSE_MS << min(failures - 2, 16), _LONGEST_PAUSE_MS)
