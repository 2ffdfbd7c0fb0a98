"""Removal of the containers, processes and temporary folders that ended runs of the kit have left on this machine.

Each container and each folder names the process that made it (`assay_adapters.owners`). Each process of a broker that
the kit starts by a command from a file has an environment variable with the broker's folder. The containers and folders
of running owners stay.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from assay_adapters.containers.removal import Swept, sweep
from assay_adapters.disks.mounts import unmount_below
from assay_adapters.owners import owned_folders
from assay_adapters.ports.backend import BackendError

FOLDER_VARIABLE = "ASSAY_TEMPORARY_FOLDER"
"""The environment variable with which the kit marks the processes of a broker; its value is the broker's folder."""
_END_LIMIT_MS = 2_000
"""The longest wait for the end of a killed process, in milliseconds."""
_ROUNDS = 5
"""The largest number of searches for a folder's processes; a killed process may have started another one."""


class Leftovers(Struct, frozen=True, kw_only=True):
    """The containers, processes and folders that `remove_leftovers` has removed.

    Args:
        containers: The removed containers, each with the number of its volumes.
        processes: The ids of the killed processes.
        folders: The removed temporary folders.
        running: The number of processes of the kit that run and have temporary folders; their folders stay.
        unasked: The reason why Docker did not list the containers; empty if it did.
    """

    containers: tuple[Swept, ...] = ()
    processes: tuple[int, ...] = ()
    folders: tuple[Path, ...] = ()
    running: int = 0
    unasked: str = ""

    @property
    def volumes(self) -> int:
        """The number of the removed volumes."""
        return sum(one.volumes for one in self.containers)


def remove_leftovers() -> Leftovers:
    """Remove the containers, processes and temporary folders of the kit whose owners have ended."""
    processes, folders = remove_folders()
    containers: tuple[Swept, ...] = ()
    unasked = ""
    if find_spec("docker") is None:
        unasked = "the package docker is not installed"
    else:
        try:
            containers = sweep()
        except BackendError as error:
            unasked = str(error)
    running = len({folder.owner for folder in owned_folders() if not folder.owner.has_ended})
    return Leftovers(containers=containers, processes=processes, folders=folders, running=running, unasked=unasked)


def remove_before_a_run() -> Leftovers:
    """Remove leftovers before a run; ask Docker only if an ended run has left a folder, because Docker answers slowly.

    A process that owns containers has a temporary folder as long as any of them exists. So the check finds each ended
    process that has left containers.
    """
    return remove_leftovers() if any(folder.owner.has_ended for folder in owned_folders()) else Leftovers()


def remove_folders() -> tuple[tuple[int, ...], tuple[Path, ...]]:
    """Kill the processes of the temporary folders whose owners have ended, and remove these folders.

    Returns:
        The ids of the killed processes, and the removed folders.
    """
    killed: list[int] = []
    removed: list[Path] = []
    for folder in owned_folders():
        if folder.owner.has_ended:
            killed += _end_processes(folder.path)
            unmount_below(folder.path)  # otherwise nothing can remove a mount point
            shutil.rmtree(folder.path, ignore_errors=True)
            if not folder.path.exists():
                removed.append(folder.path)
    return tuple(killed), tuple(removed)


def _end_processes(folder: Path) -> list[int]:
    killed: list[int] = []
    for _ in range(_ROUNDS):
        found = list(_processes_of(folder))
        if not found:
            break
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                _kill(pid)
                killed.append(pid)
    return killed


def _processes_of(folder: Path) -> Iterator[int]:
    mark = f"{FOLDER_VARIABLE}={folder}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):  # the process has ended, or belongs to another user
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                yield int(entry.name)


def _kill(pid: int) -> None:
    """Kill a process, and wait for its end."""
    number = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(number, signal.SIGKILL)
        poll = select.poll()
        poll.register(number, select.POLLIN)
        poll.poll(_END_LIMIT_MS)
    finally:
        os.close(number)
