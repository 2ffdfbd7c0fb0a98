"""One connection of a client, with its session: lost when the broker is killed, and taken anew when it is back."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from assay_adapters.ports.client import AckMode, Client, Endpoint, Origin, Seen
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
    """The broker is not there (any more): whoever was at something starts over."""


class Seat:
    """A place in a scenario, for one connection after the other.

    Args:
        name: The actor's name; sessions and so units of work are numbered behind it.
        client: A client of its own, so that what it tells is this seat's.
        to: The broker.
        ack: The session's mode.
        recorder: Writes its calls down.
        runner: The process's crank.
        client_id: JMS client id; None for none.
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
        client.observe(Sightings(journal, runner, self._told).tell)

    @property
    def session(self) -> Session:
        """The session, made anew where there is none.

        Raises:
            LostError: There is no broker.
        """
        if self._session is None:
            port = self._client.connect(self._to, client_id=self._client_id)
            if isinstance(port, Refused):
                raise LostError(port.text)
            self._connection = Connection(self.recorder, self.name, port.value)
            name = f"{self.name}.{next(self._numbers)}"
            self._session = self._needed(partial(self._connection.session, self._ack, name))
        return self._session

    def producer(self, to: Address) -> Producer:
        """A producer for a destination.

        Raises:
            LostError: There is no broker.
        """
        session = self.session
        if to not in self._producers:
            self._producers[to] = self._needed(lambda: open_producer(session, to, self.name).needed())
        return self._producers[to]

    def consumer(self, origin: Origin, name: str) -> Consumer:
        """A consumer by its name.

        Raises:
            LostError: There is no broker.
        """
        session = self.session
        if name not in self._consumers:
            self._consumers[name] = self._needed(lambda: open_consumer(session, origin, name).needed())
        return self._consumers[name]

    def done(self, answer: Answer[T]) -> T:
        """The value of a call.

        Raises:
            LostError: It was refused; whatever the reason, this connection is given up.
        """
        if isinstance(answer.outcome, Ok):
            return answer.outcome.value
        self.abort()
        raise LostError(answer.outcome.text)

    def receive(self, origin: Origin, name: str, timeout_ms: int) -> Seen | None:
        """Receive one message as an actor.

        Raises:
            LostError: The connection is lost.
        """
        return self.done(self.consumer(origin, name).receive(timeout_ms))

    def abort(self) -> None:
        """Lose the connection on purpose, or give one up that is lost."""
        connection = self._forget()
        if connection is not None:
            connection.abort()

    def leave(self) -> None:
        """Close in order; what was not acknowledged goes back."""
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
