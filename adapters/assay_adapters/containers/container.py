"""Brokers in containers: start, stop, removal.

A container is published on the loopback address only, at a port that is chosen beforehand and so stays the same over a
restart. It has the label of the process that started it. Containers of processes that have ended are removed before the
next one starts.
"""

from __future__ import annotations

import os
import random
import signal
import socket
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from assay_adapters.ports.backend import Available, BackendError, Unavailable
from assay_evidence.interrupts import ctrl_c_deferred
from assay_sdk.runners.machine_clock import MachineClock
from assay_sdk.time import Runner

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

OWNER_LABEL = "org.assay.owner"
"""``<boot>/<pid>`` of the process to which a container belongs."""

LOOPBACK = "127.0.0.1"

_PORTS = range(20_000, 32_000)
"""Below Linux's ports for outgoing connections, one of which could take ours during a restart."""

_POLL_NS = 50_000_000
"""The interval between checks of a starting broker, in nanoseconds."""

STOP_LIMIT_S = 30
"""How long a broker may take to stop in order, in seconds; after that the stop has failed."""

_ORDERLY = {0, 128 + 15}
"""Exit codes of an orderly end: by itself, or at SIGTERM after its shutdown hooks (as a JVM reports it)."""

_LAST_LINES = 12


class ContainerSpec(Struct, frozen=True, kw_only=True):
    """The description of a broker's container.

    Args:
        image: Name and tag.
        port: The port inside the container.
        environment: Environment variables.
        title: The broker's name, for messages.
        start_limit_s: How long it may take to answer, in seconds.
    """

    image: str
    port: int
    environment: Mapping[str, str] = {}
    title: str
    start_limit_s: int = 90


@contextmanager
def docker_client() -> Generator[Any]:
    """Return Docker's own client.

    Raises:
        docker.errors.DockerException: No daemon answers.
    """
    import docker

    with closing(docker.from_env()) as client:
        yield client


def probe_image(images: tuple[str, ...], title: str, *, remedy: str) -> tuple[str, Available] | Unavailable:
    """Find the first image that is on this machine, or else in a reachable registry, without loading it.

    Args:
        images: Names, in the order of preference.
        title: The broker's name.
        remedy: What to do if there is none.
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
    return Unavailable(f"there is no image {' or '.join(images)} on this machine or in reach", remedy)


def image_digest(image: str) -> str:
    """Return the content id of an image on this machine; empty if it is not there.

    Raises:
        BackendError: Docker does not answer.
    """
    import docker.errors

    try:
        with docker_client() as client:
            return str(client.images.get(image).id)
    except docker.errors.ImageNotFound:
        return ""
    except (docker.errors.DockerException, OSError) as error:
        raise BackendError(f"Docker cannot be asked for the image {image}: {error}") from error


def owner() -> str:
    """Return the label of this process for its containers."""
    return f"{MachineClock().boot}/{os.getpid()}"


def _is_abandoned(label: str) -> bool:
    """Return whether the owner was a process of this machine since its last boot and has ended."""
    boot, _, pid = label.partition("/")
    if boot != MachineClock().boot or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def sweep(*, mine: bool = False) -> tuple[str, ...]:
    """Remove containers whose owner has ended.

    Args:
        mine: Remove this process's own, too.

    Returns:
        The names of the removed containers.

    Raises:
        BackendError: Docker does not answer.
    """
    import docker.errors

    removed: list[str] = []
    try:
        with docker_client() as client:
            found = client.containers.list(all=True, filters={"label": OWNER_LABEL}, ignore_removed=True)
            for container in found:
                label = container.labels.get(OWNER_LABEL, "")
                if (_is_abandoned(label) or (mine and label == owner())) and _remove(container):
                    removed.append(str(container.name))
    except (docker.errors.DockerException, OSError) as error:
        raise BackendError(f"Docker cannot be asked for containers that were left behind: {error}") from error
    return tuple(removed)


def sweep_quietly() -> None:
    """Call `sweep` at an end, and ignore errors, because the next start sweeps again."""
    with suppress(BackendError):
        sweep()


def _remove(container: Any) -> bool:
    """Remove a container; returns False if another process was faster, since all workers of a run sweep."""
    import docker.errors

    try:
        container.remove(force=True, v=True)
    except docker.errors.APIError as error:
        if error.status_code in {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT}:
            return False
        raise
    return True


def _load(image: str) -> None:
    """Load an image to this machine, where Ctrl-C may interrupt it, because it can take long.

    Raises:
        docker.errors.DockerException: It cannot be loaded.
    """
    import docker.errors

    with docker_client() as client:
        try:
            client.images.get(image)
        except docker.errors.ImageNotFound:
            client.images.pull(image)


def pick_port() -> int:
    """Return a free port of the loopback address.

    Raises:
        BackendError: There is none.
    """
    for port in random.sample(_PORTS, k=200):
        with socket.socket() as attempt:
            try:
                attempt.bind((LOOPBACK, port))
            except OSError:
                continue
            return port
    raise BackendError(f"no port from {_PORTS.start} to {_PORTS.stop - 1} of {LOOPBACK} is free: end what holds them")


def process_of(container: Any) -> int | None:
    """Return the process id of a running container's first process on this machine.

    Returns:
        The id; None if Docker runs the container on another machine, or this process may not signal it.
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
    """End a container's processes (SIGKILL), and wait until Docker knows.

    Docker takes about 80 ms to kill, in which a broker that answered too early writes what it had not written. A signal
    to the first process takes about 1 ms, and the kernel ends the container's other processes with it.

    Args:
        container: Docker's own object.
        pid: Its first process (`process_of`); None to ask Docker.
    """
    if pid is None:
        container.kill(signal="KILL")
    else:
        os.kill(pid, signal.SIGKILL)
    container.wait(timeout=STOP_LIMIT_S)  # while the container still ends, a start would have no effect


class Container:
    """One broker in a container.

    Args:
        spec: Its description.
        runner: Waits.
        answers: Returns whether the broker at this loopback port answers in its own protocol, within a moment. An
            accepted connection proves nothing, because Docker's proxy accepts before the broker runs.
    """

    def __init__(self, spec: ContainerSpec, runner: Runner, answers: Callable[[int], bool]) -> None:
        self._spec = spec
        self._runner = runner
        self._answers = answers
        self._box: DockerContainer | None = None
        self._pid: int | None = None
        """Its first process on this machine, since it answered last; None if it cannot be signalled from here."""
        self.port = pick_port()
        """The published port on the loopback address."""

    def start(self) -> None:
        """Create and start the container; returns when the broker answers. After an error nothing is left behind.

        Raises:
            BackendError: It cannot be started, or ended while starting; the error shows its last log lines.
        """
        import docker.errors
        from testcontainers.core.config import testcontainers_config
        from testcontainers.core.container import DockerContainer

        # Ryuk, which would remove the container, is one more image to load; the label and `sweep` replace it.
        testcontainers_config.ryuk_disabled = True
        try:
            _load(self._spec.image)
            box = DockerContainer(self._spec.image).with_kwargs(labels={OWNER_LABEL: owner()})
            for name, value in self._spec.environment.items():
                box.with_env(name, value)
            ports: dict[str, Any] = box.ports  # declared for bare ports only, which would listen everywhere
            ports[f"{self._spec.port}/tcp"] = (LOOPBACK, self.port)
            with ctrl_c_deferred():  # otherwise a container could be left without a reference to it
                self._box = box
                box.start()
            self._await_answer()
        except BaseException as error:  # Ctrl-C, too: the container may run already
            self.remove()
            if isinstance(error, (docker.errors.DockerException, OSError)):
                text = f"{self._spec.title} cannot be started from {self._spec.image}: {error}"
                raise BackendError(text) from error
            raise

    def kill(self) -> None:
        """End its process at once (SIGKILL).

        Raises:
            BackendError: Docker refused.
        """
        self._do("be killed", lambda box: kill_now(box, self._pid))

    def stop(self) -> None:
        """Stop it in order (SIGTERM), and wait until it has ended.

        Raises:
            BackendError: It ended otherwise: killed because it took too long, or with an error of its own.
        """
        self._do("be stopped", lambda box: box.stop(timeout=STOP_LIMIT_S))
        code = self.exit_code()
        if code not in _ORDERLY:
            raise BackendError(
                f"{self._spec.title} did not stop in order within {STOP_LIMIT_S} s (exit code {code});"
                f" its last lines:\n{self.last_lines()}"
            )

    def resume(self) -> None:
        """Start the stopped container again with the same files and port; returns when it answers.

        Raises:
            BackendError: It does not answer.
        """
        self._do("be started again", lambda box: box.start())
        self._await_answer()

    def remove(self) -> None:
        """Remove the container and its files, if there is one."""
        import docker.errors

        with ctrl_c_deferred():
            box, self._box = self._box, None
            if box is not None:
                with suppress(docker.errors.NotFound):
                    box.stop(force=True, delete_volume=True)

    def last_lines(self) -> str:
        """Return the end of its log, indented."""
        if self._box is None:
            return "  (no container)"
        text = self._box.get_wrapped_container().logs(tail=_LAST_LINES).decode(errors="replace")
        return "\n".join(f"  {line}" for line in text.splitlines()) or "  (its log is empty)"

    def exit_code(self) -> int | None:
        """Return the exit code of its process; None while it runs."""
        if self._box is None:
            return None
        container = self._box.get_wrapped_container()
        container.reload()
        state = container.attrs["State"]
        return None if state["Running"] else int(state["ExitCode"])

    def _do(self, what: str, action: Callable[[Any], object]) -> None:
        import docker.errors

        if self._box is None:
            raise BackendError(f"{self._spec.title} cannot {what}: its container is gone")
        try:
            action(self._box.get_wrapped_container())
        except (docker.errors.DockerException, OSError) as error:
            raise BackendError(f"{self._spec.title} cannot {what}: {error}") from error

    def _await_answer(self) -> None:
        clock = self._runner.clock
        deadline_ns = clock.monotonic_ns() + self._spec.start_limit_s * 10**9
        while not self._answers(self.port):
            code = self.exit_code()
            if code is not None:
                raise BackendError(
                    f"{self._spec.title} ended while starting (exit code {code}); its last lines:\n{self.last_lines()}"
                )
            now_ns = clock.monotonic_ns()
            if now_ns >= deadline_ns:
                raise BackendError(
                    f"{self._spec.title} did not answer within {self._spec.start_limit_s} s;"
                    f" its last lines:\n{self.last_lines()}"
                )
            self._runner.run_until(lambda: False, now_ns + _POLL_NS)
        self._do("be looked at", self._note_process)

    def _note_process(self, box: Any) -> None:
        self._pid = process_of(box)
