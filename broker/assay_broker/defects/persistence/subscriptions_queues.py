"""Defects in how the consumers of a queue share its messages (PD-18)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import ClearQueue
from assay_broker.core.commands import (
    Administer,
    Attach,
    Backout,
    Command,
    Commit,
    Connect,
    Detach,
    Disconnect,
    Put,
    Settle,
)
from assay_broker.core.effects import Deliver
from assay_broker.core.records import Record
from assay_broker.defects.model import defect, made
from assay_broker.defects.persistence.filters import committed_units
from assay_broker.defects.sends import accepted, dropped, handed_in, is_delayed, is_topic, twice, unheard
from assay_broker.defects.shapes import Commands, commands, deliveries, filters, puts
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address
from assay_sdk.model.selectors import Selector


@defect(puts, "queue-broadcasts", "PD-18")
def _to_each_consumer(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """A queue delivers each message to each of its consumers."""
    consumers = 0 if is_topic(target) else len(view.on(target))
    return (put, *(unheard(put) for _ in range(consumers - 1))) if consumers > 1 else None


@defect(puts, "unselected-dropped", "PD-18")
def _unselected_dropped(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """If all consumers of a queue have selectors, the queue drops messages that match none of the selectors."""
    if is_topic(target) or is_delayed(put, now_ms):
        return None
    selectors = [attach.selector for attach in view.on(target)]
    wanted = any(not text or Selector.parse(text).matches(put.message) for text in selectors)
    return (dropped(put, now_ms),) if selectors and not wanted else None


@defect(commands, "returned-consumed", "PD-18")
def _returned_consumed(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A single message that a consumer returns, for example by closing, counts as consumed."""
    if not isinstance(command, Settle) or command.outcome is not Outcome.MODIFIED:
        return None
    returned = view.held(command)
    lone = len(returned) == 1 and not is_topic(returned[0].origin)
    return (replace(command, outcome=Outcome.ACCEPTED),) if lone else None


@defect(commands, "line-loss-consumes", "PD-18")
def _line_loss_consumes(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a connection is lost, a consumer's only unacknowledged message counts as consumed."""
    if not isinstance(command, Disconnect) or command.clean:
        return None
    lone = {link for link, held in view.held_by_link(command).items() if len(held) == 1}
    return accepted(command, view, lambda _attach, one: one.link in lone and not is_topic(one.origin))


@defect(made, "acknowledgement-lost-with-the-line", "PD-18")
def _acknowledgement_lost() -> Seams:
    """When a connection is lost, the broker ignores its client's last acknowledgement and redelivers the message."""
    last: dict[int, Deliver] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Settle) and command.outcome is Outcome.ACCEPTED and command.unit is None:
            last.update((command.connection, delivery) for delivery in view.held(command))
        forgotten = last.pop(command.connection, None) if isinstance(command, Disconnect) else None
        if not isinstance(command, Disconnect) or command.clean or forgotten is None or is_topic(forgotten.origin):
            return None
        return (command, *handed_in(view, forgotten.origin, forgotten.message))

    return commands(rewrite)


@defect(made, "second-unwatched-dropped", "PD-18")
def _second_dropped() -> Seams:
    """A queue without a consumer keeps only the first message and drops further messages."""
    counts: dict[Address, int] = {}

    def drop(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
        if is_topic(target) or view.on(target) or is_delayed(put, now_ms):
            return None
        counts[target] = counts.get(target, 0) + 1
        return None if counts[target] == 1 else (dropped(put, now_ms),)

    return puts(drop)


@defect(made, "queue-ends-with-consumer", "PD-18")
def _ends_with_consumer() -> Seams:
    """A queue whose consumers have left drops new messages, like a topic."""
    consumed: set[Address] = set()

    def drop(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach):
            consumed.add(command.address)
        target = view.target(command)
        if not isinstance(command, Put) or target is None or is_topic(target) or is_delayed(command, now_ms):
            return None
        return (dropped(command, now_ms),) if target in consumed and not view.on(target) else None

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        consumed.clear()
        return tuple(records)

    return filters(drop, read=start)


@defect(made, "closed-producer-undoes-unit", "PD-18")
def _closed_producer_undoes_unit() -> Seams:
    """A commit backs the unit of work out if a producer of its messages is closed and their queue has no consumer."""
    sent: dict[tuple[int, int], dict[int, Address]] = {}
    closed: set[tuple[int, int]] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        match command:
            case Put(unit=int(unit)):
                target = view.target(command)
                if target is not None and not is_topic(target):
                    sent.setdefault((command.connection, unit), {})[command.link] = target
            case Detach():
                closed.add((command.connection, command.link))
            case Commit():
                targets = sent.pop((command.connection, command.unit), {})
                if any((command.connection, link) in closed and not view.on(to) for link, to in targets.items()):
                    return (Backout(command.connection, command.token, command.unit),)
            case _:
                pass
        return None

    return commands(rewrite)


@defect(made, "queue-cleared-with-its-last-user", "PD-18", "PD-32")
def _cleared_with_last_user() -> Seams:
    """A queue without a consumer loses its messages when the last connection that sent to it closes."""
    senders: dict[int, set[Address]] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        target = view.target(command)
        if isinstance(command, Put) and target is not None and not is_topic(target):
            senders.setdefault(command.connection, set()).add(target)
        if not isinstance(command, Disconnect) or not command.clean:
            return None
        left = senders.pop(command.connection, set())
        unused = [one for one in left if not view.on(one) and not any(one in others for others in senders.values())]
        clears = tuple(Administer(view.agent, None, ClearQueue(one.name)) for one in unused)
        return (command, Connect(view.agent, None), *clears) if clears else None

    return commands(rewrite)


@defect(commands, "uncommitted-from-queue-consumed", "PD-18")
def _uncommitted_consumed(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a unit of work ends without a commit, the messages that it received from queues are consumed."""
    if not isinstance(command, Backout | Disconnect):
        return None
    return committed_units(command, view, topics=False)


@defect(made, "given-back-for-one-selector", "PD-18")
def _for_one_selector() -> Seams:
    """A consumer does not get messages that a consumer with another selector returned."""
    first: dict[str | None, str | None] = {}

    def seen(delivery: Deliver, view: View) -> Deliver | None:
        receiver = view.receiver(delivery)
        if receiver is None or is_topic(receiver.address):
            return delivery
        selector = first.setdefault(delivery.message.message_id, receiver.selector)
        return None if delivery.redelivered and selector != receiver.selector else delivery

    return deliveries(seen)


@defect(deliveries, "non-persistent-again-unmarked", "PD-18", "QS-09", "QS-10")
def _again_unmarked(delivery: Deliver, _view: View) -> Deliver:
    """A redelivered non-persistent message has a delivery count and is not marked as redelivered."""
    return delivery if delivery.message.durable else replace(delivery, redelivered=False)


@defect(puts, "copy-for-each-selector", "PD-18")
def _copy_for_each_selector(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """While two consumers of a queue have selectors, the broker puts each message on the queue twice."""
    selecting = [attach for attach in view.on(target) if attach.selector]
    return twice(put) if len(selecting) > 1 and not is_topic(target) else None


@defect(made, "late-selector-finds-nothing", "PD-18")
def _finds_nothing() -> Seams:
    """A consumer with a selector gets no message that was sent before the consumer opened."""
    came: dict[tuple[int, int], int] = {}

    def note(command: Command, now_ms: int, _view: View) -> Commands | None:
        if isinstance(command, Attach) and command.selector and not is_topic(command.address):
            came[command.connection, command.link] = now_ms
        return None

    def seen(delivery: Deliver, _view: View) -> Deliver | None:
        since_ms = came.get((delivery.connection, delivery.link), 0)
        return delivery if (delivery.message.creation_ms or since_ms) >= since_ms else None

    return filters(note, delivery=seen)


PERSISTENCE_SUBSCRIPTIONS_QUEUES_DEFECTS = (
    _to_each_consumer,
    _unselected_dropped,
    _returned_consumed,
    _line_loss_consumes,
    _acknowledgement_lost,
    _second_dropped,
    _ends_with_consumer,
    _closed_producer_undoes_unit,
    _cleared_with_last_user,
    _uncommitted_consumed,
    _for_one_selector,
    _again_unmarked,
    _copy_for_each_selector,
    _finds_nothing,
)
