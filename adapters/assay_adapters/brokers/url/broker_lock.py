"""A lock on a running broker: a scenario that may end the broker runs alone, and all other scenarios run together.

The processes of all runs of one user on this machine lock one file for each broker.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from pathlib import Path


class BrokerLock:
    """A scenario's lock on a broker.

    Args:
        url: The broker's URL.
        alone: Whether only this scenario may use the broker while it holds the lock.
    """

    def __init__(self, url: str, *, alone: bool) -> None:
        name = hashlib.sha256(url.encode()).hexdigest()[:16]
        self._path = Path(tempfile.gettempdir()) / f"assay-broker-lock-{os.getuid()}-{name}"
        self._alone = alone
        self._file: int | None = None

    def acquire(self) -> None:
        """Wait for the lock; do nothing if the scenario holds the lock already."""
        if self._file is not None:
            return
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX if self._alone else fcntl.LOCK_SH)
        except BaseException:  # also Ctrl-C, so that the file is closed
            os.close(file)
            raise
        self._file = file

    def release(self) -> None:
        """Release the lock; do nothing if the scenario does not hold the lock."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)
