"""The disk on which a store keeps its files: the machine's own or a simulated one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol


class Disk(Protocol):
    """The disk under a store: the VFS for SQLite, and the operations that the store does itself."""

    @property
    def vfs(self) -> str | None:
        """The name of the VFS through which SQLite uses the disk; None for the system's own."""
        ...

    def keep(self, descriptor: int) -> None:
        """Flush a file or folder that the store writes without SQLite, given its descriptor."""
        ...

    def free_bytes(self, folder: Path) -> int:
        """Return the free space for a folder, in octets."""
        ...

    def synced(self, path: Path) -> bool:
        """Return whether everything written to a file has been flushed."""
        ...

    def crash(self) -> None:
        """Simulate a failure of the machine: discard unflushed data."""
        ...


class SystemDisk:
    """The disk of this machine; data that a killed process has written survives."""

    @property
    def vfs(self) -> None:
        """The name of the VFS: None, for the system's own."""
        return

    def keep(self, descriptor: int) -> None:
        """Flush a file or folder that the store writes without SQLite, given its descriptor."""
        os.fsync(descriptor)

    def free_bytes(self, folder: Path) -> int:
        """Return the free space for a folder, in octets."""
        status = os.statvfs(folder)
        return status.f_bavail * status.f_frsize

    def synced(self, path: Path) -> bool:
        """Return whether the file exists; if it does, everything written to it has been flushed.

        SQLite flushes each commit (`synchronous` is FULL), and raises an error if it cannot.
        """
        return path.exists()

    def crash(self) -> None:
        """Do nothing, because this disk cannot simulate a failure."""
