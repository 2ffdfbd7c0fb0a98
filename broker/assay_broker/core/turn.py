"""One turn of the core: what one command causes, gathered until its end.

Everything recorded in a turn is one batch, and so happens altogether or not at all.  What leaves the broker because of
it waits for that batch (PD-20, PD-24).
"""

from __future__ import annotations

from collections.abc import Callable

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
    """What has to be taken back, or told, when a batch cannot be stored.

    Args:
        undo: Takes back what the batch's records say, to be called from the last to the first.
        answers: Connection and token of the answers that wait for it.
        deliveries: Deliveries that wait for it.
        unit: The unit of work that it commits, prepares or resolves; None for none.
        asker: Connection and token of the command that it is for.
    """

    undo: list[Callable[[Turn], None]]
    answers: list[tuple[int, int]]
    deliveries: list[Delivery]
    unit: Work | None = None
    asker: tuple[int, int] | None = None


class Together:
    """A part of a turn that happens altogether or not at all; every message is put in one, so it is made lightly.

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
    """What one command causes.

    Args:
        now_ms: When, in milliseconds since the epoch.
        number: The number of the batch, if something is recorded.
        pending: The batches that are not stored yet, by their numbers.
    """

    def __init__(self, now_ms: int, number: int, pending: dict[int, Batch]) -> None:
        self.now_ms = now_ms
        self.number = number
        self.batch = Batch([], [], [])
        self.looks = False
        """Whether the delivery delay processor has to look at its queue, once everything is undone."""
        self._follows: list[Callable[[Turn], None]] = []
        self._pending = pending
        self._records: list[Record] = []
        self._unrecorded: list[tuple[Entry, Callable[[Turn], None]]] | None = None
        self._effects: list[Effect] = []
        self._touched: dict[str, Queue] = {}

    @property
    def recorded(self) -> bool:
        """Whether something is to be stored."""
        return bool(self._records)

    def record(self, record: Record, undo: Callable[[Turn], None]) -> int:
        """Something is to be stored.

        Args:
            record: What.
            undo: Takes it back when the store fails.

        Returns:
            The batch that stores it.
        """
        if not self._records:
            self._pending[self.number] = self.batch
        self._records.append(record)
        self.batch.undo.append(undo)
        return self.number

    def together(self) -> Together:
        """What is done meanwhile happens altogether or not at all.

        If anything of it is recorded, the rest, which never reaches the store, waits for that and is taken back with
        it: a unit of work is not half backed out, and a release that the store refuses leaves no copy behind.
        """
        return Together(self)

    @property
    def is_together(self) -> bool:
        """Whether what is done now happens altogether or not at all (`together`)."""
        return self._unrecorded is not None

    def begin_together(self) -> int | None:
        """What belongs together begins; how much is recorded so far, None for a part of something larger."""
        if self._unrecorded is not None:
            return None
        self._unrecorded = []
        return len(self._records)

    def end_together(self, before: int, *, done: bool) -> None:
        """What belongs together has been done, or an error has stopped it.

        Args:
            before: How much was recorded when it began.
            done: Whether it has been done.
        """
        unrecorded, self._unrecorded = self._unrecorded or (), None
        if done and len(self._records) > before:
            for entry, undo in unrecorded:
                entry.batch = self.number
                self.batch.undo.append(undo)

    def unrecorded(self, entry: Entry, undo: Callable[[Turn], None]) -> None:
        """Something happens to a copy that never reaches the store.

        Args:
            entry: The copy.
            undo: Takes it back when the store fails to take what happens together with it.
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
        """Have something done once every batch that the store refuses is undone (`all_undone`).

        A link that ends tells the store of its subscription, which an older batch may still take back.
        """
        self._follows.append(job)

    def all_undone(self) -> None:
        """Nothing more is taken back: what follows from it is done."""
        for job in self._follows:
            job(self)

    def deliver(self, delivery: Delivery, effect: Deliver) -> None:
        """Hand a message out, once its gate is stored."""
        if effect.after is not None:
            self._pending[effect.after].deliveries.append(delivery)
        self._effects.append(effect)

    def close_link(self, connection: int, link: int, refused: Refused) -> None:
        """Close a link from our side."""
        self._effects.append(CloseLink(connection, link, refused))

    def to_member(self, member: str | None, parcel: Parcel, gate: int = 0) -> None:
        """Send something to another queue manager, once everything recorded so far, and the gate, is stored.

        Args:
            member: Its name; None for all others.
            parcel: What.
            gate: A batch to wait for besides; 0 for none.
        """
        after = self.number if self._records else gate
        self._effects.append(ToMember(member, parcel, after or None))

    def trace(self, text: str, *objects: str) -> None:
        """Have something logged."""
        self._effects.append(Trace(text, objects))

    def touch(self, queue: Queue) -> None:
        """A queue may have something for a receiver: to be looked at before the turn ends."""
        self._touched[queue.home] = queue

    @property
    def touches(self) -> bool:
        """Whether a queue is to be looked at before the turn ends."""
        return bool(self._touched)

    def pop_touched(self) -> Queue | None:
        """A queue that was touched; None when there is none left."""
        return self._touched.pop(next(iter(self._touched))) if self._touched else None

    def effects(self) -> tuple[Effect, ...]:
        """Everything that is to be done, what is to be stored first."""
        if self._records:
            return (Persist(self.number, tuple(self._records)), *self._effects)
        return tuple(self._effects)
