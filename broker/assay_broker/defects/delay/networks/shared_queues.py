"""Defects in networks of queue managers: delayed messages for shared queues and for proxy subscriptions."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_broker.core.administration.changes import ClearQueue
from assay_broker.core.commands import Administer, Command, Connect, Disconnect, FromMember, Put
from assay_broker.core.effects import Effect, ToMember
from assay_broker.core.networks.parcels import Bulletin, Carry, Interest, Outstanding
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import SHIFT, dropped, handed_in, is_delayed, is_topic, undelayed
from assay_broker.defects.shapes import Commands, commands, filters, puts
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message

_EVERYTHING = "#"


def _shared(view: View) -> list[str]:
    """Return the names of the shared queues."""
    return [name for name, said in view.objects.items() if said.get("QSGDISP") == "SHARED"]


def _delayed_to_shared(rewrite: Callable[[Put, int], Put]) -> Seams:
    """Make filters that rewrite delayed sends to shared queues."""

    def other(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
        return (rewrite(put, now_ms),) if target.name in _shared(view) and is_delayed(put, now_ms) else None

    return puts(other)


@defect(puts, "shared-queue-behind-a-name-lost", "DD-45")
def _behind_a_name_lost(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """A delayed message that reaches a shared queue through an alias or an administered subscription is lost."""
    shared = _shared(view)
    subscribed = is_topic(target) and any(said.get("DEST") in shared for said in view.objects.values())
    behind = subscribed or view.said(target.name).get("TARGET") in shared
    return (dropped(put, now_ms),) if behind and is_delayed(put, now_ms) else None


def _undelayed(put: Put, _now_ms: int) -> Put:
    return replace(put, message=replace(put.message, delivery_time_ms=None))


def _immortal(put: Put, _now_ms: int) -> Put:
    return replace(put, message=replace(put.message, expiry_ms=None, ttl_ms=None))


@defect(made, "handed-over-at-shutdown", "DD-46", "DD-47")
def _handed_over() -> Seams:
    """When a queue manager shuts down, it puts messages to shared queues before their delay is over.

    The defect puts a sender's staged messages to the shared queue when the sender's connection is lost, as at a
    shutdown.
    """
    staged: dict[int, list[tuple[Address, Message]]] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        sent = view.sent(command, now_ms)
        if sent is not None and sent.delayed and sent.target.name in _shared(view):
            message = replace(sent.message, delivery_time_ms=None)
            staged.setdefault(sent.put.connection, []).append((sent.target, message))
        if not isinstance(command, Disconnect) or command.clean:
            return None
        waiting = staged.pop(command.connection, [])
        return (*(one for target, message in waiting for one in handed_in(view, target, message)), command)

    return commands(rewrite)


@defect(commands, "shared-queue-goes-with-member", "DD-47")
def _cleared(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When the queue manager that defined a shared queue shuts down, the queue loses its messages."""
    if not isinstance(command, Disconnect) or command.clean:
        return None
    clears = (Administer(view.agent, None, ClearQueue(name)) for name in _shared(view))
    return (command, Connect(view.agent, None, None, ADMINISTRATOR), *clears)


def _wanted(bulletin: Bulletin, topic: str) -> bool:
    return any(topic == interest.topic for interest in bulletin.interests)


@defect(made, "proxy-undelayed", "DD-81", "DD-84")
def _undelayed_for_proxies() -> Seams:
    """The broker does not delay a publication that matches a proxy subscription."""
    told: dict[str, Bulletin] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, FromMember) and isinstance(command.parcel, Bulletin):
            told[command.member] = command.parcel
        target = view.target(command)
        if not isinstance(command, Put) or target is None:
            return None
        if not any(_wanted(bulletin, target.name) for bulletin in told.values()):
            return None
        return undelayed(command)

    return commands(rewrite)


def _was_delayed(message: Message) -> bool:
    return message.delivery_time_ms is not None


def _carried(rewrite: Callable[[FromMember, Carry], Commands]) -> Seams:
    """Make filters that rewrite delayed messages that come from another queue manager."""

    def other(command: Command, _now_ms: int, _view: View) -> Commands | None:
        parcel = command.parcel if isinstance(command, FromMember) else None
        if not isinstance(command, FromMember) or not isinstance(parcel, Carry) or not _was_delayed(parcel.message):
            return None
        return rewrite(command, parcel)

    return commands(other)


def _twice(command: FromMember, parcel: Carry) -> Commands:
    return (command, replace(command, parcel=replace(parcel, number=parcel.number + SHIFT)))


@defect(commands, "proxy-for-everything", "DD-81")
def _interested_in_everything(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker stages publications for another queue manager that has no subscriber."""
    parcel = command.parcel if isinstance(command, FromMember) else None
    if not isinstance(command, FromMember) or not isinstance(parcel, Bulletin):
        return None
    everything = Interest(_EVERYTHING, (command.member,))
    return (replace(command, parcel=replace(parcel, interests=(*parcel.interests, everything))),)


@defect(made, "administered-subscriptions-untold", "DD-81")
def _administered_untold() -> Seams:
    """The broker does not announce a topic to other queue managers if only an administrator's subscription is on it."""

    def without(parcel: Bulletin, view: View) -> Bulletin:
        topics = {one.address.name for one in view.receivers.values()}
        return replace(parcel, interests=tuple(one for one in parcel.interests if one.topic in topics))

    def effects(passing: tuple[Effect, ...], _now_ms: int, view: View) -> tuple[Effect, ...]:
        return tuple(
            replace(one, parcel=without(one.parcel, view))
            if isinstance(one, ToMember) and isinstance(one.parcel, Bulletin)
            else one
            for one in passing
        )

    return filters(effects=effects)


def _is_greeting(command: Command) -> bool:
    return isinstance(command, FromMember) and isinstance(command.parcel, Outstanding) and command.parcel.answer


@defect(made, "not-sent-again-to-member", "DD-03", "DD-81")
def _not_sent_again() -> Seams:
    """The broker does not resend a message to a queue manager that was down when the broker first sent it."""
    greeted = False

    def asked(command: Command, _now_ms: int, _view: View) -> None:
        nonlocal greeted
        greeted = _is_greeting(command)

    def effects(passing: tuple[Effect, ...], _now_ms: int, _view: View) -> tuple[Effect, ...]:
        dropped_now = greeted
        return tuple(
            one for one in passing if not (dropped_now and isinstance(one, ToMember) and isinstance(one.parcel, Carry))
        )

    return filters(asked, effects=effects)


SHARED_QUEUE_DEFECTS = (
    _behind_a_name_lost,
    Defect(
        name="shared-queue-undelayed",
        rules=("DD-45",),
        text="The broker does not delay messages for shared queues.",
        apply=lambda: _delayed_to_shared(_undelayed),
    ),
    Defect(
        name="shared-queue-delayed-lost",
        rules=("DD-45", "DD-46"),
        text="The broker accepts delayed messages for a shared queue and loses them.",
        apply=lambda: _delayed_to_shared(dropped),
    ),
    Defect(
        name="shared-queue-delayed-never-expires",
        rules=("DD-45",),
        text="Delayed messages for a shared queue never expire.",
        apply=lambda: _delayed_to_shared(_immortal),
    ),
    _handed_over,
    _cleared,
    _undelayed_for_proxies,
    Defect(
        name="proxy-publication-lost",
        rules=("DD-81", "DD-84"),
        text="A delayed publication never reaches the subscribers at another queue manager.",
        apply=lambda: _carried(lambda _command, _parcel: ()),
    ),
    Defect(
        name="proxy-publication-twice",
        rules=("DD-81", "DD-84"),
        text="The subscribers at another queue manager get a delayed publication twice.",
        apply=lambda: _carried(_twice),
    ),
    _interested_in_everything,
    _administered_untold,
    _not_sent_again,
)
