"""Defects of subscriptions that are opened again, have noLocal, or match several topics."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Detach, Put
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.messages.bodies import opened
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.records import MessageStored, Record, SubscriptionDefined
from assay_broker.core.topics.topic_strings import SEPARATOR, has_wildcards
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import handed_in, is_delayed, is_durable, is_topic
from assay_broker.defects.shapes import Commands, answers, commands, deliveries, filters, read
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import Mqrc


@defect(made, "durable-opened-once", "PD-15", "QS-21")
def _opened_once() -> Seams:
    """The broker refuses to open a durable subscription for the second time."""
    known: set[tuple[str | None, str | None]] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Attach) or not is_durable(command):
            return None
        key = (None if command.everybodys else view.client_id(command.connection)), command.name
        if key not in known:
            known.add(key)
            return None
        return (replace(command, name=""),)  # the broker refuses an empty name

    return commands(rewrite)


@defect(made, "recovered-subscription-refused", "PD-25", "QS-21")
def _recovered_refused() -> Seams:
    """After a restart, the broker refuses to open the durable subscriptions that it has recovered."""
    recovered: set[tuple[str | None, str | None]] = set()

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        recovered.update((one.client_id, one.name) for one in records if isinstance(one, SubscriptionDefined))
        return tuple(records)

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Attach) or not is_durable(command):
            return None
        client = None if command.everybodys else view.client_id(command.connection)
        return (replace(command, name=""),) if (client, command.name) in recovered else None

    return filters(rewrite, read=start)


@defect(made, "ended-subscription-refused", "QS-22")
def _ended_refused() -> Seams:
    """The broker refuses to open a subscription again whose time to live is over."""
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


@defect(made, "namesake-handed-over-after-restart", "PD-16")
def _namesake_handed_over() -> Seams:
    """After a restart, a new subscription gets messages stored for another client's subscription of the same name."""
    missed: dict[str, list[Message]] = {}
    owned: set[tuple[str | None, str]] = set()

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        names = {
            f"{SUBSCRIPTION_HOME}{one.number}": one.name for one in records if isinstance(one, SubscriptionDefined)
        }
        for one in records:
            if isinstance(one, SubscriptionDefined):
                owned.add((one.client_id, one.name))
            elif isinstance(one, MessageStored) and one.home in names:
                missed.setdefault(names[one.home], []).append(opened(one.message))
        return tuple(records)

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Attach) or not is_durable(command) or command.shared:
            return None
        if command.name not in missed or (view.client_id(command.connection), command.name) in owned:
            return None
        return (command, *handed_in(view, command.address, *missed.pop(command.name)))

    return filters(rewrite, read=start)


@defect(deliveries, "no-local-hears-nobody", "PD-11")
def _hears_nobody(delivery: Deliver, view: View) -> Deliver | None:
    """A subscriber with noLocal gets no messages at all, even from other connections."""
    receiver = view.receiver(delivery)
    return None if receiver is not None and receiver.no_local else delivery


@defect(read, "no-local-forgotten-at-restart", "PD-25")
def _no_local_forgotten(record: Record) -> tuple[Record, ...]:
    """A restart removes noLocal from durable subscriptions."""
    return (replace(record, no_local=False),) if isinstance(record, SubscriptionDefined) else (record,)


def _is_wide(attach: Attach) -> bool:
    """Check whether a receiver subscribes to a topic pattern."""
    return is_topic(attach.address) and has_wildcards(attach.address.name)


@defect(commands, "pattern-ignores-its-selector", "PD-11", "PD-26")
def _ignores_selector(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """A subscription to a topic pattern also gets messages that its selector excludes."""
    if not isinstance(command, Attach) or command.selector is None or not _is_wide(command):
        return None
    return (replace(command, selector=None),)


@defect(made, "pattern-handed-last-publication", "PD-14", "PD-26", "PD-34")
def _handed_last() -> Seams:
    """When a client subscribes to a topic pattern, the broker publishes the last publication again."""
    last: list[tuple[Address, Message]] = []

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Put):
            target = view.target(command)
            if target is not None and is_topic(target) and not is_delayed(command, now_ms):
                last[:] = [(target, command.message)]
        if not isinstance(command, Attach) or not _is_wide(command) or not last:
            return None
        address, message = last.pop()
        return (command, *handed_in(view, address, message))

    return commands(rewrite)


def _nested(one: str, other: str) -> bool:
    """Check whether the levels of one topic string begin with all levels of the other."""
    shorter, longer = sorted((one, other), key=len)
    return longer.startswith(shorter + SEPARATOR)


@defect(commands, "pattern-takes-nested-along", "PD-12")
def _takes_nested_along(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a subscriber leaves, subscribers to topic patterns above or below its topic get no more messages."""
    left = [one.address.name for one in view.leaving(command) if is_topic(one.address)]
    others = [
        Detach(connection, None, link)
        for (connection, link), attach in view.receivers.items()
        if is_topic(attach.address)
        and has_wildcards(attach.address.name)
        and any(_nested(attach.address.name, name) for name in left)
    ]
    return (command, *others) if others else None


@defect(deliveries, "publications-without-reply-to", "PD-23")
def _without_reply_to(delivery: Deliver, _view: View) -> Deliver:
    """A publication reaches its subscribers without its reply-to."""
    if not is_topic(delivery.origin) or delivery.message.reply_to is None:
        return delivery
    return replace(delivery, message=replace(opened(delivery.message), reply_to=None))


@defect(answers, "unreached-subscription-kept-quiet", "PD-23")
def _kept_quiet(sent: Sent, answer: Answer) -> Answer:
    """The broker accepts a publication although the queue of a durable subscription could not take a copy of it."""
    refused = answer.refused
    if refused is None or refused.mqrc != Mqrc.PUBLICATION_FAILURE or sent.delayed:
        return answer
    return replace(answer, refused=None)


REOPENING_DEFECTS = (
    _opened_once,
    _recovered_refused,
    _ended_refused,
    _namesake_handed_over,
    _hears_nobody,
    _no_local_forgotten,
    _ignores_selector,
    _handed_last,
    _takes_nested_along,
    _without_reply_to,
    _kept_quiet,
)
