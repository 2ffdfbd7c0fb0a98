"""Defects of several queue managers: delayed messages for shared queues, and for proxy subscriptions."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_broker.core.administration.changes import ClearQueue, DefineObject
from assay_broker.core.commands import Administer, Command, Connect, Disconnect, FromMember, Put
from assay_broker.core.networks.parcels import Bulletin, Carry, Interest
from assay_broker.defects.model import Defect, Watch, commands, dropped, handed_in
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message

_AGENT = -21  # a connection of the defects' own
_SHIFT = 10**9
_EVERYTHING = "#"


class _Shared:
    """The names of shared queues, as definitions that pass show them."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def note(self, command: Command) -> None:
        """Take note of a command."""
        change = command.change if isinstance(command, Administer) else None
        if isinstance(change, DefineObject) and change.attributes.get("QSGDISP") == "SHARED":
            self.names.append(change.name)

    def delayed(self, command: Command, now_ms: int, watch: Watch) -> tuple[Put, Address] | None:
        """A delayed send to a shared queue, and where it goes; None for any other command."""
        target = watch.target(command) if isinstance(command, Put) else None
        if not isinstance(command, Put) or target is None or target.name not in self.names:
            return None
        return (command, target) if (command.message.delivery_time_ms or 0) > now_ms else None


def _delayed_to_shared(rewrite: Callable[[Put, int], Put]) -> Seams:
    """Filters that rewrite delayed sends to shared queues."""
    shared = _Shared()

    def other(command: Command, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        shared.note(command)
        found = shared.delayed(command, now_ms, watch)
        return None if found is None else (rewrite(found[0], now_ms),)

    return commands(other)


def _undelayed(put: Put, _now_ms: int) -> Put:
    return replace(put, message=replace(put.message, delivery_time_ms=None))


def _handed_over() -> Seams:
    """What is staged for a shared queue goes there when the connection of its sender ends, as at a shutdown."""
    shared = _Shared()
    staged: dict[int, list[tuple[Address, Message]]] = {}

    def rewrite(command: Command, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        shared.note(command)
        found = shared.delayed(command, now_ms, watch)
        if found is not None:
            put, target = found
            staged.setdefault(put.connection, []).append((target, replace(put.message, delivery_time_ms=None)))
        if not isinstance(command, Disconnect) or command.clean:
            return None
        waiting = staged.pop(command.connection, [])
        return (*(one for target, message in waiting for one in handed_in(_AGENT, target, message)), command)

    return commands(rewrite)


def _cleared() -> Seams:
    """What is on a shared queue goes when connections to the queue manager are lost, as at a shutdown."""
    shared = _Shared()

    def rewrite(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
        shared.note(command)
        if not isinstance(command, Disconnect) or command.clean:
            return None
        clears = (Administer(_AGENT, None, ClearQueue(name)) for name in shared.names)
        return (command, Connect(_AGENT, None, None, ADMINISTRATOR), *clears)

    return commands(rewrite)


def _wanted(bulletin: Bulletin, topic: str) -> bool:
    return any(topic == interest.topic for interest in bulletin.interests)


def _undelayed_for_proxies() -> Seams:
    """A publication for which there is a proxy subscription is not delayed."""
    told: dict[str, Bulletin] = {}

    def rewrite(command: Command, _now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        if isinstance(command, FromMember) and isinstance(command.parcel, Bulletin):
            told[command.member] = command.parcel
        target = watch.target(command) if isinstance(command, Put) else None
        if not isinstance(command, Put) or target is None:
            return None
        if not any(_wanted(bulletin, target.name) for bulletin in told.values()):
            return None
        return (replace(command, message=replace(command.message, delivery_time_ms=None)),)

    return commands(rewrite)


def _was_delayed(message: Message) -> bool:
    return message.delivery_time_ms is not None


def _carried(rewrite: Callable[[FromMember, Carry], tuple[Command, ...]]) -> Seams:
    """Filters that rewrite what comes from other queue managers and was delayed there."""

    def other(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
        parcel = command.parcel if isinstance(command, FromMember) else None
        if not isinstance(command, FromMember) or not isinstance(parcel, Carry) or not _was_delayed(parcel.message):
            return None
        return rewrite(command, parcel)

    return commands(other)


def _twice(command: FromMember, parcel: Carry) -> tuple[Command, ...]:
    return (command, replace(command, parcel=replace(parcel, number=parcel.number + _SHIFT)))


def _interested_in_everything(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    parcel = command.parcel if isinstance(command, FromMember) else None
    if not isinstance(command, FromMember) or not isinstance(parcel, Bulletin):
        return None
    everything = Interest(_EVERYTHING, (command.member,))
    return (replace(command, parcel=replace(parcel, interests=(*parcel.interests, everything))),)


QUEUE_MANAGERS_DEFECTS = (
    Defect(
        name="shared-queue-undelayed",
        rules=("DD-45",),
        text="Delayed messages for a shared queue are put there at once.",
        apply=lambda: _delayed_to_shared(_undelayed),
    ),
    Defect(
        name="shared-queue-delayed-lost",
        rules=("DD-45", "DD-46"),
        text="Delayed messages for a shared queue are taken, and lost.",
        apply=lambda: _delayed_to_shared(dropped),
    ),
    Defect(
        name="handed-over-at-shutdown",
        rules=("DD-46", "DD-47"),
        text="A queue manager that shuts down puts what it has staged for shared queues there before its time.",
        apply=_handed_over,
    ),
    Defect(
        name="shared-queue-goes-with-member",
        rules=("DD-47",),
        text="What is on a shared queue goes when the queue manager shuts down at which the queue was defined.",
        apply=_cleared,
    ),
    Defect(
        name="proxy-undelayed",
        rules=("DD-81", "DD-84"),
        text="A delayed publication that has a proxy subscription is not delayed.",
        apply=_undelayed_for_proxies,
    ),
    Defect(
        name="proxy-publication-lost",
        rules=("DD-81", "DD-84"),
        text="A delayed publication never reaches the subscribers at another queue manager.",
        apply=lambda: _carried(lambda _command, _parcel: ()),
    ),
    Defect(
        name="proxy-publication-twice",
        rules=("DD-81", "DD-84"),
        text="A delayed publication is fanned out twice at another queue manager.",
        apply=lambda: _carried(_twice),
    ),
    Defect(
        name="proxy-for-everything",
        rules=("DD-81",),
        text="Publications are staged for another queue manager although nobody is subscribed there.",
        apply=lambda: commands(_interested_in_everything),
    ),
)
