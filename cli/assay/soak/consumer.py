"""A consumer process of a soak: one consumer for each workload of each slice."""

from __future__ import annotations

import random
from collections.abc import Iterator
from multiprocessing.connection import Connection

from assay.campaign.connection import ClientConnection, LostError
from assay.soak.client import NS_PER_MS, ClientOrder, ClientProcess, Report, take_part
from assay.soak.producer import LATE_MS
from assay.soak.workloads import LONGEST_MS, Reading, Workload, place
from assay_adapters.ports.client import ClientEvent, Origin
from assay_sdk.driver import Durability
from assay_steps.cast.actors import Consumer

EARLY_MS = 2_000
"""The consumers of a slice come this much before its begin, so that a subscription is open before its first message."""
QUIET_MS = 1_500
"""A consumer ends after it has received nothing for this time; the judge's own limit is 1 s."""
DRAIN_LIMIT_MS = 60_000
"""The longest drain, in milliseconds from the end of the last slice.  Then the consumers end in any case."""
TURN_MS = 50
"""The time between two looks at the consumers, in milliseconds."""
RETRY_MS = 100
BATCH_SIZES = (2, 20)
BATCH_TIMEOUTS_MS = (50, 300)
PRESENT_MS, AWAY_MS = (1_500, 3_000), (500, 1_500)
"""The shortest and the longest visit, and absence, of a durable subscriber."""


def drained_from_ms(slice_end_ms: float) -> float:
    """Return the time from which no message of a slice becomes due any more, in milliseconds from the soak's start."""
    return slice_end_ms + LATE_MS + LONGEST_MS


class Seat:
    """The consumer of one workload in one slice: it attaches, attaches again after faults, and ends when it is silent.

    Args:
        process: The consumer process.
        workload: The workload.
        number: The number of the slice.
    """

    def __init__(self, process: SoakConsumer, workload: Workload, number: int) -> None:
        self.number = number
        self.is_done = False
        self.is_unfinished = False
        self._process = process
        self._workload = workload
        plan, order = process.plan, process.order
        self._rng = random.Random(f"{plan.options.seed}/{order.name}/{workload.name}/{number}")  # noqa: S311 - repeatable
        turn = (order.number + number) % len(workload.acknowledgements)
        ack, self._script = workload.acknowledgements[turn]
        self._actor = f"{order.name}.{workload.name}"
        begin_ms, end_ms = (number - 1) * plan.slice_ms, number * plan.slice_ms
        self._drained_ns = process.at(drained_from_ms(end_ms))
        self._opens_ns = process.at(begin_ms - EARLY_MS)
        if workload.reading is Reading.AFTERWARDS:
            self._opens_ns = self._drained_ns
        self._gives_up_ns = process.at(plan.options.seconds * 1_000 + DRAIN_LIMIT_MS)
        self._away = list(self._absences(begin_ms, end_ms)) if workload.reading is Reading.VISITING else []
        self._origin = self._made_origin()
        client_id = f"soak-{order.run[-4:]}-{number}-{order.number}" if self._is_durable else None
        self._connection: ClientConnection = process.connection(
            self._actor, workload, number, ack, client_id=client_id, observer=self.observe
        )
        self._consumer: Consumer | None = None
        self._last_ns = 0
        """The time of the last attachment or reception."""

    @property
    def _is_durable(self) -> bool:
        return self._workload.reading is Reading.VISITING

    def _made_origin(self) -> Origin:
        return Origin(
            address=place(self._workload, self.number, self._process.order.run),
            durability=Durability.DURABLE if self._is_durable else Durability.NON_DURABLE,
            name="soak" if self._is_durable else f"soak-{self.number}" if self._workload.shared else None,
            shared=self._workload.shared,
        )

    def _absences(self, begin_ms: float, end_ms: float) -> Iterator[tuple[int, int]]:
        at_ms = begin_ms + self._rng.uniform(*PRESENT_MS)
        while at_ms + AWAY_MS[1] < end_ms:
            back_ms = at_ms + self._rng.uniform(*AWAY_MS)
            yield self._process.at(at_ms), self._process.at(back_ms)
            at_ms = back_ms + self._rng.uniform(*PRESENT_MS)

    def observe(self, event: ClientEvent) -> None:
        """Note a message that the consumer has received."""
        if event.what == "seen":
            self._last_ns = self._process.clock.monotonic_ns()
            self._process.seen += 1

    def step(self, now_ns: int) -> None:
        """Do what is due now: attach, leave for a while, or end."""
        if self._consumer is not None and self._connection.is_lost:
            self._drop(now_ns)
        if now_ns >= self._gives_up_ns:
            self.is_unfinished = True
            self.end()
        elif any(leaves <= now_ns < returns for leaves, returns in self._away):
            self.leave()
        elif self._consumer is None:
            if now_ns >= self._opens_ns:
                self._attach(now_ns)
        elif self._process.is_calm(max(self._last_ns, self._drained_ns), now_ns):
            self.end()

    def leave(self) -> None:
        """Close the connection, if it is open."""
        if self._consumer is not None:
            self._consumer = None
            self._connection.leave()

    def end(self) -> None:
        """End the consumer for ever; remove its durable subscription."""
        if self._consumer is not None and self._is_durable and not self._connection.is_lost:
            self._consumer.close()
            self._connection.session.unsubscribe("soak")
        self.leave()
        self.is_done = True

    def _drop(self, now_ns: int) -> None:
        self._consumer = None
        self._connection.abort()
        self._opens_ns = now_ns

    def _attach(self, now_ns: int) -> None:
        try:
            consumer = self._connection.consumer(self._origin, self._actor)
            if self._workload.reading is Reading.BATCHES:
                size, timeout_ms = self._rng.randint(*BATCH_SIZES), self._rng.randint(*BATCH_TIMEOUTS_MS)
                self._connection.done(consumer.listen_batch(self._script, size, timeout_ms))
            else:
                self._connection.done(consumer.listen(self._script))
        except LostError:
            self._opens_ns = now_ns + RETRY_MS * NS_PER_MS
            return
        self._consumer = consumer
        self._last_ns = self._process.clock.monotonic_ns()


class SoakConsumer(ClientProcess):
    """A consumer process of a soak: it has one `Seat` for each workload of each slice."""

    seen = 0
    """The number of messages that the process has received."""
    _seats: list[Seat]
    _closed: tuple[int, ...] = ()
    _unfinished = 0
    _calm_ns: int | None = 0
    """The end of the last fault; None during a fault."""

    def report(self) -> Report:
        """Return the number of messages so far, and the slices that have ended."""
        done = len(self._closed) == self.plan.slices
        return Report(
            seen=self.seen, late_ns=self.late_ns, closed=self._closed, unfinished=self._unfinished, is_done=done
        )

    def disturbed(self, *, over: bool) -> None:
        """Note a fault: silence counts only from the end of the last fault."""
        self._calm_ns = self.clock.monotonic_ns() if over else None

    def is_calm(self, since_ns: int, now_ns: int) -> bool:
        """Return whether `QUIET_MS` have passed since a time and since the last fault; False during a fault."""
        return self._calm_ns is not None and now_ns - max(since_ns, self._calm_ns) >= QUIET_MS * NS_PER_MS

    def carry_out(self) -> None:
        """Attach the consumers of each slice at its begin, and go on until all have ended."""
        self._seats = []
        coming = iter(range(1, self.plan.slices + 1))
        following = next(coming, None)
        while (following is not None or self._seats) and self.wait_until(
            self.clock.monotonic_ns() + TURN_MS * NS_PER_MS
        ):
            now_ns = self.clock.monotonic_ns()
            if following is not None and now_ns >= self.at((following - 1) * self.plan.slice_ms - EARLY_MS):
                self._seats += [Seat(self, self.workload(name), following) for name in self.plan.workloads]
                following = next(coming, None)
            for seat in self._seats:
                seat.step(now_ns)
            self._clear()
        for seat in self._seats:
            seat.end()

    def _clear(self) -> None:
        """Forget the consumers that have ended, and note the slices that have none left."""
        before = {seat.number for seat in self._seats}
        self._unfinished += sum(seat.is_unfinished for seat in self._seats)
        self._seats = [seat for seat in self._seats if not seat.is_done]
        for number in sorted(before - {seat.number for seat in self._seats}):
            self._closed = (*self._closed, number)
            self.forget(number)


def consume(order: ClientOrder, control: Connection) -> None:
    """Run a consumer process; the main function of the process."""
    take_part(SoakConsumer, order, control)
