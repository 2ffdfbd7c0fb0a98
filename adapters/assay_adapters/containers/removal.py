"""Removal of the kit's containers whose owner has ended; each process does this before it starts a container."""

from __future__ import annotations

from contextlib import suppress
from http import HTTPStatus
from typing import Any

from msgspec import Struct

from assay_adapters.containers.container import OWNER_LABEL, docker_client, owner
from assay_adapters.owners import Owner
from assay_adapters.ports.backend import BackendError


class Swept(Struct, frozen=True):
    """A container that `sweep` has removed, with the number of its volumes, which Docker has removed too."""

    name: str
    volumes: int = 0


def sweep(*, mine: bool = False) -> tuple[Swept, ...]:
    """Remove the containers that ended processes of the kit have left.

    Args:
        mine: Whether to remove the containers of this process, too.

    Returns:
        The removed containers.

    Raises:
        BackendError: Docker does not answer.
    """
    import docker.errors

    removed: list[Swept] = []
    try:
        with docker_client() as client:
            found = client.containers.list(all=True, filters={"label": OWNER_LABEL}, ignore_removed=True)
            for container in found:
                label = container.labels.get(OWNER_LABEL, "")
                if (_is_abandoned(label) or (mine and label == owner())) and _remove(container):
                    mounts = container.attrs.get("Mounts") or ()
                    volumes = sum(mount.get("Type") == "volume" for mount in mounts)
                    removed.append(Swept(str(container.name), volumes))
    except (docker.errors.DockerException, OSError) as error:
        raise BackendError(f"Docker does not answer a request for containers of earlier runs: {error}") from error
    return tuple(removed)


def _is_abandoned(label: str) -> bool:
    """Return whether a label (`OWNER_LABEL`) names a process that has started since the last boot and has ended."""
    found = Owner.named(label)
    return found is not None and found.has_ended


def sweep_quietly() -> None:
    """Remove the kit's containers whose owner has ended; ignore errors, because the next start tries again."""
    with suppress(BackendError):
        sweep()


def _remove(container: Any) -> bool:
    """Remove a container.

    Returns:
        False if another process has removed it or is removing it, because all workers remove old containers.
    """
    import docker.errors

    try:
        container.remove(force=True, v=True)
    except docker.errors.APIError as error:
        if error.status_code in {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT}:
            return False
        raise
    return True
