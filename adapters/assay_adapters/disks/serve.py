"""The process of a disk: ``python -m assay_adapters.disks.serve FOLDER`` mounts the file system until its input ends.

The folder contains the folders of `Layout`. The process reads orders from its standard input, and writes an answer to
each to its standard output (`assay_adapters.disks.orders`); the first answer comes when the file system is mounted.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
from pathlib import Path

import msgspec

from assay_adapters.disks.filesystem import FileSystem
from assay_adapters.disks.mounts import Layout, unmount_below
from assay_adapters.disks.orders import Answer, GoOn, LosePower, Order, Report, Slow, Stop, Sync
from assay_adapters.disks.undo import UndoLog

_END_LIMIT_S = 2
"""The time that the file system has to end after it has been unmounted, in seconds; a container may still use it."""


class _Service:
    """Carries out the orders of the kit's process.

    Args:
        layout: The disk's folders.
        log: The log of unflushed changes.
        system: The file system.
    """

    def __init__(self, layout: Layout, log: UndoLog, system: FileSystem) -> None:
        self._layout = layout
        self._log = log
        self._system = system

    def follow(self) -> None:
        """Carry out orders until the input ends, and then end the file system.

        The input also ends when the kit's process is killed.
        """
        decode = msgspec.json.Decoder(Order).decode
        # Unbuffered, because the interpreter cannot end while a thread waits with the lock of a buffer.
        with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as orders:
            for line in orders:
                try:
                    self._carry_out(decode(line))
                except (OSError, msgspec.MsgspecError) as error:
                    _say(Answer(error=f"{type(error).__name__}: {error}"))
                else:
                    _say(Answer(self._log.rest_ms))
        unmount_below(self._layout.mount)
        threading.Event().wait(_END_LIMIT_S)  # the main thread ends the process before, if nothing uses the mount
        os._exit(0)

    def _carry_out(self, order: Order) -> None:
        match order:
            case Slow(delay_ms):
                self._system.delay_s = delay_ms / 1_000
            case Stop():
                self._log.stop()
            case GoOn():
                self._log.go_on()
            case LosePower():
                self._log.undo()
            case Sync():
                self._log.sync()
            case Report():
                pass


def _say(answer: Answer) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()


def main(folder: Path) -> None:
    """Mount the file system, and return when it has ended."""
    from mfusepy import FUSE, fuse_get_context

    layout = Layout(folder)
    log = UndoLog(layout.removed)
    system = FileSystem(layout.content, log, fuse_get_context, lambda: _say(Answer()))
    os.umask(0)  # the kernel has applied the caller's
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    threading.Thread(target=_Service(layout, log, system).follow, name="assay-orders", daemon=True).start()
    FUSE(
        system,
        str(layout.mount),
        foreground=True,
        fsname="assay",
        subtype="assay",
        allow_other=True,  # users of containers
        default_permissions=True,  # the kernel checks their permissions
        use_ino=True,  # a JVM knows a file by its number
        # After a loss of power, the kernel must not believe attributes and names that it knew before.
        attr_timeout=0,
        entry_timeout=0,
        negative_timeout=0,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
