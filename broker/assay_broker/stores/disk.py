"""The disk below a store."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol


class Disk(Protocol):
    """What a store has to know of the disk below it."""

    @property
    def vfs(self) -> str | None:
        """What SQLite reaches it by; None for the system's own way."""
        ...

    def keep(self, descriptor: int) -> None:
        """Flush what is written beside SQLite: a file or a folder, by its descriptor."""
        ...

    def free_bytes(self, folder: Path) -> int:
        """How much may still be written to a folder."""
        ...

    def synced(self, path: Path) -> bool:
        """Whether everything written to a file has been flushed."""
        ...

    def crash(self) -> None:
        """The machine dies: what was not flushed is gone."""
        ...


class SystemDisk:
    """The disk of this machine; a process that dies leaves it all that was written."""

    @property
    def vfs(self) -> None:
        """SQLite reaches it in its own way."""
        return

    def keep(self, descriptor: int) -> None:
        """Flush what is written beside SQLite: a file or a folder, by its descriptor."""
        os.fsync(descriptor)

    def free_bytes(self, folder: Path) -> int:
        """How much may still be written to a folder."""
        status = os.statvfs(folder)
        return status.f_bavail * status.f_frsize

    def synced(self, path: Path) -> bool:
        """SQLite has flushed what it has committed: `synchronous` is FULL, and what the system refuses is an error."""
        return path.exists()

    def crash(self) -> None:
        """The machine lives on."""
