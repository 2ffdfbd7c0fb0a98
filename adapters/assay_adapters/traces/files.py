"""The log of a broker that runs as a process and writes to a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from assay_adapters.ports.traces import Deed, LogLine
from assay_adapters.traces.history import History
from assay_adapters.traces.lines import few, safe, time_in

READ_LIMIT = 1 << 20
"""The largest number of octets that are read from the end of a log."""
UNKNOWN = "Assay has no log file of this broker; if the broker's file can name one on this machine, add log-file to it"
"""The sentence that replaces the log if the kit has no log file of the broker."""
_SLACK_NS = 5 * 10**9
"""How long before or after the scenario a line's time may lie, in nanoseconds; any other time is ignored."""


class FileTrace:
    """The log file of a broker, and its past.

    Args:
        name: The broker's process in words.
        path: The log file; None if the kit has no log file of the broker, as for a broker on another machine. The
            story of a scenario then has a sentence in the place of the log.
        history: The broker's past; None if this process has no record of it, such as for a shared broker.
        secrets: Passwords that the log may contain.
    """

    def __init__(
        self, name: str, path: Path | None, history: History | None = None, secrets: Iterable[str] = ()
    ) -> None:
        self.name = name
        self._path = path
        self._history = history
        self._secrets = tuple(secrets)

    def past(self) -> tuple[Deed, ...]:
        """Return the broker's starts, ends and faults so far, in order of time."""
        return () if self._history is None else self._history.past()

    def log_from_now(self) -> Callable[[], tuple[LogLine, ...]]:
        """Return a function that returns the lines that the broker has written since this call."""
        path = self._path
        if path is None:
            return lambda: (LogLine(UNKNOWN),)
        begin, since_ns = _size(path), time.time_ns()
        return lambda: self._lines(path, begin, since_ns)

    def _lines(self, path: Path, begin: int, since_ns: int) -> tuple[LogLine, ...]:
        size = _size(path)
        start = begin if begin <= size else 0  # a shorter file is a new file
        try:
            with path.open("rb") as file:
                file.seek(max(start, size - READ_LIMIT))
                octets = file.read(READ_LIMIT)
        except OSError:
            return ()
        earliest, latest = since_ns - _SLACK_NS, time.time_ns() + _SLACK_NS
        written = [line for line in octets.decode("utf-8", errors="replace").splitlines() if line.strip()]
        found: list[LogLine] = []
        for line, omitted in few(written):
            at_ns = time_in(line)
            is_its = at_ns is not None and earliest <= at_ns <= latest
            found.append(LogLine(safe(line, self._secrets), at_ns if is_its else None, omitted))
        return tuple(found)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
