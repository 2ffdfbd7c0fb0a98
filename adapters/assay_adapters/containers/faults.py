"""A broker in a container that faults (`assay_adapters.faults.proxied`) can kill, stop, suspend and restart."""

from __future__ import annotations

from collections.abc import Mapping

from assay_adapters.containers.container import Container
from assay_adapters.disks.process import Disk
from assay_adapters.ports.backend import BackendError

_SLOW_DISK_MS = 100
"""How much longer each write and each flush takes on a slow disk, in milliseconds."""


class StoppableContainer:
    """A broker in a container that a fault can end; a new start has the same files and port.

    Args:
        container: The container.
    """

    def __init__(self, container: Container) -> None:
        self._container = container

    @property
    def client_port(self) -> int:
        """The published port."""
        return self._container.port

    def start(self, changed: Mapping[str, object] | None = None) -> None:
        """Start the broker again, and wait until it answers.

        Args:
            changed: Options that shall change with this start; a container can change none.

        Raises:
            BackendError: The broker does not answer, or `changed` names an option.
        """
        if changed:
            raise BackendError(f"a container that exists cannot change its {', '.join(changed)}")
        self._container.resume()

    def kill(self) -> None:
        """End the broker's process at once (SIGKILL)."""
        self._container.kill()

    def stop(self) -> None:
        """Stop the broker normally (SIGTERM), and wait until its process has ended."""
        self._container.stop()

    def pause(self) -> None:
        """Suspend the container's processes."""
        self._container.pause()

    def unpause(self) -> None:
        """Let the container's processes continue after `pause`."""
        self._container.unpause()


class PoweredContainer(StoppableContainer):
    """A broker in a container whose data is on a disk that can lose its power.

    Args:
        container: The container.
        disk: The disk.
    """

    def __init__(self, container: Container, disk: Disk) -> None:
        super().__init__(container)
        self._disk = disk

    def disk_rest_ms(self) -> float:
        """Return the time since the last change or flush of the disk, in milliseconds."""
        return self._disk.rest_ms

    def slow_disk(self) -> None:
        """Let each write and each flush take longer, until the broker's end."""
        self._disk.slow(_SLOW_DISK_MS)

    def kill(self) -> None:
        """End the broker's process at once (SIGKILL), and discard writes that have not ended."""
        self._end()
        self._disk.go_on()

    def lose_power(self) -> None:
        """End the broker's process at once, and discard what it has not flushed to its disk."""
        self._end()
        self._disk.lose_power()

    def _end(self) -> None:
        self._disk.stop()
        super().kill()
        self._disk.slow(0)  # a broker writes much at its start
