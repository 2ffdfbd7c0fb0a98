"""Defects of how long a subscription outlives its receivers, and of what is left of it then.

Most of them let a client of the defect's own come to the subscription for a moment, as the same client: it changes the
time to live, as any client may.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Connect, Disconnect, Put
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.qos.qualities import lasts
from assay_broker.defects.sends import dropped, handed_in, unheard
from assay_broker.defects.shapes import Commands, commands
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address, Message

_ZERO_LIVES_MS = 10_000
_SECOND_MS = 1_000
_HOUR_MS = 3_600_000
_LONG_MS = 1 << 31


class Who(Struct, frozen=True):
    """A subscription as one of its receivers asked for it."""

    client_id: str | None
    attach: Attach

    @property
    def key(self) -> tuple[str | None, str | None]:
        """The identity of the subscription."""
        return (None if self.attach.everybodys else self.client_id), self.attach.name


def _who(attach: Attach, view: View) -> Who:
    return Who(view.client_id(attach.connection), attach)


def _leaving(command: Command, view: View) -> list[Who]:
    """The subscriptions with a time to live whose receivers a command ends."""
    return [_who(attach, view) for attach in view.leaving(command) if lasts(attach)]


def _left(command: Command, view: View) -> list[Who]:
    """The subscriptions with a time to live that a connection leaves behind when it ends."""
    return [_who(attach, view) for attach in view.left(command) if lasts(attach)]


def _others(who: Who, command: Command, view: View) -> bool:
    """Whether another connection still receives from the subscription."""
    return any(
        _who(attach, view).key == who.key and attach.connection != getattr(command, "connection", None)
        for attach in view.receivers.values()
    )


def _visit(view: View, who: Who, timeout_ms: int | None) -> Commands:
    """Come to a subscription as the same client, give it another time to live, and leave."""
    attach = replace(who.attach, connection=view.agent, token=None, link=1, timeout_ms=timeout_ms)
    return (Connect(view.agent, None, who.client_id), attach, Disconnect(view.agent, None, clean=True))


Remaining = Callable[[Who, int, View], int | None]
"""A subscription and the time, to how long it lives from then on; None for as long as it says itself."""


def _leaves(remaining: Remaining, noted: Callable[[Command, int, View], None] | None = None) -> Seams:
    """Filters that give a subscription another time to live when its last receiver's connection has ended."""

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if noted is not None:
            noted(command, now_ms, view)
        visits: list[Command] = []
        for who in _left(command, view):
            left = None if _others(who, command, view) else remaining(who, now_ms, view)
            if left is not None:
                visits += _visit(view, who, left)
        return (command, *visits) if visits else None

    return commands(rewrite)


def _ever(*, clean: bool) -> Seams:
    """Filters that ignore the time to live after connections that end in this way."""

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        gone = _left(command, view)
        if not isinstance(command, Disconnect) or command.clean is not clean or not gone:
            return None
        return (command, *(one for who in gone for one in _visit(view, who, None)))

    return commands(rewrite)


def _from(first: Callable[[Command, View], list[Who]]) -> Seams:
    """Filters that count the time to live from the first event of a kind, and never start it again."""
    begun: dict[tuple[str | None, str | None], int] = {}

    def note(command: Command, now_ms: int, view: View) -> None:
        for who in first(command, view):
            begun.setdefault(who.key, now_ms)

    def remaining(who: Who, now_ms: int, _view: View) -> int | None:
        return max(0, begun.get(who.key, now_ms) + (who.attach.timeout_ms or 0) - now_ms)

    return _leaves(remaining, note)


def _subscribing(command: Command, view: View) -> list[Who]:
    return [_who(command, view)] if isinstance(command, Attach) and lasts(command) else []


def _as(change: Callable[[Attach, int], int | None]) -> Callable[[Command, int, View], Commands | None]:
    """Change the time to live that a subscription asks for."""

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if isinstance(command, Attach) and lasts(command) and command.timeout_ms is not None:
            return (replace(command, timeout_ms=change(command, command.timeout_ms)),)
        return None

    return rewrite


def _by(difference_ms: int) -> Callable[[Command, int, View], Commands | None]:
    return _as(lambda _attach, ttl_ms: ttl_ms + difference_ms)


@defect(made, "ttl-counts-once", "QS-22")
def _ends_once() -> Seams:
    """A subscription that was resumed in time stays for ever when it is left again."""
    left: set[tuple[str | None, str | None]] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        visits: list[Command] = []
        for who in _left(command, view):
            if who.key in left:
                visits += _visit(view, who, None)
            left.add(who.key)
        return (command, *visits) if visits else None

    return commands(rewrite)


@defect(made, "shared-resumed-by-the-last-only", "QS-21")
def _of_one_sharer() -> Seams:
    """A shared subscription that all have left can be resumed only by the client that left last."""
    last: dict[tuple[str | None, str | None], Who] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        for who in _left(command, view):
            if who.attach.everybodys and not _others(who, command, view):
                last[who.key] = who
        if not isinstance(command, Attach) or not command.everybodys or not lasts(command):
            return None
        comer = _who(command, view)
        before = last.pop(comer.key, None)
        if before is None or before.client_id == comer.client_id:
            return None
        return (*_visit(view, before, 0), command)

    return commands(rewrite)


@defect(commands, "ttl-ignored-after-restart", "QS-22")
def _never_after_restart(command: Command, now_ms: int, view: View) -> Commands | None:
    """Once the broker was down, a subscription that is left stays for ever."""
    return _ignored(command, now_ms, view) if view.starts > 1 else None


def _ignored(command: Command, _now_ms: int, _view: View) -> Commands | None:
    return (replace(command, timeout_ms=None),) if isinstance(command, Attach) and lasts(command) else None


@defect(commands, "ttl-zero-lives", "QS-20")
def _zero_lives(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """A subscription without a time to live outlives its receiver for a while."""
    if isinstance(command, Attach) and command.timeout_ms == 0 and command.name is not None and not command.settled:
        return (replace(command, durability=Durability.DURABLE, timeout_ms=_ZERO_LIVES_MS),)
    return None


@defect(made, "ttl-of-the-first", "QS-20", "QS-21")
def _first_value_stays() -> Seams:
    """A later time to live does not replace an earlier one."""
    values: dict[tuple[str | None, str | None], int] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Attach) or command.timeout_ms is None or command.name is None:
            return None
        first = values.setdefault(_who(command, view).key, command.timeout_ms)
        if first == command.timeout_ms or not first:
            return None
        return (replace(command, timeout_ms=first, durability=Durability.DURABLE),)

    return commands(rewrite)


@defect(made, "ttl-of-the-shortest", "QS-22")
def _shortest_for_all() -> Seams:
    """The end of one subscription to a topic is the end of others."""
    shortest: dict[Address, int] = {}

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if not isinstance(command, Attach) or not lasts(command) or command.timeout_ms is None:
            return None
        least = min(command.timeout_ms, shortest.get(command.address, command.timeout_ms))
        shortest[command.address] = least
        return (replace(command, timeout_ms=least),)

    return commands(rewrite)


@defect(made, "ttl-runs-on", "QS-21")
def _runs_on() -> Seams:
    """The time to live goes on when the subscriber is back.

    When the time to live would have been over, a subscription that has been resumed gets nothing more.
    """
    left: dict[tuple[str | None, str | None], int] = {}
    over: dict[Address, int] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        for who in _leaving(command, view):
            left[who.key] = now_ms
        if isinstance(command, Attach) and lasts(command):
            since = left.get(_who(command, view).key)
            if since is not None:
                over[command.address] = since + (command.timeout_ms or 0)
        target = view.target(command)
        if isinstance(command, Put) and target in over and view.on(target) and now_ms >= over[target]:
            return (dropped(command, now_ms),)
        return None

    return commands(rewrite)


@defect(made, "ttl-keeps-messages", "QS-22")
def _messages_kept() -> Seams:
    """A subscriber that comes back past the time to live finds the persistent messages of the old subscription."""
    missed: dict[Address, list[Message]] = {}
    left: dict[tuple[str | None, str | None], int] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        for who in _leaving(command, view):
            left[who.key] = now_ms
            missed[who.attach.address] = []
        target = view.target(command)
        if isinstance(command, Put) and target in missed and command.message.durable and not view.on(target):
            missed[target].append(command.message)
        if not isinstance(command, Attach) or not lasts(command):
            return None
        since = left.get(_who(command, view).key)
        if since is None or now_ms < since + (command.timeout_ms or 0):
            return None
        return (command, *handed_in(view, command.address, *missed.pop(command.address, ())))

    return commands(rewrite)


@defect(made, "missed-by-lasting-twice", "QS-20", "QS-21")
def _missed_twice() -> Seams:
    """Messages that a subscriber misses while its subscription outlives it come twice."""
    known: set[Address] = set()

    def twice(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach) and lasts(command):
            known.add(command.address)
        target = view.target(command)
        if isinstance(command, Put) and target in known and not view.on(target):
            return (command, unheard(command))
        return None

    return commands(twice)


SUBSCRIPTION_LIFETIME_DEFECTS = (
    Defect(
        name="ttl-ignored",
        rules=("QS-20", "QS-22"),
        text="A subscription with a time to live stays for ever.",
        apply=lambda: commands(_ignored),
    ),
    Defect(
        name="ttl-from-subscribe",
        rules=("QS-20", "QS-21"),
        text="The time to live of a subscription counts from the creation of the subscription.",
        apply=lambda: _from(_subscribing),
    ),
    Defect(
        name="ttl-not-restarted",
        rules=("QS-20", "QS-21"),
        text="The time to live counts from the first disconnection, and goes on counting at the next.",
        apply=lambda: _from(_leaving),
    ),
    Defect(
        name="ttl-clean-close-only",
        rules=("QS-20", "QS-22"),
        text="After a connection that was lost the time to live does not count.",
        apply=lambda: _ever(clean=False),
    ),
    Defect(
        name="ttl-abrupt-only",
        rules=("QS-20", "QS-22"),
        text="After a connection that was closed the time to live does not count.",
        apply=lambda: _ever(clean=True),
    ),
    Defect(
        name="ttl-a-millisecond-long",
        rules=("QS-20", "QS-22"),
        text="A subscription lives a millisecond too long.",
        apply=lambda: commands(_by(1)),
    ),
    Defect(
        name="ttl-a-millisecond-short",
        rules=("QS-20", "QS-21"),
        text="A subscription lives a millisecond too short.",
        apply=lambda: commands(_by(-1)),
    ),
    _zero_lives,
    _first_value_stays,
    _shortest_for_all,
    _runs_on,
    _messages_kept,
    _missed_twice,
    _ends_once,
    Defect(
        name="ttl-in-seconds",
        rules=("QS-20",),
        text="A time to live is rounded up to whole seconds.",
        apply=lambda: commands(_as(lambda _attach, ttl_ms: -(-ttl_ms // _SECOND_MS) * _SECOND_MS)),
    ),
    Defect(
        name="ttl-an-hour-at-most",
        rules=("QS-20",),
        text="No subscription outlives its receivers for more than an hour.",
        apply=lambda: commands(_as(lambda _attach, ttl_ms: min(ttl_ms, _HOUR_MS))),
    ),
    Defect(
        name="ttl-overflows",
        rules=("QS-20",),
        text="A time to live of more milliseconds than 31 bits hold ends a subscription at once.",
        apply=lambda: commands(_as(lambda _attach, ttl_ms: ttl_ms if ttl_ms < _LONG_MS else 0)),
    ),
    Defect(
        name="ttl-of-shared-ignored",
        rules=("QS-22",),
        text="A shared subscription with a time to live stays for ever.",
        apply=lambda: commands(_as(lambda attach, ttl_ms: None if attach.everybodys else ttl_ms)),
    ),
    _of_one_sharer,
    _never_after_restart,
    Defect(
        name="ttl-spent-after-restart",
        rules=("QS-21",),
        text="Once the broker was down, a subscription that is left ends at once.",
        apply=lambda: _leaves(lambda _who, _now_ms, view: 0 if view.starts > 1 else None),
    ),
)
