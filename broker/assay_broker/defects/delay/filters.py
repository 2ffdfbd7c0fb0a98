"""Filters for the defects of several features of delayed delivery."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.commands import Cancel, Command, Commit, FromMember, Put
from assay_broker.core.effects import Answer
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.messages.reports import FEEDBACK, options, report
from assay_broker.core.networks.parcels import Bulletin, Carry
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.sends import browses, dropped, handed_in, is_delayed, resent, with_options
from assay_broker.defects.shapes import Commands, commands, puts, replies, reshown
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.report_options import REPORT_PROPERTIES, WHOLE_REPORT, Mqro

_TARGET_REASONS = frozenset({Mqrc.PUT_INHIBITED, Mqrc.Q_FULL, Mqrc.MSG_TOO_BIG_FOR_Q})
_FAR_MS = 10**12


def end_of_delay(put: Put, now_ms: int) -> int | None:
    """Return when a send's delay is over, in milliseconds since the epoch; None for a send without a delay."""
    due = put.message.delivery_time_ms
    return due if due is not None and due > now_ms else None


def failed(answer: Answer, *, staging: bool) -> bool:
    """Check whether an answer refuses a message, because of the staging queue or because of the target.

    Args:
        answer: The answer.
        staging: True to look for a refusal of the staging queue, False for a refusal of the target.
    """
    why = answer.refused
    return why is not None and why.mqrc in _TARGET_REASONS and (STAGING_QUEUE in why.objects) is staging


def sent_at_commit(wanted: Callable[[Sent], bool], later: Callable[[Message, int], Message]) -> Seams:
    """Make filters that stage a unit of work's sends with an endless delay, and send them again after the commit.

    Args:
        wanted: Chooses the sends.
        later: Makes the message of the second send, from the first message and the milliseconds between the two sends.
    """

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        sent = view.sent(command, now_ms)
        if sent is not None and sent.put.unit is not None:
            far_ms = now_ms + _FAR_MS
            return resent(sent.put, delivery_time_ms=far_ms, expiry_ms=None, ttl_ms=None) if wanted(sent) else None
        if not isinstance(command, Commit):
            return None
        after: list[Command] = []
        for one in (one for unit in view.ended(command) for one in unit.sent if wanted(one)):
            after += [
                Cancel(one.put.connection, None, one.message.message_id or ""),
                Put(one.put.connection, None, one.put.link, later(one.message, now_ms - one.at_ms)),
            ]
        return (command, *after)

    return commands(rewrite)


def understood(rewrite: Callable[[Mqro, Message], Mqro]) -> Seams:
    """Make filters that change the report options of delayed messages.

    Args:
        rewrite: Returns the new options, from the options that the sender asked for and the message.
    """

    def options_of(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
        if not is_delayed(put, now_ms):
            return None
        asked = options(put.message)
        other = rewrite(asked, put.message)
        if other == asked:
            return None
        properties = {name: value for name, value in put.message.properties.items() if name not in REPORT_PROPERTIES}
        return resent(put, properties={**properties, WHOLE_REPORT: int(other)})

    return puts(options_of)


def reported_at_once(kinds: Mqro, kind: Mqro, *, lost: bool = False) -> Seams:
    """Make filters that send reports on delayed messages as soon as the messages are staged.

    Args:
        kinds: The options with which a sender asks for a report; a message with at least one of them gets a report.
        kind: The kind of the report that the broker sends, whichever option the message has.
        lost: Whether the broker sends only the report, and loses the message.
    """

    def reported(put: Put, _target: Address, now_ms: int, view: View) -> Commands | None:
        message = put.message
        to = message.reply_to
        if not is_delayed(put, now_ms) or not options(message) & kinds or to is None or message.message_id is None:
            return None
        early = report(
            message, kind, FEEDBACK[kind], f"{message.message_id} report", now_ms=now_ms, expires_ms=message.expiry_ms
        )
        return (*handed_in(view, to, early), dropped(put, now_ms) if lost else put)

    return puts(reported)


def staged(rewrite: Callable[[Described], Described]) -> Seams:
    """Make filters that alter the messages of the staging queue in answers to administrators."""
    return replies(
        lambda answer, asked, _now_ms, _view: reshown(answer, rewrite) if browses(asked, STAGING_QUEUE) else answer
    )


def first_link(put: Put, firsts: dict[int, int]) -> bool:
    """Check whether a send uses the producer that its connection used first.

    Args:
        put: The send.
        firsts: The link number of each connection's first producer, by connection; the function adds missing ones.
    """
    return firsts.setdefault(put.connection, put.link) == put.link


def arrivals(rewrite: Callable[[FromMember, Carry, View], Commands]) -> Seams:
    """Make filters that rewrite delayed messages for queues, as they arrive from another queue manager."""

    def other(command: Command, _now_ms: int, view: View) -> Commands | None:
        parcel = command.parcel if isinstance(command, FromMember) else None
        if not isinstance(command, FromMember) or not isinstance(parcel, Carry):
            return None
        if parcel.target.kind is not AddressKind.QUEUE or parcel.message.delivery_time_ms is None:
            return None
        return rewrite(command, parcel, view)

    return commands(other)


def commands_with_announced_queues(rewrite: Callable[[Command, int, View, set[str]], Commands | None]) -> Seams:
    """Make filters that rewrite commands, given the clustered queues that other queue managers have announced.

    Args:
        rewrite: Rewrites a command; its last argument holds the names of these queues.
    """
    known: set[str] = set()

    def other(command: Command, now_ms: int, view: View) -> Commands | None:
        bulletin = command.parcel if isinstance(command, FromMember) else None
        if isinstance(bulletin, Bulletin):
            known.update(one.name for one in bulletin.instances)
        return rewrite(command, now_ms, view, known)

    return commands(other)


def in_branch(put: Put, view: View) -> bool:
    """Return whether a send is part of a branch of a global unit of work."""
    unit = None if put.unit is None else view.units.get((put.connection, put.unit))
    return unit is not None and unit.xid is not None


def due_at(put: Put, due_ms: int | None) -> Commands:
    """Return a copy of a send whose delay ends at another time.

    Args:
        put: The send.
        due_ms: The end of the delay in milliseconds since the epoch; None for no delay.
    """
    return resent(put, delivery_time_ms=due_ms)


def without(record: Record, dropped: Mqro, *, expiring: bool = False) -> tuple[Record, ...]:
    """Remove report options from the record of a staged message; any other record stays as it is.

    Args:
        record: The record.
        dropped: The options to remove.
        expiring: Whether to change only messages with an expiry.
    """
    if not isinstance(record, MessageStored) or record.due_ms is None or (expiring and record.expires_ms is None):
        return (record,)
    return (replace(record, message=with_options(record.message, options(record.message) & ~dropped)),)
