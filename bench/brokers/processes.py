"""Figures of the system about processes: processor time, memory, octets written, and flushes to the disk."""

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
"""System calls that have something put on the disk."""


class Usage(Struct, frozen=True):
    """The usage of processes.

    Args:
        cpu_s: Processor seconds, of user and system.
        written: Octets written to the disk.
    """

    cpu_s: float
    written: int


def family(roots: Iterable[int]) -> list[int]:
    """These processes and all that descend from them."""
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
    """The usage of these processes so far; a process that has ended does not count."""
    cpu, written = 0.0, 0
    for pid in pids:
        fields = _stat(pid)
        if fields:
            cpu += (int(fields[11]) + int(fields[12])) / TICKS
            written += _number(pid, "io", "write_bytes:")
    return Usage(cpu, written)


def memory(pids: Iterable[int]) -> int:
    """Octets of memory that these processes have, what they share counted once."""
    return sum(_number(pid, "smaps_rollup", "Pss:") * 1024 for pid in pids)


def _stat(pid: int) -> list[str]:
    """The fields of a process behind its name, which may hold anything; empty when it has ended."""
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
    """Counts flushes of processes to the disk, if the system permits it (perf, as root).

    Args:
        pids: The processes.
    """

    def __init__(self, pids: Sequence[int]) -> None:
        self._perf: subprocess.Popen[str] | None = None
        perf = shutil.which("perf")
        if perf is not None:
            events = ",".join(f"syscalls:sys_enter_{call}" for call in FORCING)
            arguments = [perf, "stat", "-x,", "-e", events, "-p", ",".join(map(str, pids))]
            self._perf = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)  # noqa: S603 - perf, on numbers of ours

    def stop(self) -> int | None:
        """The number since the beginning; None if it cannot be counted."""
        if self._perf is None:
            return None
        self._perf.send_signal(signal.SIGINT)
        _, told = self._perf.communicate(timeout=10)
        counts = [line.split(",")[0] for line in told.splitlines() if "sys_enter" in line]
        if not counts:
            return None
        return sum(int(count) for count in counts if count.isdigit())
