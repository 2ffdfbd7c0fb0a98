"""Defects of a subscription's time to live, which begins when its last receiver leaves.

A lasting subscription is an MQ Light client's subscription that outlives its receivers.

Most of these defects change the time to live by opening the subscription for a moment.  For this, they use a
connection of their own with the same client id.
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


class Opened(Struct, frozen=True):
    """A subscription, with the command by which one of its receivers opened it."""

    client_id: str | None
    attach: Attach

    @property
    def key(self) -> tuple[str | None, str | None]:
        """The identity of the subscription: its client id (None for a subscription of all clients) and its name."""
        return (None if self.attach.everybodys else self.client_id), self.attach.name


def _who(attach: Attach, view: View) -> Opened:
    return Opened(view.client_id(attach.connection), attach)


def _leaving(command: Command, view: View) -> list[Opened]:
    """Return the lasting subscriptions whose receivers a command ends."""
    return [_who(attach, view) for attach in view.leaving(command) if lasts(attach)]


def _left(command: Command, view: View) -> list[Opened]:
    """Return the lasting subscriptions that a connection has used, if a command ends the connection."""
    return [_who(attach, view) for attach in view.left(command) if lasts(attach)]


def _others(who: Opened, command: Command, view: View) -> bool:
    """Check whether another connection still has a receiver on the subscription."""
    return any(
        _who(attach, view).key == who.key and attach.connection != getattr(command, "connection", None)
        for attach in view.receivers.values()
    )


def _visit(view: View, who: Opened, timeout_ms: int | None) -> Commands:
    """Return commands that open a subscription as the same client, with another time to live, and disconnect.

    Args:
        view: The defect's view.
        who: The subscription.
        timeout_ms: The new time to live in milliseconds; None for no end.
    """
    attach = replace(who.attach, connection=view.agent, token=None, link=1, timeout_ms=timeout_ms)
    return (Connect(view.agent, None, who.client_id), attach, Disconnect(view.agent, None, clean=True))


Remaining = Callable[[Opened, int, View], int | None]
"""A function that returns how long a subscription remains, in milliseconds; None for the subscription's time to live.

Its arguments are the subscription, the time and the view.
"""


def _leaves(remaining: Remaining, noted: Callable[[Command, int, View], None] | None = None) -> Seams:
    """Make filters that give a subscription another time to live when its last receiver's connection ends.

    Args:
        remaining: The other time to live.
        noted: A function that is called with each command before the defect acts on it.
    """

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
    """Make filters by which subscriptions have no time to live after one kind of connection end.

    Args:
        clean: True for connections that a client closed; False for lost connections.
    """

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        gone = _left(command, view)
        if not isinstance(command, Disconnect) or command.clean is not clean or not gone:
            return None
        return (command, *(one for who in gone for one in _visit(view, who, None)))

    return commands(rewrite)


def _from(first: Callable[[Command, View], list[Opened]]) -> Seams:
    """Make filters by which the time to live begins at the first event of some kind.

    Args:
        first: Returns the subscriptions for which a command is such an event.
    """
    begun: dict[tuple[str | None, str | None], int] = {}

    def note(command: Command, now_ms: int, view: View) -> None:
        for who in first(command, view):
            begun.setdefault(who.key, now_ms)

    def remaining(who: Opened, now_ms: int, _view: View) -> int | None:
        return max(0, begun.get(who.key, now_ms) + (who.attach.timeout_ms or 0) - now_ms)

    return _leaves(remaining, note)


def _subscribing(command: Command, view: View) -> list[Opened]:
    return [_who(command, view)] if isinstance(command, Attach) and lasts(command) else []


def _as(change: Callable[[Attach, int], int | None]) -> Callable[[Command, int, View], Commands | None]:
    """Make a function that changes the time to live for which a receiver asks.

    Args:
        change: Returns another time to live for a receiver, in milliseconds, from its own; None for no end.
    """

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if isinstance(command, Attach) and lasts(command) and command.timeout_ms is not None:
            return (replace(command, timeout_ms=change(command, command.timeout_ms)),)
        return None

    return rewrite


def _by(difference_ms: int) -> Callable[[Command, int, View], Commands | None]:
    return _as(lambda _attach, ttl_ms: ttl_ms + difference_ms)


@defect(made, "ttl-counts-once", "QS-22")
def _ends_once() -> Seams:
    """A subscription that was left and resumed does not end when its receivers leave again."""
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
    """After all sharers have left, only the client that left last can resume the shared subscription."""
    last: dict[tuple[str | None, str | None], Opened] = {}

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
    """After a restart, subscriptions have no time to live and never end."""
    return _ignored(command, now_ms, view) if view.starts > 1 else None


def _ignored(command: Command, _now_ms: int, _view: View) -> Commands | None:
    return (replace(command, timeout_ms=None),) if isinstance(command, Attach) and lasts(command) else None


@defect(commands, "ttl-zero-lives", "QS-20")
def _zero_lives(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """A subscription with a time to live of 0 outlives its receiver by ten seconds."""
    if isinstance(command, Attach) and command.timeout_ms == 0 and command.name is not None and not command.settled:
        return (replace(command, durability=Durability.DURABLE, timeout_ms=_ZERO_LIVES_MS),)
    return None


@defect(made, "ttl-of-the-first", "QS-20", "QS-21")
def _first_value_stays() -> Seams:
    """A subscription keeps its first time to live, even if a receiver later asks for another value."""
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
    """All subscriptions to a topic end after the shortest of their times to live."""
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
    """The time to live does not stop when the subscriber comes back.

    A resumed subscription gets no more messages after the end of its time to live.
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
    """A subscriber that comes back after the time to live gets the persistent messages that it has missed."""
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
    """A subscriber that returns during its subscription's time to live gets each missed message twice."""
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
        text="A subscription with a time to live never ends.",
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
        text="The time to live counts only from the first disconnection.",
        apply=lambda: _from(_leaving),
    ),
    Defect(
        name="ttl-clean-close-only",
        rules=("QS-20", "QS-22"),
        text="After the loss of a connection, its subscriptions never end.",
        apply=lambda: _ever(clean=False),
    ),
    Defect(
        name="ttl-abrupt-only",
        rules=("QS-20", "QS-22"),
        text="After a client has closed its connection, its subscriptions never end.",
        apply=lambda: _ever(clean=True),
    ),
    Defect(
        name="ttl-a-millisecond-long",
        rules=("QS-20", "QS-22"),
        text="A subscription ends a millisecond late.",
        apply=lambda: commands(_by(1)),
    ),
    Defect(
        name="ttl-a-millisecond-short",
        rules=("QS-20", "QS-21"),
        text="A subscription ends a millisecond early.",
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
        text="The broker rounds a time to live up to whole seconds.",
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
        text="A subscription with a time to live of 2^31 milliseconds or more ends with its last receiver.",
        apply=lambda: commands(_as(lambda _attach, ttl_ms: ttl_ms if ttl_ms < _LONG_MS else 0)),
    ),
    Defect(
        name="ttl-of-shared-ignored",
        rules=("QS-22",),
        text="A shared subscription with a time to live never ends.",
        apply=lambda: commands(_as(lambda attach, ttl_ms: None if attach.everybodys else ttl_ms)),
    ),
    _of_one_sharer,
    _never_after_restart,
    Defect(
        name="ttl-spent-after-restart",
        rules=("QS-21",),
        text="After a restart, subscriptions end as soon as their last receiver leaves.",
        apply=lambda: _leaves(lambda _who, _now_ms, view: 0 if view.starts > 1 else None),
    ),
)
