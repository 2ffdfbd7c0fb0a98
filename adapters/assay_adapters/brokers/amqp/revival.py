"""Check after each scenario whether a product's broker still answers, and start it again if it does not.

A broker may stop answering by itself: Broker-J does so if a subscriber closes its link at the moment of a commit
(`docs/findings.md`). Without a new start, all later scenarios on this broker would fail or time out.

The processes of a run share one broker. A process that starts the broker again locks a file with a count, and adds 1
to the count before the start and 1 after it. So the count grows during every scenario that overlaps such a start.
This table decides, for a scenario that has ended:

=========================================  =================================  ====================================
the broker                                 the result for the scenario        what the process does
=========================================  =================================  ====================================
answers, and the count is as it was at     none                               nothing
the scenario's begin
answers, and the count has grown           a `Silence`                        nothing
does not answer, and the count has grown,  a `Silence`                        nothing: another process has started
if only during the wait for the lock                                          the broker again
does not answer, and the count is as it    a `Silence`                        adds 1 to the count, kills the broker
was at the scenario's begin                                                   unless it has ended, starts it again,
                                                                              and adds 1 to the count
=========================================  =================================  ====================================

A broker that only one scenario uses is not started again: the next scenario gets a new broker.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from assay_adapters.containers.container import Container
from assay_adapters.ports.backend import BrokerOwner, Silence
from assay_sdk.time import Runner

ANSWER_LIMIT_NS = 30 * 10**9
"""How long a broker may take for an answer, in nanoseconds. On a busy machine, Artemis has taken 24 s."""
_POLL_NS = 500_000_000


def is_silent(answers: Callable[[], bool], runner: Runner) -> bool:
    """Return whether a broker does not answer within `ANSWER_LIMIT_NS`.

    Args:
        answers: Returns within a few seconds whether the broker answers.
        runner: The runner that waits between two calls of `answers`.
    """
    deadline_ns = runner.clock.monotonic_ns() + ANSWER_LIMIT_NS
    while not answers():
        now_ns = runner.clock.monotonic_ns()
        if now_ns >= deadline_ns:
            return True
        runner.run_until(lambda: False, now_ns + _POLL_NS)
    return False


class SharedBroker:
    """One process's object for the broker that the scenarios of all processes share.

    Args:
        title: The product's name, for messages.
        counter: The file with the count: it has one byte for each begin and each end of a new start.
        answers: Returns within a few seconds whether the broker answers.
        container: Returns the broker's container.
        runner: The runner that waits.
    """

    def __init__(
        self,
        title: str,
        counter: Path,
        answers: Callable[[], bool],
        container: Callable[[], Container],
        runner: Runner,
    ) -> None:
        self._title = title
        self._counter = counter
        self._answers = answers
        self._container = container
        self._runner = runner

    def starts(self) -> int:
        """Return the count in the file, to which all processes of the run add."""
        return self._counter.stat().st_size if self._counter.exists() else 0

    def check(self, starts: int) -> Silence | None:
        """Check whether the broker answers, and return the result for the scenario, by the table of this module.

        Args:
            starts: The result of `starts` at the scenario's begin.

        Raises:
            BackendError: The broker cannot be started again.
        """
        silent = is_silent(self._answers, self._runner)
        if self.starts() == starts:
            if not silent:
                return None
            with self._locked():
                if self.starts() == starts:
                    self._start_again()
                    return Silence(
                        f"{self._title} did not answer within {ANSWER_LIMIT_NS // 10**9} s, although no scenario had"
                        " caused a fault on it, so the kit has killed it and started it again",
                        BrokerOwner.SHARED,
                    )
        text = f"{self._title} stopped answering during the scenario, and the kit has started it again"
        return Silence(text, BrokerOwner.SHARED)

    def _start_again(self) -> None:
        container = self._container()
        self._count()
        if container.exit_code() is None:
            container.kill()
        container.resume()
        self._count()

    def _count(self) -> None:
        with self._counter.open("ab") as file:
            file.write(b"+")

    @contextmanager
    def _locked(self) -> Generator[None]:
        with self._counter.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
