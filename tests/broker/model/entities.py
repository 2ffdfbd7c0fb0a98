"""What the model knows: links, subscriptions, units of work, copies of messages, deliveries."""

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
    """The batches for which settled deliveries wait before they leave."""
    got: dict[int, Delivery] = field(default_factory=dict)
    left_out: set[Copy] = field(default_factory=set)
    """What has been given back for others to get."""


@dataclass(eq=False)
class Sub:
    """A subscription."""

    queue: str
    terms: Terms
    lossy: bool = False
    """Non-durable, and whoever has come wants at most once: what stands there is never persistent (QS-30)."""
    timeout: int | None = None
    """How long it outlives its last receiver, in milliseconds; None for ever (QS-20)."""
    left: int | None = None
    """When its last receiver left, if it has a time to live."""
    retry_ms: int = 0
    """When it ends at the earliest, since the disk has refused its end."""
    told: list[tuple[int, int | None, int | None]] = field(default_factory=list)
    """Time to live and leaving, with the batches that tell the disk."""
    on_disk: tuple[int | None, int | None] = (None, None)
    resumed: list[tuple[int, Link, int | None, int | None]] = field(default_factory=list)
    """Receivers that have come again, if the disk agrees, and what held before."""
    links: list[Link] = field(default_factory=list)
    born: int | None = None
    dies: int | None = None

    @property
    def ends_ms(self) -> int | None:
        """When it ends; None as long as somebody receives, or for ever."""
        return None if self.left is None or self.timeout is None else max(self.left + self.timeout, self.retry_ms)

    def over(self, now_ms: int) -> bool:
        """Whether its time to live is over."""
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
    """One copy of a message, on a queue or staged for one."""

    sent: Sent
    queue: str
    made: int
    order: int
    recorded: bool = False
    staged: bool = False
    ready_ms: int = 0
    """When the delay is over, or the processor tries again (staged ones only)."""
    tried: bool = False
    """Staged, expired, and could not even be given up (DD-74): to be tried again."""
    unit: Unit | None = None
    """The open unit of work that put it: it is there for the unit's own session alone (DD-25)."""
    held: Delivery | None = None
    moved: bool = False
    """Staged, and moved by the processor, if the disk agrees."""
    failures: int = 0
    failures_on_disk: int = 0
    marks: list[tuple[int, int]] = field(default_factory=list)
    born: int | None = None
    dies: int | None = None
    fails: bool = False
    """Whether it comes back as a failed delivery if the disk refuses its end."""


@dataclass(eq=False)
class Delivery:
    """A copy in the hands of a receiver; `waits` is the batch before which it must not leave."""

    copy: Copy
    link: Link
    waits: int | None
    unit: Unit | None = None


@dataclass(eq=False)
class Later:
    """A message of a unit of work that stands nowhere before the commit, with what was found at the send (DD-51)."""

    sent: Sent
    queues: list[str]
    staged: bool


def rank(one: Copy) -> tuple[int, int]:
    """Priority first, then arrival (JMS 3.4.10)."""
    return -one.sent.priority, one.order


def lets_through(link: Link, one: Copy) -> bool:
    """Whether the selector of a receiver on a queue lets a copy through, and it has not given it back for good."""
    return one not in link.left_out and SELECTORS[link.selector](one.sent)


def later_than(at: int | None, batch: int) -> int | None:
    """A batch that is still not on disk; None once it is."""
    return None if at is None or at <= batch else at
