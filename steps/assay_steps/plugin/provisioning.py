"""The broker instances and the clients of a run's scenarios."""

from __future__ import annotations

from msgspec import Struct

from assay_adapters.members import lacking
from assay_adapters.ports.backend import Backend, BackendError, Instance
from assay_adapters.ports.capabilities import Needs, Unsupported, missing
from assay_adapters.ports.client import Client, Source
from assay_features import Catalogue
from assay_steps.behaviour import Behaviour
from assay_steps.cast.faces import Faces, faces_for
from assay_steps.plugin.cases import Case


class Provided(Struct, frozen=True, eq=False):
    """The broker instance and the clients for a scenario.

    Args:
        instance: The broker instance.
        faces: The clients, and the choice of the client that runs the scenario.
    """

    instance: Instance
    faces: Faces


class Provisioning:
    """Provides each scenario with a broker instance and with clients.

    Args:
        backend: The backend.
        name: The backend's name in the request for the run.
        face: The face of the client under test; None for the default.
        behaviour: The defect or the variant of the run; None for neither.
        catalogue: The rules.
    """

    def __init__(
        self, backend: Backend, name: str, face: str | None, behaviour: Behaviour | None, catalogue: Catalogue
    ) -> None:
        self._backend = backend
        self._name = name
        self._face = face
        self._behaviour = behaviour
        self._catalogue = catalogue
        self._whole: set[type] = set()
        """The classes of broker instances that have all members of the port, as `instance` has checked."""

    def provide(self, case: Case) -> Provided | Unsupported:
        """Provide a broker instance that meets the case's needs, and the clients that run the case.

        A probe runs even if the backend does not declare the capability; its needs only choose the client's face.

        Returns:
            The broker instance and the clients; Unsupported if the broker or the clients lack a needed capability.

        Raises:
            BackendError: The instance cannot be started, or lacks a member of `Instance`.
        """
        instance = self._able(case.needs if case.probe is None else Needs())
        if isinstance(instance, Unsupported):
            return self._explained(case, instance)
        looked_for = set() if case.probe is None else {case.probe}
        faces = faces_for(self._clients(instance), case.needs.capabilities | looked_for, self._face)
        if isinstance(faces, Unsupported):
            instance.close()
            return faces
        return Provided(instance, faces)

    def _able(self, needs: Needs) -> Instance | Unsupported:
        unmet = missing(needs, self._backend.capabilities, self._backend.lacks, self._name)
        return unmet or self.instance(needs)

    def instance(self, needs: Needs) -> Instance | Unsupported:
        """Get a broker instance from the backend, and check that its class is complete.

        Another package may have made the backend, so its instances may lack members of `Instance`.

        Raises:
            BackendError: The instance cannot be started, or lacks a member.
        """
        provisioned = self._backend.provision(needs)
        if not isinstance(provisioned, Unsupported) and type(provisioned) not in self._whole:
            if lack := lacking(provisioned, Instance):
                raise BackendError(f"Backend {self._name!r}: {lack}")
            self._whole.add(type(provisioned))
        return provisioned

    def _explained(self, case: Case, unsupported: Unsupported) -> Unsupported:
        """Return a better reason for a missing capability of the kit's own broker, if the catalogue has one.

        The catalogue says for some rules why no single server can show them (`Rule.beyond_one_server`).
        """
        if self._backend.environment.ours:
            for rule in case.rules:
                reason = self._catalogue.rule(rule).beyond_one_server
                if reason is not None:
                    return Unsupported(unsupported.capability, Source(reason, f"the catalogue, {rule}"))
        return unsupported

    def faces(self, instance: Instance) -> Faces:
        """Return an instance's clients, with the client under test as the chosen one."""
        return Faces(self._clients(instance), self._face)

    def _clients(self, instance: Instance) -> dict[str, Client]:
        clients = dict(instance.clients())
        if self._behaviour is None or self._behaviour.port is None:
            return clients
        return {name: self._behaviour.port(client) for name, client in clients.items()}
