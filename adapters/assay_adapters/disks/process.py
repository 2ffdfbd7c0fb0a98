"""A disk that can lose its power and be slow, for the data of a broker.

The disk is a file system in a process of its own, which ends with this process. A loss of power undoes what the broker
has not flushed (`assay_adapters.disks.undo`). To end a broker at an instant:

1. `Disk.stop`, at this instant. Without it, the writes and flushes that have begun still take effect.
2. Kill the broker's processes (SIGKILL), and wait for their end.
3. `Disk.lose_power` after a loss of power, or `Disk.go_on` after a kill alone.
4. Start the broker again.
"""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
from ctypes.util import find_library
from importlib.util import find_spec
from pathlib import Path

import msgspec

from assay_adapters.disks.mounts import Layout, unmount_below
from assay_adapters.disks.orders import Answer, GoOn, LosePower, Order, Report, Slow, Stop, Sync
from assay_adapters.leftovers import FOLDER_VARIABLE
from assay_adapters.owners import folder_prefix
from assay_adapters.ports.backend import Available, BackendError, Unavailable

_DEVICE = Path("/dev/fuse")
_MODULE = "assay_adapters.disks.serve"
_LIMIT_S = 30
"""The longest time until the file system is mounted or answers an order, in seconds; it normally takes 0.1 s."""
_END_LIMIT_S = 5
"""The longest time until the process ends after its input has ended, in seconds."""


def probe() -> Available | Unavailable:
    """Return whether this machine can run a `Disk`."""
    if not _DEVICE.exists():
        return Unavailable(
            f"the kernel offers no FUSE ({_DEVICE} is missing)",
            "run on Linux; in a container, add --device /dev/fuse --cap-add SYS_ADMIN",
        )
    if os.geteuid() != 0:
        return Unavailable("only root can create files for the users of a container", "run the command as root")
    try:
        os.close(os.open(_DEVICE, os.O_RDWR))
    except OSError as error:  # in a container without the permission
        remedy = "in a container, add --device /dev/fuse --cap-add SYS_ADMIN"
        return Unavailable(f"{_DEVICE} cannot be opened ({error.strerror})", remedy)
    if find_library("fuse3") is None:
        return Unavailable("libfuse 3 is missing", "install it, for example with: apt-get install fuse3")
    if find_spec("mfusepy") is None:
        return Unavailable("the package mfusepy is missing", "install it: pip install 'assay-mq[power]'")
    return Available("a disk that can lose its power, by FUSE")


class Disk:
    """A disk that can lose its power and be slow.

    Args:
        folder: An existing folder for the disk's files, which stays after `close`; None for a temporary folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._is_temporary = folder is None
        self._folder = (Path(tempfile.mkdtemp(prefix=folder_prefix("disk"))) if folder is None else folder).resolve()
        self._layout = Layout(self._folder)
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    @property
    def path(self) -> Path:
        """The mount point, for the broker; for a container, as the source of a bind mount."""
        return self._layout.mount

    @property
    def runs(self) -> bool:
        """Whether the disk has been started and its process has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def rest_ms(self) -> float:
        """The time since the last change or flush, in milliseconds."""
        return self._order(Report()).rest_ms

    def start(self) -> None:
        """Start the file system's process, and wait until the file system is mounted.

        Raises:
            BackendError: The file system cannot be mounted.
        """
        self._end()  # of a killed process, whose mount is dead
        shutil.rmtree(self._layout.removed, ignore_errors=True)
        for folder in (self._layout.content, self._layout.removed, self._layout.mount):
            folder.mkdir(exist_ok=True)
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-m", _MODULE, str(self._folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                # With the marking, `assay clean` finds the process; with the name, mfusepy does not load libfuse 2.
                env=os.environ | {FOLDER_VARIABLE: str(self._folder), "FUSE_LIBRARY_NAME": "fuse3"},
                start_new_session=True,  # Ctrl-C must not end the disk before the broker
            )
        try:
            self._read(self._process)
        except BaseException:  # Ctrl-C, too
            self.close()
            raise

    def slow(self, delay_ms: int) -> None:
        """Delay each write and each flush by `delay_ms` milliseconds; 0 ends the delay.

        The kernel divides large writes into parts of at most 1 MiB, and delays concern each part.
        """
        self._order(Slow(delay_ms))

    def sync(self) -> None:
        """Make everything durable, as an operating system does some seconds after each write."""
        self._order(Sync())

    def stop(self) -> None:
        """Let each change and each flush fail with `EIO` from now on, also those that have begun and not ended."""
        self._order(Stop())

    def go_on(self) -> None:
        """Let the disk work again, and undo nothing.

        Files that were opened before can be read but not changed.
        """
        self._order(GoOn())

    def lose_power(self) -> None:
        """Undo everything that is not durable; then the disk works again.

        Files that were opened before can be read but not changed. The broker's processes must have ended, otherwise
        they see their files change.

        Raises:
            BackendError: A change could not be undone.
        """
        self._order(LosePower())

    def close(self) -> None:
        """Unmount the file system, end its process, and remove a temporary folder."""
        self._end()
        if self._is_temporary:
            shutil.rmtree(self._folder, ignore_errors=True)

    # --- internal

    def _end(self) -> None:
        unmount_below(self._folder)
        process, self._process = self._process, None
        if process is not None:
            try:
                process.communicate(timeout=_END_LIMIT_S)  # closes its input
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()

    @property
    def _log(self) -> Path:
        return self._folder / "log"

    def _order(self, order: Order) -> Answer:
        with self._lock:
            process = self._process
            if process is None or process.stdin is None:
                raise BackendError("the disk has not been started")
            try:
                process.stdin.write(msgspec.json.encode(order) + b"\n")
                process.stdin.flush()
            except OSError as error:
                raise self._ended() from error
            answer = self._read(process)
        if answer.error:
            raise BackendError(f"the disk at {self.path} could not do what the kit asked for: {answer.error}")
        return answer

    def _read(self, process: subprocess.Popen[bytes]) -> Answer:
        if process.stdout is None:
            raise self._ended()
        poll = select.poll()
        poll.register(process.stdout, select.POLLIN)
        if not poll.poll(_LIMIT_S * 1_000):
            raise BackendError(f"the disk at {self.path} did not answer within {_LIMIT_S} s")
        line = process.stdout.readline()
        if not line:
            raise self._ended()
        return msgspec.json.decode(line, type=Answer)

    def _ended(self) -> BackendError:
        text = self._log.read_text("utf-8", errors="replace").strip() or "its log is empty"
        return BackendError(f"the file system of the disk at {self.path} has ended: {text}")
