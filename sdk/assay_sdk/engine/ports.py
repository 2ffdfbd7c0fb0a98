"""What the parts of the engine need of each other, so that each module imports only what lies below it.

A connection has sessions, and a session has producers and consumers.  What a part needs of the part that owns it is
stated here, not imported.
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
    """A producer or a consumer, as the events of its connection find it."""

    def arrived(self, event: Arrived) -> None:
        """Take a message that has come."""
        ...

    def drained(self) -> None:
        """Learn that no credit is left."""
        ...

    def peer_closed(self, refused: Refused | None) -> None:
        """Learn that the peer has closed the link."""
        ...


class ConnectionPort(Protocol):
    """What sessions and their parts need of their connection."""

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
        """Give a number for a session, link or unit; never used twice on this connection."""
        ...

    def next_message_id(self) -> str:
        """Give a JMSMessageID (JMS 3.4.3)."""
        ...

    def route(self, link: int, owner: LinkOwner) -> None:
        """Send the events of a link to its owner."""
        ...

    def unroute(self, link: int) -> None:
        """Forget a link."""
        ...

    def submit(self, command: Callable[[int], DriverCommand]) -> Pending[Done]:
        """Hand the command that is made from a token to the wire; the answer has failed if the connection is gone."""
        ...

    def post(self, command: Callable[[int], DriverCommand]) -> Pending[Done]:
        """Hand over a command whose answer nobody waits for; a refusal goes to the exception listener."""
        ...

    def complain(self, refused: Refused) -> None:
        """Tell the exception listener."""
        ...

    def start(self) -> Operation[None]:
        """Start handing messages over (JMS 6.1.4)."""
        ...

    def make_temporary(self, kind: AddressKind) -> Operation[Address]:
        """Make a temporary destination of this connection."""
        ...

    def delete_temporary(self, address: Address) -> Operation[None]:
        """Delete a temporary destination of this connection."""
        ...

    def sources(self) -> Iterable[Source]:
        """List what the consumers of all sessions consume."""
        ...

    def forget_session(self, number: int) -> None:
        """Forget a session that has ended."""
        ...


class Closable(Protocol):
    """A producer, as far as it is made for one send."""

    number: int

    def close(self) -> Operation[None]:
        """Close it."""
        ...


class SessionPort(Protocol):
    """What producers and consumers need of their session."""

    behaviour: Behaviour

    @property
    def connection(self) -> ConnectionPort:
        """The connection that it belongs to."""
        ...

    @property
    def works(self) -> bool:
        """Whether anything may be handed over now."""
        ...

    def create_producer(self, address: Address | None) -> Operation[Closable]:
        """Make a producer; None for one whose sends name their destination."""
        ...

    def cancel(self, message_id: str) -> Operation[bool]:
        """Take a delayed message back; whether it was."""
        ...

    def unit_of_work(self) -> Operation[int | None]:
        """Give the unit of work that a send or a delivery of now belongs to, begun if need be."""
        ...

    def announce(self, consumer: Listener) -> None:
        """Learn that the listener of a consumer has something due."""
        ...

    def wait_until_idle(self, caller: int, consumer: Listener) -> Operation[None]:
        """Wait until no callback of the consumer is under way; a callback does not wait for itself."""
        ...

    def hand_over(self, deliveries: Sequence[EngineDelivery]) -> None:
        """Note deliveries of one consumer as handed over."""
        ...

    def received(self, delivery: EngineDelivery) -> Operation[None]:
        """Settle what a receive call is about to return, as the acknowledgement mode says."""
        ...

    def called_back(self, handing: Handing, raised: Exception | None) -> Operation[None]:
        """Settle what a listener was handed, as the acknowledgement mode says."""
        ...

    def idle(self) -> None:
        """Learn that nothing is coming: a lazy session catches up."""
        ...

    def settle(self, deliveries: Iterable[EngineDelivery], outcome: Outcome) -> list[Pending[Done]]:
        """Settle deliveries; gives the answers, one for each consumer."""
        ...

    def forget_producer(self, number: int) -> None:
        """Forget a producer that has ended."""
        ...

    def forget_consumer(self, number: int) -> None:
        """Forget a consumer that has ended."""
        ...


class Listener(Recipient, Protocol):
    """A consumer with a listener, as the session's dispatcher needs it."""

    def take_handing(self) -> Handing | None:
        """Take what its listener is due; None when nothing, or when there is no listener."""
        ...
