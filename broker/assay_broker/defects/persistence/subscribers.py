"""Defects of who subscribes as what, and of what becomes of one subscription through another."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Connect, Detach, Disconnect, Put, Unsubscribe
from assay_broker.core.effects import Deliver
from assay_broker.core.records import Record
from assay_broker.defects.model import Defect
from assay_broker.defects.sends import handed_in, is_durable, is_topic, twice
from assay_broker.defects.shapes import Commands, commands, deliveries, filters, puts
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address, Message

# PD-10, PD-11: one beside the other


def _takes_durable_along(command: Command, _now_ms: int, view: View) -> Commands | None:
    left = {one.address for one in view.leaving(command) if is_topic(one.address) and not is_durable(one)}
    others = [
        Detach(connection, None, link)
        for (connection, link), attach in view.receivers.items()
        if attach.address in left and is_durable(attach)
    ]
    return (command, *others) if others else None


def _second_starved(delivery: Deliver, view: View) -> Deliver | None:
    """Of several subscribers of one kind only the one that came first is served."""
    own = view.receiver(delivery)
    if own is None or own.shared or not is_topic(own.address):
        return delivery
    alike = [attach for attach in view.on(own.address) if is_durable(attach) == is_durable(own)]
    return delivery if alike[0] is own else None


# PD-12, PD-16, PD-17: which subscription it is


def _shared_goes_on(command: Command, _now_ms: int, _view: View) -> Commands | None:
    if isinstance(command, Attach) and command.shared and not is_durable(command):
        return (replace(command, durability=Durability.DURABLE),)
    return None


def _client_alone(command: Command, _now_ms: int, _view: View) -> Commands | None:
    if isinstance(command, Attach) and is_durable(command) and not command.shared:
        return (replace(command, name="DEFECT"),)
    return None


def _names_without_case(command: Command, _now_ms: int, _view: View) -> Commands | None:
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


def _anonymous_shared_ends(command: Command, _now_ms: int, view: View) -> Commands | None:
    if isinstance(command, Attach) and _is_anonymous_shared(command, view):
        return (replace(command, durability=Durability.NON_DURABLE),)
    return None


def _anonymous_shared_refused(command: Command, _now_ms: int, view: View) -> Commands | None:
    if isinstance(command, Attach) and _is_anonymous_shared(command, view):
        return (replace(command, name=None),)
    return None


def _takes_over(command: Command, _now_ms: int, view: View) -> Commands | None:
    if not isinstance(command, Connect) or command.client_id is None:
        return None
    owners = [number for number, client in view.connections.items() if client.client_id == command.client_id]
    return (*(Disconnect(number, None, clean=False) for number in owners), command) if owners else None


def _id_stays_taken() -> Seams:
    """The id of a client that had no durable subscription stays taken when it has gone."""
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


def _twice_to_live(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    there = view.on(target)
    live = bool(there) and not any(is_durable(attach) for attach in there)
    return twice(put) if live and is_topic(target) and put.message.durable else None


def _restart_replays() -> Seams:
    """After a restart the first non-durable subscriber of a topic is handed the last publication from before it."""
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
    Defect(
        name="leaver-takes-durable-along",
        rules=("PD-10",),
        text="When a non-durable subscriber leaves, durable ones of the same topic get nothing more.",
        apply=lambda: commands(_takes_durable_along),
    ),
    Defect(
        name="second-of-a-kind-starved",
        rules=("PD-11",),
        text="Of several subscribers of one kind only the one that came first gets a copy.",
        apply=lambda: deliveries(_second_starved),
    ),
    Defect(
        name="shared-non-durable-goes-on",
        rules=("PD-12",),
        text="A shared non-durable subscription goes on when nobody shares it any more.",
        apply=lambda: commands(_shared_goes_on),
    ),
    Defect(
        name="client-alone",
        rules=("PD-16",),
        text="The name is ignored: the client id alone identifies a durable subscription.",
        apply=lambda: commands(_client_alone),
    ),
    Defect(
        name="names-without-case",
        rules=("PD-16",),
        text="Subscription names that differ in case alone are taken for one name.",
        apply=lambda: commands(_names_without_case),
    ),
    Defect(
        name="anonymous-shared-ends",
        rules=("PD-17",),
        text="A shared durable subscription of clients without an id ends when nobody shares it any more.",
        apply=lambda: commands(_anonymous_shared_ends),
    ),
    Defect(
        name="anonymous-shared-refused",
        rules=("PD-17",),
        text="A shared durable subscription is refused to clients without an id.",
        apply=lambda: commands(_anonymous_shared_refused),
    ),
    Defect(
        name="second-client-takes-over",
        rules=("PD-17",),
        text="A second connection with a client id pushes the first one out.",
        apply=lambda: commands(_takes_over),
    ),
    Defect(
        name="client-id-stays-taken",
        rules=("PD-17",),
        text="A client id stays taken when its connection is closed.",
        apply=_id_stays_taken,
    ),
    Defect(
        name="twice-to-live",
        rules=("PD-26",),
        text="A persistent publication comes twice where only non-durable subscribers are.",
        apply=lambda: puts(_twice_to_live),
    ),
    Defect(
        name="restart-replays-publication",
        rules=("PD-27",),
        text="After a restart the first non-durable subscriber is handed the last publication from before it.",
        apply=_restart_replays,
    ),
)
