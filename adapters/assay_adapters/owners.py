"""The owner of a container or a temporary folder: the process that made it.

A container's label and a folder's name contain the owner's name. So any later process can check whether the owner
still runs, and remove the containers and folders of an owner that has ended.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Self

from msgspec import Struct

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NAMESPACE = Path("/proc/self/ns/pid")
_FORM = re.compile(r"([0-9a-f]{8})-(\d+)-(\d+)")
_FOLDER = re.compile(rf"assay-([a-z]+)-({_FORM.pattern})-.+")
_STATE, _START = 0, 19
"""The places of a process's state and start in ``/proc/<pid>/stat``, counted after the program's name (proc(5))."""
_ZOMBIE = "Z"
_UNKNOWN = 0
"""The value for the start of a process if the system does not report it."""


class Owner(Struct, frozen=True):
    """A process, named so that no other process has the same name.

    Args:
        place: Names the boot of the machine and the process namespace, in eight hexadecimal digits.
        pid: The process's id.
        start: The time of its start in the kernel's ticks since the boot; 0 if the system does not report it.
    """

    place: str
    pid: int
    start: int

    @classmethod
    def of(cls, pid: int) -> Self:
        """Return a running process of this machine as an owner."""
        return cls(_place(), pid, _stat(pid)[1])

    @classmethod
    def named(cls, name: str) -> Self | None:
        """Return the owner with this name; None if the text does not have the form of an owner's name."""
        found = _FORM.fullmatch(name)
        return None if found is None else cls(found[1], int(found[2]), int(found[3]))

    @property
    def name(self) -> str:
        """The owner's name."""
        return f"{self.place}-{self.pid}-{self.start}"

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended; False if it belongs to another machine, boot or process namespace."""
        if self.place != _place():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
        state, start = _stat(self.pid)
        return state == _ZOMBIE or start not in {_UNKNOWN, self.start}


class OwnedFolder(Struct, frozen=True):
    """A temporary folder that a process of the kit has made."""

    path: Path
    owner: Owner


def folder_prefix(kind: str) -> str:
    """Return the prefix for the name of a temporary folder of this process.

    Args:
        kind: The folder's purpose in lower-case letters.
    """
    return f"assay-{kind}-{Owner.of(os.getpid()).name}-"


def owned_folders() -> Iterator[OwnedFolder]:
    """Yield the temporary folders of the kit that belong to this process's user."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            found = _FOLDER.fullmatch(entry.name)
            owner = None if found is None else Owner.named(found[2])
            with suppress(OSError):  # another process removes it now
                is_ours = owner is not None and entry.is_dir(follow_symlinks=False)
                if is_ours and owner is not None and entry.stat(follow_symlinks=False).st_uid == os.getuid():
                    yield OwnedFolder(Path(entry.path), owner)


@cache
def _place() -> str:
    texts = [_read(_BOOT)]
    with suppress(OSError):
        texts.append(str(_NAMESPACE.readlink()))
    return hashlib.sha256("|".join(texts).encode()).hexdigest()[:8]


def _stat(pid: int) -> tuple[str, int]:
    """Return the state and the start of a process; an empty text and 0 if the system does not report them."""
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return (fields[_STATE], int(fields[_START])) if len(fields) > _START else ("", _UNKNOWN)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
