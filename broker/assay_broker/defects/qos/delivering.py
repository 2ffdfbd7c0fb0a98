"""Defects of MQ Light clients' subscriptions: credit, order, expiry, settlement and unsubscribing."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, FindSubscription, Flow, Put, Settle, Unsubscribe
from assay_broker.core.effects import Answer, Deliver, Effect
from assay_broker.defects.links import Link
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.qos.qualities import LIGHT, is_light, lasts
from assay_broker.defects.sends import is_topic, resent
from assay_broker.defects.shapes import Commands, commands, deliveries, filters
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address


@defect(commands, "withdrawn-credit-kept", "QS-10")
def _keeps_credit(command: Command, _now_ms: int, view: View) -> Commands | None:
    """The broker keeps a receiver's credit after a drain, and still sends messages to the receiver."""
    if isinstance(command, Flow) and command.drain and lasts(view.receivers.get((command.connection, command.link))):
        return (replace(command, drain=False),)
    return None


@defect(made, "later-credit-ignored", "QS-06")
def _first_credit_only() -> Seams:
    """An at-most-once receiver gets no more messages than its first credit allows."""
    granted: set[Link] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Flow) or command.credit <= 0:
            return None
        link = command.connection, command.link
        attach = view.receivers.get(link)
        if attach is None or not lasts(attach) or not attach.settled:
            return None
        again = link in granted
        granted.add(link)
        return (replace(command, credit=0),) if again else None

    return commands(rewrite)


@defect(made, "expired-kept-for-the-absent", "QS-08")
def _no_expiry() -> Seams:
    """A message does not expire while its subscriber is disconnected."""
    known: set[Address] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach) and lasts(command):
            known.add(command.address)
        target = view.target(command)
        if not isinstance(command, Put) or target not in known or view.on(target):
            return None
        return resent(command, ttl_ms=None, expiry_ms=None) if command.message.expiry_ms is not None else None

    return commands(rewrite)


@defect(commands, "unsubscribed-stays", "QS-20")
def _stays(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """Unsubscribing does not end a subscription with a time to live."""
    if isinstance(command, Unsubscribe) and command.name.startswith(LIGHT):
        return (FindSubscription(command.connection, command.token, command.name, command.everybodys),)
    return None


@defect(made, "share-as-its-first", "QS-30")
def _as_the_first() -> Seams:
    """All subscribers of a non-durable share get the quality of service of the share's first subscriber."""
    first: dict[tuple[Address, str | None], bool] = {}

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if not isinstance(command, Attach) or not command.everybodys or lasts(command):
            return None
        return (replace(command, settled=first.setdefault((command.address, command.name), command.settled)),)

    return commands(rewrite)


def _transferred(*, settled: bool) -> Seams:
    """Make filters that send deliveries with another `settled` flag than the receiver asked for.

    Args:
        settled: The `settled` flag that MQ Light receivers with a lasting subscription get if they asked for the
            opposite.
    """

    def rewrite(delivery: Deliver, view: View) -> Deliver:
        attach = view.receiver(delivery)
        asked = attach is not None and lasts(attach) and attach.settled is not settled
        return replace(delivery, settled=settled) if asked else delivery

    return deliveries(rewrite)


def _settles(answer: Answer, view: View) -> bool:
    """Check whether an answer settles deliveries of an MQ Light subscription that is neither lasting nor shared."""
    asked, _ = view.asked(answer)
    if not isinstance(asked, Settle):
        return False
    attach = view.receivers.get((asked.connection, asked.link))
    return attach is not None and is_light(attach) and not lasts(attach) and not attach.shared


@defect(made, "accepted-and-not-settled", "QS-08")
def _not_settled() -> Seams:
    """The broker never settles deliveries that the subscriber of an unshared non-durable subscription accepts."""

    def effects(passing: tuple[Effect, ...], _now_ms: int, view: View) -> tuple[Effect, ...]:
        return tuple(one for one in passing if not isinstance(one, Answer) or not _settles(one, view))

    return filters(effects=effects)


def _keeps(one: Deliver, view: View) -> bool:
    receiver = view.receiver(one)
    return receiver is not None and (lasts(receiver) or not is_topic(receiver.address))


def _first_comes_last(hit: Callable[[Deliver], bool]) -> Seams:
    """Make filters that move the first of several deliveries of one turn to a receiver behind the other deliveries.

    The filters change only deliveries to receivers on queues and on lasting MQ Light subscriptions.

    Args:
        hit: Chooses the deliveries.
    """

    def effects(passing: tuple[Effect, ...], _now_ms: int, view: View) -> tuple[Effect, ...]:
        moved = [one for one in passing if isinstance(one, Deliver) and hit(one) and _keeps(one, view)]
        if len({(one.connection, one.link) for one in moved}) != 1:
            return passing
        places = iter((*moved[1:], moved[0]))
        return tuple(next(places) if one in moved else one for one in passing)

    return filters(effects=effects)


DELIVERING_DEFECTS = (
    _keeps_credit,
    _first_credit_only,
    _no_expiry,
    _stays,
    _as_the_first,
    _not_settled,
    Defect(
        name="at-most-once-sent-unsettled",
        rules=("QS-06",),
        text="The broker sends deliveries to at-most-once receivers unsettled, and forgets the messages.",
        apply=lambda: _transferred(settled=False),
    ),
    Defect(
        name="at-least-once-sent-settled",
        rules=("QS-08",),
        text="The broker sends deliveries to at-least-once receivers as settled, and keeps the messages.",
        apply=lambda: _transferred(settled=True),
    ),
    Defect(
        name="first-again-comes-last",
        rules=("QS-09", "PD-18"),
        text="The broker redelivers the first of several returned messages last.",
        apply=lambda: _first_comes_last(lambda one: one.redelivered),
    ),
    Defect(
        name="first-missed-comes-last",
        rules=("QS-21",),
        text="When a subscriber has missed several messages, the broker delivers the first of them last.",
        apply=lambda: _first_comes_last(lambda one: not one.redelivered),
    ),
)
