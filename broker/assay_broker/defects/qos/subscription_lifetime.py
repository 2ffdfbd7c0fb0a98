"""Defects in the time to live of a subscription (QS-20)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Disconnect, FindSubscription, Put, Unsubscribe
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.qos.filters import LIGHT, lasts
from assay_broker.defects.qos.subscription_filters import (
    Opened,
    ending_with,
    leaving_lasting,
    left_lasting,
    opened_of,
    reopened,
    ttl_rewrite,
)
from assay_broker.defects.sends import covers, dropped, is_wide, unheard
from assay_broker.defects.shapes import Commands, commands
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address

_ZERO_LIVES_MS = 10_000
_SECOND_MS = 1_000
_HOUR_MS = 3_600_000
_LONG_MS = 1 << 31


@defect(commands, "unsubscribed-stays", "QS-20")
def _stays(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """Unsubscribing does not end a subscription with a time to live."""
    if isinstance(command, Unsubscribe) and command.name.startswith(LIGHT):
        return (FindSubscription(command.connection, command.token, command.name, command.is_global),)
    return None


def _ever(*, clean: bool) -> Seams:
    """Make filters that remove the time to live of subscriptions when their connection ends in a given way.

    Args:
        clean: True for connections that a client closed; False for lost connections.
    """

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        gone = left_lasting(command, view)
        if not isinstance(command, Disconnect) or command.clean is not clean or not gone:
            return None
        return (command, *(one for who in gone for one in reopened(view, who, None)))

    return commands(rewrite)


def _from(first: Callable[[Command, View], list[Opened]]) -> Seams:
    """Make filters by which the time to live begins at the first event of a given kind.

    Args:
        first: Returns the subscriptions for which a command is such an event.
    """
    begun: dict[tuple[str | None, str | None], int] = {}

    def note(command: Command, now_ms: int, view: View) -> None:
        for who in first(command, view):
            begun.setdefault(who.key, now_ms)

    def remaining(who: Opened, now_ms: int, _view: View) -> int | None:
        return max(0, begun.get(who.key, now_ms) + (who.attach.timeout_ms or 0) - now_ms)

    return ending_with(remaining, note)


def _subscribing(command: Command, view: View) -> list[Opened]:
    return [opened_of(command, view)] if isinstance(command, Attach) and lasts(command) else []


def _by(difference_ms: int) -> Callable[[Command, int, View], Commands | None]:
    return ttl_rewrite(lambda _attach, ttl_ms: ttl_ms + difference_ms)


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
        first = values.setdefault(opened_of(command, view).key, command.timeout_ms)
        if first == command.timeout_ms or not first:
            return None
        return (replace(command, timeout_ms=first, durability=Durability.DURABLE),)

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


@defect(made, "absent-pattern-keeps-one-topic", "QS-21")
def _one_topic() -> Seams:
    """While its subscriber is away, a subscription to a pattern keeps messages of only one topic."""
    away: dict[Address, Address | None] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        away.update((one.address, None) for one in view.leaving(command) if lasts(one) and is_wide(one))
        if isinstance(command, Attach):
            away.pop(command.address, None)
        target = view.target(command)
        if not isinstance(command, Put) or target is None:
            return None
        for pattern in [one for one in away if covers(one, target)]:
            away[pattern] = away[pattern] or target
            if away[pattern] != target:
                return (dropped(command, now_ms),)
        return None

    return commands(rewrite)


QOS_SUBSCRIPTION_LIFETIME_DEFECTS = (
    _stays,
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
        text="The time to live counts from the first disconnection and does not start again at later ones.",
        apply=lambda: _from(leaving_lasting),
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
    _missed_twice,
    _one_topic,
    Defect(
        name="ttl-in-seconds",
        rules=("QS-20",),
        text="The broker rounds a time to live up to whole seconds.",
        apply=lambda: commands(ttl_rewrite(lambda _attach, ttl_ms: -(-ttl_ms // _SECOND_MS) * _SECOND_MS)),
    ),
    Defect(
        name="ttl-in-seconds-rounded-down",
        rules=("QS-20",),
        text="The broker rounds a time to live down to whole seconds.",
        apply=lambda: commands(ttl_rewrite(lambda _attach, ttl_ms: ttl_ms // _SECOND_MS * _SECOND_MS)),
    ),
    Defect(
        name="ttl-an-hour-at-most",
        rules=("QS-20",),
        text="No subscription outlives its receivers for more than an hour.",
        apply=lambda: commands(ttl_rewrite(lambda _attach, ttl_ms: min(ttl_ms, _HOUR_MS))),
    ),
    Defect(
        name="ttl-overflows",
        rules=("QS-20",),
        text="A subscription with a time to live of 2^31 milliseconds or more ends with its last receiver.",
        apply=lambda: commands(ttl_rewrite(lambda _attach, ttl_ms: ttl_ms if ttl_ms < _LONG_MS else 0)),
    ),
)
