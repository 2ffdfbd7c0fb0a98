"""Defects of subscribers' identities, and of the effects of one subscription on another."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Connect, Detach, Disconnect, Put, Unsubscribe
from assay_broker.core.effects import Deliver
from assay_broker.core.records import Record
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import handed_in, is_durable, is_topic, twice
from assay_broker.defects.shapes import Commands, commands, deliveries, filters, puts
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address, Message

# PD-10, PD-11: subscriptions side by side


@defect(commands, "leaver-takes-durable-along", "PD-10")
def _takes_durable_along(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a non-durable subscriber leaves, the durable subscribers of its topic get no more messages."""
    left = {one.address for one in view.leaving(command) if is_topic(one.address) and not is_durable(one)}
    others = [
        Detach(connection, None, link)
        for (connection, link), attach in view.receivers.items()
        if attach.address in left and is_durable(attach)
    ]
    return (command, *others) if others else None


def _passes(attach: Attach) -> bool:
    """Check whether a receiver opens a shared non-durable subscription."""
    return is_topic(attach.address) and attach.shared and not is_durable(attach)


@defect(commands, "refused-beside-a-durable-namesake", "PD-10")
def _refused_beside_namesake(command: Command, _now_ms: int, view: View) -> Commands | None:
    """The broker refuses a non-durable subscription while a durable one of its name has a consumer."""
    if not isinstance(command, Attach) or not _passes(command):
        return None
    if not any(is_durable(one) and one.name == command.name for one in view.on(command.address)):
        return None
    return (replace(command, name=""),)  # the broker refuses an empty name


@defect(made, "ends-a-durable-namesake", "PD-10")
def _ends_namesake() -> Seams:
    """A new non-durable subscription ends an inactive durable one of its name."""
    known: set[tuple[str | None, bool]] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Attach) or not is_topic(command.address):
            return None
        key = command.name, command.everybodys
        if is_durable(command) and command.shared:
            known.add(key)
        used = any(is_durable(one) and one.name == command.name for one in view.on(command.address))
        if not _passes(command) or used or key not in known:
            return None
        known.discard(key)
        return (Unsubscribe(command.connection, None, str(command.name), everybodys=command.everybodys), command)

    return commands(rewrite)


@defect(deliveries, "second-of-a-kind-starved", "PD-11")
def _second_starved(delivery: Deliver, view: View) -> Deliver | None:
    """Only the first durable and the first non-durable subscriber of a topic get publications."""
    own = view.receiver(delivery)
    if own is None or own.shared or not is_topic(own.address):
        return delivery
    alike = [attach for attach in view.on(own.address) if is_durable(attach) == is_durable(own)]
    return delivery if alike[0] is own else None


# PD-12, PD-16, PD-17: the identity of a subscription


@defect(commands, "shared-non-durable-goes-on", "PD-12", "PD-27")
def _shared_goes_on(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """A shared non-durable subscription continues after its last subscriber has left."""
    if isinstance(command, Attach) and command.shared and not is_durable(command):
        return (replace(command, durability=Durability.DURABLE),)
    return None


@defect(commands, "client-alone", "PD-16")
def _client_alone(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker identifies a durable subscription by its client id alone and ignores the name."""
    if isinstance(command, Attach) and is_durable(command) and not command.shared:
        return (replace(command, name="DEFECT"),)
    return None


@defect(commands, "names-without-case", "PD-16")
def _names_without_case(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """Subscription names that differ only in case are the same name."""
    if not isinstance(command, Attach | Unsubscribe) or command.name is None:
        return None
    return (replace(command, name=command.name.casefold()),)


def _is_anonymous_shared(command: Command, view: View) -> bool:
    return (
        isinstance(command, Attach)
        and command.shared
        and is_durable(command)
        and (command.everybodys or view.client_id(command.connection) is None)
    )


@defect(commands, "anonymous-shared-ends", "PD-17")
def _anonymous_shared_ends(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A shared durable subscription of clients without a client id ends when its last subscriber leaves."""
    if isinstance(command, Attach) and _is_anonymous_shared(command, view):
        return (replace(command, durability=Durability.NON_DURABLE),)
    return None


@defect(commands, "anonymous-shared-refused", "PD-17")
def _anonymous_shared_refused(command: Command, _now_ms: int, view: View) -> Commands | None:
    """The broker refuses shared durable subscriptions to clients without a client id."""
    if isinstance(command, Attach) and _is_anonymous_shared(command, view):
        return (replace(command, name=None),)
    return None


@defect(commands, "second-client-takes-over", "PD-17")
def _takes_over(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A second connection with a client id ends the first connection with this client id."""
    if not isinstance(command, Connect) or command.client_id is None:
        return None
    owners = [number for number, client in view.connections.items() if client.client_id == command.client_id]
    return (*(Disconnect(number, None, clean=False) for number in owners), command) if owners else None


@defect(made, "client-id-stays-taken", "PD-17")
def _id_stays_taken() -> Seams:
    """After a connection is closed, its client id stays in use."""
    subscribers: set[str | None] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        client = view.client_id(getattr(command, "connection", 0))
        if isinstance(command, Attach) and is_durable(command):
            subscribers.add(client)
        if not isinstance(command, Disconnect) or client is None or client in subscribers:
            return None
        return (command, Connect(view.own_number(), None, client))

    return commands(rewrite)


# PD-26, PD-27: non-durable subscribers


@defect(puts, "twice-to-live", "PD-26")
def _twice_to_live(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """On a topic with only non-durable subscribers, each subscriber gets persistent publications twice."""
    there = view.on(target)
    live = bool(there) and not any(is_durable(attach) for attach in there)
    return twice(put) if live and is_topic(target) and put.message.durable else None


@defect(made, "restart-replays-publication", "PD-27")
def _restart_replays() -> Seams:
    """After a restart, a topic's first non-durable subscriber gets the last publication from before the restart."""
    last: dict[Address, Message] = {}
    armed: dict[Address, Message] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Put):
            target = view.target(command)
            if target is not None and is_topic(target) and (command.message.delivery_time_ms or 0) <= now_ms:
                last[target] = command.message
        if not isinstance(command, Attach) or is_durable(command):
            return None
        message = armed.pop(command.address, None)
        if message is None:
            return None
        return (command, *handed_in(view, command.address, message))

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        armed.update(last)
        return tuple(records)

    return filters(rewrite, read=start)


SUBSCRIBER_DEFECTS = (
    _takes_durable_along,
    _refused_beside_namesake,
    _ends_namesake,
    _second_starved,
    _shared_goes_on,
    _client_alone,
    _names_without_case,
    _anonymous_shared_ends,
    _anonymous_shared_refused,
    _takes_over,
    _id_stays_taken,
    _twice_to_live,
    _restart_replays,
)
