"""Defects of the qualities of service that show only at a second delivery, subscriber or restart."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Detach, Disconnect, Settle
from assay_broker.core.effects import Answer, Deliver, Effect, Persist
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.records import MessageMarked, MessageRemoved, MessageStored, Record, SubscriptionDefined
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.qos.qualities import lasts
from assay_broker.defects.sends import accepted, is_durable
from assay_broker.defects.shapes import Commands, commands, deliveries, filters, reading
from assay_broker.defects.view import View
from assay_broker.seams import Seams

_GIVEN_UP = 3
_THIRD_START = 3


def _on_subscription(record: Record) -> bool:
    return isinstance(record, MessageStored) and record.home.startswith(SUBSCRIPTION_HOME)


# records on disk


def _back(start: int, hit: Callable[[int, set[int]], bool]) -> Seams:
    """Make filters that bring consumed messages back to their subscriptions.

    Args:
        start: The messages come back from this start of the queue manager on; starts are counted from 1.
        hit: Chooses the messages when they are removed.  Its arguments are the key of a message's record, and the keys
            of all messages that have been redelivered.
    """
    stored: dict[int, MessageStored] = {}
    removed: dict[int, MessageStored] = {}
    marked: set[int] = set()

    def written(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        for record in records:
            if isinstance(record, MessageStored):
                stored[record.key] = record
            elif isinstance(record, MessageMarked):
                marked.add(record.key)
            elif isinstance(record, MessageRemoved) and record.key in stored and hit(record.key, marked):
                removed[record.key] = stored[record.key]
        return tuple(records)

    def read(records: Sequence[Record], view: View) -> tuple[Record, ...]:
        if view.starts < start:
            return tuple(records)
        homes = {f"{SUBSCRIPTION_HOME}{record.number}" for record in records if isinstance(record, SubscriptionDefined)}
        there = {record.key for record in records if isinstance(record, MessageStored)}
        back = (record for record in removed.values() if record.home in homes and record.key not in there)
        return (*records, *back)

    return filters(written=written, read=read)


@defect(reading, "subscriptions-lost-at-second-restart", "QS-08", "QS-32")
def _lost_at_third_start(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """The second restart loses persistent messages of subscriptions."""
    return tuple(record for record in records if view.starts < _THIRD_START or not _on_subscription(record))


# answers


def _early(hit: Callable[[int, list[MessageStored], View], bool]) -> Seams:
    """Make filters that answer some publications before they are on disk.

    Args:
        hit: Chooses publications, from the number of the publication since the start, its records and the defect's
            view.
    """
    count = 0

    def effects(passing: tuple[Effect, ...], _now_ms: int, view: View) -> tuple[Effect, ...]:
        nonlocal count
        batches = [effect.records for effect in passing if isinstance(effect, Persist)]
        copies = [record for batch in batches for record in batch if isinstance(record, MessageStored)]
        copies = [copy for copy in copies if copy.home.startswith(SUBSCRIPTION_HOME)]
        count += bool(copies)
        if not copies or not hit(count, copies, view):
            return passing
        return tuple(replace(effect, after=None) if isinstance(effect, Answer) else effect for effect in passing)

    return filters(effects=effects)


def _somebody_there(_count: int, _copies: list[MessageStored], view: View) -> bool:
    return any(lasts(attach) for attach in view.receivers.values())


# redelivery


@defect(deliveries, "given-up-after-three", "QS-09")
def _given_up(delivery: Deliver, view: View) -> Deliver | None:
    """The broker does not redeliver a message after three failed deliveries."""
    return None if delivery.count >= _GIVEN_UP and lasts(view.receiver(delivery)) else delivery


@defect(deliveries, "shared-handed-on-once", "QS-10")
def _second_hand(delivery: Deliver, view: View) -> Deliver | None:
    """The broker does not redeliver a message to a third sharer of a subscription."""
    attach = view.receiver(delivery)
    return None if delivery.count > 1 and attach is not None and attach.everybodys else delivery


@defect(commands, "shares-of-a-topic-are-one", "QS-10")
def _one_share(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker treats all shared subscriptions to a topic as one, so only one subscriber gets each message."""
    if isinstance(command, Attach) and command.everybodys:
        return (replace(command, name=f"share:{command.address.name}"),)
    return None


@defect(made, "shared-bound-at-restart", "QS-10")
def _bound_at_restart() -> Seams:
    """After a restart, the broker does not redeliver a message of one sharer to another sharer."""
    first: dict[str | None, str | None] = {}

    def bind(delivery: Deliver, view: View) -> Deliver | None:
        attach, client = view.receiver(delivery), view.client_id(delivery.connection)
        if attach is None or not attach.everybodys:
            return delivery
        holder = first.setdefault(delivery.message.message_id, client)
        return None if view.starts > 1 and holder != client else delivery

    return deliveries(bind)


@defect(commands, "closed-sharer-acknowledges", "QS-08")
def _close_accepts(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a sharer closes its consumer or connection, the sharer's unacknowledged messages count as acknowledged."""
    if not isinstance(command, Detach | Disconnect) or (isinstance(command, Disconnect) and not command.clean):
        return None
    return accepted(command, view, lambda attach, _one: attach.everybodys and not attach.settled)


@defect(made, "acknowledged-for-all-subscribers", "QS-08")
def _for_all_subscribers() -> Seams:
    """A message that one subscriber has acknowledged is not delivered to other subscribers afterwards."""
    by: dict[str | None, str | None] = {}

    def note(command: Command, _now_ms: int, view: View) -> None:
        if isinstance(command, Settle) and lasts(view.receiver(command)):
            for delivery in view.held(command):
                by.setdefault(delivery.message.message_id, view.client_id(command.connection))

    def withhold(delivery: Deliver, view: View) -> Deliver | None:
        client = view.client_id(delivery.connection)
        mine = by.get(delivery.message.message_id, client) == client
        return delivery if mine or not lasts(view.receiver(delivery)) else None

    return filters(note, delivery=withhold)


@defect(commands, "qos0-shared-persistent", "QS-30")
def _shared_keeps(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """On shared non-durable at-most-once subscriptions, messages have the persistence that their sender sets."""
    if isinstance(command, Attach) and command.settled and command.shared and not is_durable(command):
        return (replace(command, settled=False),)
    return None


REPETITION_DEFECTS = (
    Defect(
        name="later-publication-not-awaited",
        rules=("QS-04",),
        text="The broker answers all publications but the first before they are on disk.",
        apply=lambda: _early(lambda count, _copies, _watch: count > 1),
    ),
    Defect(
        name="only-queue-not-awaited",
        rules=("QS-04",),
        text="The broker answers a publication for a single subscriber before it is on disk.",
        apply=lambda: _early(lambda _count, copies, _watch: len(copies) == 1),
    ),
    Defect(
        name="queue-of-the-present-not-awaited",
        rules=("QS-04",),
        text="While a subscriber is connected, the broker answers publications before they are on disk.",
        apply=lambda: _early(_somebody_there),
    ),
    Defect(
        name="gone-back-at-second-restart",
        rules=("QS-06", "QS-08"),
        text="After the second restart, acknowledged messages and at-most-once messages are back.",
        apply=lambda: _back(_THIRD_START, lambda _key, _marked: True),
    ),
    Defect(
        name="second-acknowledgement-unwritten",
        rules=("QS-08",),
        text="The broker does not write the acknowledgement of a redelivered message to disk.",
        apply=lambda: _back(2, lambda key, marked: key in marked),
    ),
    _lost_at_third_start,
    _for_all_subscribers,
    _close_accepts,
    _given_up,
    _second_hand,
    _one_share,
    _bound_at_restart,
    _shared_keeps,
)
