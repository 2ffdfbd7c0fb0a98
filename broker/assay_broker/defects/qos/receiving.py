"""Defects in at-most-once deliveries, and in the redelivery of at-least-once messages (QS-06, QS-09, QS-10)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Detach, Disconnect, Flow, Put, Settle
from assay_broker.core.effects import Deliver
from assay_broker.core.messages.bodies import opened
from assay_broker.defects.links import Link
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.qos.filters import (
    accepts_when_cut,
    brought_back,
    first_comes_last,
    gives_back,
    is_light,
    lasts,
    transferred,
)
from assay_broker.defects.sends import accepted, resent
from assay_broker.defects.shapes import Commands, Redeliver, commands, deliveries, puts
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address

_GIVEN_UP = 3
_THIRD_START = 3
_LARGE = 65_536
"""The length from which a body counts as large, in characters or octets."""


@defect(commands, "plain-messages-gone-with-receiver", "QS-09")
def _gone_with_receiver(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a receiver ends, its unacknowledged messages that have no properties are lost."""
    if not isinstance(command, Detach | Disconnect):
        return None
    return accepted(command, view, lambda _attach, one: _is_plain(one))


def _is_plain(delivery: Deliver) -> bool:
    return not delivery.message.properties


@defect(deliveries, "unmarked-after-restart", "QS-09")
def _unmarked_after_restart(delivery: Deliver, view: View) -> Deliver:
    """After a restart, a redelivered message has a delivery count and is not marked as redelivered."""
    return replace(delivery, redelivered=False) if view.starts > 1 else delivery


@defect(commands, "at-most-once-redelivered", "QS-06", "QS-07")
def _kept_though_sent(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker keeps at-most-once messages until their acknowledgement, and redelivers them."""
    return (replace(command, settled=False),) if isinstance(command, Attach) and lasts(command) else None


def _marked(*, redelivered: bool) -> Redeliver:
    def mark(delivery: Deliver, view: View) -> Deliver:
        hit = lasts(view.receiver(delivery))
        return replace(delivery, redelivered=redelivered, count=int(redelivered)) if hit else delivery

    return mark


@defect(commands, "sent-again-once", "QS-09")
def _sent_again_once(command: Command, _now_ms: int, view: View) -> Commands | None:
    """The broker does not redeliver a message after a second failed delivery."""
    if gives_back(command, view):
        again = tuple(delivery.delivery for delivery in view.held(command) if delivery.count)
        rest = tuple(number for number in command.deliveries if number not in again)
        accept = replace(command, token=None, deliveries=again, outcome=Outcome.ACCEPTED)
        return (accept, replace(command, deliveries=rest)) if again else None
    if not isinstance(command, Detach | Disconnect):
        return None
    return accepted(command, view, lambda attach, one: lasts(attach) and bool(one.count))


@defect(deliveries, "given-up-after-three", "QS-09")
def _given_up(delivery: Deliver, view: View) -> Deliver | None:
    """The broker does not redeliver a message after three failed deliveries."""
    return None if delivery.count >= _GIVEN_UP and lasts(view.receiver(delivery)) else delivery


@defect(deliveries, "shared-handed-on-once", "QS-10")
def _second_hand(delivery: Deliver, view: View) -> Deliver | None:
    """The broker does not redeliver a message to a third sharer of a subscription."""
    attach = view.receiver(delivery)
    return None if delivery.count > 1 and attach is not None and attach.is_global else delivery


@defect(commands, "shares-of-a-topic-are-one", "QS-10")
def _one_share(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker treats all shared subscriptions to a topic as one, so only one subscriber gets each message."""
    if isinstance(command, Attach) and command.is_global:
        return (replace(command, name=f"share:{command.address.name}"),)
    return None


@defect(made, "shared-bound-at-restart", "QS-10")
def _bound_at_restart() -> Seams:
    """After a restart, the broker does not redeliver a message of one sharer to another sharer."""
    first: dict[str | None, str | None] = {}

    def bind(delivery: Deliver, view: View) -> Deliver | None:
        attach, client = view.receiver(delivery), view.client_id(delivery.connection)
        if attach is None or not attach.is_global:
            return delivery
        holder = first.setdefault(delivery.message.message_id, client)
        return None if view.starts > 1 and holder != client else delivery

    return deliveries(bind)


@defect(commands, "share-of-every-topic", "QS-10")
def _one_share_returns(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker identifies a share by its name alone, so a share of the same name on another topic replaces it."""
    if not isinstance(command, Attach) or not command.is_global or not lasts(command):
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


QOS_RECEIVING_DEFECTS = (
    _gone_with_receiver,
    _unmarked_after_restart,
    _kept_though_sent,
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
        apply=lambda: commands(accepts_when_cut(lambda attach: attach.shared)),
    ),
    Defect(
        name="gone-back-at-second-restart",
        rules=("QS-06", "QS-08"),
        text="After the second restart, acknowledged messages and at-most-once messages are back.",
        apply=lambda: brought_back(_THIRD_START, lambda _key, _marked: True),
    ),
    _given_up,
    _second_hand,
    _one_share,
    _bound_at_restart,
    _one_share_returns,
    _passing_share_drops,
    _closed_sharer_drops,
    _between_two,
    _unmarked,
    _altered,
    _keeps_credit,
    _first_credit_only,
    Defect(
        name="at-most-once-sent-unsettled",
        rules=("QS-06",),
        text="The broker sends deliveries to at-most-once receivers unsettled, and forgets the messages.",
        apply=lambda: transferred(settled=False),
    ),
    Defect(
        name="first-again-comes-last",
        rules=("QS-09", "PD-18"),
        text="The broker redelivers the first of several returned messages last.",
        apply=lambda: first_comes_last(lambda one: one.redelivered),
    ),
)
