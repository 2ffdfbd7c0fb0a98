"""Starts, kills and restarts the broker's process."""

from __future__ import annotations

import os
import signal
from collections import Counter
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess

from assay.campaign.phases import Halt, Page, Phase
from assay.campaign.server import HALTED, READY, STOP, BrokerOrder, serve
from assay_sdk.time import Clock

START_LIMIT_S = 60.0
STOP_LIMIT_S = 30.0


class BrokerDownError(Exception):
    """The broker's process failed.

    Args:
        why: One sentence, or the error text of the process.
    """


class Supervisor:
    """A broker on one folder, in one process after the other.

    Args:
        order: The broker's configuration.
        context: Creates its processes.
        clock: The machine's clock.
    """

    def __init__(self, order: BrokerOrder, context: ForkServerContext, clock: Clock) -> None:
        self._order = order
        self._context = context
        self._clock = clock
        self._process: ForkServerProcess | None = None
        self._control: Connection | None = None
        self._page = Page.make(order.page)
        self.kills: Counter[Phase] = Counter()
        """The number of kills by phase."""
        self.start_ns: list[int] = []
        """How long each start took until clients could connect, in nanoseconds."""

    @property
    def process(self) -> ForkServerProcess:
        """The running process."""
        if self._process is None:
            raise BrokerDownError("The broker's process was not started.")
        return self._process

    @property
    def control(self) -> Connection:
        """The connection to the process."""
        if self._control is None:
            raise BrokerDownError("The broker's process was not started.")
        return self._control

    def start(self) -> None:
        """Start a process on the data of the last one.

        Raises:
            BrokerDownError: It does not start.
        """
        begun_ns = self._clock.monotonic_ns()
        self._page.turn(Phase.IDLE, begun_ns)
        self._control, theirs = self._context.Pipe()
        process = self._context.Process(target=serve, args=(self._order, theirs), daemon=True)
        process.start()
        theirs.close()
        self._process = process
        self._expect(READY, START_LIMIT_S)
        self.start_ns.append(self._clock.monotonic_ns() - begun_ns)

    def arm(self, halt: Halt) -> None:
        """Tell the process where to stop itself."""
        self.control.send(halt)

    def await_halt(self, limit_s: float) -> bool:
        """Wait until the process has stopped itself where it was told to.

        Args:
            limit_s: How long to wait at most, in seconds.

        Returns:
            Whether it has stopped itself.

        Raises:
            BrokerDownError: The process reported an error or ended.
        """
        if not self.control.poll(limit_s):
            return False
        self._expect(HALTED, 0)
        return True

    def kill(self) -> Phase:
        """Kill the process with SIGKILL, and wait for its end.

        Returns:
            The phase in which it was killed.
        """
        process = self.process
        at_ns = self._clock.monotonic_ns()
        os.kill(process.pid or 0, signal.SIGKILL)
        process.join()
        self._close()
        phase = self._page.phase(at_ns)
        self.kills[phase] += 1
        return phase

    def stop(self) -> None:
        """End the process cleanly.

        Raises:
            BrokerDownError: It does not end.
        """
        process = self.process
        self.control.send(STOP)
        self._expect(STOP, STOP_LIMIT_S)
        self._close()
        process.join()

    def abandon(self) -> None:
        """Kill the process if it runs."""
        if self._process is not None and self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._close()

    def _close(self) -> None:
        if self._control is not None:
            self._control.close()
        self._control = self._process = None

    def _expect(self, word: str, limit_s: float) -> None:
        try:
            said = self.control.recv() if self.control.poll(limit_s) else f"It did not say {word!r} in {limit_s:.0f} s."
        except EOFError:
            said = "It ended by itself."
        if said != word:
            raise BrokerDownError(str(said))
