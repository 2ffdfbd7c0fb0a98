"""Protocols for what the engine's parts need of each other, so that each module imports only lower ones.

A connection has sessions, and a session has producers and consumers.  A part states here what it needs of its owner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from assay_sdk.driver import Arrived, Done, DriverCommand, Outcome, PeerProperties
from assay_sdk.engine.calls import Pending
from assay_sdk.engine.deliveries.acknowledgement import Behaviour
from assay_sdk.engine.deliveries.delivery import EngineDelivery, Recipient
from assay_sdk.engine.deliveries.feeds import Handing
from assay_sdk.engine.operations import Operation
from assay_sdk.engine.settings import ConnectionOptions, Source
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Refused
from assay_sdk.observer import Observer
from assay_sdk.time import Clock, Runner


class LinkOwner(Protocol):
    """A producer or a consumer, as its connection needs it for events."""

    def arrived(self, event: Arrived) -> None:
        """Take a message."""
        ...

    def drained(self) -> None:
        """Note that no credit is left."""
        ...

    def peer_closed(self, refused: Refused | None) -> None:
        """Note that the peer has closed the link."""
        ...


class ConnectionPort(Protocol):
    """The connection, as its sessions and their parts see it."""

    capabilities: frozenset[Capability]
    client_id: str | None
    observe: Observer
    options: ConnectionOptions
    peer: PeerProperties
    runner: Runner
    started: bool

    @property
    def clock(self) -> Clock:
        """The runner's clock."""
        ...

    def next_number(self) -> int:
        """Return a number for a session, link or unit of work; each number is used once on this connection."""
        ...

    def next_message_id(self) -> str:
        """Return a new JMSMessageID (JMS 2.0, 3.4.3)."""
        ...

    def route(self, link: int, owner: LinkOwner) -> None:
        """Send the events of a link to its owner."""
        ...

    def unroute(self, link: int) -> None:
        """Forget a link."""
        ...

    def submit(self, command: Callable[[int], DriverCommand]) -> Pending[Done]:
        """Send the command made from a token; returns the pending answer."""
        ...

    def post(self, command: Callable[[int], DriverCommand]) -> Pending[Done]:
        """Send a command without waiting for its answer; a refusal goes to the exception listener."""
        ...

    def complain(self, refused: Refused, cause: Exception | None = None) -> None:
        """Call the exception listener."""
        ...

    def start(self) -> Operation[None]:
        """Start delivering messages (JMS 2.0, 6.1.4)."""
        ...

    def make_temporary(self, kind: AddressKind) -> Operation[Address]:
        """Create a temporary destination of this connection."""
        ...

    def delete_temporary(self, address: Address) -> Operation[None]:
        """Delete a temporary destination of this connection."""
        ...

    def sources(self) -> Iterable[Source]:
        """List the sources of the consumers of all sessions."""
        ...

    def forget_session(self, number: int) -> None:
        """Forget a closed session."""
        ...


class Closable(Protocol):
    """A producer that is created for one send."""

    number: int

    def close(self) -> Operation[None]:
        """Close the producer."""
        ...


class SessionPort(Protocol):
    """The session, as its producers and consumers see it."""

    behaviour: Behaviour

    @property
    def connection(self) -> ConnectionPort:
        """Connection of the session."""
        ...

    @property
    def works(self) -> bool:
        """Whether the session may deliver messages now."""
        ...

    def create_producer(self, address: Address | None) -> Operation[Closable]:
        """Create a producer; None for one without a destination."""
        ...

    def cancel(self, message_id: str) -> Operation[bool]:
        """Cancel a delayed message; returns whether the broker did."""
        ...

    def unit_of_work(self) -> Operation[int | None]:
        """Return the unit of work for a send or a delivery, after beginning it if necessary."""
        ...

    def announce(self, consumer: Listener) -> None:
        """Note that the listener of a consumer has a message or batch due."""
        ...

    def wait_until_idle(self, caller: int, consumer: Listener) -> Operation[None]:
        """Wait until no listener of the consumer is running; a listener does not wait for itself."""
        ...

    def hand_over(self, deliveries: Sequence[EngineDelivery]) -> None:
        """Note that deliveries of one consumer go to the application."""
        ...

    def received(self, delivery: EngineDelivery) -> Operation[None]:
        """Settle the message of a receive call, as the acknowledgement mode says."""
        ...

    def called_back(self, handing: Handing, raised: Exception | None) -> Operation[None]:
        """Settle the messages of a listener's call, as the acknowledgement mode says."""
        ...

    def idle(self) -> None:
        """Note that no message is coming, so that a dups-ok session acknowledges."""
        ...

    def settle(self, deliveries: Iterable[EngineDelivery], outcome: Outcome) -> list[Pending[Done]]:
        """Settle deliveries; returns the pending answers, one for each consumer."""
        ...

    def forget_producer(self, number: int) -> None:
        """Forget a closed producer."""
        ...

    def forget_consumer(self, number: int) -> None:
        """Forget a closed consumer."""
        ...


class Listener(Recipient, Protocol):
    """A consumer with a listener, as the session's dispatcher needs it."""

    def take_handing(self) -> Handing | None:
        """Return the messages for the listener's next call; None if none are due or there is no listener."""
        ...
