"""Brokers in containers: start, stop, removal.

A container's port is published on the loopback address only. This module chooses the port itself, so that it stays the
same over a restart. A label names the process that started the container, so that a later process can remove it
(`assay_adapters.containers.removal`).
"""

from __future__ import annotations

import os
import signal
import socket
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from assay_adapters.containers.host_ports import LOOPBACK, hold_port, pick_port
from assay_adapters.owners import Owner, folder_prefix
from assay_adapters.ports.backend import Available, BackendError, Unavailable
from assay_evidence.interrupts import ctrl_c_deferred
from assay_sdk.time import Runner

OWNER_LABEL = "org.assay.owner"
"""The label of the process to which a container belongs; its value is the owner's name (`assay_adapters.owners`)."""

_FIRST_POLL_NS = 50_000_000
"""The shortest pause between two checks of a starting broker, in nanoseconds."""
_WAITS_PER_PAUSE = 8
"""Each pause is at least one eighth of the time since the start, because frequent checks slow the start down."""

STOP_LIMIT_S = 30
"""The longest time that a broker may take for a normal stop, in seconds."""

_ORDERLY = {0, 128 + 15}
"""The exit codes after a normal end: 0, and 143 of a JVM that has run its shutdown hooks after SIGTERM."""

_LAST_LINES = 12


class ContainerSpec(Struct, frozen=True, kw_only=True):
    """The description of a broker's container.

    Args:
        image: The image's name and tag.
        port: The port at which the broker listens inside the container.
        admin_port: The port for administrators inside the container; None if the kit does not administer the broker.
        environment: The environment variables.
        folders: Folders of this machine that the container has as its own, by their paths in the container.
        title: The broker's name, for messages.
        start_limit_s: The time within which the broker must answer after its start, in seconds.
    """

    image: str
    port: int
    admin_port: int | None = None
    environment: Mapping[str, str] = {}
    folders: Mapping[str, Path] = {}
    title: str
    start_limit_s: int = 90


@contextmanager
def docker_client() -> Generator[Any]:
    """Provide a client of the Docker daemon (`docker.DockerClient`) for a ``with`` block, and close it at the end.

    Raises:
        docker.errors.DockerException: No Docker daemon answers.
    """
    import docker

    with closing(docker.from_env()) as client:
        yield client


def probe_image(images: tuple[str, ...], title: str, *, remedy: str) -> tuple[str, Available] | Unavailable:
    """Find the first image that is on this machine, or else in a registry, without loading it.

    Args:
        images: The images' names, in the order of preference.
        title: The broker's name.
        remedy: The advice for the user if no image is found.

    Returns:
        The image's name with `Available`; `Unavailable` with the reason if no image can be used.
    """
    import docker.errors

    try:
        with docker_client() as client:
            client.ping()
            for image in images:
                with suppress(docker.errors.ImageNotFound):
                    client.images.get(image)
                    return image, Available(f"{title} in a container of {image}")
            for image in images:
                with suppress(docker.errors.APIError):
                    client.images.get_registry_data(image)
                    return image, Available(f"{title} in a container of {image}, which is loaded first")
    except (docker.errors.DockerException, OSError) as error:
        return Unavailable(f"no Docker daemon answers ({error})", "start one, for example with images/start-docker")
    return Unavailable(f"neither this machine nor a registry has the image {' or '.join(images)}", remedy)


@cache
def _asked_digest(image: str) -> str:
    with docker_client() as client:
        return str(client.images.get(image).id)


def image_digest(image: str) -> str:
    """Return the content id of an image; an empty text if this machine does not have the image.

    A process asks Docker for an image only once, because the record of each scenario has the content id.

    Raises:
        BackendError: Docker does not answer.
    """
    import docker.errors

    try:
        return _asked_digest(image)
    except docker.errors.ImageNotFound:
        return ""
    except (docker.errors.DockerException, OSError) as error:
        raise BackendError(f"Docker does not answer a request for the image {image}: {error}") from error


def owner(pid: int | None = None) -> str:
    """Return the value of `OWNER_LABEL` for the containers of a process; without a process id, of this process."""
    return Owner.of(pid or os.getpid()).name


def _load(image: str) -> None:
    """Load an image to this machine, unless the machine has the image.

    Call it outside `ctrl_c_deferred`, because loading can take long and Ctrl-C must be able to interrupt it.

    Raises:
        docker.errors.DockerException: The image cannot be loaded.
    """
    import docker.errors

    with docker_client() as client:
        try:
            client.images.get(image)
        except docker.errors.ImageNotFound:
            client.images.pull(image)


def process_of(container: Any) -> int | None:
    """Return the id of a running container's first process.

    Returns:
        The process id on this machine; None if Docker runs the container on another machine, or if this process may
        not send signals to it.
    """
    container.reload()
    pid = int(container.attrs["State"]["Pid"])
    try:
        is_here = pid > 0 and container.id in Path(f"/proc/{pid}/cgroup").read_text("utf-8")
        if is_here:
            os.kill(pid, 0)
    except OSError:
        return None
    return pid if is_here else None


def kill_now(container: Any, pid: int | None) -> None:
    """End a container's processes (SIGKILL), and wait until Docker reports their end.

    Docker takes about 80 ms for a kill. In this time a broker that answered too early could still write its data, and
    so hide its defect. A signal to the container's first process takes about 1 ms, and the kernel ends the container's
    other processes with it.

    Args:
        container: The container, as the Docker client's object.
        pid: The id of the container's first process (`process_of`); None to let Docker kill it.
    """
    if pid is None:
        container.kill(signal="KILL")
    else:
        os.kill(pid, signal.SIGKILL)
    container.wait(timeout=STOP_LIMIT_S)  # a start before the container's end would have no effect


class Container:
    """One broker in a container.

    Args:
        spec: The container's description.
        runner: The runner that waits.
        answers: Returns whether the broker at a loopback port answers in its messaging protocol, within a few seconds.
            An accepted connection proves nothing, because Docker's proxy accepts connections before the broker runs.
    """

    def __init__(self, spec: ContainerSpec, runner: Runner, answers: Callable[[int], bool]) -> None:
        self._spec = spec
        self._runner = runner
        self._answers = answers
        self._box: Any = None
        """The container, as the Docker client's object; None before `start` and after `remove`."""
        self._pid: int | None = None
        """The id of the container's first process; None if this process cannot send signals to it."""
        self._mark: tempfile.TemporaryDirectory[str] | None = None
        """An empty folder; a later run that finds the folder asks Docker for containers that this process has left."""
        self._held: list[socket.socket] = []
        """The sockets that hold the published ports while the broker is down."""
        self.port = pick_port()
        """The published port on the loopback address."""
        self.admin_port = None if spec.admin_port is None else pick_port()
        """The published port for administrators; None if the kit does not administer the broker."""

    @property
    def id(self) -> str:
        """The container's id.

        Raises:
            BackendError: The container does not exist.
        """
        if self._box is None:
            raise BackendError(f"{self._spec.title} has no container")
        return str(self._box.id)

    def attach(self, container: str, port: int, admin_port: int | None) -> None:
        """Use a container that another process has started, and that answers.

        Args:
            container: The container's id.
            port: The published port of the broker.
            admin_port: The published port for administrators; None if the kit does not administer the broker.

        Raises:
            BackendError: The container does not exist.
        """
        import docker
        import docker.errors

        try:
            self._box = docker.from_env().containers.get(container)
        except (docker.errors.DockerException, OSError) as error:
            raise BackendError(f"{self._spec.title} has no container {container}: {error}") from error
        self.port, self.admin_port = port, admin_port
        self.find_process()

    def find_process(self) -> None:
        """Look up the container's first process, because another process of the kit may have started it again.

        Raises:
            BackendError: The container does not exist, or Docker refused.
        """
        self._do("be inspected", self._note_process)

    def start(self, owner_pid: int | None = None) -> None:
        """Create and start the container, and wait until the broker answers. After an error the container is removed.

        Args:
            owner_pid: The id of the process that owns the container; None for the calling process. `sweep` removes the
                container after its owner has ended.

        Raises:
            BackendError: The container cannot be started, or the broker ended or did not answer in time. If the
                container ran, the error shows the last lines of the broker's log.
        """
        import docker.errors
        from testcontainers.core.config import testcontainers_config
        from testcontainers.core.container import DockerContainer

        # testcontainers' Ryuk would remove the container at the end, but needs an image of its own. Instead `sweep`
        # finds containers by their label.
        testcontainers_config.ryuk_disabled = True
        try:
            self._held = [hold_port(port) for port in (self.port, self.admin_port) if port is not None]
            _load(self._spec.image)
            if owner_pid is None:  # another owner makes its own folder
                self._mark = tempfile.TemporaryDirectory(prefix=folder_prefix("container"))
            box = DockerContainer(self._spec.image).with_kwargs(labels={OWNER_LABEL: owner(owner_pid)})
            for name, value in self._spec.environment.items():
                box.with_env(name, value)
            for inside, folder in self._spec.folders.items():
                box.with_volume_mapping(folder, inside, "rw")
            ports: dict[str, Any] = box.ports  # the declared type allows no address of the host
            ports[f"{self._spec.port}/tcp"] = (LOOPBACK, self.port)
            if self.admin_port is not None:
                ports[f"{self._spec.admin_port}/tcp"] = (LOOPBACK, self.admin_port)
            with ctrl_c_deferred():  # otherwise Ctrl-C could leave a container to which no variable refers
                box.start()
                self._box = box.get_wrapped_container()
            self._await_answer()
        except BaseException as error:  # Ctrl-C, too: the container may be running already
            self.remove()
            if isinstance(error, (docker.errors.DockerException, OSError)):
                text = f"{self._spec.title} cannot be started from {self._spec.image}: {error}"
                raise BackendError(text) from error
            raise

    def kill(self) -> None:
        """End the broker's process at once (SIGKILL).

        Raises:
            BackendError: The container does not exist, or Docker cannot end it.
        """
        self._do("be killed", lambda box: kill_now(box, self._pid))

    def stop(self) -> None:
        """Stop the broker normally (SIGTERM), and wait until its process has ended.

        Raises:
            BackendError: The process ended with an error, or Docker killed it after `STOP_LIMIT_S`.
        """
        self._do("be stopped", lambda box: box.stop(timeout=STOP_LIMIT_S))
        code = self.exit_code()
        if code not in _ORDERLY:
            raise BackendError(
                f"{self._spec.title} did not stop normally within {STOP_LIMIT_S} s (exit code {code});"
                f" the last lines of its log:\n{self.last_lines()}"
            )

    def pause(self) -> None:
        """Suspend the container's processes.

        Raises:
            BackendError: The container does not exist, or Docker cannot suspend it.
        """
        self._do("be paused", lambda box: box.pause())

    def unpause(self) -> None:
        """Let the container's processes continue after `pause`.

        Raises:
            BackendError: The container does not exist, or Docker cannot let it continue.
        """
        self._do("continue", lambda box: box.unpause())

    def resume(self) -> None:
        """Start the stopped container again with the same files and port, and wait until the broker answers.

        Raises:
            BackendError: The container cannot be started, or the broker does not answer.
        """
        self._do("be started again", lambda box: box.start())
        self._await_answer()

    def remove(self) -> None:
        """Remove the container with its files, if it exists, and release its ports."""
        import docker.errors

        with ctrl_c_deferred():
            box, self._box = self._box, None
            if box is not None:
                with suppress(docker.errors.NotFound):
                    box.remove(force=True, v=True)
            mark, self._mark = self._mark, None
            if mark is not None:
                mark.cleanup()
            while self._held:
                self._held.pop().close()

    def last_lines(self) -> str:
        """Return the last lines of the broker's log, indented, for an error message."""
        if self._box is None:
            return "  (no container)"
        text = self._box.logs(tail=_LAST_LINES).decode(errors="replace")
        return "\n".join(f"  {line}" for line in text.splitlines()) or "  (its log is empty)"

    def exit_code(self) -> int | None:
        """Return the exit code of the broker's process; None while the process runs or before `start`."""
        if self._box is None:
            return None
        self._box.reload()
        state = self._box.attrs["State"]
        return None if state["Running"] else int(state["ExitCode"])

    def _do(self, what: str, action: Callable[[Any], object]) -> None:
        import docker.errors

        if self._box is None:
            raise BackendError(f"{self._spec.title} cannot {what}: it has no container")
        try:
            action(self._box)
        except (docker.errors.DockerException, OSError) as error:
            raise BackendError(f"{self._spec.title} cannot {what}: {error}") from error

    def _await_answer(self) -> None:
        clock = self._runner.clock
        begun_ns = clock.monotonic_ns()
        deadline_ns = begun_ns + self._spec.start_limit_s * 10**9
        while not self._answers(self.port):
            code = self.exit_code()
            if code is not None:
                raise BackendError(
                    f"{self._spec.title} ended while starting (exit code {code});"
                    f" the last lines of its log:\n{self.last_lines()}"
                )
            now_ns = clock.monotonic_ns()
            if now_ns >= deadline_ns:
                raise BackendError(
                    f"{self._spec.title} did not answer within {self._spec.start_limit_s} s;"
                    f" the last lines of its log:\n{self.last_lines()}"
                )
            self._runner.run_until(lambda: False, now_ns + max(_FIRST_POLL_NS, (now_ns - begun_ns) // _WAITS_PER_PAUSE))
        self.find_process()

    def _note_process(self, box: Any) -> None:
        self._pid = process_of(box)
