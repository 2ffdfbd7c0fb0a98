"""Defects in the broker's reaction when a delayed delivery fails (DD-70, DD-71)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, Change
from assay_broker.core.commands import Administer, Command, Put, Tick, WorkerDied
from assay_broker.core.effects import Answer
from assay_broker.core.messages.descriptor import Described, native_id
from assay_broker.core.messages.reports import options
from assay_broker.core.objects.model import Kind, Value
from assay_broker.core.records import MessageStored, Record
from assay_broker.core.states.release import Act, Result, Step
from assay_broker.defects.delay.failures.outcomes import outcome_cells
from assay_broker.defects.delay.filters import without
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import cancelled, change_of, handed_in, with_options
from assay_broker.defects.shapes import (
    Commands,
    changes,
    commands,
    delayed_puts,
    filters,
    read,
    read_together,
    reshown,
    shown,
)
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.report_options import Mqro

_LEAST_REASON = 2000  # the lowest reason code (MQRC)
_OVER, _KEPT = (Step.OVER, Act.GO_ON), (Step.KEPT, Act.BACK_OUT)
_DEAD_LETTERED, _REPORTED = (Step.DEAD_LETTER, Act.GO_ON), (Step.REPORT, Act.GO_ON)
_OVERDUE_MS = 500
_PATIENCE_MS = 8_000
_OTHER_ID = "ID:" + "CD" * 24


def _enables(command: Command) -> AlterObject | None:
    """Return the change with which an administrator enables an object for puts; None for any other command."""
    change = change_of(command)
    return change if isinstance(change, AlterObject) and change.attributes.get("PUT") == "ENABLED" else None


def _staged_for(command: Command, now_ms: int, view: View) -> tuple[str, Message] | None:
    """Return the queue's name and the message if a command stages a message for a queue; None for any other command."""
    sent = view.sent(command, now_ms)
    if sent is None or not sent.delayed or sent.target.kind is not AddressKind.QUEUE:
        return None
    return sent.target.name, sent.message


@defect(made, "enabled-in-vain", "DD-70", "DD-71")
def _enabled_in_vain() -> Seams:
    """When an administrator enables a queue for which messages are staged, the queue stays disabled for puts."""
    targets: set[str] = set()

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        staged = _staged_for(command, now_ms, view)
        if staged is not None:
            targets.add(staged[0])
        change = _enables(command)
        if not isinstance(command, Administer) or change is None or change.name not in targets:
            return None
        return (replace(command, change=replace(change, attributes={})),)

    return commands(rewrite)


@defect(made, "twice-after-retry", "DD-71", "DD-74")
def _twice_after_retry() -> Seams:
    """When a disabled target is enabled, it gets each overdue message twice."""
    waiting: dict[str, list[Message]] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        staged = _staged_for(command, now_ms, view)
        if staged is not None:
            waiting.setdefault(staged[0], []).append(staged[1])
        change = _enables(command)
        if change is None:
            return None
        late = [one for one in waiting.pop(change.name, ()) if (one.delivery_time_ms or 0) <= now_ms]
        again = (replace(message, delivery_time_ms=None) for message in late)
        return (command, *handed_in(view, Address(AddressKind.QUEUE, change.name), *again)) if late else None

    return commands(rewrite)


@defect(shown, "dead-letter-header-of-itself", "DD-70", "DD-73", "DD-83")
def _header_of_itself(described: Described) -> Described:
    """The dead-letter header names the dead-letter queue in place of the target."""
    headers = tuple(
        {**header, "DestQName": "SYSTEM.DEAD.LETTER.QUEUE"} if header["StrucId"] == "DLH" else header
        for header in described.headers
    )
    return replace(described, headers=headers)


@defect(shown, "reason-unspecific", "DD-70", "DD-72", "DD-73", "DD-76", "DD-83")
def _unspecific(described: Described) -> Described:
    """Reports and dead-letter headers give the same reason for every failure."""
    reason = int(Mqrc.UNEXPECTED_ERROR)
    headers = tuple({**header, "Reason": reason} if "Reason" in header else header for header in described.headers)
    fields = dict(described.descriptor)
    feedback = fields.get("Feedback")
    if isinstance(feedback, int) and feedback >= _LEAST_REASON:
        fields["Feedback"] = reason
    return replace(described, descriptor=fields, headers=headers)


@defect(commands, "zos-stuck-message-stops-processor", "DD-71")
def _stopped_by_stuck(command: Command, now_ms: int, view: View) -> Commands | None:
    """On z/OS the delay processor stops if a target is still disabled for puts half a second after a delay."""
    if view.settings.platform != "zos" or not isinstance(command, Tick):
        return None
    shut = {name for (_, name), said in view.objects.items() if said.get("PUT") == "DISABLED"}
    stuck = any(one.target.name in shut and one.due_ms + _OVERDUE_MS <= now_ms for one in view.delayed.values())
    return (WorkerDied(), command) if stuck else None


@defect(delayed_puts, "discard-needs-a-report", "DD-70")
def _discard_with_report_only(put: Put, _sent: Sent, _view: View) -> Commands | None:
    """The broker heeds MQRO_DISCARD_MSG only if the message also asks for an exception report."""
    asked = options(put.message)
    if Mqro.DISCARD_MSG not in asked or Mqro.EXCEPTION in asked:
        return None
    return (replace(put, message=with_options(put.message, asked & ~Mqro.DISCARD_MSG)),)


@defect(made, "first-obstacle-remembered", "DD-70")
def _first_obstacle() -> Seams:
    """The dead-letter header gives the first reason for which the target refused puts, not the current reason."""
    first: dict[object, int] = {}

    def noted(command: Command, _now_ms: int, _view: View) -> Commands | None:
        change = change_of(command)
        if isinstance(change, AlterObject) and change.kind is Kind.QLOCAL:
            too_long = "MAXMSGL" in change.attributes
            first.setdefault(change.name, int(Mqrc.MSG_TOO_BIG_FOR_Q if too_long else Mqrc.PUT_INHIBITED))
        return None

    def named(row: Described) -> Described:
        headers = tuple(
            {**one, "Reason": first[one["DestQName"]]} if one.get("DestQName") in first and "Reason" in one else one
            for one in row.headers
        )
        return replace(row, headers=headers)

    def answer(answered: Answer, _asked: Command, _now_ms: int, _view: View) -> Answer:
        return reshown(answered, named)

    return filters(noted, answer=answer)


@defect(read, "discard-forgotten-at-restart", "DD-70")
def _discard_forgotten(record: Record) -> tuple[Record, ...]:
    """A restart removes the option MQRO_DISCARD_MSG from staged messages."""
    return without(record, Mqro.DISCARD_MSG)


@defect(changes, "alias-never-shut", "DD-70")
def _alias_never_shut(change: Change, view: View) -> Change | None:
    """An alias cannot be disabled for puts while a message is staged for it."""
    if not isinstance(change, AlterObject) or change.kind is not Kind.QALIAS or "PUT" not in change.attributes:
        return None
    staged = any(one.target.name == change.name for one in view.delayed.values())
    return replace(change, attributes={}) if staged else None


@defect(shown, "dead-letter-under-staging-ids", "DD-70")
def _under_other_ids(described: Described) -> Described:
    """A message on the dead-letter queue has the message id and correlation id that it had on the staging queue."""
    if not any(header["StrucId"] == "DLH" for header in described.headers):
        return described
    if described.message.delivery_time_ms is None:
        return described
    ids = {"MsgId": native_id(_OTHER_ID).hex(), "CorrelId": native_id(described.message.message_id).hex()}
    return replace(described, descriptor={**described.descriptor, **ids})


@defect(made, "dead-letters-name-the-first-target", "DD-70")
def _target_of_the_first() -> Seams:
    """The dead-letter header of each message names the target of the first message on the dead-letter queue."""
    first: list[Value] = []

    def named(described: Described) -> Described:
        for header in described.headers:
            if header["StrucId"] == "DLH" and not first:
                first.append(header["DestQName"])
        headers = tuple(
            {**header, "DestQName": first[0]} if header["StrucId"] == "DLH" else header for header in described.headers
        )
        return replace(described, headers=headers)

    return shown(named)


@defect(commands, "one-is-tried-again", "DD-71")
def _one_is_kept(command: Command, now_ms: int, view: View) -> Commands | None:
    """When a target is enabled for puts, the broker delivers only one of the overdue messages for it."""
    change = change_of(command)
    if not isinstance(change, AlterObject) or change.attributes.get("PUT") != "ENABLED":
        return None
    late = [id_ for id_, one in view.delayed.items() if one.target.name == change.name and one.due_ms <= now_ms]
    return (*cancelled(view, *late[1:]), command) if len(late) > 1 else None


@defect(commands, "given-up-in-the-end", "DD-71")
def _given_up(command: Command, now_ms: int, view: View) -> Commands | None:
    """The broker drops a message that it cannot put to its target within eight seconds after the delay."""
    late = [id_ for id_, one in view.delayed.items() if one.due_ms + _PATIENCE_MS <= now_ms]
    return (*cancelled(view, *late), command) if late else None


@defect(read_together, "dead-letter-header-lost-by-restart", "DD-70", "DD-73")
def _header_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """A restart loses the dead-letter headers of the messages on the dead-letter queue."""
    return tuple(replace(one, dead=None) if isinstance(one, MessageStored) else one for one in records)


@defect(made, "overdue-to-target-at-restart", "DD-71")
def _overdue_to_target() -> Seams:
    """At a restart, a message whose delay is over goes to its target, even if the target is disabled for puts."""

    def start(records: Sequence[Record], view: View) -> tuple[Record, ...]:
        return tuple(
            replace(one, due_ms=None)
            if isinstance(one, MessageStored) and one.due_ms is not None and one.due_ms <= view.last_ms
            else one
            for one in records
        )

    return filters(read=start)


FAILURE_DEFECTS = (
    Defect(
        name="undeliverable-discarded",
        rules=("DD-70", "DD-83", "DD-85"),
        text="The broker discards a delayed message that its target cannot take, even without MQRO_DISCARD_MSG.",
        apply=lambda: outcome_cells({(Step.PUT, Result.REFUSED): _REPORTED}),
    ),
    Defect(
        name="undeliverable-stays-staged",
        rules=("DD-70", "DD-83"),
        text="The broker never dead-letters a delayed message that its target cannot take.",
        apply=lambda: outcome_cells({(Step.PUT, Result.REFUSED): _KEPT}),
    ),
    Defect(
        name="discard-option-ignored",
        rules=("DD-70", "DD-83", "DD-85"),
        text="The broker dead-letters a delayed message that asks to be discarded (MQRO_DISCARD_MSG).",
        apply=lambda: outcome_cells({(Step.PUT, Result.REFUSED_DISCARD): _DEAD_LETTERED}),
    ),
    _header_of_itself,
    _unspecific,
    _enabled_in_vain,
    Defect(
        name="tried-once",
        rules=("DD-71",),
        text="A delayed message that neither its target nor the dead-letter queue can take is lost.",
        apply=lambda: outcome_cells({(Step.DEAD_LETTER, Result.REFUSED): _OVER}),
    ),
    _twice_after_retry,
    _stopped_by_stuck,
    _discard_with_report_only,
    _first_obstacle,
    _alias_never_shut,
    _under_other_ids,
    _discard_forgotten,
    _target_of_the_first,
    _one_is_kept,
    _given_up,
    _header_lost,
    _overdue_to_target,
)
