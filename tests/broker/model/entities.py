"""The objects of the model: links, subscriptions, units of work, copies of messages, deliveries."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.broker.model.words import SELECTORS, Sent, Terms


@dataclass(eq=False)
class Link:
    """A sender (`queue` None, `to` set) or a receiver."""

    connection: int
    number: int
    to: str
    queue: str | None = None
    selector: str | None = None
    settled: bool = False
    session: int | None = None
    sub: Sub | None = None
    credit: int = 0
    open: bool = True
    leaving: list[int] = field(default_factory=list)
    """The batches that must be on disk before settled deliveries may be sent."""
    got: dict[int, Delivery] = field(default_factory=dict)
    left_out: set[Copy] = field(default_factory=set)
    """The copies that the receiver has returned for other receivers only."""


@dataclass(eq=False)
class Sub:
    """A subscription."""

    queue: str
    terms: Terms
    lossy: bool = False
    """Whether the subscription is non-durable and at most once, so its messages are non-persistent (QS-30)."""
    timeout: int | None = None
    """The time to live after the last receiver, in milliseconds; None for no end (QS-20)."""
    left: int | None = None
    """The time at which the last receiver left, for a subscription with a time to live."""
    retry_ms: int = 0
    """The earliest time of the next attempt to end, after the disk has refused one."""
    told: list[tuple[int, int | None, int | None]] = field(default_factory=list)
    """The values of `timeout` and `left` that wait for the disk, each with its batch."""
    on_disk: tuple[int | None, int | None] = (None, None)
    resumed: list[tuple[int, Link, int | None, int | None]] = field(default_factory=list)
    """Receivers whose resumption waits for the disk, each with the values before it."""
    links: list[Link] = field(default_factory=list)
    born: int | None = None
    dies: int | None = None

    @property
    def ends_ms(self) -> int | None:
        """The end of the subscription; None while it has a receiver, or without a time to live."""
        return None if self.left is None or self.timeout is None else max(self.left + self.timeout, self.retry_ms)

    def over(self, now_ms: int) -> bool:
        """Check whether the time to live is over."""
        return self.left is not None and self.timeout is not None and self.left + self.timeout <= now_ms


@dataclass(eq=False)
class Unit:
    """A unit of work; `ending` is the batch that commits it."""

    connection: int
    number: int
    session: int | None
    puts: list[Copy | Later] = field(default_factory=list)
    accepted: list[Delivery] = field(default_factory=list)
    ending: int | None = None


@dataclass(eq=False)
class Copy:
    """A copy of a message, on a queue or staged for a queue."""

    sent: Sent
    queue: str
    made: int
    order: int
    recorded: bool = False
    staged: bool = False
    ready_ms: int = 0
    """The end of the delay, or the processor's next attempt (only of a staged copy)."""
    tried: bool = False
    """Whether a staged copy expired and its report could not be put (DD-74), so the processor tries again."""
    unit: Unit | None = None
    """The open unit of work that put the copy: only the unit's own session can get it (DD-25)."""
    held: Delivery | None = None
    moved: bool = False
    """Whether the processor has moved the staged copy, and the disk has not confirmed that."""
    failures: int = 0
    failures_on_disk: int = 0
    marks: list[tuple[int, int]] = field(default_factory=list)
    born: int | None = None
    dies: int | None = None
    fails: bool = False
    """Whether the copy returns as a failed delivery if the disk refuses its removal."""


@dataclass(eq=False)
class Delivery:
    """A copy that a receiver has; the delivery must not leave before the batch `waits` is stored."""

    copy: Copy
    link: Link
    waits: int | None
    unit: Unit | None = None


@dataclass(eq=False)
class Later:
    """A message of a unit of work before the commit, with the targets found at the send (DD-51)."""

    sent: Sent
    queues: list[str]
    staged: bool


def rank(one: Copy) -> tuple[int, int]:
    """Return the rank of a copy: by priority, then by arrival (Jakarta Messaging 3.1, 3.4.10)."""
    return -one.sent.priority, one.order


def lets_through(link: Link, one: Copy) -> bool:
    """Check whether a receiver's selector matches a copy, and the receiver has not left the copy to others."""
    return one not in link.left_out and SELECTORS[link.selector](one.sent)


def later_than(at: int | None, batch: int) -> int | None:
    """Return a batch that is not yet on disk; None if it is on disk."""
    return None if at is None or at <= batch else at
