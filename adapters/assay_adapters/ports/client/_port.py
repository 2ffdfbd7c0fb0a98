"""The interfaces of a client, and of its connections, sessions, producers and consumers."""

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
        """Receive one message.

        Args:
            timeout_ms: The longest wait in milliseconds; 0 not to wait.

        Returns:
            The message; None if no message came in time.
        """
        ...

    def listen(self, script: Script | None) -> Outcome[None]:
        """Set a message listener that follows a script; with None remove the listener."""
        ...

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        """Set a batch listener that follows a script, or with None remove the listener (BATCH:26-34).

        Args:
            script: The script.
            size: The batch size, in messages.
            timeout_ms: The batch timeout in milliseconds.
        """
        ...

    def close(self) -> Outcome[None]:
        """Close the consumer."""
        ...


class ClientProducer(Protocol):
    """A message producer."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        """Set the delay or time to live (milliseconds or a `timedelta`), the mode (`MODE_VALUES`) or the priority.

        The client may refuse a bad value here or at the next send. A client that takes only whole milliseconds refuses
        a finer `timedelta` (DD-01).
        """
        ...

    def get(self, setting: Setting) -> Outcome[int]:
        """Return a setting as the client shows it: milliseconds, or the number of the mode or priority (DD-01).

        A client that cannot show a setting refuses the call as unsupported; claims about the value are then undecided.
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
        """Send a message.

        The arguments apply to this send only (PD-03).

        Args:
            message: The message.
            mode: The delivery mode; None for the producer's default.
            priority: The priority; None for the producer's default.
            ttl_ms: The time to live in milliseconds; None for the producer's default.
            to: The destination; None for the producer's destination.
        """
        ...

    def close(self) -> Outcome[None]:
        """Close the producer."""
        ...


class XaResource(Protocol):
    """The XA resource of a session in XA mode.

    In all methods, `xid` is the name of a branch: 1 to 64 bytes of ASCII, so that journals can show it.
    """

    def start(self, xid: bytes, *, how: XaStart = XaStart.NEW) -> Outcome[None]:
        """Start work for a new branch, join a branch of another session, or resume a suspended branch."""
        ...

    def end(self, xid: bytes, *, how: XaEnd = XaEnd.SUCCESS) -> Outcome[None]:
        """End work for a branch, or suspend it."""
        ...

    def prepare(self, xid: bytes) -> Outcome[bool]:
        """Prepare a branch; return True if the branch is prepared, or False if it was read-only and has ended."""
        ...

    def commit(self, xid: bytes, *, one_phase: bool = False) -> Outcome[None]:
        """Commit a branch; `one_phase` commits it without a prepare."""
        ...

    def rollback(self, xid: bytes) -> Outcome[None]:
        """Roll a branch back."""
        ...

    def recover(self) -> Outcome[tuple[bytes, ...]]:
        """Return the names of the prepared branches."""
        ...


class ClientSession(Protocol):
    """A session, or a context of the simplified face."""

    def producer(self, to: Address | None, *, qos: Qos | None = None) -> Outcome[ClientProducer]:
        """Make a producer.

        Args:
            to: The destination; None if each send names its destination.
            qos: The quality of service; None for the client's default. A JMS client refuses any value but None.
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
        """Make a consumer.

        Args:
            of: The source of its messages.
            actor: The consumer's name in events.
            qos: The quality of service; None for the client's default. A JMS client refuses any value but None.
            auto_confirm: Whether an MQ Light client confirms messages by itself; None for the session's default. A JMS
                client refuses any value but None.
        """
        ...

    def browse(self, queue: str, selector: str | None = None) -> Outcome[tuple[Seen, ...]]:
        """Return the messages on a queue, without removing them."""
        ...

    def acknowledge(self, seen: Seen) -> Outcome[None]:
        """Acknowledge a message, and the other messages that the session's mode acknowledges with it."""
        ...

    def commit(self) -> Outcome[None]:
        """Commit the unit of work."""
        ...

    def rollback(self) -> Outcome[None]:
        """Roll the unit of work back."""
        ...

    def recover(self) -> Outcome[None]:
        """Recover the session: deliver its unacknowledged messages again."""
        ...

    def temporary_queue(self) -> Outcome[Address]:
        """Make a temporary queue, which exists until the connection ends (JMS 2.0, 6.2.2)."""
        ...

    def unsubscribe(self, name: str, *, shared: bool = False) -> Outcome[None]:
        """Remove the durable subscription with this name.

        Args:
            name: The subscription's name.
            shared: Whether the subscription is shared.
        """
        ...

    def xa(self) -> Outcome[XaResource]:
        """Return the session's XA resource, or refuse for a session that is not in XA mode."""
        ...

    def close(self) -> Outcome[None]:
        """Close the session."""
        ...


class ClientConnection(Protocol):
    """A connection of a client to a broker; a new connection is already started."""

    def session(self, ack: AckMode) -> Outcome[ClientSession]:
        """Make a session with an acknowledgement mode."""
        ...

    def start(self) -> Outcome[None]:
        """Start the connection after a stop, so that it delivers messages again (JMS 2.0, 6.1.4)."""
        ...

    def stop(self) -> Outcome[None]:
        """Stop delivery until the next start, after waiting for running listeners (JMS 2.0, 6.1.5)."""
        ...

    def close(self) -> Outcome[None]:
        """Close the connection normally."""
        ...

    def abort(self) -> None:
        """Cut the connection, as if the network had failed."""
        ...


class Client(Protocol):
    """A client library under test, in one of its faces."""

    @property
    def identity(self) -> ClientIdentity:
        """The client library's name, version and face."""
        ...

    @property
    def capabilities(self) -> Mapping[Capability, Source]:
        """The client's capabilities, each with its source."""
        ...

    def observe(self, observer: ClientObserver) -> None:
        """Add an observer, which is called with every later event."""
        ...

    def connect(
        self,
        to: Endpoint,
        *,
        client_id: str | None = None,
        login: Login | None = None,
        checks: bool = True,
    ) -> Outcome[ClientConnection]:
        """Connect, and start the connection.

        Args:
            to: The broker's endpoint.
            client_id: The client id; None for no client id.
            login: The user and password; None for the endpoint's login.
            checks: Whether the client checks arguments itself. Without its checks, the broker's answer is visible.
        """
        ...
