"""The containers of one process for scenarios with faults, each behind a proxy to which the clients connect."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from assay_adapters.containers.container import Container
from assay_adapters.containers.faults import PoweredContainer, StoppableContainer
from assay_adapters.disks.process import Disk
from assay_adapters.faults.meeting import Meeting, MeetingContainer
from assay_adapters.faults.proxied import ProxiedFaults
from assay_adapters.faults.proxy import Proxy
from assay_adapters.ports.backend import BackendError
from assay_adapters.traces.history import STARTED, History
from assay_sdk.time import Runner


class OwnContainer:
    """A container that the scenarios of one process use one after the other.

    Args:
        container: Makes a container that is not started yet, with its data on a disk, or on this machine's with None.
        runner: The runner that waits for triggers.
        disk: The disk for the broker's data, not started yet; None for the disk of this machine.

    Raises:
        BackendError: The broker or the disk cannot be started, or the broker does not use the disk.
    """

    def __init__(self, container: Callable[[Disk | None], Container], runner: Runner, disk: Disk | None = None) -> None:
        with ExitStack() as parts:  # after an error, or Ctrl-C, it removes the parts that exist
            if disk is not None:
                parts.callback(disk.close)
                disk.start()
            self.container = container(disk)
            parts.callback(self.container.remove)
            self.container.start()
            if disk is not None:
                _check_use(disk)
                disk.sync()  # on a real machine, the installation is on the disk long before a loss of power
            self.history = History(STARTED)
            self.proxy = Proxy(self.container.port)
            self.proxy.start()
            parts.callback(self.proxy.close)
            self._parts = parts.pop_all()
        self.disk = disk
        """The disk with the broker's data; None for the disk of this machine."""
        self.is_silent = False
        """Whether the broker has not answered after a scenario."""
        self._runner = runner

    @property
    def is_broken(self) -> bool:
        """Whether the broker cannot be used any more: it is silent, or broker, proxy or disk has ended."""
        if self.disk is not None and not self.disk.runs:
            return True
        return self.is_silent or not self.proxy.is_open or self.container.exit_code() is not None

    def faults(self) -> ProxiedFaults:
        """Return the faults for one scenario."""
        if self.disk is None:
            return ProxiedFaults(StoppableContainer(self.container), self.proxy, self._runner, self.history)
        self.disk.slow(0)  # an earlier scenario may have ended before its fault
        broker = PoweredContainer(self.container, self.disk)
        return ProxiedFaults(broker, self.proxy, self._runner, self.history)

    def remove(self) -> None:
        """Close the proxy, and remove the container and the disk."""
        self._parts.close()


def _check_use(disk: Disk) -> None:
    """Check that a broker that has started keeps its data on a disk; otherwise a loss of power would undo nothing.

    Raises:
        BackendError: The broker has no file on the disk.
    """
    if not any(files for _, _, files in os.walk(disk.path)):
        raise BackendError(
            f"the broker keeps no file on the kit's disk at {disk.path}: let Docker run on this machine, and name an "
            "image that keeps its data in the folders that the backend knows"
        )


class JointContainer:
    """A container that scenarios of several processes use at the same time, and that one fault ends for all of them.

    Args:
        file: The file of the meeting.
        container: Makes a container that is not started yet.
        owner_pid: The id of the process that owns the container; None for this process. After the owner has ended,
            other processes remove the container.
        runner: The runner that waits.
    """

    def __init__(self, file: Path, container: Callable[[], Container], owner_pid: int | None, runner: Runner) -> None:
        self._make = container
        self._owner_pid = owner_pid
        self._runner = runner
        self._proxy: Proxy | None = None
        self.meeting = Meeting(file, runner)
        self.container = container()
        self._started: Container | None = None
        self._shared: MeetingContainer | None = None
        self.history = History()

    def enter(self) -> Proxy:
        """Enter the meeting for one scenario, and return the proxy to which its clients connect.

        Raises:
            BackendError: The broker cannot be started.
        """
        shared = self.meeting.enter(self._start, self._remove)
        try:
            if shared != self._shared:
                self.container.attach(shared.id, shared.port, shared.admin_port)
                self.history.note("shared with scenarios of other processes")
                self._shared = shared
            if self._proxy is None:
                self._proxy = Proxy(shared.port)
                self._proxy.start()
            self._proxy.broker = shared.port
            self._proxy.open()  # a failed fault may have left the proxy closed
        except BaseException:  # Ctrl-C, too: the meeting's other scenarios would wait for this one
            self.meeting.leave()
            raise
        return self._proxy

    def faults(self, proxy: Proxy) -> ProxiedFaults:
        """Return the faults for one scenario."""
        broker = _JointBroker(self.container, self.meeting)
        return ProxiedFaults(broker, proxy, self._runner, self.history, gather=self._gather)

    def _gather(self) -> None:
        # Another process may have started the broker again, and this process may have to kill it.
        self.container.find_process()
        self.meeting.gather()

    def close(self) -> None:
        """Leave the meeting and close the proxy; remove the container if this process has started and owns it."""
        self.meeting.leave()
        if self._proxy is not None:
            self._proxy.close()
        if self._owner_pid is None and self._started is not None:
            self._started.remove()

    def _start(self) -> MeetingContainer:
        self._started = self._make()
        self._started.start(self._owner_pid)
        return MeetingContainer(self._started.id, self._started.port, self._started.admin_port)

    def _remove(self, shared: MeetingContainer) -> None:
        with suppress(BackendError):  # if the container is gone, this error must not fail every later scenario
            remove_container(shared, self._make())


def remove_container(shared: MeetingContainer, container: Container) -> None:
    """Remove the container of a meeting, which any process may have started.

    Args:
        shared: The container.
        container: An unused container object; the function attaches it to the container to remove.

    Raises:
        BackendError: The container does not exist.
    """
    container.attach(shared.id, shared.port, shared.admin_port)
    container.remove()


class SharedContainer:
    """The container that all scenarios share, behind a proxy that cuts only the connections of this process.

    Args:
        port: The published port of the broker.
        runner: The runner that waits for triggers.
    """

    def __init__(self, port: int, runner: Runner) -> None:
        self.proxy = Proxy(port)
        self.proxy.start()
        self.history = History()
        self._port = port
        self._runner = runner

    def faults(self) -> ProxiedFaults:
        """Return the faults for one scenario."""
        return ProxiedFaults(_Unstoppable(self._port), self.proxy, self._runner, self.history)


class _JointBroker:
    """A container of a meeting, with the methods of `assay_adapters.faults.proxied.Stoppable`."""

    def __init__(self, container: Container, meeting: Meeting) -> None:
        self._container = container
        self._meeting = meeting

    @property
    def client_port(self) -> int:
        return self._container.port

    def start(self, changed: Mapping[str, object] | None = None) -> None:
        self._meeting.begin_again(lambda: StoppableContainer(self._container).start(changed))

    def kill(self) -> int:
        return self._meeting.end(self._container.kill)

    def stop(self) -> int:
        return self._meeting.end(self._container.stop)


class _Unstoppable:
    """A broker that no scenario may end, because other scenarios use it."""

    def __init__(self, port: int) -> None:
        self.client_port = port

    def start(self, changed: Mapping[str, object] | None = None) -> None:
        raise BackendError(f"other scenarios use this broker, so it cannot start again ({changed})")

    def kill(self) -> None:
        raise BackendError("other scenarios use this broker, so no scenario may kill it")

    def stop(self) -> None:
        raise BackendError("other scenarios use this broker, so no scenario may stop it")
