"""The choice of the client that runs a scenario.

A broker instance has one client for each face of the SDK, and no face has all capabilities.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.client import Client, ClientObserver, Source
from assay_adapters.suggestions import unknown
from assay_sdk.model.capabilities import Capability


class Faces:
    """A broker instance's clients by face, and the client that runs a scenario.

    Args:
        clients: The clients by face; the first is the default.
        chosen: The face that runs the scenario; None for the default.

    Raises:
        LookupError: No client has this face.
    """

    def __init__(self, clients: Mapping[str, Client], chosen: str | None = None) -> None:
        self._clients = dict(clients)
        self._chosen = self.of(chosen)

    @property
    def chosen(self) -> Client:
        """The client that runs the scenario, unless a step names another face."""
        return self._chosen

    @property
    def title(self) -> str:
        """The name, version and face of the client that runs the scenario, for journal and report."""
        return self._chosen.identity.title

    def of(self, face: str | None) -> Client:
        """Return the client with a face; None for the first client.

        Raises:
            LookupError: No client has this face.
        """
        if face is None:
            return next(iter(self._clients.values()))
        if face not in self._clients:
            raise LookupError(unknown("face of the client", face, self._clients))
        return self._clients[face]

    def observe(self, observer: ClientObserver) -> None:
        """Let the clients of all faces report their events to an observer."""
        for client in self._clients.values():
            client.observe(observer)


def faces_for(
    clients: Mapping[str, Client], needs: Collection[Capability], asked: str | None = None
) -> Faces | Unsupported:
    """Choose the face that runs a scenario.

    The requested face runs the scenario if it has the needed capabilities, otherwise the first face that has them. A
    capability that no client declares belongs to the broker; the backend has checked that the broker has it.

    Args:
        clients: The instance's clients by face.
        needs: The capabilities that the scenario's tags name.
        asked: The face that the run requests; None for the first.

    Returns:
        The faces with the chosen one; Unsupported if no face has all needed capabilities.

    Raises:
        LookupError: No client has the requested face.
    """
    faces = Faces(clients, asked)
    declared = {capability for client in clients.values() for capability in client.capabilities}
    wanted = sorted(declared.intersection(needs))
    if all(capability in faces.chosen.capabilities for capability in wanted):
        return faces
    for face, client in clients.items():
        if all(capability in client.capabilities for capability in wanted):
            return Faces(clients, face)
    names = ", ".join(capability.value for capability in wanted)
    return Unsupported(
        names, Source(f"Some face of the client has each of them, but none of {', '.join(clients)} has all.")
    )
