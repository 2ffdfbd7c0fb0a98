"""Defects of the two qualities of service: what is answered too soon, comes twice, or never comes again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeGuard

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Detach, Disconnect, Put, Settle
from assay_broker.core.effects import Answer, Deliver, Effect, Persist
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.model import (
    Defect,
    Held,
    Watch,
    commands,
    deliveries,
    dropped,
    is_topic,
    puts,
)
from assay_broker.seams import Seams
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address


def lasts(attach: Attach | None) -> bool:
    """Whether a receiver has a subscription with a time to live."""
    return attach is not None and bool(attach.timeout_ms)


# QS-03, QS-04: sending


def _unanswered_twice(put: Put, target: Address, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    return (put, put) if put.token is None and put.unit is None and is_topic(target) else None


def _answered_before_stored(effects: tuple[Effect, ...], _now_ms: int) -> tuple[Effect, ...]:
    stored = [
        record
        for effect in effects
        if isinstance(effect, Persist)
        for record in effect.records
        if isinstance(record, MessageStored)
    ]
    if len({record.home for record in stored}) <= 1:
        return effects
    return tuple(replace(effect, after=None) if isinstance(effect, Answer) else effect for effect in effects)


def _forgotten_for_several() -> Seams:
    """What is published while several lasting subscribers are away is accepted and forgotten."""
    known: dict[Address, set[str | None]] = {}

    def rewrite(command: Command, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        if isinstance(command, Attach) and lasts(command):
            known.setdefault(command.address, set()).add(watch.clients.get(command.connection))
        target = watch.target(command) if isinstance(command, Put) else None
        if not isinstance(command, Put) or target is None or len(known.get(target, ())) <= 1 or watch.on(target):
            return None
        return (dropped(command, now_ms),)

    return commands(rewrite)


# QS-06 to QS-10, QS-14: receiving


def _kept_though_sent(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    return (replace(command, settled=False),) if isinstance(command, Attach) and lasts(command) else None


def settling(
    rewrite: Callable[[Command, Watch, Held], tuple[Command, ...] | None],
) -> Seams:
    """Filters that know what receivers hold."""
    watch, held = Watch(), Held()

    def command_filter(command: Command, _now_ms: int) -> tuple[Command, ...]:
        passed = rewrite(command, watch, held)
        watch.note(command)
        held.note(command)
        return (command,) if passed is None else passed

    def effects(passing: tuple[Effect, ...], now_ms: int) -> tuple[Effect, ...]:
        return held.heed(watch.heed(passing, now_ms), now_ms)

    def start(records: Sequence[Record]) -> tuple[Record, ...]:
        watch.clear()
        return tuple(records)

    return Seams(command=command_filter, effects=effects, read=start)


def _gives_back(command: Command, watch: Watch) -> TypeGuard[Settle]:
    """Whether a receiver with a lasting subscription goes: on the wire, what it held is back before its link ends."""
    if not isinstance(command, Settle) or command.outcome is not Outcome.MODIFIED:
        return False
    return lasts(watch.receivers.get((command.connection, command.link)))


def _accepts_when_cut(hit: Callable[[Attach], bool]) -> Callable[[Command, Watch, Held], tuple[Command, ...] | None]:
    """What such receivers hold when they go counts as acknowledged."""

    def rewrite(command: Command, watch: Watch, held: Held) -> tuple[Command, ...] | None:
        if _gives_back(command, watch):
            receiver = watch.receivers[command.connection, command.link]
            return (replace(command, outcome=Outcome.ACCEPTED),) if hit(receiver) else None
        if not isinstance(command, Detach | Disconnect):
            return None
        accepts: list[Command] = []
        for link, kept in held.of(command).items():
            attach = watch.receivers.get((command.connection, link))
            if kept and attach is not None and lasts(attach) and not attach.settled and hit(attach):
                numbers = tuple(delivery.delivery for delivery in kept)
                accepts.append(Settle(command.connection, None, link, numbers, Outcome.ACCEPTED))
        return (*accepts, command) if accepts else None

    return rewrite


def _acknowledgement_ignored(command: Command, watch: Watch, _held: Held) -> tuple[Command, ...] | None:
    if not isinstance(command, Settle) or command.unit is not None:
        return None
    attach = watch.receivers.get((command.connection, command.link))
    return (replace(command, deliveries=()),) if lasts(attach) else None


def _acknowledges(others: Callable[[int, int], bool]) -> Callable[[Command, Watch, Held], tuple[Command, ...] | None]:
    """An acknowledgement stands for others that are held, too."""

    def rewrite(command: Command, watch: Watch, held: Held) -> tuple[Command, ...] | None:
        if not isinstance(command, Settle) or command.unit is not None or command.outcome is not Outcome.ACCEPTED:
            return None
        attach = watch.receivers.get((command.connection, command.link))
        if not lasts(attach) or not command.deliveries:
            return None
        last = max(command.deliveries)
        kept = held.of(Detach(command.connection, None, command.link)).get(command.link, ())
        numbers = (one.delivery for one in kept if others(one.delivery, last))
        more = (number for number in numbers if number not in command.deliveries)
        return (replace(command, deliveries=(*command.deliveries, *more)),)

    return rewrite


def _marked(*, redelivered: bool) -> Callable[[Deliver, Watch], Deliver | None]:
    def mark(delivery: Deliver, watch: Watch) -> Deliver | None:
        if not lasts(watch.receivers.get((delivery.connection, delivery.link))):
            return delivery
        return replace(delivery, redelivered=redelivered, count=int(redelivered))

    return mark


def _sent_again_once() -> Seams:
    """A message whose second delivery fails, too, does not come again."""

    def give_up(command: Command, watch: Watch, held: Held) -> tuple[Command, ...] | None:
        if _gives_back(command, watch):
            again = tuple(delivery.delivery for delivery in held.settled(command) if delivery.count)
            rest = tuple(number for number in command.deliveries if number not in again)
            accept = replace(command, token=None, deliveries=again, outcome=Outcome.ACCEPTED)
            return (accept, replace(command, deliveries=rest)) if again else None
        if not isinstance(command, Detach | Disconnect):
            return None
        accepts: list[Command] = []
        for link, kept in held.of(command).items():
            numbers = tuple(delivery.delivery for delivery in kept if delivery.count)
            if numbers and lasts(watch.receivers.get((command.connection, link))):
                accepts.append(Settle(command.connection, None, link, numbers, Outcome.ACCEPTED))
        return (*accepts, command) if accepts else None

    return settling(give_up)


def _gone_at_restart() -> Seams:
    """What lasting subscribers had been handed and not acknowledged is gone after a restart of any kind."""
    watch = Watch()
    handed: dict[tuple[int, int, int], str | None] = {}

    def command_filter(command: Command, _now_ms: int) -> tuple[Command, ...]:
        watch.note(command)
        if isinstance(command, Settle):
            for number in command.deliveries:
                handed.pop((command.connection, command.link, number), None)
        return (command,)

    def effects(passing: tuple[Effect, ...], now_ms: int) -> tuple[Effect, ...]:
        for effect in watch.heed(passing, now_ms):
            if isinstance(effect, Deliver) and lasts(watch.receivers.get((effect.connection, effect.link))):
                handed[effect.connection, effect.link, effect.delivery] = effect.message.message_id
        return passing

    def start(records: Sequence[Record]) -> tuple[Record, ...]:
        lost = set(handed.values())
        watch.clear()
        handed.clear()
        return tuple(
            record
            for record in records
            if not isinstance(record, MessageStored) or record.message.message_id not in lost
        )

    return Seams(command=command_filter, effects=effects, read=start)


QOS_DEFECTS = (
    Defect(
        name="unanswered-sent-twice",
        rules=("QS-03",),
        text="A publication sent at most once is published twice.",
        apply=lambda: puts(_unanswered_twice),
    ),
    Defect(
        name="answered-before-all-queues",
        rules=("QS-04",),
        text="A publication for several queues is answered before it is on disk.",
        apply=lambda: Seams(effects=_answered_before_stored),
    ),
    Defect(
        name="answered-and-forgotten",
        rules=("QS-04", "QS-32"),
        text="A publication for several subscribers of which none is connected is answered and forgotten.",
        apply=_forgotten_for_several,
    ),
    Defect(
        name="at-most-once-redelivered",
        rules=("QS-06", "QS-07"),
        text="What was delivered at most once is kept until it is acknowledged, and comes again.",
        apply=lambda: commands(_kept_though_sent),
    ),
    Defect(
        name="unacknowledged-dropped-on-cut",
        rules=("QS-08", "QS-09", "QS-10", "QS-14", "QS-21"),
        text="What a subscriber holds unacknowledged when its connection ends counts as acknowledged.",
        apply=lambda: settling(_accepts_when_cut(lambda _attach: True)),
    ),
    Defect(
        name="unacknowledged-gone-at-restart",
        rules=("QS-08", "QS-09"),
        text="What a subscriber holds unacknowledged is gone once the broker has been down.",
        apply=_gone_at_restart,
    ),
    Defect(
        name="acknowledged-comes-again",
        rules=("QS-08", "QS-10", "QS-14"),
        text="An acknowledgement is forgotten: the message comes again.",
        apply=lambda: settling(_acknowledgement_ignored),
    ),
    Defect(
        name="acknowledgement-cumulative",
        rules=("QS-14",),
        text="An acknowledgement stands for every message before it, too.",
        apply=lambda: settling(_acknowledges(lambda other, last: other < last)),
    ),
    Defect(
        name="acknowledgement-of-all",
        rules=("QS-14",),
        text="An acknowledgement stands for every message that the subscriber holds.",
        apply=lambda: settling(_acknowledges(lambda _other, _last: True)),
    ),
    Defect(
        name="sent-again-unmarked",
        rules=("QS-09", "QS-10", "QS-14"),
        text="What is sent again is not marked as redelivered.",
        apply=lambda: deliveries(_marked(redelivered=False)),
    ),
    Defect(
        name="first-sending-marked",
        rules=("QS-09",),
        text="What is sent for the first time is marked as redelivered.",
        apply=lambda: deliveries(_marked(redelivered=True)),
    ),
    Defect(
        name="sent-again-once",
        rules=("QS-09",),
        text="A message whose second delivery fails is not sent again.",
        apply=_sent_again_once,
    ),
    Defect(
        name="shared-not-handed-on",
        rules=("QS-10",),
        text="What one sharer of a subscription held is not handed to another one.",
        apply=lambda: settling(_accepts_when_cut(lambda attach: attach.shared)),
    ),
)
