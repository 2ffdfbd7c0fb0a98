"""Defects of the storing of delays and staged messages, and of restarts that change them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Browse, Cancel, Command, Put
from assay_broker.core.effects import Deliver
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.records import MessageRemoved, MessageStored, Record, SubscriptionDefined
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.persistence.waiting_messages import lost_at_second_restart
from assay_broker.defects.sends import (
    SHIFT,
    cancelled,
    dropped,
    handed_in,
    is_durable,
    is_staged,
    is_topic,
    left_ms,
    resent,
    twice,
    undelayed,
    unheard,
)
from assay_broker.defects.shapes import (
    Commands,
    commands,
    delayed_puts,
    deliveries,
    filters,
    puts,
    read,
    read_together,
    writing,
)
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message

_SECOND_MS = 1_000
_BITS_32 = 2**32
_STAGED_AT_MOST = 8


# DD-02


@defect(puts, "delay-in-whole-seconds", "DD-02")
def _in_whole_seconds(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker cuts delays to whole seconds."""
    delay_ms = left_ms(put.message, now_ms)
    if not delay_ms % _SECOND_MS:
        return None
    return resent(put, delivery_time_ms=now_ms + delay_ms // _SECOND_MS * _SECOND_MS)


@defect(puts, "delay-in-32-bits", "DD-02")
def _in_32_bits(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker keeps only the lowest 32 bits of a delay in milliseconds."""
    delay_ms = left_ms(put.message, now_ms)
    if delay_ms < _BITS_32:
        return None
    return resent(put, delivery_time_ms=now_ms + delay_ms % _BITS_32)


@defect(puts, "early-for-durable-subscribers", "DD-02")
def _early_for_durable(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker does not delay publications for durable subscriptions."""
    live = any(not is_durable(attach) for attach in view.on(target))
    if not is_topic(target) or live or not left_ms(put.message, now_ms):
        return None
    return undelayed(put)


@defect(puts, "early-in-unit", "DD-02", "DD-27", "DD-26")
def _early_in_unit(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The commit of a unit of work delivers its delayed messages at once."""
    if put.unit is None or not left_ms(put.message, now_ms):
        return None
    return undelayed(put)


@defect(made, "early-for-late-receivers", "DD-02")
def _early_for_late_receivers() -> Seams:
    """When the first receiver opens on a queue during a delay, it gets the delayed message at once."""
    staged: dict[Address, list[Message]] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Put):
            target = view.target(command)
            if (
                target is not None
                and not is_topic(target)
                and command.unit is None
                and left_ms(command.message, now_ms)
            ):
                staged.setdefault(target, []).append(command.message)
        if not isinstance(command, Attach) or view.on(command.address):
            return None
        waiting = staged.pop(command.address, ())
        early = [message for message in waiting if (message.delivery_time_ms or 0) > now_ms]
        unstaged = (Cancel(command.connection, None, message.message_id or "") for message in early)
        undelayed = (replace(message, delivery_time_ms=None) for message in early)
        return (*unstaged, *handed_in(view, command.address, *undelayed), command)

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        staged.clear()
        return tuple(records)

    return filters(rewrite, read=start)


# DD-03


@defect(made, "staged-lost-by-browsing", "DD-03")
def _lost_by_browsing() -> Seams:
    """When a client browses a queue, the broker drops the messages that are staged for it."""
    staged: dict[Address, list[str]] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Put) and left_ms(command.message, now_ms):
            target, message_id = view.target(command), command.message.message_id
            if target is not None and message_id is not None:
                staged.setdefault(target, []).append(message_id)
        if not isinstance(command, Browse):
            return None
        return (command, *(Cancel(command.connection, None, one) for one in staged.pop(command.address, ())))

    return commands(rewrite)


@defect(made, "staging-overflows", "DD-03")
def _overflows() -> Seams:
    """The broker stages up to eight messages for a destination, and accepts and drops further delayed messages."""
    staged: dict[Address, list[int]] = {}

    def drop(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
        if not left_ms(put.message, now_ms):
            return None
        still = staged[target] = [due for due in staged.get(target, ()) if due > now_ms]
        if len(still) >= _STAGED_AT_MOST:
            return (dropped(put, now_ms),)
        still.append(put.message.delivery_time_ms or 0)
        return None

    return puts(drop)


@defect(read, "staged-publications-lost-at-restart", "DD-03")
def _publications_lost(record: Record) -> tuple[Record, ...]:
    """A restart loses persistent delayed publications, but keeps delayed messages for queues."""
    lost = is_staged(record) and record.home.startswith("subscription://")
    return () if lost else (record,)


@defect(read_together, "staged-for-patterns-lost-at-restart", "DD-03")
def _patterns_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """A restart loses persistent delayed publications for subscriptions to topic patterns."""
    homes = {
        f"{SUBSCRIPTION_HOME}{one.number}"
        for one in records
        if isinstance(one, SubscriptionDefined) and {"#", "+"} & {*one.topic.name}
    }
    return tuple(one for one in records if not (is_staged(one) and one.home in homes))


@defect(read_together, "staged-twice-at-restart", "DD-03")
def _staged_twice(records: Sequence[Record]) -> tuple[Record, ...]:
    """A restart recovers each stored delayed message twice."""
    out: list[Record] = []
    for record in records:
        out.append(record)
        if is_staged(record):
            out.append(replace(record, key=record.key + SHIFT))
    return tuple(out)


@defect(puts, "released-twice", "DD-03")
def _released_twice(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker delivers a message twice if its delay is at most a second and its queue had a receiver at the send."""
    awaited = put.unit is None and bool(view.on(target))
    return twice(put) if awaited and 0 < left_ms(put.message, now_ms) <= _SECOND_MS else None


@defect(made, "moved-publication-stays-stored", "DD-03")
def _moved_stays() -> Seams:
    """A released publication stays in the store as staged, so the broker releases it again after a restart."""
    staged: set[int] = set()

    def keep(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        staged.update(one.key for one in records if is_staged(one) and one.home.startswith(SUBSCRIPTION_HOME))
        return tuple(one for one in records if not (isinstance(one, MessageRemoved) and one.key in staged))

    return writing(keep)


@defect(delayed_puts, "one-staged-for-each-moment", "DD-03")
def _one_for_each_moment(put: Put, sent: Sent, view: View) -> Commands | None:
    """If several delays for one destination end in the same millisecond, the broker keeps only the last message."""
    same = (id_ for id_, one in view.delayed.items() if (one.target, one.due_ms) == (sent.target, sent.due_ms))
    lost = cancelled(view, *same)
    return (*lost, put) if lost else None


# DD-04


@defect(made, "behind-the-delayed", "DD-04")
def _behind_the_delayed() -> Seams:
    """A queue keeps the order of its sends, so a message without a delay waits behind a delayed one."""
    latest: dict[Address, int] = {}

    def wait(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
        if left_ms(put.message, now_ms):
            latest[target] = max(put.message.delivery_time_ms or 0, latest.get(target, 0))
            return None
        if latest.get(target, 0) <= now_ms:
            return None
        return resent(put, delivery_time_ms=latest[target] + 1)

    return puts(wait)


@defect(puts, "publications-staged", "DD-04")
def _publications_staged(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker also stages publications without a delay and delivers them three seconds late."""
    if not is_topic(target) or left_ms(put.message, now_ms) or put.unit is not None:
        return None
    return resent(put, delivery_time_ms=now_ms + 3_000)


# DD-51


@defect(made, "delayed-not-to-returning", "DD-51")
def _not_to_returning() -> Seams:
    """A subscriber that comes back during or after a delay does not get the delayed publication."""
    delayed: set[str | None] = set()
    started: dict[tuple[int, int], set[str | None]] = {}

    def note(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Put) and left_ms(command.message, now_ms):
            target = view.target(command)
            if target is not None and is_topic(target):
                delayed.add(command.message.message_id)
        for key in view.receivers.keys() - started.keys():
            started[key] = set(delayed)
        return None

    noting = commands(note)

    def drop(delivery: Deliver, _view: View) -> Deliver | None:
        missed = started.get((delivery.connection, delivery.link), set())
        return None if delivery.message.message_id in missed else delivery

    return replace(noting, effects=deliveries(drop).effects)


@defect(puts, "delayed-twice-to-durable", "DD-51")
def _durable_twice(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """Active durable subscribers get delayed publications twice."""
    active = any(is_durable(attach) for attach in view.on(target))
    return twice(put) if is_topic(target) and active and left_ms(put.message, now_ms) else None


@defect(puts, "delayed-twice-to-shared", "DD-51")
def _shared_twice(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The subscribers of a shared subscription together get each delayed publication twice."""
    shared = any(attach.shared for attach in view.on(target))
    return twice(put) if is_topic(target) and shared and left_ms(put.message, now_ms) else None


# DD-14, DD-56


@defect(puts, "raw-expiry-pair-taken", "DD-14")
def _raw_pair_taken(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker accepts a message whose time to live is below its delay, and ignores its time to live."""
    due, expiry = put.message.delivery_time_ms, put.message.expiry_ms
    if not left_ms(put.message, now_ms) or due is None or not expiry or expiry >= due:
        return None
    return resent(put, expiry_ms=None, ttl_ms=None)


@defect(read, "expiry-forgotten-at-restart", "DD-55", "DD-56")
def _expiry_forgotten(record: Record) -> tuple[Record, ...]:
    """A restart removes the time to live of stored messages."""
    return (replace(record, expires_ms=None),) if isinstance(record, MessageStored) else (record,)


@defect(puts, "edge-released-twice", "DD-56")
def _edge_twice(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker delivers a message twice if its time to live ends at the same moment as its delay.

    The defect stands for a broker in which the clean-up of expired messages and the release both deliver the message.
    """
    due, expiry = put.message.delivery_time_ms, put.message.expiry_ms
    if not left_ms(put.message, now_ms) or due is None or not expiry or abs(expiry - due) > 1:
        return None
    released = replace(put, message=replace(put.message, expiry_ms=None, ttl_ms=None))
    return (released, unheard(released))


STAGING_DEFECTS = (
    _in_whole_seconds,
    _in_32_bits,
    _early_for_durable,
    _early_in_unit,
    _early_for_late_receivers,
    _lost_by_browsing,
    _overflows,
    Defect(
        name="staged-lost-at-second-restart",
        rules=("DD-03",),
        text="Persistent delayed messages outlive one restart during their delay and are gone after the second.",
        apply=lambda: lost_at_second_restart(is_staged),
    ),
    _publications_lost,
    _patterns_lost,
    _staged_twice,
    _released_twice,
    _moved_stays,
    _one_for_each_moment,
    _behind_the_delayed,
    _publications_staged,
    _not_to_returning,
    _durable_twice,
    _shared_twice,
    _raw_pair_taken,
    _expiry_forgotten,
    _edge_twice,
)
