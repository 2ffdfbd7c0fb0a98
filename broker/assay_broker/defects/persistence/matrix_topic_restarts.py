"""Defects with messages of subscriptions; many of these defects show only after a restart (PD-27 to PD-34)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Commit, Put
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.objects.factory import DURABLE_MODEL
from assay_broker.core.records import Record, RetainedSet, SubscriptionDefined
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.persistence.filters import altered_body, kept_non_persistent, non_persistent_twice, replays
from assay_broker.defects.sends import (
    dropped,
    handed_in,
    is_delayed,
    is_durable,
    is_topic,
    read_back,
    written_down,
)
from assay_broker.defects.shapes import Commands, commands, deliveries, filters, puts, written
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import Mqrc, refused

_UNUSED = 1_000_000
"""A number of a subscription that no scenario reaches."""


@defect(puts, "parked-non-persistent-altered", "PD-29", "PD-32")
def _parked_altered(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """The broker alters the body of a non-persistent message for a destination without a consumer."""
    if put.message.durable or view.on(target):
        return None
    return (replace(put, message=altered_body(put.message)),)


@defect(made, "unclaimed-publication-kept", "PD-34")
def _replays_unclaimed() -> Seams:
    """If a topic has no subscription, the broker keeps a publication for the topic's first subscriber."""
    subscribed: set[Address] = set()
    unclaimed: dict[Address, Message] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Put):
            target = view.target(command)
            if target is not None and is_topic(target) and target not in subscribed:
                unclaimed[target] = command.message
        if not isinstance(command, Attach):
            return None
        subscribed.add(command.address)
        message = unclaimed.pop(command.address, None)
        if message is None:
            return None
        return (command, *handed_in(view, command.address, message))

    return commands(rewrite)


@defect(made, "committed-publication-kept", "PD-34")
def _keeps_committed() -> Seams:
    """If a topic has no subscriber, the next non-durable one gets the last message that a unit of work published."""
    kept: dict[Address, Message] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Commit):
            sent = (one for unit in view.ended(command) for one in unit.sent)
            kept.update((one.target, one.message) for one in sent if is_topic(one.target) and not view.on(one.target))
        if not isinstance(command, Attach) or is_durable(command):
            return None
        message = kept.pop(command.address, None)
        return None if message is None else (command, *handed_in(view, command.address, message))

    return commands(rewrite)


def _refuses_after_restart(*, selecting: bool) -> Seams:
    """Make filters that refuse publications on the topics of durable subscriptions that a restart brought back.

    The filters change only the answers: the subscribers still get the publications.

    Args:
        selecting: Whether only subscriptions with a selector count; otherwise only those without one.
    """
    topics: set[Address] = set()

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        found = [one for one in records if isinstance(one, SubscriptionDefined)]
        topics.update(one.topic for one in found if (one.selector is not None) is selecting)
        return tuple(records)

    def told(answer: Answer, asked: Command, _now_ms: int, view: View) -> Answer:
        if not isinstance(asked, Put) or view.target(asked) not in topics:
            return answer
        return replace(answer, refused=refused(Mqrc.UNEXPECTED_ERROR, "The broker has a bug."))

    return filters(answer=told, read=start)


def _no_non_persistent(*, to_durable: bool) -> Callable[[Deliver, View], Deliver | None]:
    def drop(delivery: Deliver, view: View) -> Deliver | None:
        own = view.receivers.get((delivery.connection, delivery.link))
        hit = own is not None and is_topic(own.address) and is_durable(own) is to_durable
        return None if hit and not delivery.message.durable else delivery

    return drop


@defect(made, "restart-replays-publication", "PD-26", "PD-27", "PD-31")
def _restart_replays() -> Seams:
    """After a restart, a topic's first non-durable subscriber gets the last publication, which was written to disk."""
    last: dict[Address, Message] = {}
    armed: dict[Address, Message] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        target = view.target(command)
        if isinstance(command, Put) and target is not None and is_topic(target) and not is_delayed(command, now_ms):
            last[target] = command.message
            return (command, *written_down(view, command.message, target))
        if not isinstance(command, Attach) or is_durable(command):
            return None
        message = armed.pop(command.address, None)
        if message is None:
            return None
        return (command, *handed_in(view, command.address, message))

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        armed.update(last)
        armed.update((one.reply_to, one) for one in read_back(records) if one.reply_to is not None)
        return tuple(records)

    return filters(rewrite, read=start)


@defect(written, "replaced-retained-back-after-restart", "PD-27")
def _replaced_back(record: Record) -> tuple[Record, ...]:
    """A persistent retained publication that a non-persistent one has replaced is there again after a restart."""
    return () if isinstance(record, RetainedSet) and record.message is None else (record,)


@defect(made, "shared-non-durable-back-after-restart", "PD-27")
def _shared_back() -> Seams:
    """After a restart, each shared non-durable subscription is there again, as a durable one."""
    known: dict[tuple[str | None, str], SubscriptionDefined] = {}

    def note(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach) and command.shared and command.name is not None and not is_durable(command):
            owner = None if command.is_global else view.client_id(command.connection)
            known[owner, command.name] = SubscriptionDefined(
                number=_UNUSED + len(known),
                client_id=owner,
                name=command.name,
                topic=command.address,
                selector=command.selector,
                no_local=False,
                shared=True,
            )
        return None

    return filters(note, read=lambda records, _view: (*records, *known.values()))


@defect(made, "one-publication-of-a-unit", "PD-28", "PD-33")
def _one_of_a_unit() -> Seams:
    """Subscribers get only the first of the non-persistent messages that a unit of work publishes to a topic."""
    published: set[tuple[int, int | None, Address]] = set()

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        target = view.target(command)
        if not isinstance(command, Put) or command.unit is None or target is None or not is_topic(target):
            return None
        if command.message.durable or is_delayed(command, now_ms):
            return None
        key = command.connection, command.unit, target
        again = key in published
        published.add(key)
        return (dropped(command, now_ms),) if again else None

    return filters(rewrite)


@defect(made, "full-subscription-ends-fan-out", "PD-28")
def _full_ends_fan_out() -> Seams:
    """A non-persistent publication reaches no subscriber if an inactive durable subscription to its topic is full."""
    missed: dict[Address, int] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        for receiver in view.leaving(command):
            if is_durable(receiver):
                missed.setdefault(receiver.address, 0)
        target, most = view.target(command), view.said(DURABLE_MODEL).get("MAXDEPTH")
        if not isinstance(command, Put) or target not in missed or not isinstance(most, int):
            return None
        if missed[target] >= most and command.message.durable is False:
            return (dropped(command, now_ms),)
        missed[target] += 1
        return None

    return commands(rewrite)


PERSISTENCE_MATRIX_TOPIC_RESTARTS_DEFECTS = (
    Defect(
        name="kept-publication-twice",
        rules=("PD-30", "PD-31"),
        text="Non-persistent publications survive a restart and are then delivered twice.",
        apply=lambda: kept_non_persistent(twice=True, topic=True),
    ),
    Defect(
        name="persists-publications",
        rules=("PD-30", "PD-31"),
        text="The broker writes non-persistent publications to disk.",
        apply=lambda: kept_non_persistent(twice=False, topic=True),
    ),
    _parked_altered,
    Defect(
        name="last-non-persistent-replayed",
        rules=("PD-33",),
        text="A new non-durable subscriber gets the last non-persistent publication that was sent before.",
        apply=lambda: replays(lambda message: message.durable is not True),
    ),
    Defect(
        name="non-persistent-not-to-durable",
        rules=("PD-28",),
        text="Non-persistent publications do not reach active durable subscribers.",
        apply=lambda: deliveries(_no_non_persistent(to_durable=True)),
    ),
    Defect(
        name="missed-non-persistent-twice",
        rules=("PD-29",),
        text="Subscribers that were inactive get non-persistent publications twice.",
        apply=lambda: puts(non_persistent_twice(topic=True, watched=False)),
    ),
    Defect(
        name="non-persistent-not-to-live",
        rules=("PD-33",),
        text="Non-persistent publications do not reach active non-durable subscribers.",
        apply=lambda: deliveries(_no_non_persistent(to_durable=False)),
    ),
    Defect(
        name="selecting-subscription-refuses-after-restart",
        rules=("PD-25",),
        text="After a restart, the topic of a durable subscription with a selector refuses every message.",
        apply=lambda: _refuses_after_restart(selecting=True),
    ),
    Defect(
        name="subscription-refuses-after-restart",
        rules=("PD-25",),
        text="After a restart, the topic of a durable subscription without a selector refuses every message.",
        apply=lambda: _refuses_after_restart(selecting=False),
    ),
    _replays_unclaimed,
    _keeps_committed,
    _restart_replays,
    _replaced_back,
    _shared_back,
    _full_ends_fan_out,
    _one_of_a_unit,
)
