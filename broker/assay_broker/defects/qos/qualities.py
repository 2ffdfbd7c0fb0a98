"""Defects of the two qualities of service: early answers, and repeated and lost messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeGuard

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Detach, Disconnect, Put, Settle
from assay_broker.core.effects import Answer, Deliver, Effect, Persist
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import accepted, dropped, handed_in, is_topic
from assay_broker.defects.shapes import Commands, Redeliver, Rewrite, commands, deliveries, filters, puts
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Durability, Outcome
from assay_sdk.model.message import Address, Message

_LATE_MS = 1_000
LIGHT = ("private:", "share:")
"""The beginnings of the link names of MQ Light clients."""


def is_light(attach: Attach) -> bool:
    """Check whether a receiver belongs to an MQ Light client, by the name of its link."""
    return str(attach.name).startswith(LIGHT)


def lasts(attach: Attach | None) -> bool:
    """Check whether a receiver has a lasting MQ Light subscription, which outlives its receivers."""
    return attach is not None and is_light(attach) and attach.durability is Durability.DURABLE


# QS-03, QS-04: sending


@defect(puts, "unanswered-sent-twice", "QS-03")
def _unanswered_twice(put: Put, target: Address, _now_ms: int, _view: View) -> Commands | None:
    """The broker publishes an at-most-once message twice."""
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


@defect(made, "answered-and-forgotten", "QS-04", "QS-32")
def _forgotten_for_several() -> Seams:
    """The broker accepts a publication for several subscribers and loses it if none of them is connected."""
    known: dict[Address, set[str | None]] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach) and lasts(command):
            known.setdefault(command.address, set()).add(view.client_id(command.connection))
        target = view.target(command)
        if not isinstance(command, Put) or target is None or len(known.get(target, ())) <= 1 or view.on(target):
            return None
        return (dropped(command, now_ms),)

    return commands(rewrite)


@defect(made, "answered-before-queued", "QS-04")
def _queued_later() -> Seams:
    """The broker answers a publication at once and puts it to its subscriptions a second later."""
    known: set[Address] = set()
    waiting: list[tuple[int, Address, Message]] = []

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach) and lasts(command):
            known.add(command.address)
        due = [one for one in waiting if one[0] <= now_ms]
        waiting[:] = [one for one in waiting if one not in due]
        late = tuple(put for _, to, message in due for put in handed_in(view, to, message))
        target = view.target(command)
        if isinstance(command, Put) and command.token is not None and command.unit is None and target in known:
            waiting.append((now_ms + _LATE_MS, target, command.message))
            return (*late, dropped(command, now_ms))
        return (*late, command) if late else None

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        waiting.clear()
        return tuple(records)

    return filters(rewrite, read=start)


# QS-06 to QS-10, QS-14: receiving


@defect(commands, "at-most-once-redelivered", "QS-06", "QS-07")
def _kept_though_sent(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker keeps at-most-once messages until their acknowledgement, and redelivers them."""
    return (replace(command, settled=False),) if isinstance(command, Attach) and lasts(command) else None


def _gives_back(command: Command, view: View) -> TypeGuard[Settle]:
    """Check whether a command returns messages from a receiver with a lasting MQ Light subscription.

    Over AMQP, a receiver returns its messages before its link ends.
    """
    return isinstance(command, Settle) and command.outcome is Outcome.MODIFIED and lasts(view.receiver(command))


def _accepts_when_cut(hit: Callable[[Attach], bool]) -> Rewrite:
    """Make a function that accepts the unacknowledged messages of receivers that end.

    Args:
        hit: Chooses the receivers.
    """

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if _gives_back(command, view):
            receiver = view.receivers[command.connection, command.link]
            return (replace(command, outcome=Outcome.ACCEPTED),) if hit(receiver) else None
        if not isinstance(command, Detach | Disconnect):
            return None
        return accepted(command, view, lambda attach, _one: lasts(attach) and not attach.settled and hit(attach))

    return rewrite


@defect(commands, "acknowledged-comes-again", "QS-08", "QS-10", "QS-14")
def _acknowledgement_ignored(command: Command, _now_ms: int, view: View) -> Commands | None:
    """The broker ignores acknowledgements, so the messages are redelivered."""
    if not isinstance(command, Settle) or command.unit is not None or not lasts(view.receiver(command)):
        return None
    return (replace(command, deliveries=()),)


def _acknowledges(others: Callable[[int, int], bool]) -> Rewrite:
    """Make a function by which an acknowledgement also counts for other unacknowledged deliveries of its receiver.

    Args:
        others: Chooses further deliveries, from the number of each and the number of the last acknowledged delivery.
    """

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Settle) or command.unit is not None or command.outcome is not Outcome.ACCEPTED:
            return None
        if not lasts(view.receiver(command)) or not command.deliveries:
            return None
        last = max(command.deliveries)
        held = (one.delivery for one in view.held(Detach(command.connection, None, command.link)))
        more = (one for one in held if others(one, last) and one not in command.deliveries)
        return (replace(command, deliveries=(*command.deliveries, *more)),)

    return rewrite


def _marked(*, redelivered: bool) -> Redeliver:
    def mark(delivery: Deliver, view: View) -> Deliver:
        hit = lasts(view.receiver(delivery))
        return replace(delivery, redelivered=redelivered, count=int(redelivered)) if hit else delivery

    return mark


@defect(commands, "sent-again-once", "QS-09")
def _sent_again_once(command: Command, _now_ms: int, view: View) -> Commands | None:
    """The broker does not redeliver a message after a second failed delivery."""
    if _gives_back(command, view):
        again = tuple(delivery.delivery for delivery in view.held(command) if delivery.count)
        rest = tuple(number for number in command.deliveries if number not in again)
        accept = replace(command, token=None, deliveries=again, outcome=Outcome.ACCEPTED)
        return (accept, replace(command, deliveries=rest)) if again else None
    if not isinstance(command, Detach | Disconnect):
        return None
    return accepted(command, view, lambda attach, one: lasts(attach) and bool(one.count))


@defect(made, "unacknowledged-gone-at-restart", "QS-08", "QS-09")
def _gone_at_restart() -> Seams:
    """A restart loses the messages that subscribers have not acknowledged."""
    handed: dict[tuple[int, int, int], str | None] = {}

    def note(command: Command, _now_ms: int, _view: View) -> None:
        if isinstance(command, Settle):
            for number in command.deliveries:
                handed.pop((command.connection, command.link, number), None)

    def keep(delivery: Deliver, view: View) -> Deliver:
        if lasts(view.receiver(delivery)):
            handed[delivery.connection, delivery.link, delivery.delivery] = delivery.message.message_id
        return delivery

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        lost = set(handed.values())
        handed.clear()
        return tuple(one for one in records if not isinstance(one, MessageStored) or one.message.message_id not in lost)

    return filters(note, delivery=keep, read=start)


QOS_DEFECTS = (
    _unanswered_twice,
    Defect(
        name="answered-before-all-queues",
        rules=("QS-04",),
        text="The broker answers a publication for several subscriptions before it is on disk.",
        apply=lambda: Seams(effects=_answered_before_stored),
    ),
    _forgotten_for_several,
    _queued_later,
    _kept_though_sent,
    Defect(
        name="unacknowledged-dropped-on-cut",
        rules=("QS-08", "QS-09", "QS-10", "QS-14", "QS-21"),
        text="When a connection ends, its unacknowledged messages count as acknowledged.",
        apply=lambda: commands(_accepts_when_cut(lambda _attach: True)),
    ),
    _gone_at_restart,
    _acknowledgement_ignored,
    Defect(
        name="acknowledgement-cumulative",
        rules=("QS-14",),
        text="An acknowledgement also counts for every earlier message of the subscriber.",
        apply=lambda: commands(_acknowledges(lambda other, last: other < last)),
    ),
    Defect(
        name="acknowledgement-of-all",
        rules=("QS-14",),
        text="An acknowledgement counts for every unacknowledged message of the subscriber.",
        apply=lambda: commands(_acknowledges(lambda _other, _last: True)),
    ),
    Defect(
        name="sent-again-unmarked",
        rules=("QS-09", "QS-10", "QS-14"),
        text="The broker does not mark redelivered messages as redelivered for MQ Light subscriptions.",
        apply=lambda: deliveries(_marked(redelivered=False)),
    ),
    Defect(
        name="first-sending-marked",
        rules=("QS-09",),
        text="The broker marks messages as redelivered at their first delivery.",
        apply=lambda: deliveries(_marked(redelivered=True)),
    ),
    _sent_again_once,
    Defect(
        name="shared-not-handed-on",
        rules=("QS-10",),
        text="The broker does not redeliver a message of one sharer of a subscription to another sharer.",
        apply=lambda: commands(_accepts_when_cut(lambda attach: attach.shared)),
    ),
)
