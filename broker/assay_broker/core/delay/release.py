"""The release of a staged message when its delay is over or it expires, by the table in `states.release`.

The table is the same for messages to queues and for copies of publications (DD-83). The queue manager first plans all
puts of a release, and then carries them out in one turn. If no release is possible, the message stays staged, and the
queue manager tries again later.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from assay_broker.core.delay.internal_puts import Puts
from assay_broker.core.delay.processor import condition
from assay_broker.core.messages.descriptor import made_id
from assay_broker.core.messages.entries import CopyState, Entry
from assay_broker.core.messages.lost_reports import undeliverable
from assay_broker.core.messages.reports import FEEDBACK, options, report, wants
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME, name_at
from assay_broker.core.queues.placement import stage_again
from assay_broker.core.queues.resolution import onward_queue, staging_queue
from assay_broker.core.records import MessageRemoved
from assay_broker.core.state import State
from assay_broker.core.states.processor import ProcessorAction, ProcessorInput
from assay_broker.core.states.release import Act, Result, Step
from assay_broker.core.topics.subscriber_queues import destination_at
from assay_broker.core.topics.subscriptions import sub_at
from assay_broker.core.turn import Turn
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.report_options import Mqro
from assay_sdk.model.stepper import Stepper


class Plan:
    """The plan by which the queue manager releases one staged message.

    Args:
        state: The queue manager; the plan puts and removes no message there.
        entry: The staged copy.
        now_ms: The time, in milliseconds since the epoch.
    """

    def __init__(self, state: State, entry: Entry, now_ms: int) -> None:
        self.puts = Puts(state, now_ms)
        self._state = state
        self._entry = entry
        self._now_ms = now_ms
        self._target = name_at(entry.home) or destination_at(state, entry.home)
        self._publication = entry.home.startswith(SUBSCRIPTION_HOME) or sub_at(entry.home) is not None
        self._name = self._target or entry.home
        self._kind, self._feedback = Mqro.EXCEPTION, 0
        self._given_up = False
        self._report: Message | None = None
        self.lost: tuple[str, int, int | None] | None = None
        """The refusals of a report that did not reach its reply-to queue; None without such a report.

        The three values are the name of the reply-to queue, the reason code of the reply-to queue's refusal, and the
        reason code of the dead-letter queue's refusal. The third is None if the dead-letter queue takes the report.
        """
        steps = {
            Step.PUT: self._put,
            Step.DEAD_LETTER: self._dead_letter,
            Step.REPORT: self._send_report,
            Step.DEAD_LETTER_REPORT: self._dead_letter_report,
        }
        progress: Stepper[Step, Result, Act] = Stepper(state.tables.release, Step.PUT)
        while progress.state in steps:
            if progress.step(steps[progress.state]()) is Act.BACK_OUT:
                self.puts.back_out()
        self.step = progress.state

    def _put(self) -> Result:
        entry = self._entry
        if entry.expired(self._now_ms):
            self._kind, self._feedback = Mqro.EXPIRATION, FEEDBACK[Mqro.EXPIRATION]
            return Result.EXPIRED
        queue = self._state.queues.find(entry.home) or onward_queue(self._state, entry.home)
        if self._target is not None:
            refused = self.puts.to_queue(self._target, entry.message, entry.expires_ms)
        elif queue is not None:
            self._name = queue.name
            refused = self.puts.to_own_queue(queue, entry.message, entry.expires_ms)
        elif self._publication:
            self._feedback = Mqrc.NO_SUBSCRIPTION
            return Result.GONE
        else:  # the target was a temporary queue, which was deleted
            refused = Mqrc.UNKNOWN_OBJECT_NAME
        if refused is None:
            return Result.DONE
        self._feedback = refused
        return Result.REFUSED_DISCARD if Mqro.DISCARD_MSG in options(entry.message) else Result.REFUSED

    def _dead_letter(self) -> Result:
        entry = self._entry
        refused = self.puts.to_dead_letter_queue(
            entry.message, entry.expires_ms, reason=self._feedback, target=self._name
        )
        if refused is None:
            return Result.DONE
        self._given_up = self._publication
        return Result.REFUSED_PUBLICATION if self._publication else Result.REFUSED

    def _send_report(self) -> Result:
        message = self._entry.message
        if not wants(message, self._kind):
            return Result.NOT_ASKED
        self._report = report(
            message,
            self._kind,
            self._feedback,
            made_id(self._state.settings.name, self._now_ms, self._state.next_key()),
            now_ms=self._now_ms,
            expires_ms=self._entry.expires_ms,
        )
        refused = self.puts.to_reply_queue(self._report)
        if refused is None:
            return Result.DONE
        self._feedback = refused
        return Result.REFUSED

    def _dead_letter_report(self) -> Result:
        message = self._report
        if message is None or message.to is None:
            raise TypeError("a report has a message and a reply-to queue before it is dead-lettered")
        refused = self.puts.to_dead_letter_queue(
            message, message.expiry_ms, reason=self._feedback, target=message.to.name
        )
        self.lost = message.to.name, self._feedback, refused
        if refused is None:
            return Result.DONE
        again = (
            self._entry.message.durable and not self._given_up
        )  # DD-77 takes precedence over DD-74: a publication that no queue accepts is not processed again
        return Result.REFUSED_PERSISTENT if again else Result.REFUSED


def release_due(state: State, turn: Turn) -> None:
    """Release every staged copy whose delay is over, as long as the delay processor runs (DD-06)."""
    while state.processor.watching and (entry := state.staging.due(turn.now_ms)) is not None:
        release(state, turn, entry)


def release(state: State, turn: Turn, entry: Entry) -> None:
    """Release a staged copy that is due or has expired, or postpone the release if no put is possible now."""
    plan = Plan(state, entry, turn.now_ms)
    if plan.step is Step.KEPT:
        state.staging.later(entry, turn.now_ms + state.settings.retry_ms)
        return
    with turn.together():
        unstage(state, turn, entry, _restage_and_fail)
        plan.puts.carry_out(turn)
        if plan.lost is not None:
            undeliverable(turn, *plan.lost)


Undo = Callable[[State, Entry, Turn], None]


def unstage(state: State, turn: Turn, entry: Entry, undo: Undo | None = None) -> None:
    """Remove a copy from the staging queue, for example because it was released or cancelled, or has expired.

    Args:
        state: The queue manager.
        turn: The present turn.
        entry: The copy.
        undo: A function that undoes the removal if the store refuses it; None to stage the copy again in that case.
    """
    state.staging.unstage(entry)
    entry.state = CopyState.GONE
    state.expiry.discard(entry.key)
    take_back = partial(undo or _restage, state, entry)
    if entry.recorded:
        turn.record(MessageRemoved(entry.key), take_back)
    else:
        turn.unrecorded(entry, take_back)


def _restage(state: State, entry: Entry, _turn: Turn) -> None:
    """Undo `unstage`: stage the copy again."""
    if entry.due_ms is not None:
        stage_again(state, entry, entry.due_ms)


def _restage_and_fail(state: State, entry: Entry, turn: Turn) -> None:
    """Undo `release`: stage the copy again, and set the processor to failed, because the store failed (DD-65)."""
    _restage(state, entry, turn)
    fail(state, turn)


def fail(state: State, turn: Turn) -> None:
    """Set a running delay processor to failed, for a reason that does not concern the staging queue.

    A queue manager whose level has no delivery delay has no processor (DD-43).
    """
    if not state.settings.delays:
        return
    if state.processor.step(ProcessorInput.FAILURE) is ProcessorAction.RESTART_LATER:
        state.processor.restart_ms = turn.now_ms + state.settings.retry_ms


def restart(state: State, turn: Turn) -> None:
    """Restart the failed delay processor, if its restart is due (DD-65)."""
    due_ms = state.processor.restart_ms
    if due_ms is not None and due_ms <= turn.now_ms:
        state.processor.step(ProcessorInput.RESTART)
        release_due(state, turn)


def check_staging_queue(state: State, turn: Turn) -> None:
    """Start or stop the delay processor by the condition of the staging queue.

    The core calls this at the start and whenever the definition of the queue changes. A queue manager whose level has
    no delivery delay has no processor, so staged messages stay staged (DD-43).
    """
    if not state.settings.delays:
        return
    if state.processor.step(condition(staging_queue(state))) is ProcessorAction.OPEN:
        release_due(state, turn)
