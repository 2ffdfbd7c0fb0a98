"""Defects when a subscription is resumed, and after its time to live has ended (QS-21, QS-22)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Detach, Put, Unsubscribe
from assay_broker.core.records import Record, SubscriptionDefined
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.persistence.filters import after_refusal
from assay_broker.defects.qos.filters import first_comes_last, lasts, nonpersistent_where
from assay_broker.defects.qos.subscription_filters import (
    Opened,
    ending_with,
    leaving_lasting,
    left_lasting,
    opened_of,
    reopened,
    ttl_rewrite,
    used_elsewhere,
)
from assay_broker.defects.sends import dropped, handed_in, is_durable
from assay_broker.defects.shapes import Commands, commands, filters, reading
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message


def _returns(asked: Command) -> bool:
    return isinstance(asked, Attach) and is_durable(asked) and bool(asked.timeout_ms)


@defect(made, "refused-return-ends-subscription", "QS-21")
def _refused_return_ends() -> Seams:
    """A subscription with a time to live ends when the store refuses the record of its subscriber's return."""

    def follow(asked: Command, _view: View) -> Commands:
        if not isinstance(asked, Attach) or not _returns(asked):
            return ()
        return (Unsubscribe(asked.connection, None, str(asked.name), is_global=asked.is_global),)

    return after_refusal(follow)


@defect(made, "refused-return-stops-the-time", "QS-22")
def _refused_return_stops() -> Seams:
    """A subscription never ends after the store has refused the record of its subscriber's return.

    The defect attaches a receiver with an unlimited time to live to the subscription, and detaches it at once.
    """

    def follow(asked: Command, view: View) -> Commands:
        if not isinstance(asked, Attach) or not _returns(asked):
            return ()
        lasting = replace(asked, token=None, link=view.own_number(), timeout_ms=None)
        return (lasting, Detach(asked.connection, None, lasting.link))

    return after_refusal(follow)


@defect(made, "ended-subscription-refused", "QS-22")
def _ended_refused() -> Seams:
    """The broker refuses to reopen a subscription whose time to live is over."""
    left: dict[tuple[str | None, str | None], int] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        for one in view.leaving(command):
            if one.timeout_ms:
                left[view.client_id(one.connection), one.name] = now_ms + one.timeout_ms
        if not isinstance(command, Attach) or not is_durable(command):
            return None
        ends_ms = left.pop((view.client_id(command.connection), command.name), now_ms)
        return (replace(command, name=""),) if ends_ms < now_ms else None

    return commands(rewrite)


@defect(made, "resumption-unwritten", "QS-21")
def _resumption_unwritten() -> Seams:
    """The broker does not record that a subscriber returned, so after a restart its subscription expires too early."""
    left: set[int] = set()

    def written(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        kept: list[Record] = []
        for record in records:
            if isinstance(record, SubscriptionDefined) and record.left_ms is not None:
                left.add(record.number)
            if not isinstance(record, SubscriptionDefined) or record.left_ms is not None or record.number not in left:
                kept.append(record)
        return tuple(kept)

    return filters(written=written)


def _without_time(*, left: bool) -> Seams:
    """Make filters that remove the time to live of subscriptions at a restart.

    Args:
        left: True for subscriptions without a receiver; False for subscriptions with one.
    """

    def read(records: Sequence[Record], view: View) -> tuple[Record, ...]:
        if view.starts < 2:  # noqa: PLR2004  nothing was left before the first start
            return tuple(records)
        return tuple(
            replace(one, timeout_ms=None)
            if isinstance(one, SubscriptionDefined) and (one.left_ms is not None) is left
            else one
            for one in records
        )

    return reading(read)


@defect(made, "ttl-of-twins", "QS-22")
def _twins() -> Seams:
    """If several unshared subscriptions to a topic have the same time to live, only the first of them ever ends."""
    times: dict[tuple[Address, int], tuple[str | None, str | None]] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Attach) or not lasts(command) or command.timeout_ms is None or command.shared:
            return None
        key = view.client_id(command.connection), command.name
        first = times.setdefault((command.address, command.timeout_ms), key)
        return None if first == key else (replace(command, timeout_ms=None),)

    return commands(rewrite)


@defect(made, "ttl-counts-once", "QS-22")
def _ends_once() -> Seams:
    """A subscription that was left and resumed does not end when its receivers leave again."""
    left: set[tuple[str | None, str | None]] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        visits: list[Command] = []
        for who in left_lasting(command, view):
            if who.key in left:
                visits += reopened(view, who, None)
            left.add(who.key)
        return (command, *visits) if visits else None

    return commands(rewrite)


@defect(made, "shared-resumed-by-the-last-only", "QS-21")
def _of_one_sharer() -> Seams:
    """After all sharers have left, only the client that left last can resume the shared subscription."""
    last: dict[tuple[str | None, str | None], Opened] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        for who in left_lasting(command, view):
            if who.attach.is_global and not used_elsewhere(who, command, view):
                last[who.key] = who
        if not isinstance(command, Attach) or not command.is_global or not lasts(command):
            return None
        comer = opened_of(command, view)
        before = last.pop(comer.key, None)
        if before is None or before.client_id == comer.client_id:
            return None
        return (*reopened(view, before, 0), command)

    return commands(rewrite)


@defect(commands, "ttl-ignored-after-restart", "QS-22")
def _never_after_restart(command: Command, now_ms: int, view: View) -> Commands | None:
    """After a restart, subscriptions have no time to live and never end."""
    return _ignored(command, now_ms, view) if view.starts > 1 else None


def _ignored(command: Command, _now_ms: int, _view: View) -> Commands | None:
    return (replace(command, timeout_ms=None),) if isinstance(command, Attach) and lasts(command) else None


@defect(made, "ttl-of-the-shortest", "QS-22")
def _shortest_for_all() -> Seams:
    """A subscription gets the shortest time to live for which any receiver on its topic has asked so far."""
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
        for who in leaving_lasting(command, view):
            left[who.key] = now_ms
        if isinstance(command, Attach) and lasts(command):
            since = left.get(opened_of(command, view).key)
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
        for who in leaving_lasting(command, view):
            left[who.key] = now_ms
            missed[who.attach.address] = []
        target = view.target(command)
        if isinstance(command, Put) and target in missed and command.message.durable and not view.on(target):
            missed[target].append(command.message)
        if not isinstance(command, Attach) or not lasts(command):
            return None
        since = left.get(opened_of(command, view).key)
        if since is None or now_ms < since + (command.timeout_ms or 0):
            return None
        return (command, *handed_in(view, command.address, *missed.pop(command.address, ())))

    return commands(rewrite)


QOS_SUBSCRIPTION_LIFETIME_ENDS_DEFECTS = (
    _refused_return_ends,
    _refused_return_stops,
    _ended_refused,
    _resumption_unwritten,
    Defect(
        name="ttl-of-the-left-lost-at-start",
        rules=("QS-22",),
        text="A restart removes the time to live of subscriptions whose receivers have left.",
        apply=lambda: _without_time(left=True),
    ),
    Defect(
        name="ttl-of-the-used-lost-at-start",
        rules=("QS-22",),
        text="A restart removes the time to live of subscriptions that have receivers.",
        apply=lambda: _without_time(left=False),
    ),
    _twins,
    Defect(
        name="nonpersistent-for-a-time",
        rules=("QS-21",),
        text="Messages are non-persistent on subscriptions with a time to live.",
        apply=lambda: nonpersistent_where(lambda attach, _returned: bool(attach.timeout_ms)),
    ),
    Defect(
        name="first-missed-comes-last",
        rules=("QS-21",),
        text="When a subscriber has missed several messages, the broker delivers the first of them last.",
        apply=lambda: first_comes_last(lambda one: not one.redelivered),
    ),
    _shortest_for_all,
    _runs_on,
    _messages_kept,
    _ends_once,
    Defect(
        name="ttl-of-shared-ignored",
        rules=("QS-22",),
        text="A shared subscription with a time to live never ends.",
        apply=lambda: commands(ttl_rewrite(lambda attach, ttl_ms: None if attach.is_global else ttl_ms)),
    ),
    _of_one_sharer,
    _never_after_restart,
    Defect(
        name="ttl-spent-after-restart",
        rules=("QS-21",),
        text="After a restart, subscriptions end as soon as their last receiver leaves.",
        apply=lambda: ending_with(lambda _who, _now_ms, view: 0 if view.starts > 1 else None),
    ),
)
