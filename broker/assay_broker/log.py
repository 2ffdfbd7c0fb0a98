"""The log: batches are written at once, flushed together a moment later, and hold back what waits for them.

The members of a sharing group share one log, each with a store of its own. They number their batches together, so
that one member's effect can wait for another's batch.

On a busy server another thread waits for the disk, while this one writes the next batches. They are flushed together
when it returns.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import Executor, Future
from functools import partial
from itertools import chain
from typing import Protocol

from msgspec import Struct

from assay_broker.core.commands import Stored, StoreFailed
from assay_broker.core.effects import Answer, Deliver, Persist, ToMember
from assay_broker.core.records import MessageStored, Record
from assay_broker.stores import PartedStore, Store, StoreError
from assay_sdk.time import CancelJob, Runner

FLUSH_NS = 1_000_000
"""How long after the first write the flush begins, in nanoseconds: about a disk's latency, and a whole number of
milliseconds, which a virtual clock can represent."""

_WORTH_A_THREAD = 16
"""From this many records on another thread waits for the disk.

The handover takes about as long as a disk's flush, so with few records each answer would be later.
"""

Held = Answer | Deliver | ToMember


class _Waiting(Struct, frozen=True, eq=False):
    """A batch for a store that is blocked."""

    writer: Writer
    persist: Persist
    records: tuple[Record, ...]


class Flushes:
    """Statistics of a store's flushes.

    Attributes:
        count: How many there were.
        batches: How many batches of records they made durable, or failed to.
        ns: How long they took, in nanoseconds; while another thread waits for the disk, until its answer is taken in.
    """

    __slots__ = ("batches", "count", "ns")

    def __init__(self) -> None:
        self.count = self.batches = self.ns = 0

    def note(self, batches: int, ns: int) -> None:
        """Count a flush."""
        if batches:
            self.count += 1
            self.batches += batches
            self.ns += ns


class _Flight(Struct, frozen=True, eq=False):
    """A flush for which another thread waits."""

    writer: Writer
    store: PartedStore
    written: list[tuple[int, Writer]]
    future: Future[None]
    begun_ns: int


class Writer(Protocol):
    """A user of the log: one life of a queue manager."""

    @property
    def store(self) -> Store:
        """The store of its records."""
        ...

    @property
    def parted(self) -> PartedStore | None:
        """The same store, if waiting for the disk is separate."""
        ...

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        ...

    def stored(self, stored: Stored) -> None:
        """Handle that a batch and every earlier one are durable."""
        ...

    def failed(self, failed: StoreFailed) -> None:
        """Handle batches that could not be made durable."""
        ...

    def let_out(self, effects: Sequence[Held]) -> None:
        """Carry out effects whose batch is durable."""
        ...


class Log:
    """A log with group commit.

    Args:
        runner: Runs the jobs, and has the clock.
        flush_ns: How long after the first write the flush comes, in nanoseconds.  With 0 it comes once the runner has
            done what was due already: on a busy server that is enough to gather many writes.
        aside: Waits for the disk when there is much to flush; None to wait here.
    """

    def __init__(self, runner: Runner, flush_ns: int = FLUSH_NS, aside: Executor | None = None) -> None:
        self._runner = runner
        self.flush_ns = flush_ns
        self._aside = aside
        self.flushes = Flushes()
        """Statistics for `/metrics`."""
        self._flight: _Flight | None = None
        self._records = 0
        self._written: list[tuple[int, Writer]] = []
        self._held: dict[int, list[tuple[Writer, list[Held]]]] = {}
        self._job: CancelJob | None = None
        self._blocked: frozenset[str] = frozenset()
        self._waiting: list[_Waiting] = []

    def block(self, homes: Collection[str]) -> None:
        """Write no messages for these queues, nor any later batch, until `unblock`.

        Batches are durable in their order, so one that has to wait keeps all later ones waiting.
        """
        self._blocked |= frozenset(homes)

    def unblock(self, homes: Collection[str]) -> None:
        """Write the batches that were blocked."""
        self._blocked -= frozenset(homes)
        waiting, self._waiting = self._waiting, []
        tried = [(one.writer, self.write(one.writer, one.persist, one.records)) for one in waiting]
        failed = [(writer, failure) for writer, failure in tried if failure is not None]
        self._tell(
            [(failure.batch, writer) for writer, failure in failed],
            {id(writer): failure.why for writer, failure in failed},
        )

    def write(self, writer: Writer, persist: Persist, records: tuple[Record, ...]) -> StoreFailed | None:
        """Write a batch; it is flushed soon.

        Returns:
            That the store could not take it; None when it could, or will be asked to.
        """
        if self._waiting or (self._blocked and any(_home(one) in self._blocked for one in records)):
            self._waiting.append(_Waiting(writer, persist, records))
            return None
        try:
            writer.store.write(records)
        except StoreError as error:
            return StoreFailed(persist.batch, str(error))
        self._written.append((persist.batch, writer))
        self._records += len(records)
        self._schedule()
        return None

    def hold(self, writer: Writer, batch: int, effect: Held) -> None:
        """Hold an effect back until this batch is durable."""
        held = self._held.get(batch)
        if held is None:
            self._held[batch] = [(writer, [effect])]
        elif held[-1][0] is writer:
            held[-1][1].append(effect)
        else:
            held.append((writer, [effect]))

    def drop_held(self, batch: int) -> None:
        """Drop the effects that wait for this batch."""
        self._held.pop(batch, None)

    def flush(self) -> None:
        """Make all batches durable, and let their effects out."""
        self.land()
        written = self._take()
        begun_ns = self._runner.clock.monotonic_ns()
        failed = self._flush_stores(written)
        self.flushes.note(len(written), self._runner.clock.monotonic_ns() - begun_ns)
        self._conclude(written, failed)

    def land(self) -> None:
        """Wait for the flush of another thread, if one is under way: only then may its store be stopped."""
        flight, self._flight = self._flight, None
        if flight is None:
            return
        written, failed = flight.written, None
        try:
            flight.future.result()
        except Exception as error:  # noqa: BLE001  after any error the records may not be on the disk
            failed = error if isinstance(error, StoreError) else StoreError(f"the flush has failed: {error!r}")
            written += [one for one in self._written if one[1] is flight.writer]  # its store drops these, too
            self._written = [one for one in self._written if one[1] is not flight.writer]
        flight.store.end_flush(failed)
        self.flushes.note(len(written), self._runner.clock.monotonic_ns() - flight.begun_ns)
        self._conclude(written, {} if failed is None else {id(flight.writer): str(failed)})

    def _flush_soon(self) -> None:
        """Flush, on another thread if that is faster; batches that arrive meanwhile are flushed next."""
        writer = self._written[0][1]
        store = writer.parted
        if (
            self._aside is None
            or self._records < _WORTH_A_THREAD
            or store is None
            or any(other is not writer for _, other in self._written)
        ):
            self.flush()
            return
        written, begun_ns = self._take(), self._runner.clock.monotonic_ns()
        try:
            wait = store.begin_flush()
        except StoreError as error:
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
            self._schedule()  # a little later, so that this flush takes more records with it

    def _schedule(self) -> None:
        if self._job is None and self._flight is None:
            self._job = self._runner.call_at(self._runner.clock.monotonic_ns() + self.flush_ns, self._flush_soon)

    def _take(self) -> list[tuple[int, Writer]]:
        written, self._written, self._records = self._written, [], 0
        self._stop_job()
        return written

    def _conclude(self, written: list[tuple[int, Writer]], failed: dict[int, str]) -> None:
        """Report the result of a flush to its writers, and let effects out."""
        self._tell(written, failed)
        done = [(batch, writer) for batch, writer in written if id(writer) not in failed]
        if not done:
            return
        newest, teller = done[-1]
        teller.stored(Stored(newest))
        ready = sorted(batch for batch in self._held if batch <= newest)
        for writer, effects in chain.from_iterable([self._held.pop(batch) for batch in ready]):
            writer.let_out(effects)

    def _tell(self, written: list[tuple[int, Writer]], failed: dict[int, str]) -> None:
        """Report failures, each writer's batches in one call."""
        lost: dict[int, tuple[Writer, list[int]]] = {}
        for batch, writer in reversed(written):
            if id(writer) in failed:
                self._held.pop(batch, None)
                lost.setdefault(id(writer), (writer, []))[1].append(batch)
        for key, (writer, batches) in lost.items():
            writer.failed(_failed(batches, failed[key]))

    def _flush_stores(self, written: list[tuple[int, Writer]]) -> dict[int, str]:
        """Flush the stores of writers; return the errors by the writers' identities."""
        failed: dict[int, str] = {}
        for writer in {id(writer): writer for _, writer in written}.values():
            try:
                writer.store.flush()
            except StoreError as error:
                failed[id(writer)] = str(error)
        return failed

    def lose(self, writer: Writer) -> tuple[StoreFailed, ...]:
        """Remove a writer with what it has written and not flushed.

        Returns:
            That its batches are lost, if it had any.
        """
        lost = [batch for batch, other in self._written if other is writer]
        lost += [one.persist.batch for one in self._waiting if one.writer is writer]
        self._written = [(batch, other) for batch, other in self._written if other is not writer]
        self._waiting = [one for one in self._waiting if one.writer is not writer]
        if not self._written:
            self._stop_job()
        for batch in lost:
            self._held.pop(batch, None)
        return (_failed(lost[::-1], "the queue manager ended before it was on disk"),) if lost else ()

    def _stop_job(self) -> None:
        if self._job is not None:
            self._job()
            self._job = None


def _home(record: Record) -> str | None:
    """Return the queue of the message that a record stores; None for any other record."""
    return record.home if isinstance(record, MessageStored) else None


def _failed(batches: list[int], why: str) -> StoreFailed:
    """Return the event for batches that have failed together, the newest first."""
    return StoreFailed(batches[0], why, tuple(batches[1:]))
