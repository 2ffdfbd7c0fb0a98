"""Search in the files of a broker in a container, whichever process started it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from assay_adapters.containers.container import LOOPBACK, OWNER_LABEL, docker_client
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused


def folder_holds(port: int, folders: tuple[str, ...], octets: bytes) -> Outcome[bool]:
    """Return whether a container's data folder contains these octets, in its files or their names.

    Args:
        port: The loopback port at which one of our containers is published.
        folders: The folder's possible paths, in the order of preference.
        octets: The octets, as in a file.

    Returns:
        Whether the folder contains them; refused if there is no such container or folder.
    """
    import docker.errors

    try:
        with docker_client() as client:
            for container in client.containers.list(filters={"label": OWNER_LABEL}, ignore_removed=True):
                if _is_at(container, port):
                    return _search(container, folders, octets)
    except (docker.errors.DockerException, OSError) as error:
        return Refused(JmsErrorKind.UNSUPPORTED, f"Docker cannot be asked for the container's files: {error}")
    return Refused(
        JmsErrorKind.UNSUPPORTED, f"no container of ours is published at port {port}: its files are not in reach"
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
    """Return whether a stream contains these octets, also across the border of two chunks."""
    tail = b""
    for chunk in chunks:
        window = tail + chunk
        if octets in window:
            return True
        tail = window[max(0, len(window) - len(octets) + 1) :]
    return False
