"""Defects of durable subscriptions while they are inactive (PD-13 to PD-15)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Detach, Put, Stored, StoreFailed, Unsubscribe
from assay_broker.core.effects import Answer
from assay_broker.core.records import MessageStored, Record, SubscriptionDefined
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.persistence.filters import after_refusal, replays
from assay_broker.defects.sends import (
    dropped,
    handed_in,
    is_delayed,
    is_durable,
    is_topic,
    is_wide,
    read_back,
    resent,
    written_down,
)
from assay_broker.defects.shapes import Commands, commands, filters, puts, read, replies
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Refused

_URGENT = 5
_KEPT_AT_MOST = 6


@defect(made, "refused-unsubscription-loses-messages", "PD-13", "PD-16", "PD-29")
def _refused_unsubscription_loses() -> Seams:
    """A durable subscription loses its messages although the store refuses to record its end.

    The subscription ends in spite of the refusal, and the returning subscriber creates a new subscription.
    """

    def follow(asked: Command, _view: View) -> Commands:
        return (replace(asked, token=None),) if isinstance(asked, Unsubscribe) else ()

    return after_refusal(follow)


@defect(made, "refused-subscription-never-stored", "PD-13")
def _never_stored() -> Seams:
    """If the store refuses a new durable subscription, the broker accepts the next attempt without storing it."""
    asked: set[str | None] = set()
    refused: set[str | None] = set()

    def note(command: Command, _now_ms: int, _view: View) -> None:
        if isinstance(command, Attach) and is_durable(command):
            asked.add(command.name)
        elif isinstance(command, StoreFailed):
            refused.update(asked)
        if isinstance(command, Stored | StoreFailed):
            asked.clear()

    def written(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        return tuple(one for one in records if not isinstance(one, SubscriptionDefined) or one.name not in refused)

    return filters(note, written=written)


def _durable_ends(*, with_consumer: bool) -> Seams:
    """Make filters that remove a durable subscription when it is opened again.

    Args:
        with_consumer: True if closing the consumer ends the subscription, False if only the connection's end does.
    """
    closed: set[tuple[str | None, str]] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        client = view.client_id(getattr(command, "connection", 0))
        over = view.left(command)
        if with_consumer:
            over = view.leaving(command) if isinstance(command, Detach) else []
        closed.update((client, one.name) for one in over if is_durable(one) and one.name is not None)
        if not isinstance(command, Attach) or not is_durable(command) or command.name is None:
            return None
        if (client, command.name) not in closed:
            return None
        closed.discard((client, command.name))
        return (Unsubscribe(command.connection, None, command.name), command)

    return commands(rewrite)


@defect(made, "refused-subscription-stays-refused", "PD-15", "QS-21")
def _stays_refused() -> Seams:
    """Once the broker has refused a client a durable subscription, it refuses the client this subscription for ever."""
    refusals: dict[tuple[str | None, str | None], Refused] = {}

    def told(answer: Answer, asked: Command, _now_ms: int, view: View) -> Answer:
        if not isinstance(asked, Attach) or not is_durable(asked):
            return answer
        key = view.client_id(asked.connection), asked.name
        if answer.refused is not None:
            refusals.setdefault(key, answer.refused)
        return replace(answer, refused=refusals.get(key))

    return replies(told)


@defect(made, "missed-out-of-order", "PD-15")
def _missed_out_of_order() -> Seams:
    """An inactive durable subscription changes the order of its stored messages.

    The defect raises the priority of every second publication to a topic without an active subscriber.
    """
    counts: dict[Address, int] = {}

    def shuffle(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
        if not is_topic(target) or view.on(target):
            return None
        counts[target] = counts.get(target, 0) + 1
        if counts[target] % 2:
            return None
        return resent(put, priority=_URGENT)

    return puts(shuffle)


@defect(made, "backlog-overflows", "PD-13")
def _overflows() -> Seams:
    """The broker stores only six publications for a topic's inactive subscribers, and silently drops further ones."""
    counts: dict[Address, int] = {}

    def drop(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
        if not is_topic(target) or is_delayed(put, now_ms):
            return None
        counts[target] = 0 if view.on(target) else counts.get(target, 0) + 1
        return (dropped(put, now_ms),) if counts[target] > _KEPT_AT_MOST else None

    return puts(drop)


@defect(read, "backlog-reversed-by-restart", "PD-15")
def _newest_first(record: Record) -> tuple[Record, ...]:
    """A restart reverses the order of the messages that a durable subscription has stored.

    The broker orders the messages that it reads at a start by their arrival; a record's key grows with each arrival.
    """
    if isinstance(record, MessageStored) and record.home.startswith("subscription://"):
        return (replace(record, arrived_ms=-record.key),)
    return (record,)


@defect(made, "every-other-missed-dropped", "PD-15")
def _every_other_dropped() -> Seams:
    """The broker drops every second message for an inactive durable subscription."""
    counts: dict[Address, int] = {}

    def drop(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
        if target.kind is not AddressKind.TOPIC or view.on(target) or is_delayed(put, now_ms):
            return None
        counts[target] = counts.get(target, 0) + 1
        return None if counts[target] % 2 else (dropped(put, now_ms),)

    return puts(drop)


@defect(read, "names-in-ascii-after-restart", "PD-15")
def _in_ascii(record: Record) -> tuple[Record, ...]:
    """A restart replaces non-ASCII characters in the name, client id and topic of a durable subscription."""
    if not isinstance(record, SubscriptionDefined):
        return (record,)
    client_id = None if record.client_id is None else _ascii(record.client_id)
    topic = replace(record.topic, name=_ascii(record.topic.name))
    return (replace(record, name=_ascii(record.name), client_id=client_id, topic=topic),)


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode()


@defect(made, "durable-opened-once", "PD-15", "QS-21")
def _opened_once() -> Seams:
    """The broker refuses to open a durable subscription for the second time."""
    known: set[tuple[str | None, str | None]] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Attach) or not is_durable(command):
            return None
        key = (None if command.is_global else view.client_id(command.connection)), command.name
        if key not in known:
            known.add(key)
            return None
        return (replace(command, name=""),)  # the broker refuses an empty name

    return commands(rewrite)


@defect(made, "first-selector-stays", "PD-15")
def _first_selector_stays() -> Seams:
    """A durable subscription that is opened with another selector keeps its first selector."""
    selectors: dict[tuple[str | None, str | None], str | None] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Attach) or not is_durable(command):
            return None
        key = (None if command.is_global else view.client_id(command.connection)), command.name
        return (replace(command, selector=selectors.setdefault(key, command.selector)),)

    return commands(rewrite)


@defect(made, "pattern-handed-last-publication", "PD-14", "PD-26", "PD-34")
def _handed_last() -> Seams:
    """When a client subscribes to a topic pattern, the broker publishes the last publication again."""
    last: list[tuple[Address, Message]] = []

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Put):
            target = view.target(command)
            if target is not None and is_topic(target) and not is_delayed(command, now_ms):
                last[:] = [(target, command.message)]
        if not isinstance(command, Attach) or not is_wide(command) or not last:
            return None
        address, message = last.pop()
        return (command, *handed_in(view, address, message))

    return commands(rewrite)


@defect(made, "staged-handed-over-after-restart", "PD-14", "PD-27")
def _staged_handed_over() -> Seams:
    """After a restart, the first new non-durable subscriber gets the delayed publications to all topics at once."""
    staged: list[Message] = []
    armed: list[Message] = []

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        target = view.target(command)
        if isinstance(command, Put) and target is not None and is_topic(target) and is_delayed(command, now_ms):
            staged.append(replace(command.message, delivery_time_ms=None))
            return (command, *written_down(view, command.message))
        if not armed or not isinstance(command, Attach) or is_durable(command) or not is_topic(command.address):
            return None
        handed = handed_in(view, command.address, *armed)
        armed.clear()
        return (command, *handed)

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        armed.extend(staged or read_back(records))
        staged.clear()
        return tuple(records)

    return filters(rewrite, read=start)


PERSISTENCE_SUBSCRIPTIONS_DURABLE_DEFECTS = (
    _refused_unsubscription_loses,
    _never_stored,
    Defect(
        name="durable-ends-with-consumer",
        rules=("PD-13", "PD-15", "DD-76"),
        text="Closing the consumer ends a durable subscription.",
        apply=lambda: _durable_ends(with_consumer=True),
    ),
    Defect(
        name="durable-ends-with-connection",
        rules=("PD-13",),
        text="Closing the connection ends a durable subscription.",
        apply=lambda: _durable_ends(with_consumer=False),
    ),
    Defect(
        name="last-publication-replayed",
        rules=("PD-14", "PD-26"),
        text="A new non-durable subscriber gets the last persistent publication that was sent before.",
        apply=lambda: replays(lambda message: message.durable is True),
    ),
    Defect(
        name="first-publication-replayed",
        rules=("PD-14",),
        text="A new non-durable subscriber gets the first publication of its topic.",
        apply=lambda: replays(lambda message: message.durable is True, first=True),
    ),
    Defect(
        name="late-comer-handed-last",
        rules=("PD-14", "PD-26"),
        text="A new non-durable subscriber gets the last persistent publication, even if other subscribers got it.",
        apply=lambda: replays(lambda message: message.durable is True, though_heard=True),
    ),
    _stays_refused,
    _missed_out_of_order,
    _overflows,
    _newest_first,
    _every_other_dropped,
    _in_ascii,
    _opened_once,
    _first_selector_stays,
    _handed_last,
    _staged_handed_over,
)
