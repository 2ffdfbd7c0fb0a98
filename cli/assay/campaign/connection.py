"""A client's connection with one session; the first call after a fault opens a new connection.

The clients of `assay crash` and of `assay soak` use it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from assay_adapters.ports.client import AckMode, Client, Endpoint, Origin, Qos, Seen
from assay_adapters.ports.outcome import Ok, Refused
from assay_sdk.model.message import Address
from assay_sdk.time import Runner
from assay_steps.cast.actors import Consumer, Producer, open_consumer, open_producer
from assay_steps.cast.journal import ScenarioJournal
from assay_steps.cast.recording import Answer, Recorder, SetupRefusedError
from assay_steps.cast.sessions import Connection, Session
from assay_steps.cast.sightings import Sightings

T = TypeVar("T")


class LostError(Exception):
    """The broker cannot be reached, or refused a call; the error ends the client's current act."""


class UnreachableError(LostError):
    """The broker cannot be reached, or refused the connection."""


class ClientConnection:
    """A connection of an actor; after a call has failed, the next call opens a new connection.

    Args:
        name: The actor's name; sessions and units of work get this name with a number.
        client: The client under test; no other connection uses it, so all its reports belong to this connection.
        to: The broker's endpoint.
        ack: The session's acknowledgement mode.
        recorder: Records the calls in the journal.
        runner: The process's runner.
        client_id: The JMS client id; None for a connection without a client id.
        brief: Whether to write no frames to the journal and to store no events in memory, for a run under load.
    """

    def __init__(
        self,
        name: str,
        client: Client,
        to: Endpoint,
        *,
        ack: AckMode,
        recorder: Recorder,
        runner: Runner,
        client_id: str | None = None,
        brief: bool = False,
    ) -> None:
        self.name = name
        self._client = client
        self._to = to
        self._ack = ack
        self.recorder = recorder
        self._client_id = client_id
        self._numbers = itertools.count(1)
        self._connection: Connection | None = None
        self._session: Session | None = None
        self._producers: dict[Address, Producer] = {}
        self._consumers: dict[str, Consumer] = {}
        journal: ScenarioJournal = recorder.journal
        client.observe(Sightings(journal, runner, self._told, brief=brief).tell)

    @property
    def is_lost(self) -> bool:
        """Whether the client has reported the connection as lost, and no later call has opened it again."""
        connection = self._connection
        return connection is not None and not connection.open

    @property
    def session(self) -> Session:
        """The session; reading the property connects first if no connection is open, such as after `abort` or `leave`.

        Raises:
            UnreachableError: The broker cannot be reached, or refused the connection.
            LostError: The broker refused the session.
        """
        if self._session is None:
            face = self._client.identity.face
            port = self.recorder.record(
                self.name,
                "connect",
                lambda: self._client.connect(self._to, client_id=self._client_id),
                args={"client_id": self._client_id, "face": face},
            ).outcome
            if isinstance(port, Refused):
                raise UnreachableError(port.text)
            self._connection = Connection(self.recorder, self.name, port.value, face=face)
            name = f"{self.name}.{next(self._numbers)}"
            self._session = self._needed(partial(self._connection.session, self._ack, name))
        return self._session

    def producer(self, to: Address, qos: Qos | None = None) -> Producer:
        """Return the producer for a destination; create it first if necessary.

        Args:
            to: The destination.
            qos: The quality of service of an MQ Light producer; None for a JMS client.

        Raises:
            LostError: The broker cannot be reached, or refused the producer.
        """
        session = self.session
        if to not in self._producers:
            self._producers[to] = self._needed(lambda: open_producer(session, to, self.name, qos).needed())
        return self._producers[to]

    def consumer(self, origin: Origin, name: str, qos: Qos | None = None) -> Consumer:
        """Return the consumer with a name; create it first if necessary.

        Args:
            origin: The queue, topic or subscription of a new consumer.
            name: The consumer's name.
            qos: The quality of service of an MQ Light subscription; None for a JMS client.

        Raises:
            LostError: The broker cannot be reached, or refused the consumer.
        """
        session = self.session
        if name not in self._consumers:
            self._consumers[name] = self._needed(lambda: open_consumer(session, origin, name, qos=qos).needed())
        return self._consumers[name]

    def done(self, answer: Answer[T]) -> T:
        """Return the value of a call, or abort the connection if the call was refused.

        Raises:
            LostError: The call was refused, for any reason.
        """
        if isinstance(answer.outcome, Ok):
            return answer.outcome.value
        self.abort()
        raise LostError(answer.outcome.text)

    def receive(self, origin: Origin, name: str, timeout_ms: int) -> Seen | None:
        """Receive one message as a named actor; None if none came within ``timeout_ms`` milliseconds.

        Raises:
            LostError: The broker cannot be reached, or refused a call.
        """
        return self.done(self.consumer(origin, name).receive(timeout_ms))

    def abort(self) -> None:
        """Drop the connection without a close; it may already be lost."""
        connection = self._forget()
        if connection is not None:
            connection.abort()

    def leave(self) -> None:
        """Close the connection properly; the broker puts unacknowledged messages back on their queue."""
        connection = self._forget()
        if connection is not None:
            connection.close()

    def _forget(self) -> Connection | None:
        connection, self._connection = self._connection, None
        self._session = None
        self._producers.clear()
        self._consumers.clear()
        return connection

    def _told(self, _actor: str) -> None:
        connection = self._connection
        if connection is not None:
            connection.lost()

    def _needed(self, action: Callable[[], T]) -> T:
        try:
            return action()
        except SetupRefusedError as error:
            self.abort()
            raise LostError(error.refusal.text) from error
