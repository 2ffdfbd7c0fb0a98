"""Defects of publications to other queue managers (DD-81, DD-84)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.commands import Command, FromMember, Put
from assay_broker.core.effects import Effect, ToMember
from assay_broker.core.networks.parcels import Bulletin, Carry, Interest, NotTaken, Taken
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import SHIFT, handed_in, undelayed
from assay_broker.defects.shapes import Commands, commands, filters
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import AddressKind, Message

_EVERYTHING = "#"


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


@defect(commands, "proxy-publication-waits-again", "DD-81")
def _waits_again(command: Command, now_ms: int, view: View) -> Commands | None:
    """A queue manager that gets a delayed publication from another queue manager delays it for the same time again."""
    parcel = command.parcel if isinstance(command, FromMember) else None
    if not isinstance(command, FromMember) or not isinstance(parcel, Carry):
        return None
    message = parcel.message
    if message.delivery_time_ms is None or parcel.target.kind is not AddressKind.TOPIC:
        return None
    waits_ms = message.delivery_time_ms - (message.creation_ms or message.delivery_time_ms)
    again = handed_in(view, parcel.target, replace(message, delivery_time_ms=now_ms + waits_ms))
    return (*again, replace(command, parcel=replace(parcel, expires_ms=now_ms)))


def _counted_as_taken(effects: tuple[Effect, ...], _now_ms: int) -> tuple[Effect, ...]:
    return tuple(
        replace(effect, parcel=Taken(effect.parcel.number))
        if isinstance(effect, ToMember) and isinstance(effect.parcel, NotTaken)
        else effect
        for effect in effects
    )


HIERARCHY_DEFECTS = (
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
    Defect(
        name="refused-parcel-counts-as-taken",
        rules=("DD-81",),
        text="A publication that another queue manager could not store counts as stored there, and is lost.",
        apply=lambda: Seams(effects=_counted_as_taken),
    ),
    _interested_in_everything,
    _administered_untold,
    _waits_again,
)
