"""The folders of a disk, and the removal of FUSE mounts, also of those whose process has been killed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from msgspec import Struct

_TABLE = Path("/proc/self/mountinfo")
_MOUNTPOINT = 4
_TYPE_AFTER_DASH = 0
_ESCAPE = re.compile(r"\\([0-7]{3})")
_LIMIT_S = 10
"""The longest time that the command ``umount`` may take, in seconds; it normally takes milliseconds."""


class Layout(Struct, frozen=True):
    """The folders of a disk.

    Args:
        folder: The folder that contains them.
    """

    folder: Path

    @property
    def content(self) -> Path:
        """The folder with the files."""
        return self.folder / "content"

    @property
    def removed(self) -> Path:
        """The folder with removed files; it is empty when the file system starts."""
        return self.folder / "removed"

    @property
    def mount(self) -> Path:
        """The mount point."""
        return self.folder / "mount"


def unmount_below(folder: Path) -> tuple[Path, ...]:
    """Unmount each FUSE file system in a folder, also a dead one (*Transport endpoint is not connected*).

    A file system that a process still uses disappears from the folder at once, and ends after that process.

    Returns:
        The former mount points; a mount point that ``umount`` could not remove is left out.
    """
    place = folder.resolve()
    found = [path for path in _fuse_mounts() if path.is_relative_to(place)]
    return tuple(path for path in found if _unmount(path))


def _fuse_mounts() -> list[Path]:
    """Return the mount points of FUSE file systems, the latest first (proc(5), mountinfo)."""
    found: list[Path] = []
    if not _TABLE.exists():  # not on Linux
        return []
    for line in _TABLE.read_text("utf-8", errors="surrogateescape").splitlines():
        mount, _, system = line.partition(" - ")
        if system.split()[_TYPE_AFTER_DASH].startswith("fuse"):
            found.append(Path(_ESCAPE.sub(lambda octal: chr(int(octal[1], 8)), mount.split()[_MOUNTPOINT])))
    return found[::-1]


def _unmount(path: Path) -> bool:
    command = ["umount", "--lazy", str(path)]
    ended = subprocess.run(command, check=False, capture_output=True, timeout=_LIMIT_S)  # noqa: S603 - our own mount
    return ended.returncode == 0
