"""What the clients do: one act at a time, drawn from a seed, each with evidence of every call.

An act ends early when the broker is gone (`LostError`): what it had begun is then in doubt, and the journal says so.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from assay.campaign.families import LONGEST_DELAY_MS, SHORTEST_DELAY_MS, SUBSCRIPTIONS, Family, place
from assay.campaign.manager import Case, Manager
from assay.campaign.seat import Seat
from assay_adapters.ports.client import AckMode, Draft, Mode, Origin, Seen, Setting
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address
from assay_steps.cast.branches import Branch

POLL_MS = 15
"""How long an act waits for a message."""
WATCH_MS = 200
"""How long one waits who has nothing else to do."""
_LARGE = 90_000
"""Octets of a large body: more than a store keeps in one piece."""

LARGE_PERCENT = 2
COMMIT_PERCENT, ROLLBACK_PERCENT = 75, 20
"""How units of work end; the rest is lost with its connection."""
UNDECIDED_PERCENT = 25
"""So many branches are left prepared, for their transaction manager to come back to."""
ACKNOWLEDGE_PERCENT, RECOVER_PERCENT = 85, 10
"""What becomes of what was taken; the rest is lost with its connection, and comes again."""

TakeSeat = Callable[[Family, str, AckMode, str | None], Seat]
"""Gives the seat of a family by name, mode and client id; the same one each time."""


def subscription(number: int, name: str) -> Origin:
    """A durable subscription of a round."""
    return Origin(address=place(Family.TOPIC, number), durability=Durability.DURABLE, name=name)


class Player:
    """One client's part in one round.

    Args:
        name: The client's name, unique in the run.
        number: The round's.
        rng: Whatever is random.
        seat: Where it sits.
    """

    def __init__(self, name: str, number: int, rng: random.Random, seat: TakeSeat) -> None:
        self._name = name
        self._number = number
        self._rng = rng
        self._seat = seat
        self._kids = 0
        self._branches = 0
        self._manager = Manager()

    def perform(self) -> None:
        """One act.

        Raises:
            LostError: The broker is gone.
        """
        acts: Mapping[Callable[[], None], int] = {
            self.send: 5,
            self.consume: 4,
            self.send_passing: 2,
            self.consume_passing: 2,
            self.send_delayed: 2,
            self.feed: 3,
            self.work: 6,
            self.publish: 4,
            self.feed_branch: 2,
            self.branch: 3,
            self.resolve: 1,
        }
        self._rng.choices(tuple(acts), tuple(acts.values()))[0]()

    # queues -----------------------------------------------------------------------------------------------------------

    def send(self) -> None:
        """A persistent message to the queue."""
        self._send(Family.QUEUE, place(Family.QUEUE, self._number), Mode.PERSISTENT)

    def send_passing(self) -> None:
        """A non-persistent one to a queue of its own."""
        self._send(Family.PASSING, place(Family.PASSING, self._number), Mode.NON_PERSISTENT)

    def send_delayed(self) -> None:
        """A persistent one with a delay."""
        delay_ms = self._rng.randint(SHORTEST_DELAY_MS, LONGEST_DELAY_MS)
        self._send(Family.DELAYED, place(Family.DELAYED, self._number), Mode.PERSISTENT, delay_ms)

    def feed(self) -> None:
        """A persistent one that a unit of work is to take."""
        self._send(Family.UNITS, place(Family.UNITS, self._number, "IN"), Mode.PERSISTENT)

    def feed_branch(self) -> None:
        """A persistent one that a branch is to take."""
        self._send(Family.BRANCHES, place(Family.BRANCHES, self._number, "IN"), Mode.PERSISTENT)

    def consume(self) -> None:
        """Take one from the queue; most are acknowledged."""
        self._consume(Family.QUEUE, Origin(address=place(Family.QUEUE, self._number)), POLL_MS)

    def consume_passing(self) -> None:
        """Take a non-persistent one."""
        self._consume(Family.PASSING, Origin(address=place(Family.PASSING, self._number)), POLL_MS)

    def watch(self) -> None:
        """Wait for delayed messages."""
        self._consume(Family.DELAYED, Origin(address=place(Family.DELAYED, self._number)), WATCH_MS)

    # units of work ----------------------------------------------------------------------------------------------------

    def work(self) -> None:
        """Take some, send some, and commit or not."""
        seat = self._seat(Family.UNITS, f"{self._name}.units", AckMode.TRANSACTED, None)
        self._take_and_send(Family.UNITS, seat)
        end = self._percent()
        if end < COMMIT_PERCENT:
            seat.done(seat.session.commit())
        elif end < COMMIT_PERCENT + ROLLBACK_PERCENT:
            seat.done(seat.session.rollback())
        else:
            seat.abort()

    # branches of global units of work ---------------------------------------------------------------------------------

    def branch(self) -> None:
        """Take some and send some in a branch, have it prepared, and decide on it, mostly at once."""
        seat = self._managing()
        self._branches += 1
        name = f"{self._name}-{self._number}-branch-{self._branches}"
        case = Case(Branch(seat.recorder, name, seat.session), self._percent() < COMMIT_PERCENT)
        seat.done(case.branch.start())
        self._take_and_send(Family.BRANCHES, seat)
        seat.done(case.branch.end())
        self._manager.prepare(case, seat)
        if self._percent() >= UNDECIDED_PERCENT:
            self._manager.decide(case, seat)

    def resolve(self) -> None:
        """Decide on every branch that is in doubt."""
        self._manager.resolve(self._managing())

    def _managing(self) -> Seat:
        return self._seat(Family.BRANCHES, f"{self._name}.branches", AckMode.XA, None)

    def _take_and_send(self, family: Family, seat: Seat) -> None:
        """What a unit of work does, of either kind."""
        source = Origin(address=place(family, self._number, "IN"))
        for _ in range(self._rng.randint(0, 2)):
            seat.receive(source, f"{self._name}.{family.value}.taker", POLL_MS)
        target = place(family, self._number, "OUT")
        for _ in range(self._rng.randint(1, 3)):
            seat.done(seat.producer(target).send(self._draft(family), mode=Mode.PERSISTENT))

    # topics -----------------------------------------------------------------------------------------------------------

    def publish(self, delay_ms: int | None = None) -> None:
        """A persistent publication; one in three has a delay, unless it is given."""
        if delay_ms is None:
            delay_ms = self._rng.choice((0, 0, self._rng.randint(SHORTEST_DELAY_MS, LONGEST_DELAY_MS)))
        self._send(Family.TOPIC, place(Family.TOPIC, self._number), Mode.PERSISTENT, delay_ms)

    def subscribe(self) -> None:
        """Make both durable subscriptions, and leave one alone then."""
        for name in SUBSCRIPTIONS:
            self.subscriber(name).consumer(subscription(self._number, name), name)
        self.subscriber("away").leave()

    def attend(self) -> None:
        """Take a publication as the active subscriber."""
        self._settle(self.subscriber("active"), subscription(self._number, "active"), "active", WATCH_MS)

    def subscriber(self, name: str) -> Seat:
        """The seat of a subscriber."""
        return self._seat(Family.TOPIC, f"{name}.seat", AckMode.CLIENT, f"crash-{self._number}-{name}")

    # the end ----------------------------------------------------------------------------------------------------------

    def drain(self, family: Family, address: Address, timeout_ms: int) -> bool:
        """Take one of what is left on a queue; whether there was one.

        Raises:
            LostError: The broker is gone.
        """
        return self._take(
            self._drainer(family), Origin(address=address), f"{self._name}.drain of {address.name}", timeout_ms
        )

    def drain_subscription(self, name: str, timeout_ms: int) -> bool:
        """Take one of what is left for a subscription; whether there was one.

        Raises:
            LostError: The broker is gone.
        """
        return self._take(self.subscriber(name), subscription(self._number, name), name, timeout_ms)

    # ------------------------------------------------------------------------------------------------------------------

    def _percent(self) -> float:
        return self._rng.random() * 100

    def _drainer(self, family: Family) -> Seat:
        return self._seat(family, f"{self._name}.{family.value}.drain", AckMode.CLIENT, None)

    def _send(self, family: Family, to: Address, mode: Mode, delay_ms: int = 0) -> None:
        seat = self._seat(family, f"{self._name}.{family.value}.sender", AckMode.AUTO, None)
        producer = seat.producer(to)
        if family in {Family.DELAYED, Family.TOPIC}:
            seat.done(producer.set(Setting.DELAY, delay_ms))
        seat.done(producer.send(self._draft(family), mode=mode))

    def _draft(self, family: Family) -> Draft:
        self._kids += 1
        kid = f"{self._name}-{self._number}-{family.value}-{self._kids}"
        size = _LARGE if self._percent() < LARGE_PERCENT else None
        return Draft(kid=kid, body=f"{kid}: {self._rng.getrandbits(256):064x}", size=size)

    def _consume(self, family: Family, origin: Origin, timeout_ms: int) -> None:
        seat = self._seat(family, f"{self._name}.{family.value}.taker", AckMode.CLIENT, None)
        self._settle(seat, origin, f"{self._name}.{family.value}", timeout_ms)

    def _settle(self, seat: Seat, origin: Origin, name: str, timeout_ms: int) -> None:
        """Take one; acknowledge it, or have it come again, or be lost with it."""
        seen = seat.receive(origin, name, timeout_ms)
        if seen is None:
            return
        end = self._percent()
        if end < ACKNOWLEDGE_PERCENT:
            seat.done(seat.session.acknowledge(seen))
        elif end < ACKNOWLEDGE_PERCENT + RECOVER_PERCENT:
            seat.done(seat.session.recover())
        else:
            seat.abort()

    @staticmethod
    def _take(seat: Seat, origin: Origin, name: str, timeout_ms: int) -> bool:
        seen: Seen | None = seat.receive(origin, name, timeout_ms)
        if seen is not None:
            seat.done(seat.session.acknowledge(seen))
        return seen is not None
