"""Starting, killing and starting again the broker's process."""

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
    """The broker's process does not do what it must; nothing that it holds can be had.

    Args:
        why: One sentence, or what the process itself said.
    """


class Keeper:
    """One broker, through many processes, on one folder.

    Args:
        order: What each process serves.
        context: How processes are made.
        clock: The machine's.
    """

    def __init__(self, order: BrokerOrder, context: ForkServerContext, clock: Clock) -> None:
        self._order = order
        self._context = context
        self._clock = clock
        self._process: ForkServerProcess | None = None
        self._control: Connection | None = None
        self._page = Page.make(order.page)
        self.kills: Counter[Phase] = Counter()
        """How many kills came at which phase."""
        self.start_ns: list[int] = []
        """How long each start took, until clients could connect."""

    @property
    def process(self) -> ForkServerProcess:
        """The process that runs."""
        if self._process is None:
            raise BrokerDownError("The broker's process was not started.")
        return self._process

    @property
    def control(self) -> Connection:
        """Where the process can be heard."""
        if self._control is None:
            raise BrokerDownError("The broker's process was not started.")
        return self._control

    def start(self) -> None:
        """Start a process on what the last one left behind.

        Raises:
            BrokerDownError: It cannot.
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
        """Have the process stop itself somewhere."""
        self.control.send(halt)

    def await_halt(self, limit_s: float) -> bool:
        """Wait until the process has stopped itself where it was told to.

        Args:
            limit_s: How long at most, in seconds.

        Returns:
            Whether it has.

        Raises:
            BrokerDownError: Something went wrong in it.
        """
        if not self.control.poll(limit_s):
            return False
        self._expect(HALTED, 0)
        return True

    def kill(self) -> Phase:
        """SIGKILL, and wait until nothing of the process is left.

        Returns:
            Where in its work it was.
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
        """End the process in order.

        Raises:
            BrokerDownError: It does not.
        """
        process = self.process
        self.control.send(STOP)
        self._expect(STOP, STOP_LIMIT_S)
        self._close()
        process.join()

    def abandon(self) -> None:
        """End the process, however it is; nothing when there is none."""
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
