"""One turn of the core: the effects of one command, collected until its end.

All records of a turn form one batch, which the store takes whole or not at all.  Effects that leave the broker wait for
that batch (PD-20, PD-24).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec import Struct

from assay_broker.core.clients.units import Work
from assay_broker.core.effects import NOTHING_TOLD, Answer, CloseLink, Deliver, Effect, Persist, ToMember, Trace, Value
from assay_broker.core.messages.entries import Entry
from assay_broker.core.networks.parcels import Parcel
from assay_broker.core.queues.queue import Delivery, Queue
from assay_broker.core.records import Record
from assay_sdk.driver import PeerProperties
from assay_sdk.model.reasons import Refused


class Batch(Struct, eq=False):
    """A batch of records that is not stored yet, with what to do if the store refuses it.

    Args:
        undo: Functions that undo the records, to be called from the last to the first.
        answers: Connection and token of the answers that wait for it.
        deliveries: Deliveries that wait for it.
        unit: The unit of work that it commits, prepares or resolves; None for none.
        asker: Connection and token of its command.
    """

    undo: list[Callable[[Turn], None]]
    answers: list[tuple[int, int]]
    deliveries: list[Delivery]
    unit: Work | None = None
    asker: tuple[int, int] | None = None


class Together:
    """A part of a turn that happens altogether or not at all.  Cheap to make: each message is put in one.

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
            self._turn.end_together(self._before, done=kind is None)


class Turn:
    """The effects of one command.

    Args:
        now_ms: Time, in milliseconds since the epoch.
        number: The number of the batch, if something is recorded.
        pending: The batches that are not stored yet, by their numbers.
    """

    def __init__(self, now_ms: int, number: int, pending: dict[int, Batch]) -> None:
        self.now_ms = now_ms
        self.number = number
        self.batch = Batch([], [], [])
        self.looks = False
        """Whether the delivery delay processor has to check its queue after the undoing."""
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
        """Add a record.

        Args:
            record: The record.
            undo: Undoes it if the store fails.

        Returns:
            The batch that stores it.
        """
        if not self._records:
            self._pending[self.number] = self.batch
        self._records.append(record)
        self.batch.undo.append(undo)
        return self.number

    def together(self) -> Together:
        """Have everything inside the block happen altogether or not at all.

        If anything of it is recorded, the rest, which never reaches the store, waits for that and is taken back with
        it: a unit of work is not half backed out, and a release that the store refuses leaves no copy behind.
        """
        return Together(self)

    @property
    def is_together(self) -> bool:
        """Whether the turn is inside a `together` block."""
        return self._unrecorded is not None

    def begin_together(self) -> int | None:
        """Begin a `together` block; returns the number of records so far, None inside another block."""
        if self._unrecorded is not None:
            return None
        self._unrecorded = []
        return len(self._records)

    def end_together(self, before: int, *, done: bool) -> None:
        """End a `together` block.

        Args:
            before: The number of records when it began.
            done: Whether it ended without an error.
        """
        unrecorded, self._unrecorded = self._unrecorded or (), None
        if done and len(self._records) > before:
            for entry, undo in unrecorded:
                entry.batch = self.number
                self.batch.undo.append(undo)

    def unrecorded(self, entry: Entry, undo: Callable[[Turn], None]) -> None:
        """Note a change of a copy that the store does not hold.

        Args:
            entry: The copy.
            undo: Undoes it if the store refuses the records of the same block.
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
        """Answer a command, once everything recorded so far, and the gate, is stored."""
        if token is None:
            return
        after = self.number if self._records else gate
        waits_for = self._pending.get(after)
        if waits_for is not None:
            asker = connection, token
            waits_for.answers.append(asker)
            if waits_for is self.batch:
                waits_for.asker = asker
        self._effects.append(Answer(connection, token, refused, value, after or None, properties or NOTHING_TOLD))

    def once_undone(self, job: Callable[[Turn], None]) -> None:
        """Run a job after all refused batches are undone (`all_undone`).

        Example: a link that ends records a change of its subscription, which an older batch may still undo.
        """
        self._follows.append(job)

    def if_refused(self, job: Callable[[Turn], None]) -> None:
        """Run a job if the store refuses the turn's records, after all refused batches are undone."""
        self.batch.undo.append(partial(_once_undone, job))

    def all_undone(self) -> None:
        """Run the jobs that wait for the end of the undoing."""
        for job in self._follows:
            job(self)

    def deliver(self, delivery: Delivery, effect: Deliver) -> None:
        """Deliver a message, once its gate is stored."""
        if effect.after is not None:
            self._pending[effect.after].deliveries.append(delivery)
        self._effects.append(effect)

    def close_link(self, connection: int, link: int, refused: Refused) -> None:
        """Close a link from our side."""
        self._effects.append(CloseLink(connection, link, refused))

    def to_member(self, member: str | None, parcel: Parcel, gate: int = 0) -> None:
        """Send a parcel to another queue manager, once all records so far and the gate are stored.

        Args:
            member: Its name; None for all others.
            parcel: The parcel.
            gate: A batch to wait for besides; 0 for none.
        """
        after = self.number if self._records else gate
        self._effects.append(ToMember(member, parcel, after or None))

    def trace(self, text: str, *objects: str) -> None:
        """Write a line to the log."""
        self._effects.append(Trace(text, objects))

    def touch(self, queue: Queue) -> None:
        """Have the turn check this queue for deliveries before it ends."""
        self._touched[queue.home] = queue

    @property
    def touches(self) -> bool:
        """Whether a queue waits for its check."""
        return bool(self._touched)

    def pop_touched(self) -> Queue | None:
        """Take a queue that waits for its check; None if none is left."""
        return self._touched.pop(next(iter(self._touched))) if self._touched else None

    def effects(self) -> tuple[Effect, ...]:
        """Return all effects, the records first."""
        if self._records:
            return (Persist(self.number, tuple(self._records)), *self._effects)
        return tuple(self._effects)


def _once_undone(job: Callable[[Turn], None], failed: Turn) -> None:
    failed.once_undone(job)
