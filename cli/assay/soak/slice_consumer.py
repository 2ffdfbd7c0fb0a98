"""One consumer of a workload in one slice of a soak."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Protocol

from assay.campaign.connection import ClientConnection, LostError
from assay.soak.client import ClientOrder
from assay.soak.plan import ROLLBACK_PERCENT, Plan
from assay.soak.producer import LATE_MS
from assay.soak.workloads import LONGEST_MS, Reading, Workload, place
from assay_adapters.ports.client import AckMode, ClientEvent, ClientObserver, Origin, Seen
from assay_sdk.driver import Durability
from assay_sdk.time import NS_PER_MS, Clock
from assay_steps.cast.actors import Consumer

EARLY_MS = 2_000
"""Consumers attach this many milliseconds before their slice, so that they subscribe before its first message."""
QUIET_MS = 5_500
"""A consumer ends after it has received nothing for this time, in milliseconds.

A message may come late: the judge calls it missing only if a consumer waited 5 s without receiving it
(`assay_pipeline.quiet.LATE_MS`).  The rest of `QUIET_MS` covers the time from the consumer's last event in the journal
to the beginning of this wait.
"""
DRAIN_LIMIT_MS = 60_000
"""The longest drain, in milliseconds from the end of the last slice.  Then all consumers end, silent or not."""
RETRY_MS = 250
BATCH_SIZES = (2, 20)
BATCH_TIMEOUTS_MS = (50, 300)
PRESENT_MS, AWAY_MS = (1_500, 3_000), (500, 2_500)
"""The shortest and the longest visit and absence, in milliseconds, of a consumer that leaves and returns."""
LAST_AWAY_MS = 500
"""The last absence in milliseconds; it begins when no further message can become due.

If the broker wrongly delivers an acknowledged message of the slice again, it can do so in the visit that follows.
"""
TAKE_MS, WAIT_MS = 500, 20
"""The time between two units of work, and the longest wait for one message of a unit, in milliseconds."""
UNIT_SIZES = (1, 5)
SUBSCRIPTION = "soak"
"""The name of durable subscriptions that are not shared; each has a client id of its own."""


def drained_from_ms(slice_end_ms: float) -> float:
    """Return the time from which no message of a slice becomes due any more, in milliseconds from the soak's start."""
    return slice_end_ms + LATE_MS + LONGEST_MS


class Process(Protocol):
    """The methods of the consumer process that its consumers call."""

    order: ClientOrder
    plan: Plan
    clock: Clock

    def at(self, offset_ms: float) -> int:
        """Return the monotonic time in nanoseconds that is ``offset_ms`` milliseconds after the soak's start."""
        ...

    def connection(
        self,
        name: str,
        workload: Workload,
        number: int,
        ack: AckMode,
        *,
        light: bool,
        client_id: str | None = None,
        observer: ClientObserver | None = None,
    ) -> ClientConnection:
        """Make a connection; it connects at the first use."""
        ...

    def note(self, workload: Workload, number: int, seen: Seen | None) -> None:
        """Count a received message."""
        ...

    def reached(self) -> None:
        """Note that the broker has answered."""
        ...

    def missed(self, error: LostError) -> None:
        """Note a call that failed."""
        ...

    def is_calm(self, since_ns: int, now_ns: int) -> bool:
        """Return whether `QUIET_MS` have passed since a time and since the last fault."""
        ...


class SliceConsumer:
    """A consumer that attaches, attaches again after faults, and ends when it is silent.

    Args:
        process: The consumer process.
        workload: The workload.
        number: The number of the slice.
        index: The number of the consumer among the consumers of this process, workload and slice, from 1.
    """

    def __init__(self, process: Process, workload: Workload, number: int, index: int) -> None:
        self.number = number
        self.is_done = False
        self.is_unfinished = False
        self._process = process
        self._workload = workload
        plan, order = process.plan, process.order
        self._actor = f"{order.name}.{workload.name}" + (f".{index}" if workload.at_once > 1 else "")
        self._rng = random.Random(f"{plan.options.seed}/{self._actor}/{number}")  # noqa: S311 - the plan is repeatable
        self._reader = workload.readers[(order.number + number + index) % len(workload.readers)]
        begin_ms, end_ms = (number - 1) * plan.slice_ms, number * plan.slice_ms
        self._drained_ns = process.at(drained_from_ms(end_ms))
        self._opens_ns = process.at(self._opening_ms(begin_ms, end_ms, index))
        self._gives_up_ns = process.at(plan.options.seconds * 1_000 + DRAIN_LIMIT_MS)
        self._away = list(self._absences(begin_ms, end_ms))
        self._next_take_ns = 0
        self._origin = self._made_origin()
        client_id = (
            f"soak-{order.run[-4:]}-{number}-{workload.name}-{order.number}-{index}" if workload.durable else None
        )
        self._connection: ClientConnection = process.connection(
            self._actor,
            workload,
            number,
            self._reader.ack,
            light=self._reader.qos is not None,
            client_id=client_id,
            observer=self.observe,
        )
        self._consumer: Consumer | None = None
        self._last_ns = 0
        """The time of the last attachment or reception; 0 before the first attachment."""
        self._open: Seen | None = None
        """With `Reading.ENDED`, the last received message that no call has acknowledged, committed or rolled back."""

    def _opening_ms(self, begin_ms: float, end_ms: float, index: int) -> float:
        match self._workload.reading:
            case Reading.AFTERWARDS:
                return drained_from_ms(end_ms)
            case Reading.LATER:
                return begin_ms + (end_ms - begin_ms) * index / (self._workload.at_once + 1)
            case _:
                return begin_ms - EARLY_MS

    def _made_origin(self) -> Origin:
        workload = self._workload
        return Origin(
            address=place(workload, self.number, self._process.order.run),
            durability=Durability.DURABLE if workload.durable else Durability.NON_DURABLE,
            name=f"soak-{self.number}" if workload.shared else SUBSCRIPTION if workload.durable else None,
            shared=workload.shared,
            ttl_ms=workload.subscription_ttl_ms,
        )

    def _absences(self, begin_ms: float, end_ms: float) -> Iterator[tuple[int, int]]:
        """Yield the beginning and the end of each absence, in nanoseconds of the monotonic clock."""
        if self._workload.reading is Reading.STORED:
            yield self._process.at(begin_ms), self._drained_ns
        if self._workload.reading is not Reading.VISITING:
            return
        at_ms = begin_ms + self._rng.uniform(*PRESENT_MS)
        while at_ms + AWAY_MS[1] < end_ms:
            back_ms = at_ms + self._rng.uniform(*AWAY_MS)
            yield self._process.at(at_ms), self._process.at(back_ms)
            at_ms = back_ms + self._rng.uniform(*PRESENT_MS)
        yield self._drained_ns, self._drained_ns + LAST_AWAY_MS * NS_PER_MS

    def observe(self, event: ClientEvent) -> None:
        """Note a message that the consumer has received."""
        if event.what == "seen":
            self._last_ns = self._process.clock.monotonic_ns()
            self._process.note(self._workload, self.number, event.seen)
            self._open = event.seen

    def step(self, now_ns: int) -> None:
        """Do what is due now: attach, leave for a while, receive a unit of work, end batches, or end."""
        if self._consumer is not None and self._connection.is_lost:
            self._drop(now_ns)
        if now_ns >= self._gives_up_ns:
            self.is_unfinished = True
            self.end()
        elif self._is_away(now_ns):
            self._depart()
        elif self._consumer is None:
            if now_ns >= self._opens_ns:
                self._attach(now_ns)
        elif self._process.is_calm(max(self._last_ns, self._drained_ns), now_ns):
            self.end()
        elif now_ns >= self._next_take_ns:
            self._next_take_ns = now_ns + TAKE_MS * NS_PER_MS
            if self._workload.reading is Reading.UNITS:
                self._take(self._consumer, now_ns)
            elif self._workload.reading is Reading.ENDED:
                self._end_batches(now_ns)

    def _is_away(self, now_ns: int) -> bool:
        """Return whether the consumer must be away; with `Reading.STORED`, it leaves only after it has subscribed."""
        unsubscribed = self._workload.reading is Reading.STORED and self._last_ns == 0
        return not unsubscribed and any(leaves <= now_ns < returns for leaves, returns in self._away)

    def _depart(self) -> None:
        """Leave for a while: close the connection, or drop it if the workload says so."""
        if self._consumer is not None and self._workload.drops:
            self._consumer = None
            self._connection.abort()
        self.leave()

    def leave(self) -> None:
        """Close the connection, if it is open."""
        if self._consumer is not None:
            self._consumer = None
            self._connection.leave()

    def end(self) -> None:
        """End the consumer for good, and remove its durable subscription if it is not shared.

        All events about the subscription are in the journal before the removal.  The journal does not record the
        removal: the judge does not look for missing messages of a subscription that a client has tried to delete.
        A shared subscription stays, because another consumer may still use it.
        """
        workload = self._workload
        own = workload.durable and not workload.shared
        if self._consumer is not None and own and not self._connection.is_lost:
            self._consumer.close()
            with suppress(LostError):
                self._connection.session.port.unsubscribe(SUBSCRIPTION)
        self.leave()
        self.is_done = True

    def _drop(self, now_ns: int) -> None:
        self._consumer = None
        self._connection.abort()
        self._opens_ns = now_ns

    def _attach(self, now_ns: int) -> None:
        self._open = None
        try:
            consumer = self._connection.consumer(self._origin, self._actor, self._reader.qos)
            if self._workload.reading in (Reading.BATCHES, Reading.ENDED):
                size, timeout_ms = self._rng.randint(*BATCH_SIZES), self._rng.randint(*BATCH_TIMEOUTS_MS)
                self._connection.done(consumer.listen_batch(self._reader.script, size, timeout_ms))
            elif self._workload.reading is not Reading.UNITS:
                self._connection.done(consumer.listen(self._reader.script))
        except LostError as error:
            self._lose(error, now_ns)
            return
        self._process.reached()
        self._consumer = consumer
        self._last_ns = self._process.clock.monotonic_ns()

    def _take(self, consumer: Consumer, now_ns: int) -> None:
        """Receive the messages of one unit of work, and commit it or roll it back."""
        taken, size = 0, self._rng.randint(*UNIT_SIZES)
        try:
            while taken < size and self._connection.done(consumer.receive(WAIT_MS)) is not None:
                taken += 1
            if taken:
                self._end_unit()
        except LostError as error:
            self._lose(error, now_ns)

    def _end_batches(self, now_ns: int) -> None:
        """Acknowledge all batches so far, or commit or roll back the unit of work that received them."""
        last, self._open = self._open, None
        if last is None:
            return
        try:
            if self._reader.ack is AckMode.TRANSACTED:
                self._end_unit()
            else:
                self._connection.done(self._connection.session.acknowledge(last))
        except LostError as error:
            self._lose(error, now_ns)

    def _end_unit(self) -> None:
        """Commit the unit of work, or roll it back.

        Raises:
            LostError: The broker cannot be reached, or refused the call.
        """
        session = self._connection.session
        back = self._rng.random() * 100 < ROLLBACK_PERCENT
        self._connection.done(session.rollback() if back else session.commit())

    def _lose(self, error: LostError, now_ns: int) -> None:
        self._process.missed(error)
        self._consumer = None
        self._opens_ns = now_ns + RETRY_MS * NS_PER_MS
