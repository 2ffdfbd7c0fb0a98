"""Filters in front of the client port that make producers, sessions or connections misbehave.

A defect defines the misbehaviour (`Twist`, `SessionTwist` or `ConnectionTwist`); the filters of clients, connections
and sessions put it in place.  `assay_steps.defects.consumers` has the filters for consumers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

from msgspec import Struct

from assay_adapters.ports.client import (
    AckMode,
    Client,
    ClientConnection,
    ClientConsumer,
    ClientIdentity,
    ClientObserver,
    ClientProducer,
    ClientSession,
    Draft,
    Endpoint,
    Mode,
    Origin,
    Qos,
    Seen,
    Sent,
    Setting,
    Source,
    XaResource,
)
from assay_adapters.ports.outcome import Ok, Outcome
from assay_sdk.driver import Login
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address

Twist = Callable[[ClientProducer], ClientProducer]
"""A function that wraps a producer in a producer that misbehaves."""

SessionTwist = Callable[[ClientSession], ClientSession]
"""A function that wraps a session in a session that misbehaves."""

ConnectionTwist = Callable[[ClientConnection], ClientConnection]
"""A function that wraps a connection in a connection that misbehaves."""


def _unchanged(producer: ClientProducer) -> ClientProducer:
    return producer


class Sending(Struct, frozen=True, kw_only=True):
    """The arguments of an application's call of `ClientProducer.send`, which describes their meanings."""

    message: Draft
    mode: Mode | None = None
    priority: int | None = None
    ttl_ms: int | None = None
    to: Address | None = None

    def through(self, producer: ClientProducer) -> Outcome[Sent]:
        """Call `send` of a producer with these arguments."""
        return producer.send(self.message, mode=self.mode, priority=self.priority, ttl_ms=self.ttl_ms, to=self.to)


class ProducerFilter:
    """A wrapper around a producer; a defect is a subclass that overrides `set` or `sending`.

    Args:
        behind: The producer without the defect.
    """

    def __init__(self, behind: ClientProducer) -> None:
        self.behind = behind

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        """Set delay, time to live, mode or priority."""
        return self.behind.set(setting, value)

    def get(self, setting: Setting) -> Outcome[int]:
        """Return a setting as the producer shows it."""
        return self.behind.get(setting)

    def send(
        self,
        message: Draft,
        *,
        mode: Mode | None = None,
        priority: int | None = None,
        ttl_ms: int | None = None,
        to: Address | None = None,
    ) -> Outcome[Sent]:
        """Send a message; the arguments have the meaning that `ClientProducer.send` describes."""
        return self.sending(Sending(message=message, mode=mode, priority=priority, ttl_ms=ttl_ms, to=to))

    def sending(self, asked: Sending) -> Outcome[Sent]:
        """Make the send that the application requests; a defect overrides this method to change the send."""
        return asked.through(self.behind)

    def close(self) -> Outcome[None]:
        """Close the producer."""
        return self.behind.close()


class SessionFilter:
    """A session whose producers misbehave; a defect can override the other methods, too.

    Args:
        behind: The session without the defect.
        twist: Makes each producer misbehave.
    """

    def __init__(self, behind: ClientSession, twist: Twist = _unchanged) -> None:
        self._behind = behind
        self._twist = twist

    def producer(self, to: Address | None, *, qos: Qos | None = None) -> Outcome[ClientProducer]:
        """Open a producer that misbehaves."""
        made = self._behind.producer(to, qos=qos)
        return Ok(self._twist(made.value)) if isinstance(made, Ok) else made

    def consumer(
        self, of: Origin, *, actor: str, qos: Qos | None = None, auto_confirm: bool | None = None
    ) -> Outcome[ClientConsumer]:
        """Open a consumer, without a defect."""
        return self._behind.consumer(of, actor=actor, qos=qos, auto_confirm=auto_confirm)

    def browse(self, queue: str, selector: str | None = None) -> Outcome[tuple[Seen, ...]]:
        """Browse a queue."""
        return self._behind.browse(queue, selector)

    def acknowledge(self, seen: Seen) -> Outcome[None]:
        """Acknowledge a message, and the other messages that the session's mode acknowledges with it."""
        return self._behind.acknowledge(seen)

    def commit(self) -> Outcome[None]:
        """Commit the session's unit of work."""
        return self._behind.commit()

    def rollback(self) -> Outcome[None]:
        """Roll the session's unit of work back."""
        return self._behind.rollback()

    def recover(self) -> Outcome[None]:
        """Recover the session, which redelivers its unacknowledged messages."""
        return self._behind.recover()

    def temporary_queue(self) -> Outcome[Address]:
        """Create a temporary queue."""
        return self._behind.temporary_queue()

    def unsubscribe(self, name: str, *, shared: bool = False) -> Outcome[None]:
        """Remove a durable subscription."""
        return self._behind.unsubscribe(name, shared=shared)

    def xa(self) -> Outcome[XaResource]:
        """Return the session's XA resource."""
        return self._behind.xa()

    def close(self) -> Outcome[None]:
        """Close the session."""
        return self._behind.close()


class ConnectionFilter:
    """A connection that makes the producers of its sessions misbehave; a defect can override the other methods, too.

    Args:
        behind: The connection without the defect.
        twist: Makes each producer misbehave.
    """

    def __init__(self, behind: ClientConnection, twist: Twist = _unchanged) -> None:
        self._behind = behind
        self._twist = twist

    def session(self, ack: AckMode) -> Outcome[ClientSession]:
        """Open a session whose producers misbehave."""
        made = self._behind.session(ack)
        return Ok(SessionFilter(made.value, self._twist)) if isinstance(made, Ok) else made

    def start(self) -> Outcome[None]:
        """Start the delivery of messages again."""
        return self._behind.start()

    def stop(self) -> Outcome[None]:
        """Stop the delivery of messages until the next start."""
        return self._behind.stop()

    def close(self) -> Outcome[None]:
        """Close the connection."""
        return self._behind.close()

    def abort(self) -> None:
        """Drop the connection without closing it."""
        self._behind.abort()


class SessionsFilter(ConnectionFilter):
    """A connection whose sessions misbehave.

    Args:
        behind: The connection without the defect.
        session: Makes each session misbehave.
    """

    def __init__(self, behind: ClientConnection, session: SessionTwist) -> None:
        super().__init__(behind)
        self._sessions = session

    def session(self, ack: AckMode) -> Outcome[ClientSession]:
        """Open a session that misbehaves."""
        made = self._behind.session(ack)
        return Ok(self._sessions(made.value)) if isinstance(made, Ok) else made


class ClientFilter:
    """A client whose producers misbehave, or that connects with another client id.

    Args:
        behind: The client without the defect.
        twist: Makes each producer misbehave.
        client_id: Returns the client id for a connection, from the client id that the application gave.
    """

    def __init__(
        self,
        behind: Client,
        twist: Twist = _unchanged,
        client_id: Callable[[str | None], str | None] = lambda given: given,
    ) -> None:
        self._behind = behind
        self._twist = twist
        self._client_id = client_id

    @property
    def identity(self) -> ClientIdentity:
        """The client's identity."""
        return self._behind.identity

    @property
    def capabilities(self) -> Mapping[Capability, Source]:
        """The capabilities of the client, each with its source."""
        return self._behind.capabilities

    def observe(self, observer: ClientObserver) -> None:
        """Add an observer, which is called with every later event."""
        self._behind.observe(observer)

    def connect(
        self, to: Endpoint, *, client_id: str | None = None, login: Login | None = None, checks: bool = True
    ) -> Outcome[ClientConnection]:
        """Connect with the client id that the defect chooses."""
        made = self._behind.connect(to, client_id=self._client_id(client_id), login=login, checks=checks)
        return Ok(ConnectionFilter(made.value, self._twist)) if isinstance(made, Ok) else made


class ConnectionsFilter(ClientFilter):
    """A client whose connections misbehave.

    Args:
        behind: The client without the defect.
        connection: Makes each connection misbehave.
    """

    def __init__(self, behind: Client, connection: ConnectionTwist) -> None:
        super().__init__(behind)
        self._connections = connection

    def connect(
        self, to: Endpoint, *, client_id: str | None = None, login: Login | None = None, checks: bool = True
    ) -> Outcome[ClientConnection]:
        """Open a connection that misbehaves."""
        made = self._behind.connect(to, client_id=client_id, login=login, checks=checks)
        return Ok(self._connections(made.value)) if isinstance(made, Ok) else made


def clients(wrong: Callable[[Client], Client]) -> Callable[[Client], Client]:
    """Return the function unchanged: `Defect.port` takes a function that turns a client into a misbehaving one."""
    return wrong


def connecting(connection: ConnectionTwist) -> Callable[[Client], Client]:
    """Make a filter for `Defect.port` that makes every connection misbehave."""
    return lambda client: ConnectionsFilter(client, connection)


def in_sessions(session: SessionTwist) -> Callable[[Client], Client]:
    """Make a filter for `Defect.port` that makes every session misbehave."""
    return connecting(lambda connection: SessionsFilter(connection, session))


def twisted(twist: Twist) -> Callable[[Client], Client]:
    """Make a filter for `Defect.port` that makes every producer misbehave."""
    return lambda client: ClientFilter(client, twist)
