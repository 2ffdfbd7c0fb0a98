"""The interfaces of a client: connection, session, producer, consumer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Protocol

from assay_adapters.ports.client._identity import ClientIdentity, Endpoint, Source
from assay_adapters.ports.client._listening import ClientObserver, Script
from assay_adapters.ports.client._messages import Draft, Origin, Seen, Sent
from assay_adapters.ports.client._settings import AckMode, Mode, Qos, Setting
from assay_adapters.ports.outcome import Outcome
from assay_sdk.driver import Login
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address
from assay_sdk.model.xa import XaEnd, XaStart


class ClientConsumer(Protocol):
    """A message consumer or a topic subscriber."""

    def receive(self, timeout_ms: int) -> Outcome[Seen | None]:
        """Wait for one message; None if none comes in time. With 0 it does not wait."""
        ...

    def listen(self, script: Script | None) -> Outcome[None]:
        """Set a message listener that follows a script; None removes it."""
        ...

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        """Set a batch listener (BATCH:26-34); None removes it."""
        ...

    def close(self) -> Outcome[None]:
        """Close the consumer."""
        ...


class ClientProducer(Protocol):
    """A message producer of either JMS API."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        """Set delay, time to live (milliseconds), mode (`MODE_VALUES`) or priority; refused here or at the send.

        A `timedelta` can be finer than a millisecond; a client that takes whole ones only refuses it (DD-01).
        """
        ...

    def send(
        self,
        message: Draft,
        *,
        mode: Mode | None = None,
        priority: int | None = None,
        ttl_ms: int | None = None,
        to: Address | None = None,
    ) -> Outcome[Sent]:
        """Send; the arguments apply to this send only (PD-03)."""
        ...

    def close(self) -> Outcome[None]:
        """Close the producer."""
        ...


class XaResource(Protocol):
    """An XA resource: one for each session in XA mode.

    A branch is named by 1 to 64 bytes, ASCII so that journals can show them.
    """

    def start(self, xid: bytes, *, how: XaStart = XaStart.NEW) -> Outcome[None]:
        """Start work for a new branch, join one in which another session has worked, or resume one."""
        ...

    def end(self, xid: bytes, *, how: XaEnd = XaEnd.SUCCESS) -> Outcome[None]:
        """End work for a branch, or suspend it."""
        ...

    def prepare(self, xid: bytes) -> Outcome[bool]:
        """Prepare a branch; returns False if it was empty and has ended."""
        ...

    def commit(self, xid: bytes, *, one_phase: bool = False) -> Outcome[None]:
        """Commit a branch; with `one_phase` without a prepare."""
        ...

    def rollback(self, xid: bytes) -> Outcome[None]:
        """Back a branch out."""
        ...

    def recover(self) -> Outcome[tuple[bytes, ...]]:
        """List prepared branches."""
        ...


class ClientSession(Protocol):
    """A session, or a context of the simplified face."""

    def producer(self, to: Address | None, *, qos: Qos | None = None) -> Outcome[ClientProducer]:
        """Make a producer; without a destination each send names its own.

        The quality of service can be chosen only if the client allows it; None is the client's default.
        """
        ...

    def consumer(
        self,
        of: Origin,
        *,
        actor: str,
        qos: Qos | None = None,
        auto_confirm: bool | None = None,
    ) -> Outcome[ClientConsumer]:
        """Make a consumer; `actor` is its name in events."""
        ...

    def browse(self, queue: str, selector: str | None = None) -> Outcome[tuple[Seen, ...]]:
        """Browse a queue."""
        ...

    def acknowledge(self, seen: Seen) -> Outcome[None]:
        """Acknowledge, by the session's mode."""
        ...

    def commit(self) -> Outcome[None]:
        """Commit the unit of work."""
        ...

    def rollback(self) -> Outcome[None]:
        """Roll the unit of work back."""
        ...

    def recover(self) -> Outcome[None]:
        """Restart delivery with the first message that is not acknowledged."""
        ...

    def temporary_queue(self) -> Outcome[Address]:
        """Make a temporary queue, which ends with the connection (JMS 6.2.2)."""
        ...

    def unsubscribe(self, name: str, *, shared: bool = False) -> Outcome[None]:
        """Remove a durable subscription."""
        ...

    def xa(self) -> Outcome[XaResource]:
        """Return the session's XA resource."""
        ...

    def close(self) -> Outcome[None]:
        """Close the session."""
        ...


class ClientConnection(Protocol):
    """A connection."""

    def session(self, ack: AckMode) -> Outcome[ClientSession]:
        """Make a session."""
        ...

    def start(self) -> Outcome[None]:
        """Deliver messages again after a stop (JMS 6.1.4); a new connection is started."""
        ...

    def stop(self) -> Outcome[None]:
        """Deliver no message until the next start; wait for running listeners (JMS 6.1.5)."""
        ...

    def close(self) -> Outcome[None]:
        """Close in order."""
        ...

    def abort(self) -> None:
        """Lose the connection, as if the network had failed."""
        ...


class Client(Protocol):
    """A client library under test, in one of its faces."""

    @property
    def identity(self) -> ClientIdentity:
        """Its identity."""
        ...

    @property
    def capabilities(self) -> Mapping[Capability, Source]:
        """Its capabilities, each with its source."""
        ...

    def observe(self, observer: ClientObserver) -> None:
        """Add an observer of all later events."""
        ...

    def connect(
        self,
        to: Endpoint,
        *,
        client_id: str | None = None,
        login: Login | None = None,
        checks: bool = True,
    ) -> Outcome[ClientConnection]:
        """Connect; without `checks` the client skips its own checks, so that the broker's answer is visible."""
        ...
