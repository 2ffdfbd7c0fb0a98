"""The acts of clients: sends, receives and units of work, chosen at random from a seed.

The journal records every call.  If the broker is killed, an act ends early with `LostError`; calls without an answer
are then in doubt.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from assay.campaign.connection import ClientConnection
from assay.campaign.families import LONGEST_DELAY_MS, SHORTEST_DELAY_MS, SUBSCRIPTIONS, Family, place
from assay.campaign.manager import Case, Manager
from assay_adapters.ports.client import AckMode, Draft, Mode, Origin, Seen, Setting
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address
from assay_steps.cast.branches import Branch

POLL_MS = 15
"""The milliseconds for which an act waits for a message."""
WATCH_MS = 200
"""The milliseconds for which a watcher or a subscriber waits for a message."""
_LARGE = 90_000
"""The length of a large body, in bytes: the store divides such a body into pieces."""

LARGE_PERCENT = 2
COMMIT_PERCENT, ROLLBACK_PERCENT = 75, 20
"""The percentages of units of work that the client commits and rolls back; otherwise it drops the connection."""
UNDECIDED_PERCENT = 25
"""The percentage of branches that stay prepared for a later decision."""
ACKNOWLEDGE_PERCENT, RECOVER_PERCENT = 85, 10
"""The percentages of receptions after which the client acknowledges or recovers; otherwise it drops the connection."""

ConnectionOf = Callable[[Family, str, AckMode, str | None], ClientConnection]
"""A function that returns a connection for a family, an actor, an acknowledgement mode and a client id.

The same arguments give the same connection.
"""


def subscription(number: int, name: str) -> Origin:
    """Return one of the two durable subscriptions of a round, as the origin of a consumer."""
    return Origin(address=place(Family.TOPIC, number), durability=Durability.DURABLE, name=name)


class Acts:
    """The acts of one client in one round.

    Args:
        name: The client's name, unique in the run.
        number: The round's number.
        rng: The source of all random choices.
        connection: Returns the client's connections.
    """

    def __init__(self, name: str, number: int, rng: random.Random, connection: ConnectionOf) -> None:
        self._name = name
        self._number = number
        self._rng = rng
        self._connection = connection
        self._keys = 0
        self._branches = 0
        self._manager = Manager()

    def perform(self) -> None:
        """Perform one act, chosen at random.

        Raises:
            LostError: The broker cannot be reached, or refused a call.
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
        """Send a persistent message to the queue."""
        self._send(Family.QUEUE, place(Family.QUEUE, self._number), Mode.PERSISTENT)

    def send_passing(self) -> None:
        """Send a non-persistent message to a separate queue."""
        self._send(Family.PASSING, place(Family.PASSING, self._number), Mode.NON_PERSISTENT)

    def send_delayed(self) -> None:
        """Send a persistent message with a delay."""
        delay_ms = self._rng.randint(SHORTEST_DELAY_MS, LONGEST_DELAY_MS)
        self._send(Family.DELAYED, place(Family.DELAYED, self._number), Mode.PERSISTENT, delay_ms)

    def feed(self) -> None:
        """Send a persistent message for units of work to receive."""
        self._send(Family.UNITS, place(Family.UNITS, self._number, "IN"), Mode.PERSISTENT)

    def feed_branch(self) -> None:
        """Send a persistent message for branches to receive."""
        self._send(Family.BRANCHES, place(Family.BRANCHES, self._number, "IN"), Mode.PERSISTENT)

    def consume(self) -> None:
        """Receive a message from the queue, and acknowledge it in most cases."""
        self._consume(Family.QUEUE, Origin(address=place(Family.QUEUE, self._number)), POLL_MS)

    def consume_passing(self) -> None:
        """Receive a non-persistent message."""
        self._consume(Family.PASSING, Origin(address=place(Family.PASSING, self._number)), POLL_MS)

    def watch(self) -> None:
        """Receive from the queue of delayed messages, so that an early delivery is noticed."""
        self._consume(Family.DELAYED, Origin(address=place(Family.DELAYED, self._number)), WATCH_MS)

    # units of work ----------------------------------------------------------------------------------------------------

    def work(self) -> None:
        """Receive and send in a unit of work; then commit, roll back, or drop the connection."""
        connection = self._connection(Family.UNITS, f"{self._name}.units", AckMode.TRANSACTED, None)
        self._take_and_send(Family.UNITS, connection)
        end = self._percent()
        if end < COMMIT_PERCENT:
            connection.done(connection.session.commit())
        elif end < COMMIT_PERCENT + ROLLBACK_PERCENT:
            connection.done(connection.session.rollback())
        else:
            connection.abort()

    # branches of global units of work ---------------------------------------------------------------------------------

    def branch(self) -> None:
        """Receive and send in a branch, prepare it, and in most cases commit it or roll it back at once."""
        connection = self._managing()
        self._branches += 1
        name = f"{self._name}-{self._number}-branch-{self._branches}"
        case = Case(Branch(connection.recorder, name, connection.session), self._percent() < COMMIT_PERCENT)
        connection.done(case.branch.start())
        self._take_and_send(Family.BRANCHES, connection)
        connection.done(case.branch.end())
        self._manager.prepare(case, connection)
        if self._percent() >= UNDECIDED_PERCENT:
            self._manager.decide(case, connection)

    def resolve(self) -> None:
        """Commit or roll back every branch that is in doubt."""
        self._manager.resolve(self._managing())

    def _managing(self) -> ClientConnection:
        return self._connection(Family.BRANCHES, f"{self._name}.branches", AckMode.XA, None)

    def _take_and_send(self, family: Family, connection: ClientConnection) -> None:
        """Receive and send within a unit of work or a branch."""
        source = Origin(address=place(family, self._number, "IN"))
        for _ in range(self._rng.randint(0, 2)):
            connection.receive(source, f"{self._name}.{family.value}.taker", POLL_MS)
        target = place(family, self._number, "OUT")
        for _ in range(self._rng.randint(1, 3)):
            connection.done(connection.producer(target).send(self._draft(family), mode=Mode.PERSISTENT))

    # topics -----------------------------------------------------------------------------------------------------------

    def publish(self, delay_ms: int | None = None) -> None:
        """Publish a persistent message with a delay in milliseconds; None gives one message in three a random delay."""
        if delay_ms is None:
            delay_ms = self._rng.choice((0, 0, self._rng.randint(SHORTEST_DELAY_MS, LONGEST_DELAY_MS)))
        self._send(Family.TOPIC, place(Family.TOPIC, self._number), Mode.PERSISTENT, delay_ms)

    def subscribe(self) -> None:
        """Create both durable subscriptions, and then disconnect the subscriber `away`."""
        for name in SUBSCRIPTIONS:
            self.subscriber(name).consumer(subscription(self._number, name), name)
        self.subscriber("away").leave()

    def attend(self) -> None:
        """Receive a publication with the subscription `active`, whose subscriber stays connected."""
        self._settle(self.subscriber("active"), subscription(self._number, "active"), "active", WATCH_MS)

    def subscriber(self, name: str) -> ClientConnection:
        """Return the connection of a subscriber."""
        return self._connection(Family.TOPIC, f"{name}.subscriber", AckMode.CLIENT, f"crash-{self._number}-{name}")

    # the end ----------------------------------------------------------------------------------------------------------

    def drain(self, family: Family, address: Address, timeout_ms: int) -> bool:
        """Receive and acknowledge a message that is left on a queue; return False if none came in ``timeout_ms`` ms.

        Raises:
            LostError: The broker cannot be reached, or refused a call.
        """
        return self._take(
            self._drainer(family), Origin(address=address), f"{self._name}.drain of {address.name}", timeout_ms
        )

    def drain_subscription(self, name: str, timeout_ms: int) -> bool:
        """Receive and acknowledge a message of a subscription; return False if none came in ``timeout_ms`` ms.

        Raises:
            LostError: The broker cannot be reached, or refused a call.
        """
        return self._take(self.subscriber(name), subscription(self._number, name), name, timeout_ms)

    # ------------------------------------------------------------------------------------------------------------------

    def _percent(self) -> float:
        return self._rng.random() * 100

    def _drainer(self, family: Family) -> ClientConnection:
        return self._connection(family, f"{self._name}.{family.value}.drain", AckMode.CLIENT, None)

    def _send(self, family: Family, to: Address, mode: Mode, delay_ms: int = 0) -> None:
        connection = self._connection(family, f"{self._name}.{family.value}.sender", AckMode.AUTO, None)
        producer = connection.producer(to)
        if family in {Family.DELAYED, Family.TOPIC}:
            connection.done(producer.set(Setting.DELAY, delay_ms))
        connection.done(producer.send(self._draft(family), mode=mode))

    def _draft(self, family: Family) -> Draft:
        self._keys += 1
        key = f"{self._name}-{self._number}-{family.value}-{self._keys}"
        size = _LARGE if self._percent() < LARGE_PERCENT else None
        return Draft(key=key, body=f"{key}: {self._rng.getrandbits(256):064x}", size=size)

    def _consume(self, family: Family, origin: Origin, timeout_ms: int) -> None:
        connection = self._connection(family, f"{self._name}.{family.value}.taker", AckMode.CLIENT, None)
        self._settle(connection, origin, f"{self._name}.{family.value}", timeout_ms)

    def _settle(self, connection: ClientConnection, origin: Origin, name: str, timeout_ms: int) -> None:
        """Receive a message; then acknowledge it, recover the session, or drop the connection."""
        seen = connection.receive(origin, name, timeout_ms)
        if seen is None:
            return
        end = self._percent()
        if end < ACKNOWLEDGE_PERCENT:
            connection.done(connection.session.acknowledge(seen))
        elif end < ACKNOWLEDGE_PERCENT + RECOVER_PERCENT:
            connection.done(connection.session.recover())
        else:
            connection.abort()

    @staticmethod
    def _take(connection: ClientConnection, origin: Origin, name: str, timeout_ms: int) -> bool:
        seen: Seen | None = connection.receive(origin, name, timeout_ms)
        if seen is not None:
            connection.done(connection.session.acknowledge(seen))
        return seen is not None
