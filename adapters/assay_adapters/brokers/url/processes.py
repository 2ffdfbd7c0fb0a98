"""Brokers as processes: started by the kit on a free port, or running already and controlled by the user's commands."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from assay_adapters.brokers.url.checks import program
from assay_adapters.brokers.url.model import ProcessTable, data_beside, filled
from assay_adapters.brokers.url.programs import last_line, run
from assay_adapters.brokers.url.reachability import await_broker
from assay_adapters.containers.host_ports import pick_port
from assay_adapters.leftovers import FOLDER_VARIABLE, remove_folders
from assay_adapters.owners import folder_prefix
from assay_adapters.ports.backend import BackendError
from assay_sdk.driver import Opened
from assay_sdk.model.reasons import Refused
from assay_sdk.time import Runner

STOP_LIMIT_S = 30
"""The longest time that a broker may take for a normal stop, in seconds."""
_LAST_LINES = 12
_POLL_NS = 20_000_000

ConnectTo = Callable[[int], Opened | Refused]
"""A function that connects to the broker at a port of this machine, to see whether the broker answers."""


class OwnProcess:
    """A broker that the kit starts; its port and its folder stay the same when the kit starts it again after a fault.

    Args:
        table: The commands.
        folder: The folder in which the commands run.
        title: The broker's name, for messages.
        runner: The runner that waits.
        connect: Connects to the broker, to see whether it answers.
    """

    def __init__(self, table: ProcessTable, folder: Path, title: str, runner: Runner, connect: ConnectTo) -> None:
        self._table = table
        self._folder = folder
        self._title = title
        self._runner = runner
        self._connect = connect
        self._process: subprocess.Popen[bytes] | None = None
        remove_folders()
        self._home = Path(tempfile.mkdtemp(prefix=folder_prefix("url")))
        self.data.mkdir()
        self.client_port = pick_port()
        """The port for clients, which each start uses."""

    def start(self, changed: Mapping[str, object] | None = None) -> None:
        """Start the broker, and wait until it answers.

        Raises:
            BackendError: The broker cannot be started, or does not answer.
        """
        if changed:
            raise BackendError(f"{self._title} cannot change its {', '.join(changed)} with a restart")
        words = self._filled(self._table.start)
        path = program(words[0], self._folder)
        if path is None:
            raise BackendError(f"{self._title} cannot be started: there is no program {words[0]}")
        try:
            with self.log.open("ab") as log:
                self._process = subprocess.Popen(  # noqa: S603  the user's file names it
                    [path, *words[1:]],
                    cwd=self._folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=os.environ | {FOLDER_VARIABLE: str(self._home)},  # `remove_folders` reads it
                    start_new_session=True,  # so that a kill also ends the processes that a script has started
                )
        except OSError as error:
            raise BackendError(f"{self._title} cannot be started: {words[0]}: {error.strerror}") from error
        await_broker(self._runner, self._table.ready_s, lambda: self._connect(self.client_port), self._why_ended)

    def kill(self) -> None:
        """End the broker's processes at once (SIGKILL, or the command).

        Raises:
            BackendError: The broker does not run, the command failed, or the process does not end in `STOP_LIMIT_S`.
        """
        process = self._running()
        if self._table.kill:
            self._command(self._table.kill, "kill")
        else:
            os.killpg(process.pid, signal.SIGKILL)
        self._await_end(process)

    def stop(self) -> None:
        """Stop the broker normally (SIGTERM, or the command), and wait until its process has ended.

        Raises:
            BackendError: The broker does not run, the command failed, or the process does not end in `STOP_LIMIT_S`.
        """
        process = self._running()
        if self._table.stop:
            self._command(self._table.stop, "stop")
        else:
            process.terminate()
        self._await_end(process)

    def pause(self) -> None:
        """Suspend the broker's processes (SIGSTOP)."""
        os.killpg(self._running().pid, signal.SIGSTOP)

    def unpause(self) -> None:
        """Let the broker's processes continue after `pause` (SIGCONT)."""
        os.killpg(self._running().pid, signal.SIGCONT)

    @property
    def log(self) -> Path:
        """The file with the output of the broker's processes."""
        return self._home / "log"

    @property
    def data(self) -> Path:
        """The folder of the broker's data."""
        return data_beside(self.log)

    def runs(self) -> bool:
        """Return whether the broker's process runs."""
        return self._process is not None and self._process.poll() is None

    def remove(self) -> None:
        """End the broker, and remove its folder."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        shutil.rmtree(self._home, ignore_errors=True)

    def _filled(self, words: tuple[str, ...]) -> tuple[str, ...]:
        return filled(words, self.client_port, str(self.data))

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            raise BackendError(f"{self._title} does not run any more; {self._last_lines()}")
        return self._process

    def _command(self, words: tuple[str, ...], what: str) -> None:
        checked(run(self._filled(words), self._folder, limit_s=STOP_LIMIT_S), what)

    def _await_end(self, process: subprocess.Popen[bytes]) -> None:
        try:
            process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired as error:
            raise BackendError(f"{self._title} did not end within {STOP_LIMIT_S} s; {self._last_lines()}") from error

    def _why_ended(self) -> str:
        if self.runs() or self._process is None:
            return ""
        return f"{self._title} ended while starting (exit code {self._process.returncode}); {self._last_lines()}"

    def _last_lines(self) -> str:
        text = self.log.read_text("utf-8", errors="replace")
        lines = "\n".join(f"  {line}" for line in text.splitlines()[-_LAST_LINES:])
        return f"the last lines of its log:\n{lines}" if lines else "it printed nothing"


class RunningProcess:
    """A broker at a fixed address, which the kit starts by the user's command, and ends by a command or a signal.

    Args:
        table: The commands.
        folder: The folder in which the commands run.
        port: The broker's port.
        runner: The runner that waits.
        connect: Connects to the broker, to see whether it answers.
    """

    def __init__(
        self, table: ProcessTable, folder: Path, port: int, runner: Runner, connect: Callable[[], Opened | Refused]
    ) -> None:
        self._table = table
        self._folder = folder
        self._runner = runner
        self._connect = connect
        self.client_port = port
        """The broker's port, which a start does not change."""

    def start(self, changed: Mapping[str, object] | None = None) -> None:
        """Start the broker again, and wait until it answers.

        Raises:
            BackendError: The broker cannot be started, or does not answer.
        """
        if changed:
            raise BackendError(f"this broker cannot change its {', '.join(changed)} with a restart")
        words = self._table.start
        path = program(words[0], self._folder)
        if path is None:
            raise BackendError(f"the broker cannot be started: there is no program {words[0]}")
        # Without pipes, because a broker that goes to the background would keep them open.
        started = subprocess.Popen(  # noqa: S603  the user's file names it
            [path, *words[1:]],
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

        def ended() -> str:
            code = started.poll()
            return f"{words[0]} could not start the broker (exit code {code})" if code else ""

        # A command may stay in the foreground; the thread collects it when it ends, so that no zombie is left.
        threading.Thread(target=started.wait, name="assay-start", daemon=True).start()
        await_broker(self._runner, self._table.ready_s, self._connect, ended)

    def kill(self) -> None:
        """End the broker at once.

        Raises:
            BackendError: The broker does not run, the command failed, or the broker does not end.
        """
        self._end(self._table.kill, signal.SIGKILL, "kill")

    def stop(self) -> None:
        """Stop the broker normally.

        Raises:
            BackendError: The broker does not run, the command failed, or the broker does not end.
        """
        self._end(self._table.stop, signal.SIGTERM, "stop")

    def _end(self, words: tuple[str, ...], number: signal.Signals, what: str) -> None:
        pid = None if self._table.pid_file is None else self._pid(self._table.pid_file)
        if words:
            checked(run(words, self._folder, limit_s=STOP_LIMIT_S), what)
        elif pid is not None:
            try:
                os.kill(pid, number)
            except OSError as error:
                raise BackendError(f"the broker's process {pid} cannot be ended: {error.strerror}") from error
        if pid is not None:
            self._await(lambda: not _is_there(pid))
        else:
            self._await(lambda: isinstance(self._connect(), Refused))

    def _pid(self, name: str) -> int:
        path = self._folder / name
        try:
            pid = int(path.read_text("utf-8").split()[0])
        except (OSError, ValueError, IndexError) as error:
            raise BackendError(f"pid-file: {path} holds no process id; is the broker running?") from error
        if pid <= 1 or not _is_there(pid):
            raise BackendError(f"pid-file: {path} names process {pid}, which does not run; is the broker running?")
        return pid

    def _await(self, done: Callable[[], bool]) -> None:
        deadline_ns = self._runner.clock.monotonic_ns() + STOP_LIMIT_S * 10**9
        while not done():
            now_ns = self._runner.clock.monotonic_ns()
            if now_ns >= deadline_ns:
                raise BackendError(f"the broker did not end within {STOP_LIMIT_S} s")
            self._runner.run_until(lambda: False, now_ns + _POLL_NS)


def checked(ended: subprocess.CompletedProcess[bytes], what: str) -> None:
    """Raise an error if a command of the user has failed.

    Raises:
        BackendError: The command's exit code is not 0.
    """
    if ended.returncode:
        raise BackendError(f"the command {what} ended with exit code {ended.returncode}: {last_line(ended.stderr)}")


def _is_there(pid: int) -> bool:
    """Return whether a process runs; return False for a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    return True
