"""Defects in sends with a quality of service (QS-03, QS-04)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Disconnect, Put
from assay_broker.core.effects import Answer, Effect, Persist
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.qos.filters import is_light, lasts
from assay_broker.defects.sends import dropped, handed_in, is_topic
from assay_broker.defects.shapes import Commands, commands, filters, puts
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message

_LATE_MS = 1_000


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


class _LatePuts:
    """Publications that the broker has answered and puts to their subscriptions `_LATE_MS` later."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, int, Address, Message]] = []

    def hold(self, put: Put, target: Address, now_ms: int) -> Command:
        """Keep a publication, and return a send that the broker answers and whose message is lost."""
        self._waiting.append((now_ms + _LATE_MS, put.connection, target, put.message))
        return dropped(put, now_ms)

    def take_due(self, now_ms: int, view: View) -> Commands:
        """Remove the publications that are due, and return their puts."""
        due = [one for one in self._waiting if one[0] <= now_ms]
        self._waiting = [one for one in self._waiting if one[0] > now_ms]
        return tuple(put for _, _, target, message in due for put in handed_in(view, target, message))

    def lose(self, connection: int, now_ms: int) -> None:
        """Forget the publications of a connection that are not due yet."""
        self._waiting = [one for one in self._waiting if one[1] != connection or one[0] <= now_ms]

    def start(self, records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        """Forget all waiting publications when the broker starts."""
        self._waiting = []
        return tuple(records)


@defect(made, "answered-before-queued", "QS-04")
def _queued_later() -> Seams:
    """The broker answers a publication at once and puts it to its subscriptions a second later."""
    known: set[Address] = set()
    late = _LatePuts()

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach) and lasts(command):
            known.add(command.address)
        due = late.take_due(now_ms, view)
        target = view.target(command)
        if isinstance(command, Put) and command.token is not None and command.unit is None and target in known:
            return (*due, late.hold(command, target, now_ms))
        return (*due, command) if due else None

    return filters(rewrite, read=late.start)


@defect(made, "queued-for-sharers-after-the-answer", "QS-04")
def _lost_with_the_sender() -> Seams:
    """A non-persistent publication for sharers is lost if its sender disconnects within a second of the answer."""
    late = _LatePuts()

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Disconnect):
            late.lose(command.connection, now_ms)
        due = late.take_due(now_ms, view)
        target = view.target(command)
        sharers = any(is_light(attach) and attach.shared for attach in view.on(target))
        if isinstance(command, Put) and target is not None and sharers and command.message.durable is False:
            return (*due, late.hold(command, target, now_ms))
        return (*due, command) if due else None

    return filters(rewrite, read=late.start)


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


QOS_SENDING_DEFECTS = (
    _unanswered_twice,
    Defect(
        name="answered-before-all-queues",
        rules=("QS-04",),
        text="The broker answers a publication for several subscriptions before it is on disk.",
        apply=lambda: Seams(effects=_answered_before_stored),
    ),
    _forgotten_for_several,
    _queued_later,
    _lost_with_the_sender,
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
)
