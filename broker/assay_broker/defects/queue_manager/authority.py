"""Defects of authority: whose is asked for at a delayed send, at the end of its delay, and on the staging queue."""

from __future__ import annotations

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
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.settings import Settings
from assay_broker.defects.model import Defect
from assay_broker.defects.sends import NOTHING, elsewhere, is_topic
from assay_broker.defects.shapes import Commands, changes, delayed_puts, filters
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind

_STAGING = Address(AddressKind.QUEUE, STAGING_QUEUE)


def _permitted(command: AttachSender | Put, user: str | None, target: Address, view: View) -> Commands | None:
    """A command for whose duration a user may send to a destination."""
    if user is None or view.may(user, target.name):
        return None
    object_type, right = ("TOPIC", "PUB") if is_topic(target) else ("QUEUE", "PUT")

    def given(*, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()) -> Administer:
        change = SetAuthority(profile=target.name, object_type=object_type, principals=(user,), add=add, remove=remove)
        return Administer(command.connection, None, change)

    return (given(add=(right,)), command, given(remove=(right,)))


def _never_asked(command: Command, now_ms: int, view: View) -> Commands | None:
    if isinstance(command, AttachSender) and command.address is not None:
        return _permitted(command, view.user(command.connection), command.address, view)
    sent = view.sent(command, now_ms)
    return None if sent is None or not sent.delayed else _permitted(sent.put, sent.user, sent.target, view)


def _asked_on_staging(put: Put, sent: Sent, view: View) -> Commands | None:
    if sent.user is None or view.may(sent.user, STAGING_QUEUE):
        return None
    return elsewhere(replace(put, message=replace(put.message, delivery_time_ms=None)), _STAGING, view)


def _asked_again(command: Command, _now_ms: int, view: View) -> Commands | None:
    """What was sent to a name is dropped once its sender may not put there, or where the name leads to, any more."""
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


def _open_to_all() -> Seams:
    def unheard(change: Change, _view: View) -> Change | None:
        secures = isinstance(change, SetAuthority) and change.profile == STAGING_QUEUE and bool(change.groups)
        return DisplayAuthority() if secures else None

    def settings(given: Settings) -> Settings:
        kept = tuple(record for record in given.authorities if not record.profile.startswith("SYSTEM."))
        return replace(given, authorities=kept)

    return replace(changes(unheard), settings=settings)


def _closed_to_administrators(change: Change, view: View) -> Change | None:
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


def _never_granted(change: Change, _view: View) -> Change | None:
    grants = isinstance(change, SetAuthority) and change.profile == STAGING_QUEUE and bool(change.principals)
    return DisplayAuthority() if grants else None


AUTHORITY_DEFECTS = (
    Defect(
        name="delay-needs-no-authority",
        rules=("DD-30",),
        text="A delayed message may be sent by whoever likes.",
        apply=lambda: filters(_never_asked),
    ),
    Defect(
        name="delay-needs-staging-authority",
        rules=("DD-30", "DD-32"),
        text="Whoever sends a delayed message needs authority to put to the staging queue.",
        apply=lambda: delayed_puts(_asked_on_staging),
    ),
    Defect(
        name="authority-asked-again",
        rules=("DD-31",),
        text="A message whose sender has no authority on its target when its delay is over is dropped.",
        apply=lambda: filters(_asked_again),
    ),
    Defect(
        name="staging-queue-open-to-all",
        rules=("DD-32",),
        text="The staging queue cannot be withheld from anybody.",
        apply=_open_to_all,
    ),
    Defect(
        name="staging-queue-closed-to-administrators",
        rules=("DD-32",),
        text="A staging queue that is withheld from ordinary users is withheld from administrators too.",
        apply=lambda: changes(_closed_to_administrators),
    ),
    Defect(
        name="staging-authority-never-granted",
        rules=("DD-32",),
        text="Authority on the staging queue cannot be given to anybody.",
        apply=lambda: changes(_never_granted),
    ),
)
"""Defects of authority."""
