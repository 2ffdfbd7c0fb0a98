"""The disk under a store, real or simulated."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol


class Disk(Protocol):
    """What a store needs of the disk."""

    @property
    def vfs(self) -> str | None:
        """The name of SQLite's VFS; None for the system's own."""
        ...

    def keep(self, descriptor: int) -> None:
        """Flush a file or folder that is written without SQLite, by its descriptor."""
        ...

    def free_bytes(self, folder: Path) -> int:
        """Return how many octets can still be written to a folder."""
        ...

    def synced(self, path: Path) -> bool:
        """Whether everything written to a file has been flushed."""
        ...

    def crash(self) -> None:
        """Simulate a failure of the machine: unflushed data is lost."""
        ...


class SystemDisk:
    """The disk of this machine. What a dying process has written stays."""

    @property
    def vfs(self) -> None:
        """None: SQLite uses the system's own VFS."""
        return

    def keep(self, descriptor: int) -> None:
        """Flush a file or folder that is written without SQLite, by its descriptor."""
        os.fsync(descriptor)

    def free_bytes(self, folder: Path) -> int:
        """Return how many octets can still be written to a folder."""
        status = os.statvfs(folder)
        return status.f_bavail * status.f_frsize

    def synced(self, path: Path) -> bool:
        """Return True: SQLite flushes each commit (`synchronous` is FULL), and reports failures as errors."""
        return path.exists()

    def crash(self) -> None:
        """Do nothing: the machine does not fail."""
