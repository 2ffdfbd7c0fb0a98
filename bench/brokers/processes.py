"""The operating system's figures of processes: processor time, memory, bytes written, and flushes to disk."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")
FORCING: Final = ("fsync", "fdatasync", "sync_file_range", "msync")
"""The system calls that flush data to the disk."""


class Usage(Struct, frozen=True):
    """Processor time and disk writes of processes.

    Args:
        cpu_s: Processor seconds, user and system.
        written: Bytes written to disk.
    """

    cpu_s: float
    written: int


def family(roots: Iterable[int]) -> list[int]:
    """Return the ids of processes and all their descendants."""
    children: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            fields = _stat(int(entry.name))
            if fields:
                children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, todo = [], list(roots)
    while todo:
        one = todo.pop()
        found.append(one)
        todo += children.get(one, ())
    return found


def usage(pids: Iterable[int]) -> Usage:
    """Return the sums of processor time and disk writes of processes since their starts; leave out ended processes."""
    cpu, written = 0.0, 0
    for pid in pids:
        fields = _stat(pid)
        if fields:
            cpu += (int(fields[11]) + int(fields[12])) / TICKS
            written += _number(pid, "io", "write_bytes:")
    return Usage(cpu, written)


def memory(pids: Iterable[int]) -> int:
    """Return the memory of processes in bytes; memory that several of them share counts once."""
    return sum(_number(pid, "smaps_rollup", "Pss:") * 1024 for pid in pids)


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat after the process's name (it may have spaces); empty for an ended process."""
    try:
        return (PROC / str(pid) / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _number(pid: int, file: str, key: str) -> int:
    try:
        lines = (PROC / str(pid) / file).read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(key)), 0)


class Flushes:
    """Counts how often processes flush data to disk, if the system permits it (perf, as root).

    Args:
        pids: The ids of the processes.
    """

    def __init__(self, pids: Sequence[int]) -> None:
        self._perf: subprocess.Popen[str] | None = None
        perf = shutil.which("perf")
        if perf is not None:
            events = ",".join(f"syscalls:sys_enter_{call}" for call in FORCING)
            arguments = [perf, "stat", "-x,", "-e", events, "-p", ",".join(map(str, pids))]
            self._perf = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)  # noqa: S603 - no user's text

    def stop(self) -> int | None:
        """Stop, and return the number of flushes; None if the system does not permit counting."""
        if self._perf is None:
            return None
        self._perf.send_signal(signal.SIGINT)
        _, told = self._perf.communicate(timeout=10)
        counts = [line.split(",")[0] for line in told.splitlines() if "sys_enter" in line]
        if not counts:
            return None
        return sum(int(count) for count in counts if count.isdigit())
