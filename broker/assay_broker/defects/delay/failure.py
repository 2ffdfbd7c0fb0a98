"""Defects of a delayed message that cannot be put: cells of the table `RELEASE`, and filters."""

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
_LEAST_REASON = 2000  # MQRC begins there

Cells = Mapping[tuple[Step, Result], tuple[Step, Act]]


def _cells(cells: Cells) -> Seams:
    """Filters that replace cells of the table `RELEASE`."""

    def other(tables: Tables) -> Tables:
        return replace(tables, release=MappingProxyType({**tables.release, **cells}))

    return Seams(tables=other)


def _enables(command: Command) -> AlterObject | None:
    """The change with which an administrator enables an object for puts; None for any other command."""
    change = change_of(command)
    return change if isinstance(change, AlterObject) and change.attributes.get("PUT") == "ENABLED" else None


def _staged_for(command: Command, now_ms: int, view: View) -> tuple[str, Message] | None:
    """The queue for which a command stages a message, and the message."""
    sent = view.sent(command, now_ms)
    if sent is None or not sent.delayed or sent.target.kind is not AddressKind.QUEUE:
        return None
    return sent.target.name, sent.message


@defect(made, "enabled-in-vain", "DD-70", "DD-71")
def _enabled_in_vain() -> Seams:
    """A queue for which messages are staged stays disabled for puts although it is enabled again."""
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
    """A message that was tried again comes twice once its target is enabled."""
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
    """The dead-letter header names the dead-letter queue and not the target."""
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
        text="A delayed message that its target cannot take is discarded, even if it does not ask for that.",
        apply=lambda: _cells({(Step.PUT, Result.REFUSED): _REPORTED}),
    ),
    Defect(
        name="undeliverable-stays-staged",
        rules=("DD-70", "DD-83"),
        text="A delayed message that its target cannot take is tried again for ever and never dead-lettered.",
        apply=lambda: _cells({(Step.PUT, Result.REFUSED): _KEPT}),
    ),
    Defect(
        name="discard-option-ignored",
        rules=("DD-70", "DD-83", "DD-85"),
        text="A delayed message that asks to be discarded is dead-lettered.",
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
        text="No exception report is sent on a delayed message that was discarded or dead-lettered.",
        apply=lambda: _cells(
            {(Step.DEAD_LETTER, Result.DONE): _OVER, (Step.PUT, Result.REFUSED_DISCARD): _OVER},
        ),
    ),
    Defect(
        name="reported-instead-of-retried",
        rules=("DD-72",),
        text="A delayed message that the dead-letter queue cannot take is reported and not tried again.",
        apply=lambda: _cells({(Step.DEAD_LETTER, Result.REFUSED): _REPORTED}),
    ),
    Defect(
        name="delivery-reported",
        rules=("DD-72",),
        text="A delayed message that its target takes is reported like one that it does not take.",
        apply=lambda: _cells({(Step.PUT, Result.DONE): _REPORTED}),
    ),
    Defect(
        name="report-not-dead-lettered",
        rules=("DD-73", "DD-76", "DD-83"),
        text="A report that its reply-to queue cannot take is dropped.",
        apply=lambda: _cells({(Step.REPORT, Result.REFUSED): _OVER}),
    ),
    Defect(
        name="lost-report-ignored",
        rules=("DD-74", "DD-83"),
        text="The report on a persistent message is dropped when the dead-letter queue cannot take it either.",
        apply=lambda: _cells({(Step.DEAD_LETTER_REPORT, Result.REFUSED_PERSISTENT): _OVER}),
    ),
    Defect(
        name="lost-report-takes-message",
        rules=("DD-74", "DD-83"),
        text="A persistent message whose report cannot be put anywhere is backed out and not staged again.",
        apply=lambda: _cells({(Step.DEAD_LETTER_REPORT, Result.REFUSED_PERSISTENT): (Step.OVER, Act.BACK_OUT)}),
    ),
    Defect(
        name="lost-report-backs-out",
        rules=("DD-75", "DD-77", "DD-83"),
        text="A non-persistent or given-up message is processed again when its report cannot be put anywhere.",
        apply=lambda: _cells({(Step.DEAD_LETTER_REPORT, Result.REFUSED): _KEPT}),
    ),
    Defect(
        name="gone-subscriber-dead-lettered",
        rules=("DD-76", "DD-83"),
        text="A delayed publication whose subscriber has gone is put to the dead-letter queue.",
        apply=lambda: _cells({(Step.PUT, Result.GONE): _DEAD_LETTERED}),
    ),
    Defect(
        name="gone-subscriber-unreported",
        rules=("DD-76",),
        text="A delayed publication whose subscriber has gone is never reported.",
        apply=lambda: _cells({(Step.PUT, Result.GONE): _OVER}),
    ),
    Defect(
        name="publication-tried-again",
        rules=("DD-77",),
        text="A delayed publication that the dead-letter queue cannot take is tried again, as another message is.",
        apply=lambda: _cells({(Step.DEAD_LETTER, Result.REFUSED_PUBLICATION): _KEPT}),
    ),
    Defect(
        name="expired-unreported",
        rules=("DD-57", "DD-85"),
        text="A message that expires while it is staged is never reported.",
        apply=lambda: _cells({(Step.PUT, Result.EXPIRED): _OVER}),
    ),
)
