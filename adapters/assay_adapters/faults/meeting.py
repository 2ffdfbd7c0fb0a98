"""A meeting of scenarios that share one broker and one restart or kill: the broker ends once for all of them.

A product in a container takes seconds of processor time to start. If ten scenarios each need a restart, they use the
same broker at the same time, each in a process of its own, and meet before the restart. If a kill must follow an action
at once, the scenarios meet before this action. Then all of them act at the same moment, and the scenario that completes
its action last kills the broker. The meeting's state is a JSON file, which a process locks for each change. A process
that died is no longer a member.

A member (one scenario) has one of these states:

======== ============================================================================================================
acting   The scenario runs, and the broker must stay as it is.
asking   The scenario waits for the fault. When all members are asking, they agree on a moment. At this moment, each
         member continues with the action that the fault must follow, if it has one, and becomes ready.
ready    The scenario has acted, and its proxy refuses connections. When all members are ready, the member that reads
         this in the file first ends the broker: usually the last one, which reads the file as soon as it is ready.
======== ============================================================================================================

The broker has one of these states:

======== ============================================================================================================
up       It answers. A scenario can enter the meeting in this state, and otherwise only if the meeting has no members.
ending   All members were asking for the fault, and now become ready one after the other.
down     One member has ended the broker and starts it again. Then it is up, and all members are acting.
failed   The broker did not go down or did not come back. Each member gets a `SharedFaultError` and leaves. The first
         scenario that enters afterwards starts a new broker.
======== ============================================================================================================
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

from assay_adapters.ports.backend import SharedFaultError
from assay_sdk.time import Runner

_POLL_NS = 200_000_000
"""The interval between two reads of the meeting's file, in nanoseconds.

With 20 ms, the waiting processes took a sixth of the processor time of a run on Artemis.
"""
_DEAD_CHECK_NS = 2 * 10**9
"""The shortest time in nanoseconds between two checks for dead members; a check reads a file for each member."""
_NOTICE_NS = 250_000_000
"""The time from the members' agreement to the agreed moment, in nanoseconds: enough for all to read the file."""
_LIMIT_NS = 300 * 10**9
"""The longest wait for other members: longer than any scenario takes between two faults."""


class MemberState(StrEnum):
    """The state of a member, as the module describes it."""

    ACTING = "acting"
    ASKING = "asking"
    READY = "ready"


class BrokerState(StrEnum):
    """The state of the meeting's broker, as the module describes it."""

    UP = "up"
    ENDING = "ending"
    DOWN = "down"
    FAILED = "failed"


_LOST = frozenset({BrokerState.DOWN, BrokerState.FAILED})
"""The states in which a broker cannot be used any more if no member is left."""


class MeetingContainer(Struct, frozen=True):
    """A container that all members use.

    Args:
        id: The container's id.
        port: The published port of the broker.
        admin_port: The published port of the broker's administration; None if it has none.
    """

    id: str
    port: int
    admin_port: int | None = None


class _State(Struct):
    """The content of the meeting's file.

    Args:
        members: The state of each member, by the id of its process.
        broker: The state of the broker.
        performer: The process that ends the broker and starts it again; None while no process does this.
        container: The container; None before the first scenario enters.
        moment_ns: The moment at which all members continue after their agreement, on the monotonic clock.
        struck_ns: The moment at which a member began to end the broker, on the same clock.
        error: The reason why the broker failed; empty for none.
    """

    members: dict[int, MemberState] = {}
    broker: BrokerState = BrokerState.UP
    performer: int | None = None
    container: MeetingContainer | None = None
    moment_ns: int = 0
    struck_ns: int = 0
    error: str = ""


class Meeting:
    """A process's part in a meeting; the process runs one scenario at a time.

    Args:
        file: The meeting's file. The first process that enters creates it.
        runner: The runner that waits for the other members, and keeps the scenario's connections alive meanwhile.
    """

    def __init__(self, file: Path, runner: Runner) -> None:
        self._file = file
        self._runner = runner
        self._me = os.getpid()
        self._checked_ns = 0

    def enter(
        self, start: Callable[[], MeetingContainer], remove: Callable[[MeetingContainer], None]
    ) -> MeetingContainer:
        """Enter the meeting as soon as the broker is up, and return the broker's container.

        Args:
            start: Starts a container, if the meeting has none; other processes wait meanwhile.
            remove: Removes the container of a broker that failed.

        Raises:
            BackendError: The container cannot be started.
            SharedFaultError: The present fault takes too long.
        """
        containers: list[MeetingContainer] = []

        # One lock covers check and entry; otherwise a fault could begin between them.
        def entered(state: _State) -> bool:
            if state.broker is not BrokerState.UP and (state.members or state.performer is not None):
                return False
            if state.broker in _LOST and state.container is not None:
                remove(state.container)
                state.container = None
            if state.container is None:
                state.container = start()
            state.broker, state.error = BrokerState.UP, ""
            state.members[self._me] = MemberState.ACTING
            containers.append(state.container)
            return True

        self._await(entered, self._run)
        return containers[0]

    def leave(self) -> None:
        """Leave the meeting, because the scenario has ended; do nothing if the process is not a member."""
        with self._changed() as state:
            state.members.pop(self._me, None)

    def gather(self) -> None:
        """Ask for the fault, wait until all members ask for it, and wait for the moment at which they continue.

        Raises:
            SharedFaultError: The broker has failed, or another member takes too long.
        """
        with self._changed() as state:
            state.members[self._me] = MemberState.ASKING
        self._await(self._has_gathered, self._run)
        with self._changed() as state:
            moment_ns = state.moment_ns
        self._runner.run_until(lambda: False, moment_ns)

    def end(self, action: Callable[[], None]) -> int:
        """Wait until all members are ready, and until one of them, perhaps this process, has ended the broker.

        Args:
            action: Ends the broker; only one of the processes calls it.

        Returns:
            The moment at which the action began, in nanoseconds of the monotonic clock.

        Raises:
            SharedFaultError: The broker did not go down, or another member takes too long.
        """
        with self._changed() as state:
            state.members[self._me] = MemberState.READY
        if self._await(self._ended, _pause) is BrokerState.ENDING:
            struck_ns = self._runner.clock.monotonic_ns()
            self._perform(action, BrokerState.DOWN, struck_ns)
            return struck_ns
        with self._changed() as state:
            return state.struck_ns

    def begin_again(self, action: Callable[[], None]) -> None:
        """Wait until one of the members, perhaps this process, has started the broker again.

        Args:
            action: Starts the broker; only one of the processes calls it.

        Raises:
            SharedFaultError: The broker did not come back.
        """
        if self._await(self._started, _pause) is BrokerState.DOWN:
            self._perform(action, BrokerState.UP)

    # conditions, which change the state when they hold ---------------------------------------------------------------

    def _has_gathered(self, state: _State) -> bool:
        if state.broker is BrokerState.UP and {*state.members.values()} == {MemberState.ASKING}:
            state.broker = BrokerState.ENDING
            state.moment_ns = self._runner.clock.monotonic_ns() + _NOTICE_NS
        return state.broker is BrokerState.ENDING

    def _ended(self, state: _State) -> bool:
        """Return whether the wait is over: another process has ended the broker, or this one becomes the performer."""
        all_ready = {*state.members.values()} == {MemberState.READY}
        if state.broker is BrokerState.ENDING and all_ready and state.performer is None:
            state.performer = self._me
            return True
        return state.broker is not BrokerState.ENDING

    def _started(self, state: _State) -> bool:
        """Return whether the wait is over: another process started the broker, or this one becomes the performer."""
        if state.broker is BrokerState.DOWN and state.performer in {None, self._me}:
            state.performer = self._me
            return True
        return state.broker is not BrokerState.DOWN

    # the file --------------------------------------------------------------------------------------------------------

    def _perform(self, action: Callable[[], None], then: BrokerState, struck_ns: int | None = None) -> None:
        try:
            action()
        except Exception as error:  # after any error of the action, the other processes must not wait for ever
            with self._changed() as state:
                state.broker, state.error, state.performer = BrokerState.FAILED, str(error), None
            raise SharedFaultError(str(error)) from error
        with self._changed() as state:
            state.broker = then
            state.struck_ns = struck_ns or state.struck_ns
            if then is BrokerState.UP:
                state.performer = None
                state.members = dict.fromkeys(state.members, MemberState.ACTING)

    def _await(self, condition: Callable[[_State], bool], pause: Callable[[], None]) -> BrokerState:
        """Wait until a condition holds, and return the broker's state then.

        Raises:
            SharedFaultError: The broker has failed while this process is a member, or the wait takes too long.
        """
        clock = self._runner.clock
        limit_ns = clock.monotonic_ns() + _LIMIT_NS
        while True:
            with self._changed() as state:
                if state.broker is BrokerState.FAILED and self._me in state.members:
                    raise SharedFaultError(state.error)
                if condition(state):
                    return state.broker
            if clock.monotonic_ns() > limit_ns:
                raise SharedFaultError(
                    f"the scenarios that share the broker did not meet for their fault within {_LIMIT_NS // 10**9} s"
                )
            pause()

    def _run(self) -> None:
        """Let the runner work for a moment, so that the scenario's connections stay alive."""
        self._runner.run_until(lambda: False, self._runner.clock.monotonic_ns() + _POLL_NS)

    @contextmanager
    def _changed(self) -> Generator[_State]:
        """Lock the file, and give the state to a ``with`` block.

        At most once in `_DEAD_CHECK_NS`, this first removes members that have died. At the block's end, it writes the
        state to the file if the state has changed.
        """
        with self._file.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            state = _read(file)
            before = msgspec.json.encode(state)
            now_ns = time.monotonic_ns()
            if now_ns - self._checked_ns >= _DEAD_CHECK_NS:
                self._checked_ns = now_ns
                _drop_dead(state)
            try:
                yield state
            finally:
                after = msgspec.json.encode(state)
                if after != before:
                    file.seek(0)
                    file.truncate()
                    file.write(after)
                    file.flush()


def container_of(file: Path) -> MeetingContainer | None:
    """Return the container of a meeting; None if no scenario has entered the meeting."""
    try:
        with file.open("rb") as opened:
            return _read(opened).container
    except FileNotFoundError:
        return None


def _read(file: IO[bytes]) -> _State:
    file.seek(0)
    content = file.read()
    return msgspec.json.decode(content, type=_State) if content else _State()


def _drop_dead(state: _State) -> None:
    for dead in [pid for pid in state.members if not _lives(pid)]:
        del state.members[dead]
    if state.performer is not None and not _lives(state.performer):
        state.performer = None


def _lives(pid: int) -> bool:
    """Return whether a process lives; a process that its parent has not waited for yet counts as dead."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False


def _pause() -> None:
    """Wait without the runner, because a scenario does nothing while the broker ends and starts again.

    The processes share only a file, which cannot wake one of them, so they poll it.
    """
    time.sleep(_POLL_NS / 10**9)
