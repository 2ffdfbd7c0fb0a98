"""The log: writes batches to the store, flushes several batches together, and holds back effects until the flush.

The members of a sharing group share one log; each member has its own store.  The batches of all members have one
sequence of numbers, so that one member's effect can wait for another member's batch.

On a busy server a second thread waits for the disk.  Meanwhile the log writes the next batches, and flushes them
together when the second thread is done.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Executor, Future
from functools import partial
from itertools import chain
from typing import NamedTuple, Protocol

from msgspec import Struct

from assay_broker.bug_text import BUG
from assay_broker.core.commands import Stored, StoreFailed
from assay_broker.core.effects import Answer, Deliver, Persist, ToMember
from assay_broker.core.records import MessageStored, Record
from assay_broker.stores import PartedStore, Store, StoreError
from assay_sdk.time import CancelJob, Runner

FLUSH_NS = 1_000_000
"""The default time from the first write to the flush, in nanoseconds.

The value is close to the latency of a disk.  Virtual time needs a whole number of milliseconds.
"""

_WORTH_A_THREAD = 16
"""The lowest number of unflushed records for which a second thread waits for the disk.

Starting the thread's job takes about as long as a flush, so with fewer records the thread would only delay the answers.
"""

Held = Answer | Deliver | ToMember
"""Effects that the log can hold back until a batch is durable."""


class _Waiting(Struct, frozen=True, eq=False):
    """A batch that the log does not write before `Log.unblock`."""

    writer: Writer
    persist: Persist
    records: tuple[Record, ...]


class _Written(NamedTuple):
    """A batch that the store has taken and not flushed yet.

    Args:
        batch: The number of the batch.
        writer: The writer.
        records: The number of records.
    """

    batch: int
    writer: Writer
    records: int


class Flushes:
    """Statistics of a log's flushes.

    Attributes:
        count: The number of flushes.
        batches: The number of batches in all flushes, also in failed ones.
        ns: The time that all flushes took together, in nanoseconds.  A flush on a second thread ends when the log
            handles its result.
    """

    __slots__ = ("batches", "count", "ns")

    def __init__(self) -> None:
        self.count = self.batches = self.ns = 0

    def note(self, batches: int, ns: int) -> None:
        """Count a flush with its batches and its duration in nanoseconds; a flush without batches is not counted."""
        if batches:
            self.count += 1
            self.batches += batches
            self.ns += ns


class _Flight(Struct, frozen=True, eq=False):
    """A flush under way on a second thread, which waits for the disk."""

    writer: Writer
    store: PartedStore
    written: list[_Written]
    future: Future[None]
    begun_ns: int


class Writer(Protocol):
    """A user of the log: a queue manager, from one start to its next stop or kill."""

    @property
    def store(self) -> Store:
        """The store of the writer's records."""
        ...

    @property
    def parted(self) -> PartedStore | None:
        """The writer's store, if it can split a flush so that a second thread waits for the disk; otherwise None."""
        ...

    @property
    def over(self) -> bool:
        """Whether the writer's queue manager has stopped or was killed."""
        ...

    def stored(self, stored: Stored) -> None:
        """Handle the news that a batch and all earlier batches that have not failed are durable."""
        ...

    def failed(self, failed: StoreFailed) -> None:
        """Handle the news that the store could not make batches durable."""
        ...

    def let_out(self, effects: Sequence[Held]) -> None:
        """Carry out effects whose batch is durable."""
        ...

    def contain(self, job: Callable[[], None]) -> bool:
        """Run a job, and write its exception, if any, to the server's log; return whether the job succeeded."""
        ...


class Log:
    """A log with group commit: one flush makes the batches of many commands durable.

    Args:
        runner: Runs the jobs, and has the clock.
        flush_ns: Nanoseconds from the first write to the flush.  With 0, the flush runs after the jobs that are already
            due; on a busy server, these jobs write many batches.
        aside: The executor whose thread waits for the disk during a flush of many records; None to wait on the runner's
            thread.
    """

    def __init__(self, runner: Runner, flush_ns: int = FLUSH_NS, aside: Executor | None = None) -> None:
        self._runner = runner
        self.flush_ns = flush_ns
        self._aside = aside
        self.flushes = Flushes()
        """The statistics of flushes, for `/metrics`."""
        self._flight: _Flight | None = None
        self._written: list[_Written] = []
        self._held: dict[int, list[tuple[Writer, list[Held]]]] = {}
        self._job: CancelJob | None = None
        self._blocked: frozenset[str] = frozenset()
        self._waiting: list[_Waiting] = []

    def block(self, homes: Collection[str]) -> None:
        """Stop writing at the next batch with a message for one of these queues, until `unblock`.

        Batches become durable in their order, so all later batches wait for that one.
        """
        self._blocked |= frozenset(homes)

    def unblock(self, homes: Collection[str]) -> None:
        """End the block of these queues, and write the batches that waited."""
        self._blocked -= frozenset(homes)
        waiting, self._waiting = self._waiting, []
        tried = [(one.writer, self.write(one.writer, one.persist, one.records)) for one in waiting]
        failed = [(writer, failure) for writer, failure in tried if failure is not None]
        self._tell(
            [_Written(failure.batch, writer, 0) for writer, failure in failed],
            {id(writer): failure.why for writer, failure in failed},
        )

    def write(self, writer: Writer, persist: Persist, records: tuple[Record, ...]) -> StoreFailed | None:
        """Write a batch to the writer's store, and schedule a flush.

        Returns:
            The failure for the core if the store refused the batch; None if the batch was written, or waits for
            `unblock`.
        """
        if self._waiting or (self._blocked and any(_home(one) in self._blocked for one in records)):
            self._waiting.append(_Waiting(writer, persist, records))
            return None
        try:
            writer.store.write(records)
        except StoreError as error:
            return StoreFailed(persist.batch, str(error))
        self._written.append(_Written(persist.batch, writer, len(records)))
        self._schedule()
        return None

    def hold(self, writer: Writer, batch: int, effect: Held) -> None:
        """Hold a writer's effect back until this batch is durable."""
        held = self._held.get(batch)
        if held is None:
            self._held[batch] = [(writer, [effect])]
        elif held[-1][0] is writer:
            held[-1][1].append(effect)
        else:
            held.append((writer, [effect]))

    def drop_held(self, batch: int) -> None:
        """Drop the effects that wait for this batch, because it failed."""
        self._held.pop(batch, None)

    def flush(self) -> None:
        """Flush all written batches; the writers then carry out the effects that have waited for these batches."""
        self.land()
        written = self._take()
        begun_ns = self._runner.clock.monotonic_ns()
        failed = self._flush_stores(written)
        self.flushes.note(len(written), self._runner.clock.monotonic_ns() - begun_ns)
        self._conclude(written, failed)

    def land(self) -> None:
        """Wait for a flush on the second thread, if one is under way, and report its result to the writers.

        Call it before a stop or kill, because a store must not be stopped during a flush.
        """
        flight, self._flight = self._flight, None
        if flight is None:
            return
        written, failed = flight.written, None
        try:
            flight.future.result()
        except Exception as error:  # noqa: BLE001  after any error the records may not be on the disk
            failed = error if isinstance(error, StoreError) else StoreError(f"the flush has failed: {error!r}")
            # The store drops all unflushed records after an error, also those that this flush did not include.
            written += [one for one in self._written if one.writer is flight.writer]
            self._written = [one for one in self._written if one.writer is not flight.writer]
        flight.store.end_flush(failed)
        self.flushes.note(len(written), self._runner.clock.monotonic_ns() - flight.begun_ns)
        self._conclude(written, {} if failed is None else {id(flight.writer): str(failed)})

    def _flush_contained(self, writer: Writer) -> None:
        writer.contain(self._flush_soon)

    def _flush_soon(self) -> None:
        """Flush all written batches, on the second thread if the wait for the disk may take long."""
        writer = self._written[0].writer
        store = writer.parted
        if (
            self._aside is None
            or sum(one.records for one in self._written) < _WORTH_A_THREAD
            or store is None
            or any(one.writer is not writer for one in self._written)
        ):
            self.flush()
            return
        written, begun_ns = self._take(), self._runner.clock.monotonic_ns()
        try:
            wait = store.begin_flush()
        except StoreError as error:
            self.flushes.note(len(written), self._runner.clock.monotonic_ns() - begun_ns)
            self._conclude(written, {id(writer): str(error)})
            return
        if wait is None:
            self._conclude(written, {})
            return
        flight = self._flight = _Flight(writer, store, written, self._aside.submit(wait), begun_ns)
        flight.future.add_done_callback(lambda _: self._runner.call_soon(partial(self._landed, flight)))

    def _landed(self, flight: _Flight) -> None:
        if self._flight is flight:
            self.land()
        if self._written:
            self._schedule()  # not at once, so that the next flush includes more records

    def _schedule(self) -> None:
        if self._job is None and self._flight is None:
            flush = partial(self._flush_contained, self._written[0].writer)
            self._job = self._runner.call_at(self._runner.clock.monotonic_ns() + self.flush_ns, flush)

    def _take(self) -> list[_Written]:
        written, self._written = self._written, []
        self._stop_job()
        return written

    def _conclude(self, written: list[_Written], failed: dict[int, str]) -> None:
        """Report the result of a flush to the writers, and make them carry out the effects that have waited for it."""
        self._tell(written, failed)
        done = [one for one in written if id(one.writer) not in failed]
        if not done:
            return
        newest, teller, _ = done[-1]
        teller.stored(Stored(newest))
        ready = sorted(batch for batch in self._held if batch <= newest)
        for writer, effects in chain.from_iterable([self._held.pop(batch) for batch in ready]):
            writer.let_out(effects)

    def _tell(self, written: list[_Written], failed: dict[int, str]) -> None:
        """Report failed batches to their writers, one call for each writer, and drop the effects that waited for them.

        Args:
            written: Batches and their writers, in the order of writing.
            failed: The errors, by the identity (`id`) of the writer.
        """
        lost: dict[int, tuple[Writer, list[int]]] = {}
        for batch, writer, _ in reversed(written):
            if id(writer) in failed:
                self._held.pop(batch, None)
                lost.setdefault(id(writer), (writer, []))[1].append(batch)
        for key, (writer, batches) in lost.items():
            writer.failed(_failed(batches, failed[key]))

    def _flush_stores(self, written: list[_Written]) -> dict[int, str]:
        """Flush the stores of the writers; return the errors by the identity (`id`) of the writer."""
        failed: dict[int, str] = {}
        for writer in {id(one.writer): one.writer for one in written}.values():
            errors: list[StoreError] = []
            if not writer.contain(partial(_flush, writer.store, errors)):
                # After any error the records may not be on the disk.
                errors.append(StoreError(f"the flush has failed. {BUG}"))
            failed |= {id(writer): str(error) for error in errors}
        return failed

    def lose(self, writer: Writer) -> tuple[StoreFailed, ...]:
        """Forget a writer's unflushed batches and drop the effects that waited for them.

        Returns:
            One failure with all unflushed batches of the writer; empty if the writer had none.
        """
        lost = [one.batch for one in self._written if one.writer is writer]
        lost += [one.persist.batch for one in self._waiting if one.writer is writer]
        self._written = [one for one in self._written if one.writer is not writer]
        self._waiting = [one for one in self._waiting if one.writer is not writer]
        if not self._written:
            self._stop_job()
        for batch in lost:
            self._held.pop(batch, None)
        return (_failed(lost[::-1], "the queue manager ended before the batch was on disk"),) if lost else ()

    def _stop_job(self) -> None:
        if self._job is not None:
            self._job()
            self._job = None


def _flush(store: Store, errors: list[StoreError]) -> None:
    """Flush a store, and append its error, if any, to a list."""
    try:
        store.flush()
    except StoreError as error:
        errors.append(error)


def _home(record: Record) -> str | None:
    """Return the home of the queue in which a record stores a message; None if the record stores no message."""
    return record.home if isinstance(record, MessageStored) else None


def _failed(batches: list[int], why: str) -> StoreFailed:
    """Return one failure for several batches; `batches` begins with the newest."""
    return StoreFailed(batches[0], why, tuple(batches[1:]))
