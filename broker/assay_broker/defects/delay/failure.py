"""Defects of delayed messages that cannot be put to their target: filters, and changed cells of the table `RELEASE`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject
from assay_broker.core.commands import Administer, Command
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.states.release import Act, Result, Step
from assay_broker.core.states.tables import Tables
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import change_of, handed_in
from assay_broker.defects.shapes import Commands, commands, shown
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc

_DEAD_LETTER = "MQDEAD"
_LEAST_REASON = 2000  # the lowest reason code (MQRC)

Cells = Mapping[tuple[Step, Result], tuple[Step, Act]]


def _cells(cells: Cells) -> Seams:
    """Make filters that replace cells of `RELEASE`, the state table for the end of a delay."""

    def other(tables: Tables) -> Tables:
        return replace(tables, release=MappingProxyType({**tables.release, **cells}))

    return Seams(tables=other)


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


_OVER, _KEPT = (Step.OVER, Act.GO_ON), (Step.KEPT, Act.BACK_OUT)
_DEAD_LETTERED, _REPORTED = (Step.DEAD_LETTER, Act.GO_ON), (Step.REPORT, Act.GO_ON)

FAILURE_DEFECTS = (
    Defect(
        name="undeliverable-discarded",
        rules=("DD-70", "DD-83", "DD-85"),
        text="The broker discards a delayed message that its target cannot take, even without MQRO_DISCARD_MSG.",
        apply=lambda: _cells({(Step.PUT, Result.REFUSED): _REPORTED}),
    ),
    Defect(
        name="undeliverable-stays-staged",
        rules=("DD-70", "DD-83"),
        text="The broker never dead-letters a delayed message that its target cannot take.",
        apply=lambda: _cells({(Step.PUT, Result.REFUSED): _KEPT}),
    ),
    Defect(
        name="discard-option-ignored",
        rules=("DD-70", "DD-83", "DD-85"),
        text="The broker dead-letters a delayed message that asks to be discarded (MQRO_DISCARD_MSG).",
        apply=lambda: _cells({(Step.PUT, Result.REFUSED_DISCARD): _DEAD_LETTERED}),
    ),
    _header_of_itself,
    _unspecific,
    _enabled_in_vain,
    Defect(
        name="tried-once",
        rules=("DD-71",),
        text="A delayed message that neither its target nor the dead-letter queue can take is lost.",
        apply=lambda: _cells({(Step.DEAD_LETTER, Result.REFUSED): _OVER}),
    ),
    _twice_after_retry,
    Defect(
        name="exception-report-missing",
        rules=("DD-72", "DD-83", "DD-85"),
        text="The broker sends no exception report on a delayed message that it discards or dead-letters.",
        apply=lambda: _cells(
            {(Step.DEAD_LETTER, Result.DONE): _OVER, (Step.PUT, Result.REFUSED_DISCARD): _OVER},
        ),
    ),
    Defect(
        name="reported-instead-of-retried",
        rules=("DD-72",),
        text="The broker reports a delayed message that the dead-letter queue cannot take, and does not retry the put.",
        apply=lambda: _cells({(Step.DEAD_LETTER, Result.REFUSED): _REPORTED}),
    ),
    Defect(
        name="delivery-reported",
        rules=("DD-72",),
        text="The broker also sends an exception report on a delayed message that its target takes.",
        apply=lambda: _cells({(Step.PUT, Result.DONE): _REPORTED}),
    ),
    Defect(
        name="report-not-dead-lettered",
        rules=("DD-73", "DD-76", "DD-83"),
        text="The broker drops a report that its reply-to queue cannot take.",
        apply=lambda: _cells({(Step.REPORT, Result.REFUSED): _OVER}),
    ),
    Defect(
        name="lost-report-ignored",
        rules=("DD-74", "DD-83"),
        text="The broker drops a persistent message's report if neither reply-to nor dead-letter queue can take it.",
        apply=lambda: _cells({(Step.DEAD_LETTER_REPORT, Result.REFUSED_PERSISTENT): _OVER}),
    ),
    Defect(
        name="lost-report-takes-message",
        rules=("DD-74", "DD-83"),
        text="The broker loses a persistent message if neither reply-to nor dead-letter queue can take its report.",
        apply=lambda: _cells({(Step.DEAD_LETTER_REPORT, Result.REFUSED_PERSISTENT): (Step.OVER, Act.BACK_OUT)}),
    ),
    Defect(
        name="lost-report-backs-out",
        rules=("DD-75", "DD-77", "DD-83"),
        text="If no queue can take the report on a non-persistent or given-up message, the broker retries it.",
        apply=lambda: _cells({(Step.DEAD_LETTER_REPORT, Result.REFUSED): _KEPT}),
    ),
    Defect(
        name="gone-subscriber-dead-lettered",
        rules=("DD-76", "DD-83"),
        text="The broker dead-letters a delayed publication whose subscriber has gone.",
        apply=lambda: _cells({(Step.PUT, Result.GONE): _DEAD_LETTERED}),
    ),
    Defect(
        name="gone-subscriber-unreported",
        rules=("DD-76",),
        text="The broker never reports a delayed publication whose subscriber has gone.",
        apply=lambda: _cells({(Step.PUT, Result.GONE): _OVER}),
    ),
    Defect(
        name="publication-tried-again",
        rules=("DD-77",),
        text="The broker retries a delayed publication that the dead-letter queue cannot take, like other messages.",
        apply=lambda: _cells({(Step.DEAD_LETTER, Result.REFUSED_PUBLICATION): _KEPT}),
    ),
    Defect(
        name="expired-unreported",
        rules=("DD-57", "DD-85"),
        text="The broker never reports a message that expires while it is staged.",
        apply=lambda: _cells({(Step.PUT, Result.EXPIRED): _OVER}),
    ),
)
