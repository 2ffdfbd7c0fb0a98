"""Filters in front of the client port that change the behaviour of consumers and the client's events.

A defect defines the misbehaviour of a consumer (`ConsumerTwist`).  `assay_steps.defects.ports` has the filters for
producers.
"""

from __future__ import annotations

from collections.abc import Callable

from assay_adapters.ports.client import (
    Client,
    ClientConsumer,
    ClientEvent,
    ClientObserver,
    ClientSession,
    Origin,
    Qos,
    Script,
    Seen,
)
from assay_adapters.ports.outcome import Ok, Outcome
from assay_steps.defects.ports import ConnectionsFilter, SessionFilter, SessionsFilter


class ConsumerFilter:
    """A wrapper around a consumer; a defect is a subclass that overrides some of the methods.

    Args:
        behind: The consumer without the defect.
        session: The session of the consumer.
        of: The queue or subscription from which the consumer receives.
        actor: The consumer's name in the scenario.
    """

    def __init__(self, behind: ClientConsumer, session: ClientSession, of: Origin, actor: str) -> None:
        self.behind = behind
        self.session = session
        self.of = of
        self.actor = actor

    def receive(self, timeout_ms: int) -> Outcome[Seen | None]:
        """Wait for one message, up to the given number of milliseconds."""
        return self.behind.receive(timeout_ms)

    def listen(self, script: Script | None) -> Outcome[None]:
        """Set a message listener; if the script is None, remove the message listener."""
        return self.behind.listen(script)

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        """Set a batch listener with a timeout in milliseconds; if the script is None, remove the batch listener."""
        return self.behind.listen_batch(script, size, timeout_ms)

    def close(self) -> Outcome[None]:
        """Close the consumer."""
        return self.behind.close()


ConsumerTwist = Callable[[ClientConsumer, ClientSession, Origin, str], ClientConsumer]
"""A function that wraps a consumer in a consumer that misbehaves."""

Tell = Callable[[ClientEvent], tuple[ClientEvent, ...]]
"""A function that returns the events that observers get in place of an event."""

Acknowledge = Callable[[ClientSession, Seen], Outcome[None]]
"""A function that acknowledges a message in its session."""


def _told(event: ClientEvent) -> tuple[ClientEvent, ...]:
    return (event,)


def _acknowledge(session: ClientSession, seen: Seen) -> Outcome[None]:
    return session.acknowledge(seen)


class _Session(SessionFilter):
    def __init__(self, behind: ClientSession, twist: ConsumerTwist, acknowledge: Acknowledge) -> None:
        super().__init__(behind)
        self._consumers = twist
        self._acknowledge = acknowledge

    def consumer(
        self, of: Origin, *, actor: str, qos: Qos | None = None, auto_confirm: bool | None = None
    ) -> Outcome[ClientConsumer]:
        made = super().consumer(of, actor=actor, qos=qos, auto_confirm=auto_confirm)
        return Ok(self._consumers(made.value, self._behind, of, actor)) if isinstance(made, Ok) else made

    def acknowledge(self, seen: Seen) -> Outcome[None]:
        return self._acknowledge(self._behind, seen)


class ConsumingClientFilter(ConnectionsFilter):
    """A client whose consumers misbehave.

    Args:
        behind: The client without the defect.
        twist: Makes each consumer misbehave.
        tell: Returns the events that observers get in place of an event.
        acknowledge: Acknowledges a message in place of the session's own method.
    """

    def __init__(
        self,
        behind: Client,
        twist: ConsumerTwist = ConsumerFilter,
        tell: Tell = _told,
        acknowledge: Acknowledge = _acknowledge,
    ) -> None:
        super().__init__(
            behind,
            lambda connection: SessionsFilter(connection, lambda session: _Session(session, twist, acknowledge)),
        )
        self._tell = tell

    def observe(self, observer: ClientObserver) -> None:
        """Add an observer, which gets the client's events as the defect changes them."""

        def tell(event: ClientEvent) -> None:
            for told in self._tell(event):
                observer(told)

        self._behind.observe(tell)


def consuming(twist: ConsumerTwist) -> Callable[[Client], Client]:
    """Make a filter for `Defect.port` that makes every consumer misbehave."""
    return lambda client: ConsumingClientFilter(client, twist)


def noting_batches(note: Callable[[ConsumerFilter, Script | None, int], None]) -> ConsumerTwist:
    """Make a wrapper for consumers that changes nothing and notes calls of `listen_batch`.

    Args:
        note: Called before each `listen_batch`, with the consumer, the script (None for a removal) and the batch size.
    """

    class Notes(ConsumerFilter):
        def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
            note(self, script, size)
            return super().listen_batch(script, size, timeout_ms)

    return Notes
