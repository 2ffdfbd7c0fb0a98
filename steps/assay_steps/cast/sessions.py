"""The connections and sessions of a scenario; they record all their calls.

Each connection and session wraps one object of the `Client` port, as producers and consumers do
(`assay_steps.cast.actors`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from assay_adapters.ports.client import AckMode, ClientConnection, ClientSession, Seen
from assay_adapters.ports.outcome import Ok, Outcome
from assay_evidence import events
from assay_sdk.model.message import Address
from assay_steps.cast.recording import Answer, Recorder, message_ref


class Watching(Protocol):
    """The interface through which a consumer's connection and session control the consumer's watches.

    A watch is a time in which the consumer could have received a message.
    """

    name: str
    session: Session
    listening: bool

    def start_watching(self) -> None:
        """Begin a watch, because the consumer can receive messages from now on."""

    def pause_watching(self) -> None:
        """End the watch, but keep the listener."""

    def stop_watching(self) -> None:
        """End the watch, and note that the consumer has no listener."""

    def resume(self) -> None:
        """Begin a watch after the client has reconnected, if the consumer has a listener."""


class Connection:
    """A client's connection to a queue manager; it records its calls.

    If the client reconnects by itself, `open` stays True after a loss; the client reports its reconnection.

    Args:
        recorder: Records the calls.
        name: The scenario's name for the connection.
        port: The client's connection.
        member: The name of the queue manager; None for the first.
        face: The client's face.
        reconnects: Whether the client reconnects by itself.
    """

    def __init__(
        self,
        recorder: Recorder,
        name: str,
        port: ClientConnection,
        member: str | None = None,
        face: str | None = None,
        *,
        reconnects: bool = False,
    ) -> None:
        self.name = name
        self.member = member
        self.face = face
        self.reconnects = reconnects
        self.open = True
        self.torn = False
        """Whether the connection was lost without a close, so the broker may refuse its client id for a moment."""
        self._connected = True
        """False from the arming of a fault, or from a loss that the client reports, until the client reconnects."""
        self.started: str | None = None
        """Reference of the ``return`` event of the last `start`; None before the first `start`."""
        self._recorder = recorder
        self._port = port
        self.consumers: list[Watching] = []

    def session(self, ack: AckMode, name: str | None = None) -> Session:
        """Create a session.

        Raises:
            SetupRefusedError: The client refuses, so the scenario is inconclusive.
        """
        port = self._recorder.record(
            self.name, "session", lambda: self._port.session(ack), args={"ack": ack.value}
        ).needed()
        return Session(self._recorder, name or self.name, self, port, ack)

    def stop(self) -> Answer[None]:
        """Stop delivery to the connection's consumers until `start`.

        Their watches continue, so that their silence counts as evidence.
        """
        return self._recorder.record(self.name, "stop-connection", self._port.stop)

    def start(self) -> Answer[None]:
        """Start delivery again after `stop`, and set `started`."""
        answer = self._recorder.record(self.name, "start-connection", self._port.start)
        self.started = self._recorder.returned(answer.ref)
        return answer

    def close(self) -> Answer[None]:
        """End the watches of the connection's consumers, and close the connection normally.

        The watches end before the call, because the broker need not deliver during a close, which may take seconds.
        """
        for consumer in self.consumers:
            consumer.pause_watching()
        answer = self._recorder.record(self.name, "close-connection", self._port.close)
        self._over()
        return answer

    def abort(self) -> None:
        """Drop the connection without a close, and end the watches of its consumers."""

        def cut() -> Outcome[None]:
            self._port.abort()
            return Ok(None)

        self._recorder.record(self.name, "abort", cut)
        self.torn = True
        self._over()

    def hosts(self, actor: str) -> bool:
        """Return whether an actor is this connection or one of its consumers."""
        return self.name == actor or any(consumer.name == actor for consumer in self.consumers)

    @property
    def is_away(self) -> bool:
        """Whether a client that reconnects by itself has lost its connection, or will lose it by an armed fault."""
        return self.open and self.reconnects and not self._connected

    def expect_loss(self) -> None:
        """Note that a fault which ends the connection is armed, or happens now."""
        self._connected = False

    def lost(self) -> None:
        """Note that a fault has ended the connection.

        The watches end now, or when `interrupted` reports the loss if the client reconnects by itself.
        """
        self.torn = True
        if not self.reconnects:
            self._over()

    def interrupted(self) -> None:
        """Note that the client reports its connection as lost, and end all watches.

        If the client reconnects by itself, `resumed` begins new watches.
        """
        self.torn = True
        self._connected = False
        if not self.reconnects:
            self._over()
        for consumer in self.consumers:
            consumer.pause_watching()

    def resumed(self) -> None:
        """Begin a watch for each consumer with a listener, because the client has reported a reconnection."""
        self._connected = True
        if self.open:
            for consumer in self.consumers:
                consumer.resume()

    def _over(self) -> None:
        self.open = False
        for consumer in self.consumers:
            consumer.stop_watching()


class Session:
    """A session of a scenario; it records its calls and its units of work."""

    def __init__(
        self, recorder: Recorder, name: str, connection: Connection, port: ClientSession, ack: AckMode
    ) -> None:
        self.name = name
        self.connection = connection
        self.ack = ack
        self.port = port
        self.recorder = recorder
        self.branch: str | None = None
        """The branch of a global unit of work in which the session works; None for none."""
        self._units = 0
        self._working = False

    @property
    def unit(self) -> str | None:
        """The id of the unit of work to which the next operation belongs; None if it belongs to none.

        In a transacted session, the first access to this property after a commit or rollback begins a new unit of work
        in the journal.
        """
        if self.ack is AckMode.XA:
            return self.branch
        if self.ack is not AckMode.TRANSACTED:
            return None
        name = f"{self.name}/{self._units}"
        if not self._working:
            self._working = True
            self.recorder.journal.write(events.Unit, actor=self.name, unit=name, op="begin")
        return name

    @property
    def hands_over(self) -> bool:
        """Whether listeners can receive messages now: an XA session delivers only within a branch."""
        return self.ack is not AckMode.XA or self.branch is not None

    def work_in(self, branch: str | None) -> None:
        """Set the branch in which the session works, and begin new watches for the session's listeners.

        With None, the session works in no branch, and the watches only end.
        """
        self.branch = branch
        for consumer in self.connection.consumers:
            if consumer.session is self and consumer.listening:
                consumer.pause_watching()
                if branch is not None:
                    consumer.start_watching()

    def _end_unit(self, op: str, action: Callable[[], Outcome[None]]) -> Answer[None]:
        unit = self.unit
        answer = self.recorder.record(self.name, op, action, unit=unit)
        if unit is not None and answer.accepted:
            self.recorder.journal.write(events.Unit, actor=self.name, unit=unit, op=op)
            self._units += 1
            self._working = False
        return answer

    def commit(self) -> Answer[None]:
        """Commit the unit of work."""
        return self._end_unit("commit", self.port.commit)

    def rollback(self) -> Answer[None]:
        """Roll the unit of work back."""
        return self._end_unit("rollback", self.port.rollback)

    def recover(self) -> Answer[None]:
        """Ask the client to deliver the session's unacknowledged messages again (JMS recover)."""
        return self.recorder.record(self.name, "recover", self.port.recover)

    def acknowledge(self, seen: Seen) -> Answer[None]:
        """Acknowledge a message; the session's acknowledgement mode decides whether this covers other messages, too."""
        return self.recorder.record(
            self.name, "acknowledge", lambda: self.port.acknowledge(seen), msg=message_ref(seen.key, seen.body)
        )

    def temporary_queue(self) -> Answer[Address]:
        """Create a temporary queue, which lives as long as the session's connection."""
        return self.recorder.record(
            self.name, "temporary-queue", self.port.temporary_queue, show=lambda made: {"value": {"queue": str(made)}}
        )

    def unsubscribe(self, name: str, *, shared: bool = False) -> Answer[None]:
        """Remove a durable subscription."""
        return self.recorder.record(
            self.name,
            "unsubscribe",
            lambda: self.port.unsubscribe(name, shared=shared),
            args={"name": name, "shared": shared},
        )

    def browse(
        self, queue: Address, selector: str | None = None, *, headers: tuple[str, ...] = ()
    ) -> Answer[tuple[Seen, ...]]:
        """Browse a queue; the answer holds the messages in the queue's order.

        Args:
            queue: The queue.
            selector: The selector; None for all messages.
            headers: The headers of each message to write to the journal, each as ``<header> of <key>``.
        """

        def listing(found: tuple[Seen, ...]) -> dict[str, Any]:
            shown = {f"{header} of {seen.key}": seen.fields[header] for seen in found for header in headers}
            return {"keys": tuple(seen.key for seen in found), "value": shown}

        return self.recorder.record(
            self.name,
            "browse",
            lambda: self.port.browse(queue.name, selector),
            args={"selector": selector},
            destination=str(queue),
            show=listing,
        )

    def close(self) -> Answer[None]:
        """End the watches of the session's consumers, and close the session."""
        for consumer in self.connection.consumers:
            if consumer.session is self:
                consumer.stop_watching()
        return self.recorder.record(self.name, "close-session", self.port.close)
