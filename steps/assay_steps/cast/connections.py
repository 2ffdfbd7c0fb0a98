"""The connections of a scenario: their creation, their loss by faults, and their end."""

from __future__ import annotations

from collections import defaultdict

from assay_adapters.ports.client import ClientConnection
from assay_adapters.ports.faults import Cut, FaultRequest, Kill, PowerLoss, Restart, Unreachable
from assay_adapters.ports.outcome import Ok, Outcome, Refused
from assay_sdk.driver import Login
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.reasons import JmsErrorKind
from assay_steps.cast.faces import Faces
from assay_steps.cast.recording import Answer, Recorder, Scalar, SetupRefusedError
from assay_steps.cast.sessions import Connection
from assay_steps.cast.sightings import Sightings
from assay_steps.cast.timing.waiting import Waiting
from assay_steps.words.mistakes import Cast
from assay_steps.words.names import Names

_ENDS_CONNECTIONS = Kill | PowerLoss | Restart | Cut | Unreachable

AGAIN_MS = 100
"""The milliseconds between two attempts to use a client id or a subscription of an ended connection."""


class Connections(Cast[Connection]):
    """The connections of a scenario, by the names that the steps use.

    Args:
        waiting: The object that carries out the waits of the scenario's steps.
        recorder: Records the scenario's calls.
        sightings: The events that the scenario's clients report.
        names: The names of the scenario's objects at the broker.
        faces: The clients, and the choice of the client that runs the scenario.
    """

    def __init__(self, waiting: Waiting, recorder: Recorder, sightings: Sightings, names: Names, faces: Faces) -> None:
        super().__init__("connection")
        self.checks = True
        """Whether the clients of later connections check their calls before the broker gets them."""
        self._waiting = waiting
        self._recorder = recorder
        self._sightings = sightings
        self._names = names
        self._faces = faces
        self._by_client_id: defaultdict[str | None, list[str]] = defaultdict(list)
        """The names of all connections with each client id, open or ended."""

    def connect(
        self,
        name: str,
        *,
        client_id: str | None = None,
        face: str | None = None,
        member: str | None = None,
        user: str | None = None,
    ) -> Answer[Connection]:
        """Try to connect, and store the connection or the refusal under a name.

        If the broker refuses the client id of an ended connection as still in use, try again until
        `TimeLimits.expected_ms` have passed.

        Args:
            name: The scenario's name for the connection.
            client_id: The scenario's client id; made unique on a shared broker. None for no client id.
            face: The face of the client; None for the scenario's own client.
            member: The queue manager's name in the steps; None for the first queue manager.
            user: The name of the connecting user; None for an anonymous user, or the instance's default user.
        """
        at = self._names.member(member)
        instance = self._waiting.instance
        endpoint = instance.endpoint(instance.protocol, at)
        own_id = self._names.identifier(client_id) if client_id else None
        login = Login(user, user) if user else None
        client = self._faces.of(face) if face else self._faces.chosen
        args: dict[str, Scalar] = {"client_id": own_id, "checks": self.checks, "face": client.identity.face}
        args |= ({"user": user} if user else {}) | ({"member": at} if at else {})
        before = self.get(name)

        def attempt() -> Answer[ClientConnection]:
            self._sightings.connecting = name
            try:
                return self._recorder.record(
                    name,
                    "connect",
                    lambda: client.connect(endpoint, client_id=own_id, login=login, checks=self.checks),
                    args=args,
                )
            finally:
                self._sightings.connecting = ""

        answer = attempt()
        if (before is not None and before.torn) or self._is_given_up(own_id):
            deadline_ms = self._waiting.now_ms() + self._waiting.limits.expected_ms
            # The broker may not have noticed yet that the earlier connection has ended.
            while _taken(answer.outcome) and self._waiting.now_ms() < deadline_ms:
                self._waiting.pass_time(AGAIN_MS)
                answer = attempt()
        if isinstance(answer.outcome, Ok):
            self._by_client_id[own_id].append(name)
            self[name] = Connection(
                self._recorder,
                name,
                answer.outcome.value,
                at,
                client.identity.face,
                reconnects=Capability.RECONNECT in client.capabilities,
            )
            return Answer(answer.ref, Ok(self[name]))
        self.miss(name, SetupRefusedError(answer.outcome, answer.ref))
        return Answer(answer.ref, answer.outcome)

    def _is_given_up(self, client_id: str | None) -> bool:
        """Return whether all of the scenario's connections with a client id have ended or are lost.

        A broker may answer a close, or lose a connection, before it frees the client id. So `connect` repeats a refused
        attempt if the result is True. The result is False if no connection had the client id.
        """
        names = self._by_client_id.get(client_id, []) if client_id else []
        return bool(names) and not any(self[name].open and not self[name].is_away for name in names)

    def interrupted(self, actor: str) -> None:
        """Record that an actor's client reports its connection as lost."""
        for connection in self.values():
            if connection.hosts(actor):
                connection.interrupted()

    def resumed(self, actor: str) -> None:
        """Record that an actor's client has reconnected."""
        for connection in self.values():
            if connection.hosts(actor):
                connection.resumed()

    def expect_loss(self, fault: FaultRequest) -> None:
        """Record a fault that ends all connections, now or later; other faults have no effect."""
        if isinstance(fault, _ENDS_CONNECTIONS):
            for connection in self.values():
                connection.expect_loss()

    def suffered(self, fault: FaultRequest) -> None:
        """Record the loss of all connections after a fault that ends them; other faults have no effect."""
        if isinstance(fault, _ENDS_CONNECTIONS):
            for connection in self.values():
                connection.lost()

    def lose_member(self, member: str | None) -> None:
        """Record that a queue manager is stopped, which ends the watches of all its consumers.

        Args:
            member: The name of the queue manager at the broker; None for the first.
        """
        gone = member or self._waiting.instance.members[0]
        for connection in self.values():
            if (connection.member or self._waiting.instance.members[0]) == gone:
                connection.lost()

    def abort(self) -> None:
        """Drop the connections that are still open, without a close."""
        for connection in self.values():
            if connection.open:
                connection.abort()

    def close(self) -> None:
        """Close the connections that are still open; a refused close has no effect on the verdict."""
        for connection in self.values():
            if connection.open:
                connection.close()


def _taken(outcome: Outcome[ClientConnection]) -> bool:
    return isinstance(outcome, Refused) and outcome.kind is JmsErrorKind.INVALID_CLIENT_ID
