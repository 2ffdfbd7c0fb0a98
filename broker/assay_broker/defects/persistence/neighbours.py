"""Defects in which a subscription, a consumer or a send affects another one to which it is not related."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Put, Unsubscribe
from assay_broker.core.effects import Deliver
from assay_broker.core.objects.factory import DURABLE_MODEL
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import dropped, is_delayed, is_durable, is_topic
from assay_broker.defects.shapes import Commands, commands, deliveries, filters, written
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address


@defect(made, "removal-takes-a-namesake", "PD-16")
def _takes_a_namesake() -> Seams:
    """A client that unsubscribes a name that it does not use ends another client's subscription of this name."""
    owned: set[tuple[str | None, str]] = set()
    doomed: set[tuple[str | None, str]] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        client = view.client_id(getattr(command, "connection", 0))
        if isinstance(command, Unsubscribe) and not command.everybodys:
            if (client, command.name) not in owned:
                doomed.update(one for one in owned if one[1] == command.name)
            owned.discard((client, command.name))
        if not isinstance(command, Attach) or not is_durable(command) or command.name is None:
            return None
        key = client, command.name
        owned.add(key)
        if key not in doomed:
            return None
        doomed.discard(key)
        return (Unsubscribe(command.connection, None, command.name), command)

    return commands(rewrite)


@defect(made, "shared-removal-takes-everybodys", "PD-16")
def _takes_everybodys() -> Seams:
    """When a client removes its shared subscription, the broker instead removes one that belongs to no client id."""
    shared: set[tuple[str | None, str | None]] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        client = view.client_id(getattr(command, "connection", 0))
        if isinstance(command, Attach) and is_durable(command) and command.shared and not command.everybodys:
            shared.add((client, command.name))
        if not isinstance(command, Unsubscribe) or client is None or (client, command.name) not in shared:
            return None
        return (replace(command, everybodys=True),)

    return commands(rewrite)


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


@defect(made, "one-publication-of-a-unit", "PD-28", "PD-33")
def _one_of_a_unit() -> Seams:
    """Subscribers get only the first of the non-persistent messages that a unit of work publishes."""
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


@defect(written, "mortal-publication-unwritten", "PD-25", "QS-32")
def _mortal_unwritten(record: Record) -> tuple[Record, ...]:
    """The broker does not write publications with a time to live to disk."""
    if not isinstance(record, MessageStored) or record.due_ms is not None or record.expires_ms is None:
        return (record,)
    return () if record.home.startswith(SUBSCRIPTION_HOME) else (record,)


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


NEIGHBOUR_DEFECTS = (
    _full_ends_fan_out,
    _takes_a_namesake,
    _takes_everybodys,
    _for_one_selector,
    _one_of_a_unit,
    _mortal_unwritten,
)
