"""Python protocols between the engine's parts, so that a part need not import the module of its owner.

A connection owns sessions, and a session owns producers and consumers.  A protocol here declares either the methods of
an owner that the owner's parts call, or the methods of a part that the owner calls.
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
    """A producer or a consumer, to which its connection passes the events of the link."""

    def arrived(self, event: Arrived) -> None:
        """Handle the arrival of a message."""
        ...

    def drained(self) -> None:
        """Handle the end of a drain: the link has no credit left."""
        ...

    def peer_closed(self, refused: Refused | None) -> None:
        """Handle the broker's close of the link.

        Args:
            refused: The broker's reason; None if it gave none.
        """
        ...


class ConnectionPort(Protocol):
    """The methods of a connection that its sessions, producers and consumers call."""

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

    def next_message_id(self) -> str | None:
        """Return a new JMSMessageID (JMS 2.0, 3.4.3); None if the broker gives ids that the sender does not learn."""
        ...

    def route(self, link: int, owner: LinkOwner) -> None:
        """Pass the driver's events about a link to the link's producer or consumer."""
        ...

    def unroute(self, link: int) -> None:
        """Ignore later events about a link."""
        ...

    def submit(self, command: Callable[[int], DriverCommand]) -> Pending[Done]:
        """Give a command to the driver, and return the pending answer."""
        ...

    def post(self, command: Callable[[int], DriverCommand]) -> Pending[Done]:
        """Give a command to the driver, and return the pending answer.

        The connection reports a refusal to the exception listener, unless the reason is the loss of the connection.
        """
        ...

    def complain(self, refused: Refused, cause: Exception | None = None) -> None:
        """Report a refusal to the exception listener, because no call of the application can raise it."""
        ...

    def start(self) -> Operation[None]:
        """Start delivering messages (JMS 2.0, 6.1.4)."""
        ...

    def make_temporary(self, kind: AddressKind) -> Operation[Address]:
        """Create a temporary destination, which lasts as long as this connection."""
        ...

    def delete_temporary(self, address: Address) -> Operation[None]:
        """Delete a temporary destination of this connection."""
        ...

    def sources(self) -> Iterable[Source]:
        """List the sources of the consumers of all sessions."""
        ...

    def departures(self, name: str) -> tuple[Pending[Done], ...]:
        """Return the pending answers to the `CloseLink` commands for the consumers of a subscription.

        Args:
            name: The name of the subscription.
        """
        ...

    def forget_session(self, number: int) -> None:
        """Forget a closed session."""
        ...


class Closable(Protocol):
    """The attributes and methods of a producer that the code for poison messages uses."""

    number: int

    def close(self) -> Operation[None]:
        """Close the producer."""
        ...


class SessionPort(Protocol):
    """The methods of a session that its producers, its consumers and its requests call."""

    behaviour: Behaviour
    number: int

    @property
    def connection(self) -> ConnectionPort:
        """Connection of the session."""
        ...

    @property
    def works(self) -> bool:
        """Whether the session may deliver messages now."""
        ...

    def use(self) -> None:
        """Check that the session can be used."""
        ...

    def create_producer(self, address: Address | None) -> Operation[Closable]:
        """Create a producer; an address of None creates a producer whose sends each name a destination."""
        ...

    def unit_of_work(self) -> Operation[int | None]:
        """Return the number of the unit of work for a send or a delivery; begin one if none is active.

        Returns:
            The number; None if the session is neither transacted nor in XA mode.
        """
        ...

    def announce(self, consumer: Listener) -> None:
        """Schedule a call of a consumer's listener, because a message or a batch is due."""
        ...

    def wait_until_idle(self, caller: int, consumer: Listener) -> Operation[None]:
        """Wait until the consumer's listener is not running; a listener does not wait for itself."""
        ...

    def hand_over(self, deliveries: Sequence[EngineDelivery]) -> None:
        """Record that deliveries of one consumer go to the application."""
        ...

    def received(self, delivery: EngineDelivery) -> Operation[None]:
        """Settle the message that a receive call returns, as the acknowledgement mode requires."""
        ...

    def called_back(self, handing: Handing, raised: Exception | None) -> Operation[None]:
        """Settle the messages that a listener was called with, as the acknowledgement mode requires."""
        ...

    def idle(self) -> None:
        """Acknowledge received messages of a dups-ok session, because no other message is due now."""
        ...

    def settle(self, deliveries: Iterable[EngineDelivery], outcome: Outcome) -> list[Pending[Done]]:
        """Settle deliveries, and return the pending answers, one for each consumer."""
        ...

    def forget_producer(self, number: int) -> None:
        """Forget a closed producer."""
        ...

    def forget_consumer(self, number: int) -> None:
        """Forget a closed consumer."""
        ...


class Listener(Recipient, Protocol):
    """A consumer with a message or batch listener, as the session's dispatcher sees it."""

    def take_handing(self) -> Handing | None:
        """Take the messages for the listener's next call from the buffer; None if none are due."""
        ...
