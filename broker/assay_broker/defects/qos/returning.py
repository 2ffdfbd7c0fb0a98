"""Defects of subscribers that return, and of subscriptions after a restart."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Detach, Disconnect, Put, Settle
from assay_broker.core.effects import Deliver
from assay_broker.core.messages.bodies import opened
from assay_broker.core.records import Record, SubscriptionDefined
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.qos.qualities import is_light, lasts
from assay_broker.defects.sends import accepted, resent
from assay_broker.defects.shapes import Commands, commands, deliveries, filters, puts, reading
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address

_LARGE = 65_536
"""The number of characters from which a body counts as large."""


@defect(commands, "share-of-every-topic", "QS-10")
def _one_share(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker identifies a share by its name alone, so a share of the same name on another topic replaces it."""
    if not isinstance(command, Attach) or not command.everybodys or not lasts(command):
        return None
    return (replace(command, name=":".join(str(command.name).split(":")[:2])),)


@defect(commands, "passing-share-drops-held", "QS-10")
def _passing_share_drops(command: Command, _now_ms: int, view: View) -> Commands | None:
    """On a non-durable share, the broker drops the unacknowledged messages of a sharer that leaves."""
    if isinstance(command, Settle):
        receiver = view.receiver(command)
        lost = command.outcome is Outcome.MODIFIED and receiver is not None and _passes(receiver)
        return (replace(command, outcome=Outcome.ACCEPTED),) if lost else None
    if not isinstance(command, Detach | Disconnect):
        return None
    return accepted(command, view, lambda attach, _one: _passes(attach) and not attach.settled)


@defect(commands, "closed-sharer-drops-held", "QS-10")
def _closed_sharer_drops(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a sharer closes its consumer but not its connection, the sharer's unacknowledged messages are dropped."""
    if isinstance(command, Settle):
        receiver = view.receiver(command)
        given_back = command.outcome is Outcome.MODIFIED and command.unit is None
        shared = receiver is not None and is_light(receiver) and receiver.shared
        return (replace(command, outcome=Outcome.ACCEPTED),) if given_back and shared else None
    if not isinstance(command, Detach):
        return None
    return accepted(command, view, lambda attach, _one: is_light(attach) and attach.shared and not attach.settled)


@defect(puts, "nonpersistent-between-two", "QS-10")
def _between_two(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """Messages are non-persistent on a subscription while several receivers share it."""
    sharers = [attach for attach in view.on(target) if is_light(attach) and attach.shared]
    return resent(put, durable=False) if len(sharers) > 1 and put.message.durable else None


@defect(deliveries, "odd-size-again-unmarked", "QS-09")
def _unmarked(delivery: Deliver, _view: View) -> Deliver:
    """The broker does not mark redelivered messages as redelivered if their body is empty or large."""
    size = len(opened(delivery.message).body or "")
    return replace(delivery, count=0, redelivered=False) if not 0 < size < _LARGE else delivery


@defect(deliveries, "sent-again-altered", "QS-09", "PD-18", "BT-12")
def _altered(delivery: Deliver, _view: View) -> Deliver:
    """The broker adds a character to the text of a redelivered message."""
    message = opened(delivery.message)
    if not delivery.redelivered or not isinstance(message.body, str):
        return delivery
    return replace(delivery, message=replace(message, body=f"{message.body}.", encoded=None))


def _passes(attach: Attach) -> bool:
    """Check whether a receiver shares an MQ Light subscription that ends with its last sharer."""
    return is_light(attach) and attach.shared and not lasts(attach)


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
    """If several subscriptions to a topic have the same time to live, only the first of them ever ends."""
    times: dict[tuple[Address, int], tuple[str | None, str | None]] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Attach) or not lasts(command) or command.timeout_ms is None or command.shared:
            return None
        key = view.client_id(command.connection), command.name
        first = times.setdefault((command.address, command.timeout_ms), key)
        return None if first == key else (replace(command, timeout_ms=None),)

    return commands(rewrite)


def _nonpersistent_where(hit: Callable[[Attach, bool], bool]) -> Seams:
    """Make filters that make publications non-persistent on topics that have had certain subscribers.

    Args:
        hit: Chooses the subscribers.  Its arguments are a receiver with a lasting subscription, and whether the
            subscriber has come back.
    """
    known: set[tuple[str | None, str | None]] = set()
    where: set[Address] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach) and lasts(command):
            key = view.client_id(command.connection), command.name
            if hit(command, key in known):
                where.add(command.address)
            known.add(key)
        if not isinstance(command, Put) or view.target(command) not in where or not command.message.durable:
            return None
        return resent(command, durable=False)

    return commands(rewrite)


RETURNING_DEFECTS = (
    _one_share,
    _passing_share_drops,
    _closed_sharer_drops,
    _between_two,
    _unmarked,
    _altered,
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
        name="nonpersistent-for-the-returned",
        rules=("QS-32",),
        text="After a subscriber has come back, messages are non-persistent on its subscription.",
        apply=lambda: _nonpersistent_where(lambda _attach, returned: returned),
    ),
    Defect(
        name="nonpersistent-for-those-back-at-most-once",
        rules=("QS-36",),
        text="After an at-most-once subscriber has come back, messages are non-persistent on its subscription.",
        apply=lambda: _nonpersistent_where(lambda attach, returned: returned and attach.settled),
    ),
    Defect(
        name="nonpersistent-for-sharers",
        rules=("QS-32",),
        text="Messages are non-persistent on shared subscriptions.",
        apply=lambda: _nonpersistent_where(lambda attach, _returned: attach.shared),
    ),
    Defect(
        name="nonpersistent-for-a-time",
        rules=("QS-21",),
        text="Messages are non-persistent on subscriptions with a time to live.",
        apply=lambda: _nonpersistent_where(lambda attach, _returned: bool(attach.timeout_ms)),
    ),
)
