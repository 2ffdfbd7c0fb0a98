"""Defects of how long a subscription outlives its receivers, and of what is left of it then.

Most of them let a client of the defect's own come to the subscription for a moment, as the same client: it changes the
time to live, as any client may.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Connect, Detach, Disconnect, Put
from assay_broker.defects.model import Defect, Starts, Watch, commands, dropped, handed_in, unheard
from assay_broker.defects.qos.qualities import lasts
from assay_broker.seams import Seams
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address, Message

_AGENT = -11  # a connection of the defect's own
_ZERO_LIVES_MS = 10_000
_SECOND_MS = 1_000
_HOUR_MS = 3_600_000
_LONG_MS = 1 << 31


class Who(Struct, frozen=True):
    """A subscription, as a receiver of it asked for it."""

    client_id: str | None
    attach: Attach

    @property
    def key(self) -> tuple[str | None, str | None]:
        """The same for whoever comes to the same subscription."""
        return (None if self.attach.everybodys else self.client_id), self.attach.name


def _who(attach: Attach, watch: Watch) -> Who:
    return Who(watch.clients.get(attach.connection), attach)


class _Leavers:
    """Whose receivers have gone with their links already, on connections that are still there."""

    def __init__(self) -> None:
        self._detached: dict[int, list[Who]] = {}

    def of(self, command: Command, watch: Watch) -> list[Who]:
        """Whose subscriptions with a time to live a connection leaves behind when it ends."""
        if isinstance(command, Detach):
            self._detached.setdefault(command.connection, []).extend(_leaving(command, watch))
        if not isinstance(command, Disconnect):
            return []
        return [*self._detached.pop(command.connection, ()), *_leaving(command, watch)]


def _leaving(command: Command, watch: Watch) -> list[Who]:
    """Whose receivers a command ends, of subscriptions with a time to live."""
    if not isinstance(command, Detach | Disconnect):
        return []
    return [
        _who(attach, watch)
        for (connection, link), attach in watch.receivers.items()
        if lasts(attach)
        and connection == command.connection
        and (isinstance(command, Disconnect) or link == command.link)
    ]


def _others(who: Who, command: Command, watch: Watch) -> bool:
    """Whether somebody else still receives from the subscription."""
    return any(
        _who(attach, watch).key == who.key and attach.connection != getattr(command, "connection", None)
        for attach in watch.receivers.values()
    )


def _visit(who: Who, timeout_ms: int | None) -> tuple[Command, ...]:
    """Come to a subscription as the same client, give it another time to live, and leave."""
    attach = replace(who.attach, connection=_AGENT, token=None, link=1, timeout_ms=timeout_ms)
    return (Connect(_AGENT, None, who.client_id), attach, Disconnect(_AGENT, None, clean=True))


Remaining = Callable[[Who, int], int | None]
"""A subscription and the time, to how long it lives from then on; None for as long as it says itself."""


def _leaves(remaining: Remaining, noted: Callable[[Command, int, Watch], None] | None = None) -> Seams:
    """Filters that give a subscription another time to live when its last receiver's connection has ended."""
    leavers = _Leavers()

    def rewrite(command: Command, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        if noted is not None:
            noted(command, now_ms, watch)
        visits: list[Command] = []
        for who in leavers.of(command, watch):
            left = None if _others(who, command, watch) else remaining(who, now_ms)
            if left is not None:
                visits += _visit(who, left)
        return (command, *visits) if visits else None

    return commands(rewrite)


def _ever(*, clean: bool) -> Seams:
    """The time to live does not count after connections that end in this way."""
    leavers = _Leavers()

    def rewrite(command: Command, _now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        gone = leavers.of(command, watch)
        if not isinstance(command, Disconnect) or command.clean is not clean or not gone:
            return None
        return (command, *(one for who in gone for one in _visit(who, None)))

    return commands(rewrite)


def _from(first: Callable[[Command, Watch], list[Who]]) -> Seams:
    """The time to live counts from the first time that something happens to the subscription, and goes on counting."""
    begun: dict[tuple[str | None, str | None], int] = {}

    def note(command: Command, now_ms: int, watch: Watch) -> None:
        for who in first(command, watch):
            begun.setdefault(who.key, now_ms)

    def remaining(who: Who, now_ms: int) -> int | None:
        return max(0, begun.get(who.key, now_ms) + (who.attach.timeout_ms or 0) - now_ms)

    return _leaves(remaining, note)


def _subscribing(command: Command, watch: Watch) -> list[Who]:
    return [_who(command, watch)] if isinstance(command, Attach) and lasts(command) else []


def _as(change: Callable[[Attach, int], int | None]) -> Callable[[Command, int, Watch], tuple[Command, ...] | None]:
    """A subscription lives otherwise than it asks for."""

    def rewrite(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
        if isinstance(command, Attach) and lasts(command) and command.timeout_ms is not None:
            return (replace(command, timeout_ms=change(command, command.timeout_ms)),)
        return None

    return rewrite


def _by(difference_ms: int) -> Callable[[Command, int, Watch], tuple[Command, ...] | None]:
    return _as(lambda _attach, ttl_ms: ttl_ms + difference_ms)


def _ends_once() -> Seams:
    """A subscription that was left twice stays for ever."""
    leavers, left = _Leavers(), set[tuple[str | None, str | None]]()

    def rewrite(command: Command, _now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        visits: list[Command] = []
        for who in leavers.of(command, watch):
            if who.key in left:
                visits += _visit(who, None)
            left.add(who.key)
        return (command, *visits) if visits else None

    return commands(rewrite)


def _of_one_sharer() -> Seams:
    """A shared subscription that everybody has left is a new one for any other client than the last."""
    leavers = _Leavers()
    last: dict[tuple[str | None, str | None], Who] = {}

    def rewrite(command: Command, _now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        for who in leavers.of(command, watch):
            if who.attach.everybodys and not _others(who, command, watch):
                last[who.key] = who
        if not isinstance(command, Attach) or not command.everybodys or not lasts(command):
            return None
        comer = _who(command, watch)
        before = last.pop(comer.key, None)
        if before is None or before.client_id == comer.client_id:
            return None
        return (*_visit(before, 0), command)

    return commands(rewrite)


def _never_after_restart() -> Seams:
    starts = Starts()
    return starts.counted(commands(_as(lambda _attach, ttl_ms: None if starts.count > 1 else ttl_ms)))


def _at_once_after_restart() -> Seams:
    starts = Starts()
    return starts.counted(_leaves(lambda _who, _now_ms: 0 if starts.count > 1 else None))


def _ignored(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    return (replace(command, timeout_ms=None),) if isinstance(command, Attach) and lasts(command) else None


def _zero_lives(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    if isinstance(command, Attach) and command.timeout_ms == 0 and command.name is not None and not command.settled:
        return (replace(command, durability=Durability.DURABLE, timeout_ms=_ZERO_LIVES_MS),)
    return None


def _first_value_stays() -> Seams:
    """The time to live with which a subscription was first made holds for ever."""
    values: dict[tuple[str | None, str | None], int] = {}

    def rewrite(command: Command, _now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        if not isinstance(command, Attach) or command.timeout_ms is None or command.name is None:
            return None
        first = values.setdefault(_who(command, watch).key, command.timeout_ms)
        if first == command.timeout_ms or not first:
            return None
        return (replace(command, timeout_ms=first, durability=Durability.DURABLE),)

    return commands(rewrite)


def _shortest_for_all() -> Seams:
    """Of all subscriptions to a topic the shortest time to live ends them all."""
    shortest: dict[Address, int] = {}

    def rewrite(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
        if not isinstance(command, Attach) or not lasts(command) or command.timeout_ms is None:
            return None
        least = min(command.timeout_ms, shortest.get(command.address, command.timeout_ms))
        shortest[command.address] = least
        return (replace(command, timeout_ms=least),)

    return commands(rewrite)


def _runs_on() -> Seams:
    """When the time to live would have been over, a subscription that has been resumed gets nothing more."""
    left: dict[tuple[str | None, str | None], int] = {}
    over: dict[Address, int] = {}

    def rewrite(command: Command, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        for who in _leaving(command, watch):
            left[who.key] = now_ms
        if isinstance(command, Attach) and lasts(command):
            since = left.get(_who(command, watch).key)
            if since is not None:
                over[command.address] = since + (command.timeout_ms or 0)
        target = watch.target(command) if isinstance(command, Put) else None
        if isinstance(command, Put) and target in over and watch.on(target) and now_ms >= over[target]:
            return (dropped(command, now_ms),)
        return None

    return commands(rewrite)


def _messages_kept() -> Seams:
    """Who comes back past the time to live is handed the persistent messages that had been kept before."""
    missed: dict[Address, list[Message]] = {}
    left: dict[tuple[str | None, str | None], int] = {}

    def rewrite(command: Command, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        for who in _leaving(command, watch):
            left[who.key] = now_ms
            missed[who.attach.address] = []
        target = watch.target(command) if isinstance(command, Put) else None
        if isinstance(command, Put) and target in missed and command.message.durable and not watch.on(target):
            missed[target].append(command.message)
        if not isinstance(command, Attach) or not lasts(command):
            return None
        since = left.get(_who(command, watch).key)
        if since is None or now_ms < since + (command.timeout_ms or 0):
            return None
        return (command, *handed_in(_AGENT, command.address, *missed.pop(command.address, ())))

    return commands(rewrite)


def _missed_twice() -> Seams:
    """What is published while a lasting subscriber is away comes twice."""
    known: set[Address] = set()

    def twice(command: Command, _now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        if isinstance(command, Attach) and lasts(command):
            known.add(command.address)
        target = watch.target(command) if isinstance(command, Put) else None
        if isinstance(command, Put) and target in known and not watch.on(target):
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
        text="The time to live of a subscription counts from when it was made.",
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
    Defect(
        name="ttl-zero-lives",
        rules=("QS-20",),
        text="A subscription without a time to live outlives its receiver for a while.",
        apply=lambda: commands(_zero_lives),
    ),
    Defect(
        name="ttl-of-the-first",
        rules=("QS-20", "QS-21"),
        text="A later time to live does not replace an earlier one.",
        apply=_first_value_stays,
    ),
    Defect(
        name="ttl-of-the-shortest",
        rules=("QS-22",),
        text="The end of one subscription to a topic is the end of others.",
        apply=_shortest_for_all,
    ),
    Defect(
        name="ttl-runs-on",
        rules=("QS-21",),
        text="The time to live goes on when the subscriber is back.",
        apply=_runs_on,
    ),
    Defect(
        name="ttl-keeps-messages",
        rules=("QS-22",),
        text="Who comes back past the time to live finds the persistent messages of the old subscription.",
        apply=_messages_kept,
    ),
    Defect(
        name="missed-by-lasting-twice",
        rules=("QS-20", "QS-21"),
        text="What a subscriber misses while its subscription outlives it comes twice.",
        apply=_missed_twice,
    ),
    Defect(
        name="ttl-counts-once",
        rules=("QS-22",),
        text="A subscription that was resumed in time stays for ever when it is left again.",
        apply=_ends_once,
    ),
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
    Defect(
        name="shared-resumed-by-the-last-only",
        rules=("QS-21",),
        text="A shared subscription that all have left is not resumed by another client than the last.",
        apply=_of_one_sharer,
    ),
    Defect(
        name="ttl-ignored-after-restart",
        rules=("QS-22",),
        text="Once the broker was down, a subscription that is left stays for ever.",
        apply=_never_after_restart,
    ),
    Defect(
        name="ttl-spent-after-restart",
        rules=("QS-21",),
        text="Once the broker was down, a subscription that is left ends at once.",
        apply=_at_once_after_restart,
    ),
)
