"""The facts of a scenario: sends, visits, receptions, watches and troubles.  Times are nanoseconds of one clock."""

from __future__ import annotations

from msgspec import Struct
from tests.pipeline.planting.raw import Position, Raw

SECOND = 1_000_000_000
MS = 1_000_000
FOREVER = 2**62
FATAL = ("kill", "powerloss", "restart")
LOSING = (*FATAL, "cut")
LEAVING = ("close-connection", "close-session", "close-consumer")


class Send(Struct, frozen=True):
    """A message's send, with its answer and the end of its unit of work; None for what the journal does not have."""

    position: Position
    key: str
    actor: str
    destination: str
    mode: object
    priority: int | None
    delay: int
    ttl: int
    at: int
    answered: int | None
    accepted: bool
    unit: str | None
    asked: int | None
    unit_ended: int | None
    committed: bool
    rolled_back: bool
    shown: Raw | None
    body: str
    qos: object

    @property
    def persistent(self) -> bool:
        return self.mode == "persistent"

    @property
    def confirmed(self) -> int | None:
        """When the broker became responsible for the message."""
        if not self.accepted:
            return None
        return self.answered if self.unit is None else self.unit_ended if self.committed else None

    @property
    def due(self) -> int:
        """The earliest time at which a consumer should have the confirmed message."""
        return max(self.confirmed or 0, (self.answered or 0) + self.delay)


class Visit(Struct, frozen=True):
    """A consumer that a client created.

    `client` is the client id of its connection, or None if the journal does not tell.  A `careless` client may confirm
    messages before its application has them, as MQ Light clients do unless the application confirms messages itself.
    """

    position: Position
    actor: str
    destination: str
    at: int
    opened: int
    name: str | None
    client: str | None
    number: int
    durable: bool
    shared: bool
    choosy: bool
    careless: bool
    qos: object
    ttl: int | None
    ack: object
    session: str | None

    @property
    def holder(self) -> str:
        """The name of the queue or subscription."""
        if self.destination.startswith("queue://"):
            return self.destination
        if self.shared:
            return f"shared {self.name}"
        return f"{self.name}|{self.client}" if self.durable else f"{self.actor}#{self.number}"


class Reception(Struct, frozen=True):
    """A message that an application received; `visit` is the consumer that the actor had created last."""

    position: Position
    key: str
    actor: str
    link: str
    destination: str
    at: int
    marked: bool
    batch: int | None
    visit: Visit | None

    @property
    def holder(self) -> str:
        return self.visit.holder if self.visit else self.destination


class Watching(Struct, frozen=True):
    """A watch; `last` is the time of its last reception or callback, and `open` whether a callback may still run."""

    begin_position: Position
    actor: str
    destination: str
    begin: int
    end: int
    last: int
    idle: bool
    visit: Visit | None

    @property
    def holder(self) -> str:
        return self.visit.holder if self.visit else self.destination


class Trouble(Struct, frozen=True):
    """A fault, or a client's call that drops its connection (``abort``)."""

    what: str
    begin: int
    end: int
    actor: str = ""
