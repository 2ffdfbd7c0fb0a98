"""The live display of a soak: a line on a terminal, and about ten lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from assay.soak.ending import State
from assay_evidence.figures import counted

LINES = 10
"""About how many lines the display prints without a terminal, before the drain."""
DRAIN_LINE_S = 10.0
"""The seconds from one line to the next during the drain."""
RATE_S = 2.0
"""The time over which the display computes rates, in seconds."""


class Display:
    """Shows the states of a soak on standard error; a context manager.

    Args:
        seconds: How long the producers send, in seconds.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._console = Console(stderr=True, soft_wrap=True, highlight=False, emoji=False)
        self._live = Live(console=self._console, transient=True) if self._console.is_terminal else None
        self._states: list[tuple[float, State]] = []
        self._next_s = 0.0

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, state: State) -> None:
        """Show a state: on a terminal at once, elsewhere only if the next line is due."""
        now_s = time.monotonic()
        self._states = [(at, one) for at, one in self._states if now_s - at <= RATE_S] + [(now_s, state)]
        if self._live is not None:
            self._live.update(Text(self.line(state)))
        elif state.elapsed_s >= self._next_s:
            self._console.print(self.line(state), markup=False)
            pause_s = self._seconds / LINES if state.elapsed_s < self._seconds else DRAIN_LINE_S
            self._next_s = max(self._next_s, state.elapsed_s) + pause_s

    def line(self, state: State) -> str:
        """Return the text of a state."""
        at_s, before = self._states[0]
        span_s = self._states[-1][0] - at_s
        rates = ""
        if span_s > 0:
            sent, seen = ((now - old) / span_s for now, old in ((state.sent, before.sent), (state.seen, before.seen)))
            rates = f" ({sent:.0f} and {seen:.0f} a second)"
        left_s = self._seconds - state.elapsed_s
        left = f"{left_s:.0f} s left" if left_s > 0 else f"draining, {counted(state.open_slices, 'slice')} open"
        fault = f", now: {state.fault}" if state.fault else ""
        waiting = f"{state.waiting} on queues"
        return (
            f"{left}: {state.sent} sent, {state.seen} received{rates}, {waiting}, "
            f"{counted(state.faults, 'fault')}{fault}"
        )
