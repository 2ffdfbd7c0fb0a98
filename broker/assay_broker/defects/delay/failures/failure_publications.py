"""Defects in the broker's reaction when a delayed publication fails (DD-76, DD-77, DD-83)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Command, Put
from assay_broker.core.effects import Answer
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.objects.factory import DEAD_LETTER_QUEUE
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME, home_of
from assay_broker.core.records import MessageStored, Record, SubscriptionDefined
from assay_broker.core.states.release import Act, Result, Step
from assay_broker.defects.delay.failures.outcomes import outcome_cells
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import SHIFT, cancelled, is_delayed, is_durable, is_topic
from assay_broker.defects.shapes import Commands, commands, puts, read_together, replies, reshown
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import Mqrc

_OVER, _KEPT = (Step.OVER, Act.GO_ON), (Step.KEPT, Act.BACK_OUT)
_DEAD_LETTERED = (Step.DEAD_LETTER, Act.GO_ON)


@defect(read_together, "gone-unreported-after-restart", "DD-76")
def _unreported_after_restart(records: Sequence[Record]) -> tuple[Record, ...]:
    """A restart drops the publications that are staged for ended subscriptions, and with them their reports."""
    alive = {f"{SUBSCRIPTION_HOME}{one.number}" for one in records if isinstance(one, SubscriptionDefined)}
    return tuple(
        one
        for one in records
        if not isinstance(one, MessageStored) or not one.home.startswith(SUBSCRIPTION_HOME) or one.home in alive
    )


@defect(commands, "staged-goes-with-the-durable", "DD-76")
def _goes_with_durable(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When the consumer of a durable subscription leaves, the broker drops the publications staged on its topic."""
    left = {attach.address for attach in view.leaving(command) if is_durable(attach)}
    lost = [id_ for id_, one in view.delayed.items() if one.target in left]
    return (*cancelled(view, *lost), command) if lost else None


@defect(made, "gone-at-restart-dead-lettered", "DD-76")
def _left_at_restart() -> Seams:
    """The broker dead-letters a delayed publication whose non-durable subscription ended with a restart."""
    passing: dict[str, Message] = {}

    def note(put: Put, target: Address, now_ms: int, view: View) -> None:
        if is_topic(target) and is_delayed(put, now_ms) and not all(is_durable(attach) for attach in view.on(target)):
            passing[put.message.message_id or ""] = put.message

    def begin(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        lost = [*passing.values()]
        passing.clear()
        dead = (
            MessageStored(
                key=SHIFT + number,
                home=home_of(DEAD_LETTER_QUEUE),
                message=message,
                arrived_ms=message.delivery_time_ms or 0,
                expires_ms=None,
                due_ms=None,
            )
            for number, message in enumerate(lost)
        )
        return (*records, *dead)

    return puts(note, begin)


def _put_inhibited(row: Described) -> Described:
    if "Feedback" not in row.descriptor or not row.descriptor["Feedback"]:
        return row
    return replace(row, descriptor={**row.descriptor, "Feedback": int(Mqrc.PUT_INHIBITED)})


@defect(replies, "report-names-the-last-obstacle", "DD-77")
def _last_obstacle(answer: Answer, _asked: Command, _now_ms: int, view: View) -> Answer:
    """If the dead-letter queue is disabled for puts, a report gives this reason, not the reason of the target."""
    dead = next((said["DEADQ"] for said in view.objects.values() if "DEADQ" in said), None)
    return reshown(answer, _put_inhibited) if view.said(str(dead)).get("PUT") == "DISABLED" else answer


FAILURE_PUBLICATIONS_DEFECTS = (
    Defect(
        name="gone-subscriber-dead-lettered",
        rules=("DD-76", "DD-83"),
        text="The broker dead-letters a delayed publication whose subscriber has gone.",
        apply=lambda: outcome_cells({(Step.PUT, Result.GONE): _DEAD_LETTERED}),
    ),
    Defect(
        name="gone-subscriber-unreported",
        rules=("DD-76",),
        text="The broker never reports a delayed publication whose subscriber has gone.",
        apply=lambda: outcome_cells({(Step.PUT, Result.GONE): _OVER}),
    ),
    Defect(
        name="publication-tried-again",
        rules=("DD-77",),
        text="The broker retries a delayed publication that the dead-letter queue cannot take, like other messages.",
        apply=lambda: outcome_cells({(Step.DEAD_LETTER, Result.REFUSED_PUBLICATION): _KEPT}),
    ),
    _goes_with_durable,
    _left_at_restart,
    _unreported_after_restart,
    _last_obstacle,
)
