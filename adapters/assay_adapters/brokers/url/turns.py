"""Turns at a broker that all scenarios share: those that end it are alone, the others run together.

The processes of a run, and other runs on this machine, agree by locks on one file for each broker.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from pathlib import Path


class Turn:
    """A scenario's turn at a broker.

    Args:
        url: The broker's URL.
        alone: Whether the scenario must be alone.
    """

    def __init__(self, url: str, *, alone: bool) -> None:
        name = hashlib.sha256(url.encode()).hexdigest()[:16]
        self._path = Path(tempfile.gettempdir()) / f"assay-turn-{os.getuid()}-{name}"
        self._alone = alone
        self._file: int | None = None

    def take(self) -> None:
        """Wait for the turn; no effect if it is taken already."""
        if self._file is not None:
            return
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX if self._alone else fcntl.LOCK_SH)
        except BaseException:  # Ctrl-C, too
            os.close(file)
            raise
        self._file = file

    def give_back(self) -> None:
        """End the turn; no effect if it is not taken."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)
