"""A broker in the user's running container, which the kit ends and starts through Docker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay_adapters.brokers.url.reachability import await_broker
from assay_adapters.containers.container import STOP_LIMIT_S, docker_client, kill_now, process_of
from assay_adapters.ports.backend import BackendError
from assay_sdk.driver import Opened
from assay_sdk.model.reasons import Refused
from assay_sdk.time import Runner


class RunningContainer:
    """A broker in a container that the user has started, and that the kit ends and starts again.

    Args:
        name: The container's name or id.
        port: The port for clients, from the file's URL.
        ready_s: The time within which the broker answers after a start, in seconds.
        runner: The runner that waits.
        connect: Connects to the broker, to see whether it answers.
    """

    def __init__(
        self, name: str, port: int, ready_s: int, runner: Runner, connect: Callable[[], Opened | Refused]
    ) -> None:
        self._name = name
        self._ready_s = ready_s
        self._runner = runner
        self._connect = connect
        self.client_port = port
        """The port for clients, which a start does not change."""

    def start(self, changed: Mapping[str, object] | None = None) -> None:
        """Start the container again, and wait until the broker answers.

        Raises:
            BackendError: Docker cannot start the container, or the broker does not answer in time.
        """
        if changed:
            raise BackendError(f"a container that exists cannot change its {', '.join(changed)}")
        self._do("started", lambda box: box.start())
        await_broker(self._runner, self._ready_s, self._connect, self._why_ended)

    def kill(self) -> None:
        """End the container's processes at once.

        Raises:
            BackendError: Docker cannot end the container.
        """
        self._do("killed", lambda box: kill_now(box, process_of(box)))

    def stop(self) -> None:
        """Stop the container normally.

        Raises:
            BackendError: Docker cannot stop the container.
        """
        self._do("stopped", lambda box: box.stop(timeout=STOP_LIMIT_S))

    def pause(self) -> None:
        """Suspend the container's processes.

        Raises:
            BackendError: Docker cannot suspend the container.
        """
        self._do("paused", lambda box: box.pause())

    def unpause(self) -> None:
        """Let the container's processes continue after `pause`.

        Raises:
            BackendError: Docker cannot let the container continue.
        """
        self._do("continued", lambda box: box.unpause())

    def _why_ended(self) -> str:
        ended: list[str] = []

        def check(box: Any) -> None:
            if not box.attrs["State"]["Running"]:
                ended.append(f"the container {self._name} ended (exit code {box.attrs['State']['ExitCode']})")

        self._do("inspected", check)
        return "".join(ended)

    def _do(self, what: str, action: Callable[[Any], object]) -> None:
        import docker.errors

        try:
            with docker_client() as client:
                action(client.containers.get(self._name))
        except docker.errors.NotFound as error:
            raise BackendError(f"there is no container {self._name}: correct [container] name, or start it") from error
        except (docker.errors.DockerException, OSError) as error:
            raise BackendError(f"the container {self._name} cannot be {what}: {error}") from error
