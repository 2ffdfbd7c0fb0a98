"""Defects with messages that wait for their acknowledgement (QS-08)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Detach, Disconnect, Put, Settle, StoreFailed
from assay_broker.core.effects import Answer, Deliver, Effect
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.qos.filters import accepts_when_cut, brought_back, is_light, lasts, transferred
from assay_broker.defects.sends import accepted, handed_in, resent
from assay_broker.defects.shapes import Commands, commands, filters, reading
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address, Message

_THIRD_START = 3


@defect(commands, "acknowledged-comes-again", "QS-08", "QS-10", "QS-14")
def _acknowledgement_ignored(command: Command, _now_ms: int, view: View) -> Commands | None:
    """The broker ignores acknowledgements, so the messages are redelivered."""
    if not isinstance(command, Settle) or command.unit is not None or not lasts(view.receiver(command)):
        return None
    return (replace(command, deliveries=()),)


@defect(made, "unacknowledged-gone-at-restart", "QS-08", "QS-09")
def _gone_at_restart() -> Seams:
    """A restart loses the messages that subscribers have received and not acknowledged."""
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


@defect(made, "duplicate-after-cut", "QS-08")
def _duplicate_after_cut() -> Seams:
    """After a connection breaks, the broker redelivers the last message that this connection acknowledged."""
    last: dict[int, tuple[Address, Message]] = {}

    def note(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Settle) and command.unit is None and command.outcome is Outcome.ACCEPTED:
            receiver = view.receiver(command)
            done = [one.message for one in view.held(command) if one.delivery in command.deliveries]
            if receiver is not None and done:
                last[command.connection] = receiver.address, done[-1]
        elif isinstance(command, Disconnect):
            again = last.pop(command.connection, None)
            if again is not None and not command.clean:
                return (command, *handed_in(view, *again))
        return None

    return filters(note)


def _on_subscription(record: Record) -> bool:
    return isinstance(record, MessageStored) and record.home.startswith(SUBSCRIPTION_HOME)


@defect(reading, "subscriptions-lost-at-second-restart", "QS-08", "QS-32")
def _lost_at_third_start(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """The second restart loses persistent messages of subscriptions."""
    return tuple(record for record in records if view.starts < _THIRD_START or not _on_subscription(record))


@defect(commands, "closed-sharer-acknowledges", "QS-08")
def _close_accepts(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a sharer closes its consumer or connection, the sharer's unacknowledged messages count as acknowledged."""
    if not isinstance(command, Detach | Disconnect) or (isinstance(command, Disconnect) and not command.clean):
        return None
    return accepted(command, view, lambda attach, _one: attach.is_global and not attach.settled)


@defect(made, "acknowledged-for-all-subscribers", "QS-08")
def _for_all_subscribers() -> Seams:
    """A message that one subscriber has acknowledged is not delivered to other subscribers afterwards."""
    by: dict[str | None, str | None] = {}

    def note(command: Command, _now_ms: int, view: View) -> None:
        if isinstance(command, Settle) and lasts(view.receiver(command)):
            for delivery in view.held(command):
                by.setdefault(delivery.message.message_id, view.client_id(command.connection))

    def withhold(delivery: Deliver, view: View) -> Deliver | None:
        client = view.client_id(delivery.connection)
        mine = by.get(delivery.message.message_id, client) == client
        return delivery if mine or not lasts(view.receiver(delivery)) else None

    return filters(note, delivery=withhold)


@defect(made, "expired-kept-for-the-absent", "QS-08")
def _no_expiry() -> Seams:
    """A message that is sent while its subscriber is disconnected never expires."""
    known: set[Address] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach) and lasts(command):
            known.add(command.address)
        target = view.target(command)
        if not isinstance(command, Put) or target not in known or view.on(target):
            return None
        return resent(command, ttl_ms=None, expiry_ms=None) if command.message.expiry_ms is not None else None

    return commands(rewrite)


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


@defect(made, "unwritten-acknowledgement-counts", "QS-08", "PD-24", "BT-11", "BT-12")
def _unwritten_counts() -> Seams:
    """A message whose acknowledgement the store refused is not delivered again."""
    gone: set[str | None] = set()

    def effects(passing: tuple[Effect, ...], _now_ms: int, view: View) -> tuple[Effect, ...]:
        again = [one for one in passing if isinstance(one, Deliver)]
        if isinstance(view.last, StoreFailed):
            gone.update(one.message.message_id for one in again)
        lost = {id(one) for one in again if one.message.message_id in gone}
        return tuple(one for one in passing if id(one) not in lost)

    return filters(effects=effects)


QOS_RECEIVING_UNSETTLED_DEFECTS = (
    Defect(
        name="unacknowledged-dropped-on-cut",
        rules=("QS-08", "QS-09", "QS-10", "QS-14", "QS-21"),
        text="When a connection ends, its unacknowledged messages count as acknowledged.",
        apply=lambda: commands(accepts_when_cut(lambda _attach: True)),
    ),
    _gone_at_restart,
    _duplicate_after_cut,
    _acknowledgement_ignored,
    Defect(
        name="second-acknowledgement-unwritten",
        rules=("QS-08",),
        text="The broker does not write the acknowledgement of a redelivered message to disk.",
        apply=lambda: brought_back(2, lambda key, marked: key in marked),
    ),
    _lost_at_third_start,
    _for_all_subscribers,
    _close_accepts,
    _no_expiry,
    _not_settled,
    _unwritten_counts,
    Defect(
        name="at-least-once-sent-settled",
        rules=("QS-08",),
        text="The broker sends deliveries to at-least-once receivers as settled, and keeps the messages.",
        apply=lambda: transferred(settled=True),
    ),
)
