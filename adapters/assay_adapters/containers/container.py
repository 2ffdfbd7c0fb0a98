"""Brokers in containers: what all of them share.

A container is published on the loopback address only, at a port that is chosen beforehand and therefore stays the same
over a restart.  It carries the label of the process that started it; what a process left behind that is no more is
swept away before the next one starts.
"""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from assay_adapters.interrupts import ctrl_c_deferred
from assay_adapters.ports.backend import Available, BackendError, Unavailable
from assay_sdk.runners.real import MachineClock
from assay_sdk.time import Runner

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

OWNER_LABEL = "org.assay.owner"
"""``<boot>/<pid>`` of the process that a container belongs to."""

LOOPBACK = "127.0.0.1"

_PORTS = range(20_000, 32_000)
"""Below the ports that Linux gives to outgoing connections, one of which could take ours during a restart."""

_POLL_NS = 50_000_000
"""How often a starting broker is asked whether it is there."""

STOP_LIMIT_S = 30
"""How long a broker may take to stop in order; then the stop has failed."""

_ORDERLY = {0, 128 + 15}
"""Exit codes of an orderly end: by itself, or at SIGTERM after its shutdown hooks (as a JVM reports it)."""

_LAST_LINES = 12


class ContainerSpec(Struct, frozen=True, kw_only=True):
    """What to run.

    Args:
        image: Name and tag.
        port: The port inside the container.
        environment: Environment variables.
        title: What people call it, for messages.
        start_limit_s: How long it may take to answer, in seconds.
    """

    image: str
    port: int
    environment: Mapping[str, str] = {}
    title: str
    start_limit_s: int = 90


@contextmanager
def docker_client() -> Generator[Any]:
    """Docker's own client.

    Raises:
        docker.errors.DockerException: No daemon answers.
    """
    import docker

    with closing(docker.from_env()) as client:
        yield client


def probe_image(images: tuple[str, ...], title: str, *, remedy: str) -> tuple[str, Available] | Unavailable:
    """Find the first image that is on this machine, or else in a registry's reach; starts and loads nothing.

    Args:
        images: Names, in the order of preference.
        title: The broker's name.
        remedy: What to do when there is none.
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
    """Content id of an image that is on this machine; empty where it is not.

    Raises:
        BackendError: Docker cannot be asked.
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
    """This process, as containers name it."""
    return f"{MachineClock().boot}/{os.getpid()}"


def _is_abandoned(label: str) -> bool:
    """Whether the owner was a process of this machine, since its last start, and is no more."""
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
    """Remove containers whose owner is no more.

    Args:
        mine: Remove this process's own as well.

    Returns:
        Names of what was removed.

    Raises:
        BackendError: Docker cannot be asked.
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
    """`sweep`, at an end: what it cannot do is done before the next start."""
    with suppress(BackendError):
        sweep()


def _remove(container: Any) -> bool:
    """Remove a container; False when another process was faster, since all workers of a run sweep at their start."""
    import docker.errors

    try:
        container.remove(force=True, v=True)
    except docker.errors.APIError as error:
        if error.status_code in {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT}:
            return False
        raise
    return True


def _load(image: str) -> None:
    """Have an image on this machine; what can take long happens here, where it may be interrupted.

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
    """A free port of the loopback address.

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


class Container:
    """One broker in a container.

    Args:
        spec: What to run.
        runner: How to wait.
        answers: Whether the broker is there, by its own protocol: given the loopback port, it waits a moment for an
            answer.  A port that accepts proves nothing, since Docker's proxy accepts for a broker that is not up yet.
    """

    def __init__(self, spec: ContainerSpec, runner: Runner, answers: Callable[[int], bool]) -> None:
        self._spec = spec
        self._runner = runner
        self._answers = answers
        self._box: DockerContainer | None = None
        self.port = pick_port()
        """Where it is published on the loopback address."""

    def start(self) -> None:
        """Make and start the container; returns when the broker answers.  When it raises, nothing is left behind.

        Raises:
            BackendError: It cannot be started, or died while starting; shows its last log lines.
        """
        import docker.errors
        from testcontainers.core.config import testcontainers_config
        from testcontainers.core.container import DockerContainer

        # Ryuk, which would sweep for us, is one more image to load; the label and `sweep` do its work.
        testcontainers_config.ryuk_disabled = True
        try:
            _load(self._spec.image)
            box = DockerContainer(self._spec.image).with_kwargs(labels={OWNER_LABEL: owner()})
            for name, value in self._spec.environment.items():
                box.with_env(name, value)
            ports: dict[str, Any] = box.ports  # declared for bare ports only, which would listen everywhere
            ports[f"{self._spec.port}/tcp"] = (LOOPBACK, self.port)
            with ctrl_c_deferred():  # else there could be a container of which nobody knows
                self._box = box
                box.start()
            self._await_answer()
        except BaseException as error:  # Ctrl-C too: the container may run already
            self.remove()
            if isinstance(error, (docker.errors.DockerException, OSError)):
                text = f"{self._spec.title} cannot be started from {self._spec.image}: {error}"
                raise BackendError(text) from error
            raise

    def kill(self) -> None:
        """End its process at once (SIGKILL).

        Raises:
            BackendError: Docker could not.
        """

        def end(box: Any) -> None:
            box.kill(signal="KILL")
            box.wait(timeout=STOP_LIMIT_S)  # a start of a container that still ends would do nothing

        self._do("be killed", end)

    def stop(self) -> None:
        """Stop it in order (SIGTERM) and wait until it has gone.

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
        """Start the stopped container again; its files and its port are what they were.  Returns when it answers.

        Raises:
            BackendError: It did not come back.
        """
        self._do("be started again", lambda box: box.start())
        self._await_answer()

    def remove(self) -> None:
        """Remove the container and its files; does nothing when there is none."""
        import docker.errors

        with ctrl_c_deferred():
            box, self._box = self._box, None
            if box is not None:
                with suppress(docker.errors.NotFound):
                    box.stop(force=True, delete_volume=True)

    def last_lines(self) -> str:
        """The end of its log, indented."""
        if self._box is None:
            return "  (no container)"
        text = self._box.get_wrapped_container().logs(tail=_LAST_LINES).decode(errors="replace")
        return "\n".join(f"  {line}" for line in text.splitlines()) or "  (its log is empty)"

    def exit_code(self) -> int | None:
        """The exit code of its process; None while it runs."""
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
