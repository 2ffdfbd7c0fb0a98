"""Runs the scenarios in several processes, forked after the collection.

If circumstances of the run left a scenario without a decision (`assay_evidence.concluding.attempts`), another process
repeats the scenario as soon as few processes are left.

Forked processes share the start of Python, the imports and the collection; pytest-xdist's workers repeat these steps,
each for itself. A forked process has none of the parent's threads, so it makes its own backend (`Writer.go_on_as`).
The parent process keeps the shared broker.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import chain
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any, Protocol

import pytest
from _pytest.runner import runtestprotocol
from msgspec import Struct, structs

from assay_evidence.interrupts import as_ctrl_c, ctrl_c_deferred
from assay_steps.processes.garbage_collection import freeze
from assay_steps.processes.interrupts import Interrupts
from assay_steps.processes.tickets import Tickets

CAN_FORK = sys.platform == "linux"
"""Whether a process can fork safely: only on Linux, because elsewhere libraries may break in a forked process."""

ATTEMPT = pytest.StashKey[int]()
"""The key under which a pytest item holds the number of its present attempt; the first attempt has no entry."""
DELAYED = pytest.StashKey[bool]()
"""The key under which a pytest item holds whether circumstances of the run left its last attempt undecided.

False if a known outcome expects this: a repeat would end in the same way.
"""
FEWER = 4
"""The number of processes is divided by this factor for each further attempt, so that the machine is less busy."""
FEWEST = 2
"""The smallest number of processes for further attempts, unless the run has fewer; one process would mostly wait."""
ATTEMPTS = 3
"""The largest number of attempts at a scenario."""
REPLACEMENTS = 4
"""For each process with which a run begins, the run replaces at most this number of dead processes.

Without a limit, a run in which every process dies would never end.
"""
JOIN_TIMEOUT_S = 60.0
"""The seconds in which stopped processes must end their scenarios, journals and backends."""

_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that are blocked until a forked process has a journal of its own.

Before that, a handler would close the parent process's journal.
"""


class Writer(Protocol):
    """A process's part of a run; `Run` implements this protocol."""

    def go_on_as(self, writer: str) -> None:
        """Continue in a forked process, with a journal of the given name."""
        ...

    def finish(self, *, concludes: bool) -> None:
        """Close the journal; with ``concludes``, compute the run's verdicts."""
        ...


class _Said(Struct, frozen=True):
    """The message that a forked process sends to its parent between two scenarios.

    Args:
        reports: Pytest's reports on the finished scenario, serialised.
        begins: The index of the scenario that the process begins now; None if the process ends.
        follows: The index of the scenario after `begins`, for which pytest keeps shared fixtures.
        problem: The error that ended the process early; empty for none.
        again: The index of the finished scenario, if it must be repeated; it has no reports then.
    """

    reports: tuple[dict[str, Any], ...] = ()
    begins: int | None = None
    follows: int | None = None
    problem: str = ""
    again: int | None = None


class Order(Struct, frozen=True, kw_only=True):
    """The order in which processes take scenarios.

    Args:
        group: Returns a scenario's group; one process runs the first attempts at the whole group. Empty if any process
            may run the scenario.
        first: Returns whether a scenario must run before the groups.
    """

    group: Callable[[pytest.Item], str]
    first: Callable[[pytest.Item], bool] = lambda _item: False


class _Forked(Struct, eq=False):
    """A forked process, as its parent sees it.

    Args:
        name: The name of the process and of its journal.
        process: The process.
        tickets: The queue from which the process takes its scenarios.
        said: The connection on which messages of the process arrive.
        within: The index of the scenario that the process runs now; None for none.
        follows: The index of the scenario that the process runs next; None for none.
        problem: The error that ended the process early; empty for none.
    """

    name: str
    process: ForkProcess
    tickets: Tickets
    said: Connection
    within: int | None = None
    follows: int | None = None
    problem: str = ""


class Forks:
    """A pytest plugin that runs the scenarios in forked processes and reports their results.

    Args:
        count: The number of processes.
        run: The parent process's part of the run; each forked process has a copy of it, which writes a journal of its
            own.
        writers: The plugin adds the names of the forked processes' journals to this list.
        interrupts: Notes whether the user has pressed Ctrl-C; each process receives the signal.
        order: The order of the scenarios.
    """

    def __init__(
        self,
        count: int,
        run: Writer,
        writers: list[str],
        interrupts: Interrupts,
        order: Order,
    ) -> None:
        self._count = count
        self._order = order
        self._run = run
        self._writers = writers
        self._interrupts = interrupts
        self._reports: list[pytest.TestReport] | None = None
        """In a forked process, pytest's reports on the present scenario; None in the parent."""
        self._ears: set[Connection] = set()
        """The parent's ends of the pipes from the forked processes."""
        self._again: list[int] = []
        """In the parent, the indexes of the scenarios that must be repeated."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run the collected scenarios in the forked processes, and repeat those without a decision.

        Raises:
            pytest.Session.Failed: A scenario failed, and an option lets pytest stop at the first failure.
            pytest.Session.Interrupted: A plugin has asked pytest to stop.
            pytest.exit.Exception: A forked process ended with an error.
            KeyboardInterrupt: The user pressed Ctrl-C.
        """
        if session.config.option.collectonly or session.testsfailed or not session.items:
            return None
        freeze()
        with closing(Tickets(_portions(session.items, range(len(session.items)), self._order))) as tickets:
            self._try_all(session, tickets)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """In a forked process, run a scenario, and store its reports for the parent process instead of showing them."""
        if self._reports is None:
            return None
        self._reports[:] = runtestprotocol(item, log=False, nextitem=nextitem)
        return True

    # the parent process ----------------------------------------------------------------------------------------------

    def _try_all(self, session: pytest.Session, tickets: Tickets) -> None:
        count = min(self._count, len(session.items))
        forked: list[_Forked] = []
        replacements = count * REPLACEMENTS
        try:
            for _ in range(count):
                forked.append(self._fork(session, tickets))  # noqa: PERF401 - `_see_off` must end these if a fork fails
            while forked:
                self._interrupts.check()  # Python may have dropped the KeyboardInterrupt of a handler
                for one in self._ended(session, forked):
                    forked.remove(one)
                    if one.within is not None and replacements:
                        replacements -= 1
                        forked.append(self._fork(session, one.tickets, one.follows))
                    elif one.tickets is not tickets:
                        one.tickets.close()
                while (repeated := self._next_repeated(session, len(forked))) is not None:
                    forked.append(self._fork_for(session, repeated))
        except BaseException:  # Ctrl-C too: otherwise the processes would go on
            self._interrupts.defer()
            for one in forked:
                one.tickets.tear_up()
            self._see_off(session, forked)
            raise
        finally:
            for one in forked:
                one.tickets.close()

    def _ended(self, session: pytest.Session, forked: Iterable[_Forked]) -> Iterator[_Forked]:
        """Wait for messages of processes, handle them, and yield the processes that have ended."""
        ready = wait([one.said for one in forked])
        for one in [one for one in forked if one.said in ready]:
            if self._hear(session, one):
                _go_on(session, one)
            else:
                yield one

    def _next_repeated(self, session: pytest.Session, running: int) -> Sequence[int] | None:
        """Take the next portion of scenarios to repeat; None if there is none, or if too many processes are running."""
        for portion in _portions(session.items, sorted(self._again), self._order):
            attempt = max(session.items[number].stash[ATTEMPT] for number in portion)
            if running < max(min(FEWEST, self._count), self._count // FEWER ** (attempt - 1)):
                self._again = [number for number in self._again if number not in portion]
                return portion
        return None

    def _fork_for(self, session: pytest.Session, repeated: Sequence[int]) -> _Forked:
        tickets = Tickets([repeated])
        try:
            return self._fork(session, tickets)
        except BaseException:
            tickets.close()
            raise

    def _fork(self, session: pytest.Session, tickets: Tickets, first: int | None = None) -> _Forked:
        name = f"gw{len(self._writers)}"
        self._writers.append(name)
        hears, says = multiprocessing.Pipe(duplex=False)
        self._ears = {one for one in self._ears if not one.closed} | {hears}
        process = multiprocessing.get_context("fork").Process(
            target=self._work, args=(session, tickets, first, name, says), name=name, daemon=True
        )
        with warnings.catch_warnings():  # safe: the other thread only draws a progress bar, which the fork does not use
            warnings.filterwarnings("ignore", message=".*multi-threaded", category=DeprecationWarning)
            before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
            process.start()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        says.close()
        return _Forked(name, process, tickets, hears)

    def _hear(self, session: pytest.Session, one: _Forked) -> bool:
        """Receive a process's message and pass its reports to pytest; return False if the process has ended."""
        try:
            with ctrl_c_deferred():  # a message that is read only in part would make the next one unreadable
                said: _Said = one.said.recv()
        except (EOFError, OSError):
            one.process.join()
            if one.within is not None:
                session.config.hook.pytest_runtest_logreport(report=_died(one, session.items[one.within]))
            return False
        hook = session.config.hook
        for data in said.reports:
            report = hook.pytest_report_from_serializable(config=session.config, data=data)
            hook.pytest_runtest_logreport(report=report)
        if said.again is not None:
            stash = session.items[said.again].stash
            stash[ATTEMPT] = stash.get(ATTEMPT, 1) + 1
            self._again.append(said.again)
        one.within, one.follows, one.problem = said.begins, said.follows, said.problem
        return True

    def _see_off(self, session: pytest.Session, forked: list[_Forked]) -> None:
        """Ask processes to end their scenarios, journals and backends; kill them after `JOIN_TIMEOUT_S`."""
        limit = time.monotonic() + JOIN_TIMEOUT_S
        for one in forked:
            one.process.terminate()
        while forked and (left := limit - time.monotonic()) > 0:
            ready = wait([one.said for one in forked], left)
            forked = [one for one in forked if one.said not in ready or self._hear(session, one)]
        for one in forked:
            one.process.kill()
            one.process.join()

    # a forked process ------------------------------------------------------------------------------------------------

    def _work(self, session: pytest.Session, tickets: Tickets, first: int | None, name: str, says: Connection) -> None:
        signal.signal(signal.SIGTERM, as_ctrl_c(self._interrupts.handle_once))  # `_see_off` sends SIGTERM
        for ear in self._ears:
            ear.close()  # with an open copy, sends would succeed even after the parent process has died
        self._reports = []
        problem, has_journal = "", False
        try:
            _capture_anew(session.config)
            self._run.go_on_as(name)
            has_journal = True
            # Signals that came since the fork are handled now: this process has its own journal to close.
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
            self._try_some(session, chain(tickets.rest_of(first), tickets), says)
            signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)  # the remaining work is short
        except pytest.exit.Exception as said:
            problem = str(said)
        except KeyboardInterrupt:
            pass  # the parent process receives Ctrl-C too, and reports it
        except BaseException:  # noqa: BLE001 - SystemExit too: the parent process reports it
            problem = traceback.format_exc()
        self._interrupts.defer()
        try:
            if has_journal:
                self._run.finish(concludes=False)
        except Exception:  # noqa: BLE001 - the parent process reports it
            problem = problem or traceback.format_exc()
        with suppress(BrokenPipeError):  # the parent process has died
            says.send(_Said(problem=problem))  # `defer` keeps Ctrl-C from interrupting the send

    def _try_some(self, session: pytest.Session, numbers: Iterable[int], says: Connection) -> None:
        config, reports, numbers = session.config, self._reports, iter(numbers)
        said = _Said()
        number, following = next(numbers, None), next(numbers, None)
        while number is not None and reports is not None:
            with ctrl_c_deferred():
                says.send(structs.replace(said, begins=number, follows=following))
            item, after = session.items[number], None if following is None else session.items[following]
            config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if item.stash.get(DELAYED, False) and item.stash.get(ATTEMPT, 1) < ATTEMPTS:
                said = _Said(again=number)
            else:
                to_serializable = config.hook.pytest_report_to_serializable
                said = _Said(reports=tuple(to_serializable(config=config, report=one) for one in reports))
            number, following = following, next(numbers, None)
        with ctrl_c_deferred():
            says.send(said)


def _portions(items: Sequence[pytest.Item], numbers: Iterable[int], order: Order) -> list[list[int]]:
    """Divide the items with these indexes into portions, each for one process at a time; return each portion's indexes.

    The order is: first the items that must run first, then the groups, because they take longest, then the other items.
    Items without a group have a portion of their own.
    """
    ahead: list[list[int]] = []
    groups: dict[str, list[int]] = {}
    alone: list[list[int]] = []
    for place in numbers:
        item = items[place]
        name = order.group(item)
        if order.first(item):
            ahead.append([place])
        elif name:
            groups.setdefault(name, []).append(place)
        else:
            alone.append([place])
    return [*ahead, *groups.values(), *alone]


def _go_on(session: pytest.Session, one: _Forked) -> None:
    """End the run if a forked process ended with an error, or if pytest must stop."""
    if one.problem:
        pytest.exit(one.problem, returncode=pytest.ExitCode.INTERNAL_ERROR)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)


def _capture_anew(config: pytest.Config) -> None:
    """Capture this process's output in new files, because a forked process shares files and offsets with its parent."""
    capture = config.pluginmanager.get_plugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()
        capture.start_global_capturing()
        capture.suspend_global_capture()


def _died(one: _Forked, item: pytest.Item) -> pytest.TestReport:
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={},
        outcome="failed",
        longrepr=f"The process {one.name} died (exit code {one.process.exitcode}) while it ran {item.nodeid}.",
        when="call",
    )
