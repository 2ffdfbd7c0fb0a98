"""The way to the disk: batches are written at once and flushed together a moment later, and what waits is held.

The members of a sharing group have one log between them, though each a store of its own: they number their batches
together, so that what one of them hands out can wait for what another one writes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from typing import Protocol

from msgspec import Struct

from assay_broker.core.commands import Stored, StoreFailed
from assay_broker.core.effects import Answer, Deliver, Persist, ToMember
from assay_broker.core.records import MessageStored, Record
from assay_broker.stores import Store, StoreError
from assay_sdk.time import Cancel, Runner

FLUSH_NS = 1_000_000
"""How long after the first write the flush comes: about what a disk takes, and a whole number of milliseconds, so that
a virtual clock stays on them."""

Held = Answer | Deliver | ToMember


class _Waiting(Struct, frozen=True, eq=False):
    """A batch that stands in front of the store, which cannot take it now."""

    writer: Writer
    persist: Persist
    records: tuple[Record, ...]


class Writer(Protocol):
    """One life of a queue manager."""

    @property
    def store(self) -> Store:
        """Where it keeps its records."""
        ...

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        ...

    def stored(self, stored: Stored) -> None:
        """A batch is durable, and every one before it."""
        ...

    def failed(self, failed: StoreFailed) -> None:
        """Batches could not be made durable."""
        ...

    def let_out(self, effects: Sequence[Held]) -> None:
        """What these have waited for is durable."""
        ...


class Log:
    """Group commit.

    Args:
        runner: The world's crank.
        flush_ns: How long after the first write the flush comes, in nanoseconds.  With 0 it comes once the runner has
            done what was due already: on a busy server that is enough to gather many writes.
    """

    def __init__(self, runner: Runner, flush_ns: int = FLUSH_NS) -> None:
        self._runner = runner
        self._flush_ns = flush_ns
        self._written: list[tuple[int, Writer]] = []
        self._held: dict[int, list[tuple[Writer, list[Held]]]] = {}
        self._job: Cancel | None = None
        self._blocked: frozenset[str] = frozenset()
        self._waiting: list[_Waiting] = []

    def block(self, homes: Collection[str]) -> None:
        """Messages for these homes cannot be written until `unblock`, nor can anything that comes after one of them.

        Batches are durable in their order, so one that has to wait keeps all later ones waiting.
        """
        self._blocked |= frozenset(homes)

    def unblock(self, homes: Collection[str]) -> None:
        """They can be written again, and what has waited is."""
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
        if self._waiting or any(isinstance(one, MessageStored) and one.home in self._blocked for one in records):
            self._waiting.append(_Waiting(writer, persist, records))
            return None
        try:
            writer.store.write(records)
        except StoreError as error:
            return StoreFailed(persist.batch, str(error))
        self._written.append((persist.batch, writer))
        if self._job is None:
            self._job = self._runner.call_at(self._runner.clock.monotonic_ns() + self._flush_ns, self.flush)
        return None

    def hold(self, writer: Writer, batch: int, effect: Held) -> None:
        """Let something out once this batch is durable."""
        held = self._held.get(batch)
        if held is None:
            self._held[batch] = [(writer, [effect])]
        elif held[-1][0] is writer:
            held[-1][1].append(effect)
        else:
            held.append((writer, [effect]))

    def drop_held(self, batch: int) -> None:
        """What waits for this batch never goes out."""
        self._held.pop(batch, None)

    def flush(self) -> None:
        """Make everything durable that is written, and let out what waits for it."""
        written, self._written = self._written, []
        self._stop_job()
        failed = self._flush_stores(written)
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
        """Tell writers whose store has failed, each of all its batches at once."""
        lost: dict[int, tuple[Writer, list[int]]] = {}
        for batch, writer in reversed(written):
            if id(writer) in failed:
                self._held.pop(batch, None)
                lost.setdefault(id(writer), (writer, []))[1].append(batch)
        for key, (writer, batches) in lost.items():
            writer.failed(_failed(batches, failed[key]))

    def _flush_stores(self, written: list[tuple[int, Writer]]) -> dict[int, str]:
        """Why the stores of some writers could not flush, by the writers' identities."""
        failed: dict[int, str] = {}
        for writer in {id(writer): writer for _, writer in written}.values():
            try:
                writer.store.flush()
            except StoreError as error:
                failed[id(writer)] = str(error)
        return failed

    def lose(self, writer: Writer) -> tuple[StoreFailed, ...]:
        """A writer dies with what it has written and not flushed.

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


def _failed(batches: list[int], why: str) -> StoreFailed:
    """Batches, the newest first, have failed together."""
    return StoreFailed(batches[0], why, tuple(batches[1:]))
