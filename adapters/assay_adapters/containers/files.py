"""The search for octets in a container's files; another process of the run may have started the container."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from assay_adapters.containers.container import OWNER_LABEL, docker_client
from assay_adapters.containers.host_ports import LOOPBACK
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused


def folder_holds(port: int, folders: tuple[str, ...], octets: bytes) -> Outcome[bool]:
    """Return whether a container's data folder contains these octets, in its files or in their names.

    Args:
        port: The loopback port at which a container of the kit is published.
        folders: The data folder's possible paths, in the order of preference.
        octets: The octets, as a file would contain them.

    Returns:
        Whether the folder contains the octets; a refusal if no container has the port, or if the container does not
        have the folder.
    """
    import docker.errors

    try:
        with docker_client() as client:
            for container in client.containers.list(filters={"label": OWNER_LABEL}, ignore_removed=True):
                if _is_at(container, port):
                    return _search(container, folders, octets)
    except (docker.errors.DockerException, OSError) as error:
        return Refused(JmsErrorKind.UNSUPPORTED, f"Docker does not return the container's files: {error}")
    return Refused(
        JmsErrorKind.UNSUPPORTED, f"no container of the kit has port {port}, so its files cannot be searched"
    )


def _is_at(container: Any, port: int) -> bool:
    bindings = (container.attrs["NetworkSettings"]["Ports"] or {}).values()
    return any(
        (binding["HostIp"], binding["HostPort"]) == (LOOPBACK, str(port))
        for found in bindings
        for binding in found or ()
    )


def _search(container: Any, folders: tuple[str, ...], octets: bytes) -> Outcome[bool]:
    import docker.errors

    for folder in folders:
        try:
            chunks, _ = container.get_archive(folder)
        except docker.errors.NotFound:
            continue
        return Ok(holds(chunks, octets))
    return Refused(JmsErrorKind.UNSUPPORTED, f"the container has none of the folders {', '.join(folders)}")


def holds(chunks: Iterable[bytes], octets: bytes) -> bool:
    """Return whether a stream contains these octets, which may begin in one chunk and end in the next."""
    tail = b""
    for chunk in chunks:
        window = tail + chunk
        if octets in window:
            return True
        tail = window[max(0, len(window) - len(octets) + 1) :]
    return False
