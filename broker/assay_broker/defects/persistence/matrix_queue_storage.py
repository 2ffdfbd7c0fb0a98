"""Defects in the storage of persistent messages of queues (PD-20)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Command, Commit, Put, Settle, StoreFailed
from assay_broker.core.effects import Answer, Effect
from assay_broker.core.messages.bodies import opened
from assay_broker.core.records import MessageMarked, MessageRemoved, MessageStored, Record, SubscriptionDefined
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.persistence.filters import kept_although_refused, refused_by_store, text_of
from assay_broker.defects.sends import as_text
from assay_broker.defects.shapes import Commands, filters, read, read_together, written
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_broker.stores import Store
from assay_sdk.model.message import Message

_LARGE = 1 << 16
"""The greatest length of a body that does not count as large, in characters or octets."""


class _Unflushed:
    """A store whose flushes do nothing.

    Args:
        store: The store that holds the records.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def write(self, records: Sequence[Record]) -> None:
        self._store.write(records)

    def flush(self) -> None:
        """Write nothing to disk."""

    def drop(self) -> None:
        self._store.drop()

    def load(self) -> tuple[Record, ...]:
        return self._store.load()

    def holds(self, octets: bytes) -> bool:
        return self._store.holds(octets)


class _Swapped(_Unflushed):
    """A store that keeps the last batch of records of each flush until the next flush, and writes it there at the end.

    Args:
        store: The store that holds the records.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._waiting: list[Sequence[Record]] = []
        self._late: Sequence[Record] = ()

    def write(self, records: Sequence[Record]) -> None:
        self._waiting.append(records)

    def flush(self) -> None:
        *early, last = self._waiting or [()]
        for batch in (*early, self._late):
            self._store.write(batch)
        self._waiting, self._late = [], last
        self._store.flush()

    def drop(self) -> None:
        self._waiting, self._late = [], ()
        self._store.drop()


@defect(made, "store-refused-stays-queued", "DD-25", "PD-20", "PD-23", "QS-04")
def _store_refused_stays() -> Seams:
    """The broker delivers a message without a delay although the store refused to record the send or the commit."""
    return kept_although_refused(lambda sent: not sent.delayed)


@defect(made, "store-refused-accepted", "PD-20", "PD-23")
def _store_refused_accepted() -> Seams:
    """The broker accepts a send although the store refused the message."""
    asked: set[tuple[int, int | None]] = set()

    def command(passing: Command, _now_ms: int, _view: View) -> Commands | None:
        if isinstance(passing, Put):
            asked.add((passing.connection, passing.token))
        return None

    def effects(passing: tuple[Effect, ...], _now_ms: int, _view: View) -> tuple[Effect, ...]:
        return tuple(told(effect) if isinstance(effect, Answer) else effect for effect in passing)

    def told(answer: Answer) -> Answer:
        of_send = (answer.connection, answer.token) in asked
        return replace(answer, refused=None) if of_send and refused_by_store(answer) else answer

    return filters(command, effects=effects)


@defect(made, "store-refused-after-restart", "PD-20")
def _refused_after_restart() -> Seams:
    """A restart brings back messages that the store refused."""
    newest: list[Record] = []
    refused: list[Record] = []

    def note(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        newest[:] = [record for record in records if isinstance(record, MessageStored)]
        return tuple(records)

    def command(passing: Command, _now_ms: int, _view: View) -> Commands | None:
        if isinstance(passing, StoreFailed):
            refused.extend(newest)
        return None

    return filters(command, read=lambda records, _view: (*records, *refused), written=note)


def _read_altered(alter: Callable[[Message], Message]) -> Seams:
    """Make filters that alter each message that the queue manager reads at a start, except staged messages."""

    def record_read(record: Record) -> tuple[Record, ...]:
        if isinstance(record, MessageStored) and record.due_ms is None:
            return (replace(record, message=alter(opened(record.message))),)
        return (record,)

    return read(record_read)


def _ascii_only(message: Message) -> Message:
    text = text_of(message)
    return message if text.isascii() else replace(message, body=text.encode("ascii", "replace").decode())


def _cut(message: Message) -> Message:
    return message if message.body is None else replace(message, body=message.body[:_LARGE])


def _long_beyond_ascii_cut(message: Message) -> Message:
    text = text_of(message)
    return message if text.isascii() or len(text) <= _LARGE else replace(message, body=text[: len(text) // 2])


@defect(read_together, "large-bodies-mixed-at-restart", "PD-20")
def _large_mixed(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a restart, all large stored bodies are the body of the last large message."""
    stored = [opened(one.message) for one in records if isinstance(one, MessageStored)]
    large = {one.message_id for one in stored if len(one.body or "") > _LARGE}
    last = next((one.body for one in reversed(stored) if one.message_id in large), None)

    def mixed(record: Record) -> Record:
        if not isinstance(record, MessageStored) or opened(record.message).message_id not in large:
            return record
        return replace(record, message=replace(opened(record.message), body=last))

    return tuple(map(mixed, records))


def _without_headers(message: Message) -> Message:
    """Remove the headers and properties of a message, except the kit's own properties."""
    own = {name: value for name, value in message.properties.items() if name.startswith("assay")}
    return replace(
        message,
        durable=False,
        priority=None,
        correlation_id=None,
        group_id=None,
        reply_to=None,
        subject=None,
        properties=own,
    )


def _sent_anew(message: Message) -> Message:
    """Return a copy of a message with another message id, and a time stamp that is 1 ms later."""
    return replace(message, message_id=f"{message.message_id}-1", creation_ms=(message.creation_ms or 0) + 1)


@defect(written, "empty-body-unwritten", "PD-20", "PD-23", "QS-32")
def _empty_unwritten(record: Record) -> tuple[Record, ...]:
    """The broker does not write persistent messages with an empty body."""
    return () if isinstance(record, MessageStored) and not opened(record.message).body else (record,)


@defect(read, "marked-by-restart", "PD-20")
def _marked(record: Record) -> tuple[Record, ...]:
    """A restart marks every stored message as redelivered."""
    return (record, MessageMarked(record.key, 1)) if isinstance(record, MessageStored) else (record,)


@defect(read, "marks-forgotten-by-restart", "PD-20", "QS-09", "BT-11", "BT-12", "BT-13")
def _unmarked(record: Record) -> tuple[Record, ...]:
    """A restart removes the redelivered mark of stored messages."""
    return () if isinstance(record, MessageMarked) else (record,)


@defect(made, "recovered-removals-unwritten", "PD-20", "PD-24")
def _recovered_removals_unwritten() -> Seams:
    """A message that survived one restart and was then consumed comes back at the next restart."""
    old: set[int] = set()

    def learn(records: Sequence[Record]) -> tuple[Record, ...]:
        old.update(record.key for record in records if isinstance(record, MessageStored))
        return tuple(records)

    def written(records: Sequence[Record]) -> tuple[Record, ...]:
        return tuple(one for one in records if not isinstance(one, MessageRemoved) or one.key not in old)

    return Seams(read=learn, written=written)


@defect(made, "second-restart-loses-older", "PD-20", "PD-23", "PD-25")
def _second_restart_loses() -> Seams:
    """A restart loses messages and durable subscriptions that survived an earlier restart."""
    known: set[tuple[type[Record], int]] = set()

    def lose(records: Sequence[Record]) -> tuple[Record, ...]:
        kept: list[Record] = []
        for record in records:
            if isinstance(record, MessageStored | SubscriptionDefined):
                name = type(record), record.key if isinstance(record, MessageStored) else record.number
                if name in known:
                    continue
                known.add(name)
            kept.append(record)
        return tuple(kept)

    return Seams(read=lose)


@defect(made, "unit-loses-what-it-took-at-restart", "PD-20")
def _unit_loses_taken() -> Seams:
    """A restart loses messages that a unit of work received and did not commit, even after a rollback."""
    taken: set[str | None] = set()

    def note(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Settle) and command.unit is not None:
            taken.update(one.message.message_id for one in view.held(command))
        elif isinstance(command, Commit):
            taken.difference_update(one.message.message_id for unit in view.ended(command) for one in unit.taken)
        return None

    def lose(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        return tuple(
            one for one in records if not isinstance(one, MessageStored) or one.message.message_id not in taken
        )

    return filters(note, read=lose)


@defect(read, "expiry-lost-at-restart", "PD-20", "PD-25")
def _expiry_lost(record: Record) -> tuple[Record, ...]:
    """After a restart, a stored message never expires."""
    if not isinstance(record, MessageStored) or record.expires_ms is None:
        return (record,)
    lasting = replace(opened(record.message), ttl_ms=None, expiry_ms=None)
    return (replace(record, expires_ms=None, message=lasting),)


PERSISTENCE_MATRIX_QUEUE_STORAGE_DEFECTS = (
    Defect(
        name="flush-forgotten",
        rules=("PD-20", "PD-23"),
        text="The store reports a flush without writing anything to disk.",
        apply=lambda: Seams(store=_Unflushed),
    ),
    Defect(
        name="batches-swapped",
        rules=("PD-20", "PD-23"),
        text="The last batch of records of each flush reaches the disk at the end of the next flush.",
        apply=lambda: Seams(store=_Swapped),
    ),
    _store_refused_stays,
    _store_refused_accepted,
    _empty_unwritten,
    Defect(
        name="non-ascii-damaged-at-restart",
        rules=("PD-20", "PD-23", "QS-32"),
        text="A restart replaces every non-ASCII character of a stored message by a question mark.",
        apply=lambda: _read_altered(_ascii_only),
    ),
    Defect(
        name="large-body-cut-at-restart",
        rules=("PD-20", "PD-23", "QS-32"),
        text="A restart cuts stored bodies at 64 KB.",
        apply=lambda: _read_altered(_cut),
    ),
    Defect(
        name="long-non-ascii-cut-at-restart",
        rules=("PD-20", "PD-23"),
        text="A restart cuts stored bodies of more than 64 KB with non-ASCII characters to half their length.",
        apply=lambda: _read_altered(_long_beyond_ascii_cut),
    ),
    Defect(
        name="bytes-become-text-at-restart",
        rules=("PD-20", "PD-23", "QS-32"),
        text="A restart turns stored bodies of bytes into texts, with U+FFFD for octets that are not UTF-8.",
        apply=lambda: _read_altered(as_text),
    ),
    Defect(
        name="sent-anew-at-restart",
        rules=("PD-20", "PD-23"),
        text="A restart gives stored messages another message id and time stamp.",
        apply=lambda: _read_altered(_sent_anew),
    ),
    Defect(
        name="headers-lost-at-restart",
        rules=("PD-20", "PD-23"),
        text="A stored message has neither its headers nor its properties after a restart.",
        apply=lambda: _read_altered(_without_headers),
    ),
    _marked,
    _unmarked,
    _recovered_removals_unwritten,
    _large_mixed,
    _second_restart_loses,
    _unit_loses_taken,
    _expiry_lost,
    _refused_after_restart,
)
