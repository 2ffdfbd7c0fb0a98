"""One turn of the core: collects the effects of one command, or of several commands that arrived together.

All records of a turn form one batch, which the store takes as a whole or not at all. Effects that depend on the records
wait for that batch (PD-20, PD-24).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec import Struct

from assay_broker.core.clients.units import Work
from assay_broker.core.effects import NO_PROPERTIES, Answer, CloseLink, Deliver, Effect, Persist, ToMember, Trace, Value
from assay_broker.core.messages.entries import Entry
from assay_broker.core.networks.parcels import Parcel
from assay_broker.core.queues.queue import Delivery, Queue
from assay_broker.core.records import Record
from assay_sdk.driver import PeerProperties
from assay_sdk.model.reasons import Refused


class Batch(Struct, eq=False):
    """A batch of records that is not stored yet, with the undo functions, answers and deliveries that depend on it.

    Args:
        undo: The functions that undo the changes of the batch if the store refuses it, called from the last to the
            first.
        answers: The connection and token of each answer that waits for the batch.
        deliveries: The deliveries that wait for the batch.
        unit: The unit of work that the batch commits, prepares or resolves; None without a unit of work.
        asker: The connection and token of the command that made the records; of several commands, the last. None if
            no command gets an answer.
    """

    undo: list[Callable[[Turn], None]]
    answers: list[tuple[int, int]]
    deliveries: list[Delivery]
    unit: Work | None = None
    asker: tuple[int, int] | None = None


class Together:
    """The context manager of `Turn.together`.

    It is a class, because a generator with `contextmanager` takes 0.6 us more for each block (timeit, 2026-11-28).

    Args:
        turn: The turn.
    """

    __slots__ = ("_before", "_turn")

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._before: int | None = None

    def __enter__(self) -> None:
        self._before = self._turn.begin_together()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._before is not None:
            self._turn.end_together(self._before)


class Turn:
    """The effects and records of one command, or of several that arrived together.

    Args:
        now_ms: The time, in milliseconds since the epoch.
        number: The number of the turn's batch, which exists only if the turn has records.
        pending: The batches that are not stored yet, by their numbers.
    """

    def __init__(self, now_ms: int, number: int, pending: dict[int, Batch]) -> None:
        self.now_ms = now_ms
        self.number = number
        self.batch = Batch([], [], [])
        self.checks_staging_queue = False
        """Whether the core must check the condition of the staging queue after all refused batches are undone."""
        self._follows: list[Callable[[Turn], None]] = []
        self._pending = pending
        self._records: list[Record] = []
        self._unrecorded: list[tuple[Entry, Callable[[Turn], None]]] | None = None
        self._effects: list[Effect] = []
        self._touched: dict[str, Queue] = {}

    @property
    def recorded(self) -> bool:
        """Whether the turn has records."""
        return bool(self._records)

    def record(self, record: Record, undo: Callable[[Turn], None]) -> int:
        """Add a record to the turn's batch.

        Args:
            record: The record.
            undo: A function that undoes the recorded change if the store refuses the batch.

        Returns:
            The number of the batch.
        """
        if not self._records:
            self._pending[self.number] = self.batch
        self._records.append(record)
        self.batch.undo.append(undo)
        return self.number

    def together(self) -> Together:
        """Return a context manager: the changes inside its block happen together or not at all.

        A block may have recorded and unrecorded changes. If the store refuses the records, the core also undoes the
        unrecorded changes, even if the block ended with an error. So the core never backs out a unit of work in part,
        and a release that the store refuses leaves no copy on the target.
        """
        return Together(self)

    @property
    def is_together(self) -> bool:
        """Whether a `together` block is open."""
        return self._unrecorded is not None

    def begin_together(self) -> int | None:
        """Begin a `together` block.

        Returns:
            The number of records so far; None inside another block, which then includes this block.
        """
        if self._unrecorded is not None:
            return None
        self._unrecorded = []
        return len(self._records)

    def end_together(self, before: int) -> None:
        """End a `together` block.

        Args:
            before: The number of records when the block began.
        """
        unrecorded, self._unrecorded = self._unrecorded or (), None
        if len(self._records) > before:
            for entry, undo in unrecorded:
                entry.batch = self.number
                self.batch.undo.append(undo)

    def unrecorded(self, entry: Entry, undo: Callable[[Turn], None]) -> None:
        """Note the undo function of an unrecorded change of a copy; outside a `together` block, do nothing.

        Args:
            entry: The copy.
            undo: A function that undoes the change if the store refuses the records of the same block.
        """
        if self._unrecorded is not None:
            self._unrecorded.append((entry, undo))

    def answer(
        self,
        connection: int,
        token: int | None,
        refused: Refused | None = None,
        value: Value = None,
        gate: int = 0,
        *,
        properties: PeerProperties | None = None,
    ) -> None:
        """Answer a command, after all records of the turn so far are stored.

        Args:
            connection: The number of the command's connection.
            token: The command's token; None if the client wants no answer.
            refused: The reason of a refusal; None if the command was carried out.
            value: The command's result; None without a result.
            gate: The batch for which the answer waits if the turn has no records; 0 if it waits for no batch.
            properties: Properties of the destination for the client; None without properties.
        """
        if token is None:
            return
        after = self.number if self._records else gate
        waits_for = self._pending.get(after)
        if waits_for is not None:
            asker = connection, token
            waits_for.answers.append(asker)
            if waits_for is self.batch:
                waits_for.asker = asker
        self._effects.append(Answer(connection, token, refused, value, after or None, properties or NO_PROPERTIES))

    def once_undone(self, job: Callable[[Turn], None]) -> None:
        """Store a job that `all_undone` runs after all refused batches are undone.

        Example: the job closes a receiver, and so records a change of the receiver's subscription. If the job ran
        earlier, the undo of an older batch could change the subscription again.
        """
        self._follows.append(job)

    def if_refused(self, job: Callable[[Turn], None]) -> None:
        """Run a job if the store refuses the turn's records, after all refused batches are undone."""
        self.batch.undo.append(partial(_once_undone, job))

    def all_undone(self) -> None:
        """Run the jobs of `once_undone`; the caller has undone all refused batches."""
        for job in self._follows:
            job(self)

    def deliver(self, delivery: Delivery, effect: Deliver) -> None:
        """Deliver a message, after the batch in ``effect.after`` is stored."""
        if effect.after is not None:
            self._pending[effect.after].deliveries.append(delivery)
        self._effects.append(effect)

    def close_link(self, connection: int, link: int, refused: Refused) -> None:
        """Close a link from the broker's side, with a reason for the client."""
        self._effects.append(CloseLink(connection, link, refused))

    def to_member(self, member: str | None, parcel: Parcel, gate: int = 0) -> None:
        """Send a parcel to another queue manager, after all records of the turn so far are stored.

        Args:
            member: The name of the other queue manager; None for all others of the network.
            parcel: The parcel.
            gate: The batch for which the parcel waits if the turn has no records; 0 for none.
        """
        after = self.number if self._records else gate
        self._effects.append(ToMember(member, parcel, after or None))

    def trace(self, text: str, *objects: str) -> None:
        """Log a sentence about an event that no answer reports.

        Args:
            text: The sentence, without any content of a message.
            objects: The names of the objects that the sentence concerns.
        """
        self._effects.append(Trace(text, objects))

    def touch(self, queue: Queue) -> None:
        """Mark a queue, so that the core looks for possible deliveries from it at the end of the turn."""
        self._touched[queue.home] = queue

    @property
    def touches(self) -> bool:
        """Whether any queue is still marked (`touch`)."""
        return bool(self._touched)

    def pop_touched(self) -> Queue | None:
        """Remove the mark from a marked queue (`touch`) and return the queue; None if no queue is marked."""
        return self._touched.pop(next(iter(self._touched))) if self._touched else None

    def effects(self) -> tuple[Effect, ...]:
        """Return all effects of the turn, the batch of records first."""
        if self._records:
            return (Persist(self.number, tuple(self._records)), *self._effects)
        return tuple(self._effects)


def _once_undone(job: Callable[[Turn], None], failed: Turn) -> None:
    failed.once_undone(job)
