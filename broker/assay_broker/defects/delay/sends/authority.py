"""Defects in the authority for delayed sends (DD-30 to DD-32)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import (
    AlterObject,
    Change,
    DisplayAuthority,
    NativeBrowse,
    NativePut,
    NativeTake,
    SetAuthority,
)
from assay_broker.core.commands import Administer, AttachSender, Cancel, Command, Put
from assay_broker.core.messages.reports import options
from assay_broker.core.objects.factory import DEAD_LETTER_QUEUE, STAGING_QUEUE
from assay_broker.core.records import AuthoritySet, Record
from assay_broker.core.settings import Settings
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import NOTHING, elsewhere, is_staged, is_topic, with_options
from assay_broker.defects.shapes import (
    Commands,
    changes,
    commands,
    delayed_puts,
    puts,
    puts_without_destination,
    read_together,
    reading,
)
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.report_options import Mqro

_STAGING = Address(AddressKind.QUEUE, STAGING_QUEUE)


def _permitted(command: AttachSender | Put, user: str | None, target: Address, view: View) -> Commands | None:
    """Return a command between two others: a grant of authority on a destination, and the withdrawal of this grant.

    Returns:
        The three commands; None if the user already has the authority, or has not logged in.
    """
    if user is None or view.may(user, target.name):
        return None
    object_type, right = ("TOPIC", "PUB") if is_topic(target) else ("QUEUE", "PUT")

    def given(*, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()) -> Administer:
        change = SetAuthority(profile=target.name, object_type=object_type, principals=(user,), add=add, remove=remove)
        return Administer(command.connection, None, change)

    return (given(add=(right,)), command, given(remove=(right,)))


@defect(commands, "delay-needs-no-authority", "DD-30")
def _never_asked(command: Command, now_ms: int, view: View) -> Commands | None:
    """A sender needs no authority on the destination to send a delayed message."""
    if isinstance(command, AttachSender) and command.address is not None:
        return _permitted(command, view.user(command.connection), command.address, view)
    sent = view.sent(command, now_ms)
    return None if sent is None or not sent.delayed else _permitted(sent.put, sent.user, sent.target, view)


@defect(delayed_puts, "delay-needs-staging-authority", "DD-30", "DD-32")
def _asked_on_staging(put: Put, sent: Sent, view: View) -> Commands | None:
    """The sender of a delayed message needs authority to put to the staging queue."""
    if sent.user is None or view.may(sent.user, STAGING_QUEUE):
        return None
    return elsewhere(replace(put, message=replace(put.message, delivery_time_ms=None)), _STAGING, view)


@defect(commands, "authority-asked-again", "DD-31")
def _asked_again(command: Command, _now_ms: int, view: View) -> Commands | None:
    """The broker drops a delayed message if its sender has no authority on the target when the delay is over.

    The defect drops a message as soon as its sender loses the authority to put to the target.  If the target is an
    alias, it also drops the message when the alias is altered to a queue on which the sender has no authority.
    """
    if not isinstance(command, Administer):
        return None
    change = command.change
    if isinstance(change, SetAuthority) and {"PUT", "PUB", "ALL"} & {*change.remove}:
        lost = {
            id_
            for id_, one in view.delayed.items()
            if one.target.name == change.profile
            and (one.user in change.principals or (change.groups and not view.may(one.user, change.profile)))
        }
    elif isinstance(change, AlterObject) and view.withheld(change.attributes.get("TARGET")):
        target = str(change.attributes["TARGET"])
        lost = {
            id_
            for id_, one in view.delayed.items()
            if one.target.name == change.name and not view.may(one.user, target)
        }
    else:
        return None
    return (command, *(Cancel(command.connection, None, id_) for id_ in sorted(lost)))


@defect(made, "staging-queue-open-to-all", "DD-32")
def _open_to_all() -> Seams:
    """An administrator cannot take the authority on the staging queue from any group of users."""

    def unheard(change: Change, _view: View) -> Change | None:
        secures = isinstance(change, SetAuthority) and change.profile == STAGING_QUEUE and bool(change.groups)
        return DisplayAuthority() if secures else None

    def settings(given: Settings) -> Settings:
        kept = tuple(record for record in given.authorities if not record.profile.startswith("SYSTEM."))
        return replace(given, authorities=kept)

    return replace(changes(unheard), settings=settings)


@defect(changes, "staging-queue-closed-to-administrators", "DD-32")
def _closed_to_administrators(change: Change, view: View) -> Change | None:
    """When ordinary users lose their authority on the staging queue, administrators lose it too."""
    if not view.withheld(STAGING_QUEUE) or getattr(change, "queue", None) != STAGING_QUEUE:
        return None
    match change:
        case NativeBrowse():
            return NativeBrowse(NOTHING)
        case NativeTake():
            return NativeTake(NOTHING, change.correlation_id)
        case NativePut():
            return replace(change, delay_ms=1)
        case _:
            return None


@defect(changes, "staging-authority-never-granted", "DD-32")
def _never_granted(change: Change, _view: View) -> Change | None:
    """An administrator cannot give any user authority on the staging queue."""
    grants = isinstance(change, SetAuthority) and change.profile == STAGING_QUEUE and bool(change.principals)
    return DisplayAuthority() if grants else None


@defect(reading, "authority-asked-after-restart", "DD-31")
def _asked_after_restart(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """A restart drops a staged message if its sender has lost the authority to put to the target."""

    def may_not(record: Record) -> bool:
        sent = view.delayed.get(record.message.message_id or "") if is_staged(record) else None
        return sent is not None and sent.user is not None and not view.may(sent.user, sent.target.name)

    return tuple(record for record in records if not may_not(record))


@defect(delayed_puts, "dead-letters-ask-the-sender", "DD-31")
def _dead_letters_asked(put: Put, sent: Sent, view: View) -> Commands | None:
    """The broker discards an undeliverable delayed message if its sender has no authority on the dead-letter queue."""
    if not view.withheld(DEAD_LETTER_QUEUE) or sent.user is None or view.may(sent.user, DEAD_LETTER_QUEUE):
        return None
    asked = options(put.message) | Mqro.DISCARD_MSG
    return (replace(put, message=with_options(put.message, asked)),)


@defect(puts_without_destination, "unchecked-without-destination", "DD-30")
def _free_unchecked(sent: Sent, view: View) -> Commands | None:
    """The broker does not check the authority for the sends of a producer that was opened without a destination."""
    return _permitted(sent.put, sent.user, sent.target, view)


@defect(made, "authority-checked-once", "DD-30")
def _checked_once() -> Seams:
    """The broker checks a producer's authority at its first send only."""
    known: set[tuple[int, int]] = set()

    def rewrite(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
        link = put.connection, put.link
        again = link in known
        known.add(link)
        return _permitted(put, view.user(put.connection), target, view) if again else None

    return puts(rewrite)


@defect(changes, "subscribers-may-publish", "DD-30")
def _subscribers_publish(change: Change, _view: View) -> Change | None:
    """A user with authority to subscribe to a topic may also publish to it."""
    if not isinstance(change, SetAuthority) or change.object_type != "TOPIC" or "SUB" not in change.add:
        return None
    return replace(change, add=(*change.add, "PUB"))


@defect(changes, "authority-never-granted", "DD-30")
def _puts_never_granted(change: Change, _view: View) -> Change | None:
    """An administrator cannot grant authority to put or to publish to a single user."""
    grants = isinstance(change, SetAuthority) and bool(change.principals) and {"PUT", "PUB"} & {*change.add}
    return DisplayAuthority() if grants else None


@defect(read_together, "one-authority-record-for-a-queue", "DD-30")
def _one_record(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a restart, each queue or topic has only the authority record that an administrator set last."""
    last = {one.record.profile: one for one in records if isinstance(one, AuthoritySet)}
    return tuple(one for one in records if not isinstance(one, AuthoritySet) or last[one.record.profile] is one)


@defect(read_together, "one-authority-record-for-a-name", "DD-30")
def _one_record_for_both(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a restart, a queue and a topic of one name share the authority that an administrator set last."""
    last = {_holder(one): one for one in records if isinstance(one, AuthoritySet)}
    return tuple(one for one in records if not isinstance(one, AuthoritySet) or last[_holder(one)] is one)


def _holder(one: AuthoritySet) -> tuple[str, bool, str]:
    return one.record.profile, one.record.group, one.record.entity


AUTHORITY_DEFECTS = (
    _free_unchecked,
    _checked_once,
    _subscribers_publish,
    _puts_never_granted,
    _never_asked,
    _asked_on_staging,
    _asked_again,
    _open_to_all,
    _closed_to_administrators,
    _never_granted,
    _asked_after_restart,
    _dead_letters_asked,
    _one_record,
    _one_record_for_both,
)
