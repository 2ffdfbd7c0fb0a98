"""The entities of the model: links, subscriptions, units of work, copies of messages, deliveries."""

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
    """The copies that the receiver has given back for other receivers only."""


@dataclass(eq=False)
class Sub:
    """A subscription."""

    queue: str
    terms: Terms
    lossy: bool = False
    """Whether it is non-durable and a receiver is at most once, so that its messages are not persistent (QS-30)."""
    timeout: int | None = None
    """The time to live after the last receiver, in milliseconds; None for ever (QS-20)."""
    left: int | None = None
    """The time at which the last receiver left, if the subscription has a time to live."""
    retry_ms: int = 0
    """The earliest time of its end, after the disk has refused its end."""
    told: list[tuple[int, int | None, int | None]] = field(default_factory=list)
    """Times to live and leaving times, with the batches that store them."""
    on_disk: tuple[int | None, int | None] = (None, None)
    resumed: list[tuple[int, Link, int | None, int | None]] = field(default_factory=list)
    """Receivers that have come again, with their batches, and the former time to live and leaving time."""
    links: list[Link] = field(default_factory=list)
    born: int | None = None
    dies: int | None = None

    @property
    def ends_ms(self) -> int | None:
        """The time at which the subscription ends; None while it has a receiver, or for ever."""
        return None if self.left is None or self.timeout is None else max(self.left + self.timeout, self.retry_ms)

    def over(self, now_ms: int) -> bool:
        """Tell whether the time to live is over."""
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
    """The time at which the delay is over, or of the processor's next try; for staged copies only."""
    tried: bool = False
    """Whether the copy is staged and expired and its report could not be put (DD-74), so that it is tried again."""
    unit: Unit | None = None
    """The open unit of work that put the copy; only the unit's own session can get it (DD-25)."""
    held: Delivery | None = None
    moved: bool = False
    """Whether the processor has moved the staged copy in a batch that is not on disk yet."""
    failures: int = 0
    failures_on_disk: int = 0
    marks: list[tuple[int, int]] = field(default_factory=list)
    born: int | None = None
    dies: int | None = None
    fails: bool = False
    """Whether the copy counts a failed delivery if the disk refuses its removal."""


@dataclass(eq=False)
class Delivery:
    """A copy that a receiver holds; ``waits`` is the batch that must be on disk before it may be sent."""

    copy: Copy
    link: Link
    waits: int | None
    unit: Unit | None = None


@dataclass(eq=False)
class Later:
    """A message put in a unit of work, with the queues found at the send (DD-51); its copies come with the commit."""

    sent: Sent
    queues: list[str]
    staged: bool


def rank(one: Copy) -> tuple[int, int]:
    """Return a sort key for copies on a queue: priority first, then arrival (JMS 3.4.10)."""
    return -one.sent.priority, one.order


def lets_through(link: Link, one: Copy) -> bool:
    """Tell whether a receiver's selector matches a copy, and the receiver has not given it back for others."""
    return one not in link.left_out and SELECTORS[link.selector](one.sent)


def later_than(at: int | None, batch: int) -> int | None:
    """Return a batch number if the batch is newer than another one; None if it is on disk with that one."""
    return None if at is None or at <= batch else at
