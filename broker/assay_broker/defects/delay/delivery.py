"""Defects of delayed delivery and of expiry."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core import commands as core
from assay_broker.core.commands import Browse, Command, Put
from assay_broker.core.effects import Answer, Browsed, Effect
from assay_broker.core.records import MessageRemoved, MessageStored, Record
from assay_broker.defects.model import (
    Defect,
    Watch,
    also_reading,
    commands,
    handed_in,
    is_durable,
    is_topic,
    puts,
    read,
)
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message

_FAR_MS = 10**12
_SHIFT = 10**9
_AGENT = -1  # a connection of the defect's own


def _due(put: Put, now_ms: int) -> int | None:
    """When a delayed message is due; None for one that is not delayed."""
    due = put.message.delivery_time_ms
    return due if due is not None and due > now_ms else None


def _with(put: Put, message: Message) -> tuple[Command, ...]:
    return (replace(put, message=message),)


def _undelayed(put: Put) -> tuple[Command, ...]:
    return _with(put, replace(put.message, delivery_time_ms=None))


def _early(put: Put, _target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    due = _due(put, now_ms)
    if due is None:
        return None
    return _with(put, replace(put.message, delivery_time_ms=due - max(1, (due - now_ms) // 10)))


def _early_if_urgent(put: Put, _target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    urgent = (put.message.priority or 0) > 4  # noqa: PLR2004 - JMS's default priority
    return _undelayed(put) if urgent and _due(put, now_ms) is not None else None


def _early_for_selectors(put: Put, target: Address, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
    selecting = any(attach.selector for attach in watch.on(target))
    return _undelayed(put) if selecting and _due(put, now_ms) is not None else None


def _early_for_shared(put: Put, target: Address, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
    shared = any(attach.shared for attach in watch.on(target))
    return _undelayed(put) if shared and _due(put, now_ms) is not None else None


def _early_for_live_subscribers(put: Put, target: Address, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
    live = is_topic(target) and any(not attach.shared and not is_durable(attach) for attach in watch.on(target))
    return _undelayed(put) if live and _due(put, now_ms) is not None else None


def _delay_leaves_unit(put: Put, _target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    return (replace(put, unit=None),) if put.unit is not None and _due(put, now_ms) is not None else None


def _early_for_browsers() -> Seams:
    watch = Watch()
    delayed: list[tuple[Address, Message]] = []
    browsed: dict[tuple[int, int], Address] = {}

    def command(passing: Command, now_ms: int) -> tuple[Command, ...]:
        watch.note(passing)
        if isinstance(passing, Put) and _due(passing, now_ms) is not None:
            target = watch.target(passing)
            if target is not None:
                delayed.append((target, passing.message))
        elif isinstance(passing, Browse) and passing.token is not None:
            browsed[passing.connection, passing.token] = passing.address
        return (passing,)

    def effects(passing: tuple[Effect, ...], now_ms: int) -> tuple[Effect, ...]:
        return tuple(_shown(effect, now_ms) if isinstance(effect, Answer) else effect for effect in passing)

    def _shown(answer: Answer, now_ms: int) -> Answer:
        address = browsed.pop((answer.connection, answer.token), None)
        if address is None or answer.value is None:
            return answer
        early = [
            Browsed(message, 0)
            for target, message in delayed
            if target == address and (message.delivery_time_ms or 0) > now_ms
        ]
        return replace(answer, value=(*answer.value, *early))

    return Seams(command=command, effects=effects)


def _staged_in_order() -> Seams:
    latest: dict[Address, int] = {}

    def in_order(put: Put, target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
        due = _due(put, now_ms)
        if due is None:
            return None
        latest[target] = max(due, latest.get(target, 0))
        return _with(put, replace(put.message, delivery_time_ms=latest[target]))

    return puts(in_order)


def _only_for_waiting(put: Put, target: Address, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
    if _due(put, now_ms) is None or is_topic(target) or watch.on(target):
        return None
    return _with(put, replace(put.message, delivery_time_ms=now_ms + _FAR_MS))


def _late(put: Put, target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    due = _due(put, now_ms)
    if due is None or is_topic(target):
        return None
    return _with(put, replace(put.message, delivery_time_ms=due + 30_000))


def _delay_forgotten(record: Record) -> tuple[Record, ...]:
    return (replace(record, due_ms=None),) if isinstance(record, MessageStored) else (record,)


def _staged_lost(record: Record) -> tuple[Record, ...]:
    return () if isinstance(record, MessageStored) and record.due_ms is not None else (record,)


def _released_again() -> Seams:
    staged: set[int] = set()

    def written(records: Sequence[Record]) -> tuple[Record, ...]:
        staged.update(record.key for record in records if isinstance(record, MessageStored) and record.due_ms)
        return tuple(record for record in records if not (isinstance(record, MessageRemoved) and record.key in staged))

    return Seams(written=written)


def _kept_though_non_persistent(*, twice: bool) -> Seams:
    """Non-persistent delayed messages survive a restart, which is allowed, and then come early or twice."""

    def persistent(put: Put, _target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
        if put.message.durable or _due(put, now_ms) is None:
            return None
        marked = {**put.message.properties, "defect_kept": True}
        return _with(put, replace(put.message, durable=True, properties=marked))

    def again(records: Sequence[Record]) -> tuple[Record, ...]:
        out: list[Record] = []
        for record in records:
            kept = isinstance(record, MessageStored) and "defect_kept" in record.message.properties
            if not kept or not isinstance(record, MessageStored):
                out.append(record)
            elif twice:
                out += [record, replace(record, key=record.key + _SHIFT)]
            else:
                out.append(replace(record, due_ms=None))
        return tuple(out)

    return also_reading(puts(persistent), again)


def _staged_without_delay(put: Put, target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    if put.message.delivery_time_ms is not None or is_topic(target) or put.unit is not None:
        return None
    return _with(put, replace(put.message, delivery_time_ms=now_ms + 3_000))


def _matched_at_release() -> Seams:
    """Delayed publications wait on a queue of the defect's own and are published when their delay is over."""
    hold = Address(AddressKind.QUEUE, "DEFECT.HOLD")
    waiting: list[tuple[int, Address, Message]] = []

    def rewrite(command: Command, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        due_now = [one for one in waiting if one[0] <= now_ms]
        waiting[:] = [one for one in waiting if one[0] > now_ms]
        before: list[Command] = []
        for _, topic, message in due_now:
            before += handed_in(_AGENT, topic, replace(message, delivery_time_ms=None))
        if isinstance(command, Put):
            target, due = watch.target(command), _due(command, now_ms)
            if target is not None and due is not None and is_topic(target) and command.unit is None:
                waiting.append((due, target, command.message))
                link = core.AttachSender(command.connection, None, _AGENT, None)
                held = Put(command.connection, command.token, _AGENT, replace(command.message, to=hold))
                return (*before, link, held)
        return (*before, command) if before else None

    return commands(rewrite)


def _unsubscribe_ignored(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    if not isinstance(command, core.Unsubscribe):
        return None
    nothing = Address(AddressKind.QUEUE, "DEFECT.NOTHING")
    return (Browse(command.connection, command.token, nothing),)


def _ttl_from_release(put: Put, _target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    due, expiry = _due(put, now_ms), put.message.expiry_ms
    if due is None or not expiry:
        return None
    return _with(put, replace(put.message, expiry_ms=expiry + due - now_ms))


def _never_expires(put: Put, _target: Address, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    if not put.message.expiry_ms and not put.message.ttl_ms:
        return None
    return _with(put, replace(put.message, expiry_ms=None, ttl_ms=None))


def _non_persistent_never_expires(put: Put, target: Address, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
    return None if put.message.durable else _never_expires(put, target, now_ms, watch)


def _expires_with_delay(put: Put, _target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    due, expiry = _due(put, now_ms), put.message.expiry_ms
    if due is None or not expiry or expiry <= due:
        return None
    return _with(put, replace(put.message, expiry_ms=due))


DELAY_DEFECTS = (
    Defect(
        name="early-delivery",
        rules=("DD-02",),
        text="Delayed messages are released a tenth of their delay early.",
        apply=lambda: puts(_early),
    ),
    Defect(
        name="early-for-browsers",
        rules=("DD-02",),
        text="A browser of the target sees messages that are still delayed.",
        apply=_early_for_browsers,
    ),
    Defect(
        name="early-after-restart",
        rules=("DD-02",),
        text="The delay of stored messages is forgotten when the broker starts again.",
        apply=lambda: read(_delay_forgotten),
    ),
    Defect(
        name="delay-leaves-unit",
        rules=("DD-02", "DD-26"),
        text="A delayed send takes no part in its unit of work: it comes although the unit was backed out.",
        apply=lambda: puts(_delay_leaves_unit),
    ),
    Defect(
        name="early-if-urgent",
        rules=("DD-02",),
        text="A high priority overrules the delay.",
        apply=lambda: puts(_early_if_urgent),
    ),
    Defect(
        name="early-for-selectors",
        rules=("DD-02",),
        text="A receiver with a selector is handed matching messages without their delay.",
        apply=lambda: puts(_early_for_selectors),
    ),
    Defect(
        name="early-for-shared",
        rules=("DD-02",),
        text="Shared subscriptions get publications without their delay.",
        apply=lambda: puts(_early_for_shared),
    ),
    Defect(
        name="early-for-live-subscribers",
        rules=("DD-02",),
        text="Publications are not delayed for non-durable subscribers that wait.",
        apply=lambda: puts(_early_for_live_subscribers),
    ),
    Defect(
        name="staged-in-order",
        rules=("DD-02", "DD-03"),
        text="Staged messages leave in the order of their sends, a short delay behind a long one.",
        apply=_staged_in_order,
    ),
    Defect(
        name="never-for-late-receivers",
        rules=("DD-03",),
        text="A delayed message is never released when nobody waited for it at its send.",
        apply=lambda: puts(_only_for_waiting),
    ),
    Defect(
        name="late-release",
        rules=("DD-03",),
        text="Delayed messages on queues are released half a minute late.",
        apply=lambda: puts(_late),
    ),
    Defect(
        name="staged-lost-at-restart",
        rules=("DD-03",),
        text="Persistent staged messages are gone after a restart.",
        apply=lambda: read(_staged_lost),
    ),
    Defect(
        name="released-again",
        rules=("DD-03",),
        text="The store keeps delayed messages that were consumed, and they come again after a restart.",
        apply=_released_again,
    ),
    Defect(
        name="staged-without-delay",
        rules=("DD-04",),
        text="Messages without a delay go through the staging queue too and come three seconds late.",
        apply=lambda: puts(_staged_without_delay),
    ),
    Defect(
        name="kept-and-early",
        rules=("DD-48",),
        text="Non-persistent delayed messages survive a restart and then come early.",
        apply=lambda: _kept_though_non_persistent(twice=False),
    ),
    Defect(
        name="kept-and-twice",
        rules=("DD-48",),
        text="Non-persistent delayed messages survive a restart and then come twice.",
        apply=lambda: _kept_though_non_persistent(twice=True),
    ),
    Defect(
        name="matched-at-release",
        rules=("DD-51", "DD-80", "DD-84"),
        text="Subscriptions are matched when the delay is over and not at the send.",
        apply=_matched_at_release,
    ),
    Defect(
        name="unsubscribe-ignored",
        rules=("DD-51", "PD-10"),
        text="A subscription that was removed goes on: who subscribes again under its name gets what came meanwhile.",
        apply=lambda: commands(_unsubscribe_ignored),
    ),
    Defect(
        name="ttl-from-release",
        rules=("DD-55", "DD-56"),
        text="The time to live of a delayed message starts anew when its delay is over.",
        apply=lambda: puts(_ttl_from_release),
    ),
    Defect(
        name="ttl-check-missing",
        rules=("DD-56",),
        text="Messages are delivered although their time to live is over.",
        apply=lambda: puts(_never_expires),
    ),
    Defect(
        name="non-persistent-never-expires",
        rules=("DD-56",),
        text="Non-persistent messages are delivered although their time to live is over.",
        apply=lambda: puts(_non_persistent_never_expires),
    ),
    Defect(
        name="ttl-ends-with-delay",
        rules=("DD-56",),
        text="A delayed message expires as soon as its delay is over, whatever time to live it has left.",
        apply=lambda: puts(_expires_with_delay),
    ),
)
