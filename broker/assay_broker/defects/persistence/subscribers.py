"""Defects of who subscribes as what, and of what becomes of one subscription through another."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Connect, Detach, Disconnect, Put, Unsubscribe
from assay_broker.core.effects import Deliver, Effect
from assay_broker.core.records import Record
from assay_broker.defects.model import (
    Defect,
    Watch,
    also_reading,
    commands,
    handed_in,
    is_durable,
    is_topic,
    puts,
    unheard,
)
from assay_broker.seams import Seams
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address, Message

_AGENT = -3  # a connection of the defect's own
_FIRST_GHOST = -1000


# PD-10, PD-11: one beside the other


def _takes_durable_along(command: Command, _now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
    if not isinstance(command, Detach | Disconnect):
        return None
    left = {
        attach.address
        for (connection, link), attach in watch.receivers.items()
        if connection == command.connection
        and (isinstance(command, Disconnect) or link == command.link)
        and is_topic(attach.address)
        and not is_durable(attach)
    }
    others = [
        Detach(connection, None, link)
        for (connection, link), attach in watch.receivers.items()
        if attach.address in left and is_durable(attach)
    ]
    return (command, *others) if others else None


def _second_starved() -> Seams:
    """Of several subscribers of one kind only the one that came first is served."""
    watch = Watch()

    def command(passing: Command, _now_ms: int) -> tuple[Command, ...]:
        watch.note(passing)
        return (passing,)

    def is_served(delivery: Deliver) -> bool:
        own = watch.receivers.get((delivery.connection, delivery.link))
        if own is None or own.shared or not is_topic(own.address):
            return True
        alike = [attach for attach in watch.on(own.address) if is_durable(attach) == is_durable(own)]
        return alike[0] is own

    def effects(passing: tuple[Effect, ...], _now_ms: int) -> tuple[Effect, ...]:
        return tuple(effect for effect in passing if not isinstance(effect, Deliver) or is_served(effect))

    def start(records: Sequence[Record]) -> tuple[Record, ...]:
        watch.clear()
        return tuple(records)

    return Seams(command=command, effects=effects, read=start)


# PD-12, PD-16, PD-17: which subscription it is


def _shared_goes_on(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    if isinstance(command, Attach) and command.shared and not is_durable(command):
        return (replace(command, durability=Durability.DURABLE),)
    return None


def _client_alone(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    if isinstance(command, Attach) and is_durable(command) and not command.shared:
        return (replace(command, name="DEFECT"),)
    return None


def _names_without_case(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    if not isinstance(command, Attach | Unsubscribe) or command.name is None:
        return None
    return (replace(command, name=command.name.casefold()),)


def _is_anonymous_shared(command: Command, watch: Watch) -> bool:
    return (
        isinstance(command, Attach)
        and command.shared
        and is_durable(command)
        and (command.everybodys or watch.clients.get(command.connection) is None)
    )


def _anonymous_shared_ends(command: Command, _now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
    if isinstance(command, Attach) and _is_anonymous_shared(command, watch):
        return (replace(command, durability=Durability.NON_DURABLE),)
    return None


def _anonymous_shared_refused(command: Command, _now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
    if isinstance(command, Attach) and _is_anonymous_shared(command, watch):
        return (replace(command, name=None),)
    return None


def _takes_over(command: Command, _now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
    if not isinstance(command, Connect) or command.client_id is None:
        return None
    owners = [number for number, client in watch.clients.items() if client == command.client_id]
    return (*(Disconnect(number, None, clean=False) for number in owners), command) if owners else None


def _id_stays_taken() -> Seams:
    """The id of a client that had no durable subscription stays taken when it has gone."""
    subscribers: set[str | None] = set()
    ghosts: list[int] = []

    def rewrite(command: Command, _now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        client = watch.clients.get(getattr(command, "connection", 0))
        if isinstance(command, Attach) and is_durable(command):
            subscribers.add(client)
        if not isinstance(command, Disconnect) or client is None or client in subscribers:
            return None
        ghosts.append(_FIRST_GHOST - len(ghosts))
        return (command, Connect(ghosts[-1], None, client))

    return commands(rewrite)


# PD-26, PD-27: non-durable subscribers


def _twice_to_live(put: Put, target: Address, _now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
    there = watch.on(target)
    live = bool(there) and not any(is_durable(attach) for attach in there)
    return (put, unheard(put)) if live and is_topic(target) and put.message.durable else None


def _restart_replays() -> Seams:
    """After a restart the first non-durable subscriber of a topic is handed the last publication from before it."""
    last: dict[Address, Message] = {}
    armed: dict[Address, Message] = {}

    def rewrite(command: Command, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        if isinstance(command, Put):
            target = watch.target(command)
            if target is not None and is_topic(target) and (command.message.delivery_time_ms or 0) <= now_ms:
                last[target] = command.message
        if not isinstance(command, Attach) or is_durable(command):
            return None
        message = armed.pop(command.address, None)
        if message is None:
            return None
        return (command, *handed_in(_AGENT, command.address, message))

    def start(records: Sequence[Record]) -> tuple[Record, ...]:
        armed.update(last)
        return tuple(records)

    return also_reading(commands(rewrite), start)


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
        apply=_second_starved,
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
