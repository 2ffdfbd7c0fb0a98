"""Servers that run for a measurement, natively or in a container."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from brokers.processes import family

START_S: Final = 60.0
STOP_S: Final = 20.0
_NAME = "assay-bench"
_PORTS: Final = range(20_000, 32_000)
"""The ports for servers, below the ports that systems use for outgoing connections."""
_TRIES: Final = 100


class LaunchError(Exception):
    """A server failed to start, ended or did not answer; the text says why."""


class Launched:
    """A server's processes.

    Args:
        title: The server's name in errors.
        command: The command that starts the server in the foreground.
        environment: Variables in addition to this process's; in a container, all variables.
        folder: The folder to which the server writes; it has the same path in a container.
        image: The container's image; None for a native server.  The container runs as the user of this process.
    """

    def __init__(
        self,
        title: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        image: str | None = None,
    ) -> None:
        self._title = title
        self._log = folder / "server.log"
        self._container = f"{_NAME}-{os.getpid()}-{folder.name}" if image is not None else None
        if image is not None and self._container is not None:
            command = _docker_run(self._container, image, command, environment, folder)
            environment = {}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - a broker that the caller has chosen
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env={**os.environ, **environment},
                start_new_session=True,
            )

    def pids(self) -> list[int]:
        """Return the ids of the server's processes, without those of the container runtime."""
        if self._container is None:
            return family([self._process.pid])
        told = _docker("inspect", "--format", "{{.State.Pid}}", self._container)
        return family([int(told)]) if told not in {"", "0"} else []

    def check(self) -> None:
        """Raise an error if the server has ended.

        Raises:
            LaunchError: The server has ended.
        """
        if self._process.poll() is not None:
            told = self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-12:]
            raise LaunchError("\n  ".join([f"{self._title} ended with code {self._process.returncode}:", *told]))

    def stop(self) -> None:
        """End the server and all processes that it has started."""
        if self._container is not None:
            _docker("stop", "--time", "5", self._container)
        elif self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._container is None:
            try:  # processes that the server left behind, such as Erlang's port mapper
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return


def _docker_run(
    name: str, image: str, command: Sequence[str], environment: Mapping[str, str], folder: Path
) -> list[str]:
    given = [part for key, value in environment.items() for part in ("--env", f"{key}={value}")]
    return [
        *("docker", "run", "--rm", "--init", "--name", name, "--label", _NAME),
        *("--network", "host", "--user", f"{os.getuid()}:{os.getgid()}"),
        *("--volume", f"{folder}:{folder}", "--workdir", str(folder), *given, "--entrypoint", command[0]),
        *(image, *command[1:]),
    ]


def _docker(*arguments: str) -> str:
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False)  # noqa: S603, S607 - docker, with our own arguments
    return done.stdout.strip()


def image_there(image: str) -> bool:
    """Check whether a Docker daemon answers and has an image."""
    return shutil.which("docker") is not None and bool(_docker("image", "inspect", "--format", "{{.Id}}", image))


def free_port() -> int:
    """Return a free port on 127.0.0.1, outside the range from which the system takes ports for clients.

    Raises:
        LaunchError: No tried port is free.
    """
    for port in random.sample(_PORTS, _TRIES):
        with socket.socket() as one, suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port
    raise LaunchError(f"none of {_TRIES} ports between {_PORTS.start} and {_PORTS.stop} is free")


def wait_until(launched: Launched, answers: Callable[[], object], limit_s: float = START_S) -> None:
    """Wait for a server to answer.

    Args:
        launched: The server.
        answers: A function that is called until it returns a true value.
        limit_s: The limit in seconds.

    Raises:
        LaunchError: The server has ended, or does not answer in time.
    """
    limit = time.monotonic() + limit_s
    while not answers():
        launched.check()
        if time.monotonic() > limit:
            raise LaunchError(f"a server did not answer within {limit_s:.0f} s")
        time.sleep(0.1)
