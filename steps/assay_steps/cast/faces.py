"""The choice of the client that runs a scenario: an instance has one for each face, and each face lacks something."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.client import Client, ClientObserver, Source
from assay_adapters.suggestions import unknown
from assay_sdk.model.capabilities import Capability


class Faces:
    """An instance's clients by face, and the one of them that runs a scenario.

    Args:
        clients: By face; the first is the default.
        chosen: The face that runs the scenario.

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
        """Name, version and face of the client that runs the scenario, for journal and report."""
        return self._chosen.identity.title

    def of(self, face: str | None) -> Client:
        """The client in a face; None for the first.

        Raises:
            LookupError: No client has this face.
        """
        if face is None:
            return next(iter(self._clients.values()))
        if face not in self._clients:
            raise LookupError(unknown("face of the client", face, self._clients))
        return self._clients[face]

    def observe(self, observer: ClientObserver) -> None:
        """Report the events of the clients of all faces to this observer."""
        for client in self._clients.values():
            client.observe(observer)


def faces_for(
    clients: Mapping[str, Client], needs: Collection[Capability], asked: str | None = None
) -> Faces | Unsupported:
    """Choose the face that runs a scenario: the one that the run asks for, or the first that can do what it needs.

    Needs that no client declares concern the broker or the instance; the backend has checked them.

    Args:
        clients: The instance's clients by face.
        needs: The capabilities that the scenario's tags name.
        asked: The face that the run asks for; None for the first.

    Returns:
        Unsupported if no face meets all needs.

    Raises:
        LookupError: No client has the face that the run asks for.
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
    return Unsupported(names, Source(f"Each is in some face of the client, and none of {', '.join(clients)} has all."))
