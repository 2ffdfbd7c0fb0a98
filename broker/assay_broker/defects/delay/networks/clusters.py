"""Defects of delayed messages for clustered queues of other queue managers."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.administration.changes import DefineObject
from assay_broker.core.commands import Administer, Command, FromMember
from assay_broker.core.messages.bodies import opened
from assay_broker.core.networks.parcels import Bulletin, Carry, Taken
from assay_broker.core.objects.model import Definition
from assay_broker.defects.model import defect
from assay_broker.defects.sends import SHIFT, cancelled, handed_in, undelayed
from assay_broker.defects.shapes import Commands, commands
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import AddressKind, Message


def _arrivals(rewrite: Callable[[FromMember, Carry, View], Commands]) -> Seams:
    """Make filters that rewrite a delayed message that comes from another queue manager and whose target is a queue."""

    def other(command: Command, _now_ms: int, view: View) -> Commands | None:
        parcel = command.parcel if isinstance(command, FromMember) else None
        if not isinstance(command, FromMember) or not isinstance(parcel, Carry):
            return None
        if parcel.target.kind is not AddressKind.QUEUE or parcel.message.delivery_time_ms is None:
            return None
        return rewrite(command, parcel, view)

    return commands(other)


def _with(command: FromMember, parcel: Carry, message: Message) -> Commands:
    return (replace(command, parcel=replace(parcel, message=message)),)


def _instances(rewrite: Callable[[Definition], Definition]) -> Callable[[Command, int, View], Commands | None]:
    """Make a function that rewrites the definitions of clustered queues that another queue manager announces."""

    def other(command: Command, _now_ms: int, _view: View) -> Commands | None:
        bulletin = command.parcel if isinstance(command, FromMember) else None
        if not isinstance(command, FromMember) or not isinstance(bulletin, Bulletin):
            return None
        told = replace(bulletin, instances=tuple(map(rewrite, bulletin.instances)))
        return (replace(command, parcel=told),)

    return other


@defect(commands, "binding-of-another-member-ignored", "DD-11")
def _binding_ignored(command: Command, now_ms: int, view: View) -> Commands | None:
    """The broker treats each clustered queue of another queue manager as if it had DEFBIND(NOTFIXED)."""

    def free(definition: Definition) -> Definition:
        return replace(definition, attributes=definition.attributes | {"DEFBIND": "NOTFIXED"})

    return _instances(free)(command, now_ms, view)


def _knowing(rewrite: Callable[[Command, int, View, set[str]], Commands | None]) -> Seams:
    """Make filters that rewrite commands.

    Args:
        rewrite: Rewrites a command; its last argument holds the names of the clustered queues that other queue managers
            have announced.
    """
    known: set[str] = set()

    def other(command: Command, now_ms: int, view: View) -> Commands | None:
        bulletin = command.parcel if isinstance(command, FromMember) else None
        if isinstance(bulletin, Bulletin):
            known.update(one.name for one in bulletin.instances)
        return rewrite(command, now_ms, view, known)

    return commands(other)


@defect(_knowing, "undelayed-to-another-member", "DD-02")
def _undelayed_there(command: Command, now_ms: int, view: View, known: set[str]) -> Commands | None:
    """The broker does not delay messages for another queue manager's clustered queue."""
    sent = view.sent(command, now_ms)
    return undelayed(sent.put) if sent is not None and sent.delayed and sent.target.name in known else None


@defect(_knowing, "sent-on-once-the-name-is-defined", "DD-50")
def _sent_on(command: Command, _now_ms: int, view: View, known: set[str]) -> Commands | None:
    """If a clustered queue's name is defined locally during a delay, the message goes to the other queue manager."""
    change = command.change if isinstance(command, Administer) else None
    if not isinstance(change, DefineObject) or change.name not in known:
        return None
    staged = [one for one in view.delayed.values() if one.target.name == change.name]
    lost = cancelled(view, *(one.message.message_id or "" for one in staged))
    again = (put for one in staged for put in handed_in(view, one.target, replace(one.message, delivery_time_ms=None)))
    return (*lost, *again, command)


@defect(_arrivals, "lost-at-another-member", "DD-03", "DD-11", "DD-26", "DD-50", "DD-52", "DD-56", "DD-70")
def _lost(_command: FromMember, _parcel: Carry, _view: View) -> Commands:
    """A delayed message for another queue manager's clustered queue is lost between the queue managers."""
    return ()


@defect(_arrivals, "twice-at-another-member", "DD-03", "DD-11")
def _twice(command: FromMember, parcel: Carry, _view: View) -> Commands:
    """Another queue manager's clustered queue gets each delayed message twice."""
    return (command, replace(command, parcel=replace(parcel, number=parcel.number + SHIFT)))


@defect(_arrivals, "bare-at-another-member", "DD-39")
def _bare(command: FromMember, parcel: Carry, _view: View) -> Commands:
    """A delayed message for another queue manager's queue loses its ids, reply-to, type and priority."""
    message = opened(parcel.message)
    bare = replace(message, message_id=None, correlation_id=None, reply_to=None, subject=None, priority=None)
    return _with(command, parcel, bare)


@defect(_arrivals, "never-expires-at-another-member", "DD-55", "DD-56")
def _immortal(command: FromMember, parcel: Carry, _view: View) -> Commands:
    """A delayed message for another queue manager's clustered queue does not expire there."""
    message = replace(parcel.message, expiry_ms=None, ttl_ms=None)
    return (replace(command, parcel=replace(parcel, message=message, expires_ms=None)),)


@defect(_arrivals, "as-defined-at-another-member", "DD-52")
def _as_defined_there(command: FromMember, parcel: Carry, view: View) -> Commands:
    """A delayed message for another queue manager's queue gets the priority and persistence that the queue defines."""
    said = view.said(parcel.target.name)
    priority = said.get("DEFPRTY", parcel.message.priority)
    durable = said.get("DEFPSIST", "YES") == "YES"
    if not isinstance(priority, int):
        return (command,)
    return _with(command, parcel, replace(parcel.message, priority=priority, durable=durable))


@defect(commands, "one-clustered-queue-of-each", "DD-11")
def _one_of_each(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker knows only the first of the clustered queues of another queue manager."""
    bulletin = command.parcel if isinstance(command, FromMember) else None
    if not isinstance(command, FromMember) or not isinstance(bulletin, Bulletin):
        return None
    return (replace(command, parcel=replace(bulletin, instances=bulletin.instances[:1])),)


@defect(commands, "receipts-of-others-unheard", "DD-03")
def _receipts_unheard(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker ignores confirmations, and resends confirmed messages when the receiving queue manager restarts."""
    return () if isinstance(command, FromMember) and isinstance(command.parcel, Taken) else None


CLUSTER_DEFECTS = (
    _one_of_each,
    _receipts_unheard,
    _binding_ignored,
    _undelayed_there,
    _sent_on,
    _lost,
    _twice,
    _bare,
    _immortal,
    _as_defined_there,
)
