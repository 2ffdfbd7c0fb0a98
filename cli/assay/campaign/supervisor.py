"""The supervisor, which starts, kills and restarts the broker's process."""

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
        why: The reason in one sentence, or the error text of the process.
    """


class Supervisor:
    """Runs a broker on one folder, in a new process after each kill.

    Args:
        order: The broker's configuration.
        context: The `multiprocessing` context that creates the processes.
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
        """The number of kills, by phase."""
        self.start_ns: list[int] = []
        """The nanoseconds that each start took until clients could connect."""

    @property
    def process(self) -> ForkServerProcess:
        """The running broker process.

        Raises:
            BrokerDownError: No process is running.
        """
        if self._process is None:
            raise BrokerDownError("The broker's process was not started.")
        return self._process

    @property
    def control(self) -> Connection:
        """The connection to the running broker process.

        Raises:
            BrokerDownError: No process is running.
        """
        if self._control is None:
            raise BrokerDownError("The broker's process was not started.")
        return self._control

    def start(self) -> None:
        """Start a process on the data that the previous process left, and wait until clients can connect.

        Raises:
            BrokerDownError: The process reported an error, ended, or was not ready within `START_LIMIT_S`.
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
        """Tell the process at which phase of its work it must stop itself."""
        self.control.send(halt)

    def await_halt(self, limit_s: float) -> bool:
        """Wait until the process has stopped itself at the armed moment.

        Args:
            limit_s: The longest wait, in seconds.

        Returns:
            Whether the process has stopped itself in time.

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
            The phase in which the process was killed.
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
        """Shut the process down normally.

        Raises:
            BrokerDownError: The process reported an error, ended by itself, or did not stop within `STOP_LIMIT_S`.
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
            silent = f"The broker's process did not report {word!r} within {limit_s:.0f} s."
            said = self.control.recv() if self.control.poll(limit_s) else silent
        except EOFError:
            said = "The broker's process ended by itself."
        if said != word:
            raise BrokerDownError(str(said))
