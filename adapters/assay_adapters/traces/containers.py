"""The log and the past of a broker in a container, from Docker and from the kit's own record."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from assay_adapters.containers.container import OWNER_LABEL, docker_client
from assay_adapters.containers.host_ports import LOOPBACK
from assay_adapters.ports.traces import Deed, LogLine
from assay_adapters.traces.history import History
from assay_adapters.traces.lines import few, safe, time_in

READ_LIMIT = 5_000
"""The largest number of lines that are read from the end of a log."""
_RESTARTED_NS = 10 * 10**9
"""If a container's last start is at least this many nanoseconds after its creation, it was started again."""

T = TypeVar("T")
Find = Callable[[Any], Any]
"""A function that takes a client of Docker, and returns a container. If no such container exists, it returns None or
raises an error of Docker.
"""


def at_port(port: int) -> Find:
    """Return a function that finds the kit's container with a published loopback port, also if it is stopped."""

    def find(client: Any) -> Any:
        found = client.containers.list(all=True, filters={"label": OWNER_LABEL}, ignore_removed=True)
        return next((one for one in found if (LOOPBACK, str(port)) in _published(one)), None)

    return find


def named(name: str) -> Find:
    """Return a function that finds a container by its name or id."""

    def find(client: Any) -> Any:
        return client.containers.get(name)

    return find


def _published(container: Any) -> set[tuple[str, str]]:
    bindings = (container.attrs["HostConfig"].get("PortBindings") or {}).values()
    return {(one.get("HostIp", ""), one.get("HostPort", "")) for found in bindings for one in found or ()}


class ContainerTrace:
    """The log of a container, and its past.

    Args:
        find: Finds the container.
        history: The container's past; None if this process has no record of it, so that `past` asks Docker.
        secrets: Passwords that the log may contain.
    """

    def __init__(self, find: Find, history: History | None = None, secrets: Iterable[str] = ()) -> None:
        self._find = find
        self._history = history
        self._secrets = tuple(secrets)

    @property
    def name(self) -> str:
        """The container's id, name and image; with the exit code if it does not run."""
        return self._ask(_identity, "a container that Docker does not show any more")

    def past(self) -> tuple[Deed, ...]:
        """Return the container's starts, ends and faults so far, in order of time."""
        return self._history.past() if self._history is not None else self._ask(_by_docker, ())

    def log_from_now(self) -> Callable[[], tuple[LogLine, ...]]:
        """Return a function that returns the lines that the container has written since this call."""
        since_ns = time.time_ns()
        return lambda: self._ask(partial(self._lines, since_ns), ())

    def _ask(self, question: Callable[[Any], T], otherwise: T) -> T:
        import docker.errors

        with suppress(docker.errors.DockerException, OSError), docker_client() as client:
            container = self._find(client)
            if container is not None:
                return question(container)
        return otherwise

    def _lines(self, since_ns: int, container: Any) -> tuple[LogLine, ...]:
        octets: bytes = container.logs(since=since_ns / 10**9, timestamps=True, tail=READ_LIMIT)
        written: list[tuple[int | None, str]] = []
        for line in octets.decode("utf-8", errors="replace").splitlines():
            stamp, _, text = line.partition(" ")
            at_ns = time_in(stamp)
            if text.strip() and (at_ns is None or at_ns >= since_ns):
                written.append((at_ns, text))
        return tuple(LogLine(safe(text, self._secrets), at_ns, omitted) for (at_ns, text), omitted in few(written))


def _identity(container: Any) -> str:
    container.reload()
    state, image = container.attrs["State"], container.attrs["Config"]["Image"]
    digest = str(container.attrs["Image"]).partition(":")[2][:12]
    ended = "" if state["Running"] else f", which has ended (exit code {state['ExitCode']})"
    return f"container {container.short_id} ({container.name}) of {image} ({digest}){ended}"


def _by_docker(container: Any) -> tuple[Deed, ...]:
    made_ns, started_ns = time_in(container.attrs["Created"]), time_in(container.attrs["State"]["StartedAt"])
    if made_ns is None or started_ns is None:
        return ()
    if started_ns - made_ns < _RESTARTED_NS:
        return (Deed("started", started_ns),)
    return Deed("started", made_ns), Deed("started again", started_ns)
