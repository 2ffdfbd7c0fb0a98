"""Filters in front of the client port that change what its producers do, and nothing else.

A defect of the client says how a producer misbehaves (`Twist`); the layers above it stay as they are.
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
"""Wraps a producer in one that misbehaves."""


class Sending(Struct, frozen=True, kw_only=True):
    """A send that was asked for: the arguments of `ClientProducer.send`."""

    message: Draft
    mode: Mode | None = None
    priority: int | None = None
    ttl_ms: int | None = None
    to: Address | None = None

    def through(self, producer: ClientProducer) -> Outcome[Sent]:
        """Send it with a producer."""
        return producer.send(self.message, mode=self.mode, priority=self.priority, ttl_ms=self.ttl_ms, to=self.to)


class ProducerFilter:
    """A producer that passes every call on to another one; a defect is a subclass that overrides `set` or `sending`.

    Args:
        behind: The producer without the defect.
    """

    def __init__(self, behind: ClientProducer) -> None:
        self.behind = behind

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        """Set delay, time to live, mode or priority."""
        return self.behind.set(setting, value)

    def send(
        self,
        message: Draft,
        *,
        mode: Mode | None = None,
        priority: int | None = None,
        ttl_ms: int | None = None,
        to: Address | None = None,
    ) -> Outcome[Sent]:
        """Send."""
        return self.sending(Sending(message=message, mode=mode, priority=priority, ttl_ms=ttl_ms, to=to))

    def sending(self, asked: Sending) -> Outcome[Sent]:
        """Send what was asked for, or something else."""
        return asked.through(self.behind)

    def close(self) -> Outcome[None]:
        """Close the producer."""
        return self.behind.close()


class SessionFilter:
    """A session whose producers misbehave."""

    def __init__(self, behind: ClientSession, twist: Twist) -> None:
        self._behind = behind
        self._twist = twist

    def producer(self, to: Address | None, *, qos: Qos | None = None) -> Outcome[ClientProducer]:
        """Make a producer that misbehaves."""
        made = self._behind.producer(to, qos=qos)
        return Ok(self._twist(made.value)) if isinstance(made, Ok) else made

    def consumer(
        self, of: Origin, *, actor: str, qos: Qos | None = None, auto_confirm: bool | None = None
    ) -> Outcome[ClientConsumer]:
        """Make a consumer."""
        return self._behind.consumer(of, actor=actor, qos=qos, auto_confirm=auto_confirm)

    def browse(self, queue: str, selector: str | None = None) -> Outcome[tuple[Seen, ...]]:
        """Look at a queue."""
        return self._behind.browse(queue, selector)

    def acknowledge(self, seen: Seen) -> Outcome[None]:
        """Acknowledge."""
        return self._behind.acknowledge(seen)

    def commit(self) -> Outcome[None]:
        """Commit."""
        return self._behind.commit()

    def rollback(self) -> Outcome[None]:
        """Roll back."""
        return self._behind.rollback()

    def recover(self) -> Outcome[None]:
        """Recover."""
        return self._behind.recover()

    def temporary_queue(self) -> Outcome[Address]:
        """Make a temporary queue."""
        return self._behind.temporary_queue()

    def unsubscribe(self, name: str, *, shared: bool = False) -> Outcome[None]:
        """Remove a durable subscription."""
        return self._behind.unsubscribe(name, shared=shared)

    def xa(self) -> Outcome[XaResource]:
        """The session's XA resource."""
        return self._behind.xa()

    def close(self) -> Outcome[None]:
        """Close the session."""
        return self._behind.close()


class ConnectionFilter:
    """A connection whose sessions' producers misbehave."""

    def __init__(self, behind: ClientConnection, twist: Twist) -> None:
        self._behind = behind
        self._twist = twist

    def session(self, ack: AckMode) -> Outcome[ClientSession]:
        """Make a session."""
        made = self._behind.session(ack)
        return Ok(SessionFilter(made.value, self._twist)) if isinstance(made, Ok) else made

    def start(self) -> Outcome[None]:
        """Deliver messages again."""
        return self._behind.start()

    def stop(self) -> Outcome[None]:
        """Deliver no message until the next start."""
        return self._behind.stop()

    def close(self) -> Outcome[None]:
        """Close in order."""
        return self._behind.close()

    def abort(self) -> None:
        """Lose the connection."""
        self._behind.abort()


class ClientFilter:
    """A client whose producers misbehave, or that connects under another client id.

    Args:
        behind: The client without the defect.
        twist: Makes each producer misbehave.
        client_id: Replaces each connection's client id.
    """

    def __init__(
        self,
        behind: Client,
        twist: Twist = lambda producer: producer,
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
        """Its capabilities."""
        return self._behind.capabilities

    def observe(self, observer: ClientObserver) -> None:
        """Tell an observer of every event."""
        self._behind.observe(observer)

    def connect(
        self, to: Endpoint, *, client_id: str | None = None, login: Login | None = None, checks: bool = True
    ) -> Outcome[ClientConnection]:
        """Connect, under the client id that the defect chooses."""
        made = self._behind.connect(to, client_id=self._client_id(client_id), login=login, checks=checks)
        return Ok(ConnectionFilter(made.value, self._twist)) if isinstance(made, Ok) else made


def twisted(twist: Twist) -> Callable[[Client], Client]:
    """A filter for `Defect.port` that makes every producer misbehave."""
    return lambda client: ClientFilter(client, twist)
