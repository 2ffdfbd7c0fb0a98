"""Cores with one mistake each, which the comparison with the model must find.

A mistake is at a seam, in a cell of a table, or in one small function of the core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace

from assay_broker.core import core as core_module
from assay_broker.core import handlers, recovery
from assay_broker.core.delay.staging import Staging
from assay_broker.core.effects import Answer, Deliver, Effect
from assay_broker.core.messages import groups
from assay_broker.core.messages.entries import CopyState, Entry
from assay_broker.core.queues import arrivals, delivery, settlement
from assay_broker.core.queues.lines import Line, OwnLine
from assay_broker.core.queues.placement import new_entry, stored, watch_expiry
from assay_broker.core.queues.queue import Queue
from assay_broker.core.records import MessageMarked, MessageRemoved, MessageStored, Record, SubscriptionDefined
from assay_broker.core.states.processor import ProcessorAction, ProcessorInput, ProcessorState
from assay_broker.core.states.release import Act, Result, Step
from assay_broker.core.states.tables import Tables
from assay_broker.core.states.units import UnitAction, UnitInput, UnitState
from assay_broker.seams import NO_SEAMS, Seams
from assay_sdk.driver import Outcome


@dataclass(frozen=True)
class Mutant:
    """A core with a mistake.

    Args:
        name: The mistake, in a few words.
        seams: Filters that make the mistake.
        patch: Replaces functions of the core.
    """

    name: str
    seams: Seams = NO_SEAMS
    patch: Callable[[pytest.MonkeyPatch], None] = lambda _patch: None

    def __str__(self) -> str:
        return self.name


def _effects(change: Callable[[Effect], Effect]) -> Seams:
    return Seams(effects=lambda effects, _now: tuple(change(effect) for effect in effects))


def _written(keep: Callable[[Record], bool]) -> Seams:
    return Seams(written=lambda records: tuple(record for record in records if keep(record)))


def _unmarked(effect: Effect) -> Effect:
    return replace(effect, redelivered=False) if isinstance(effect, Deliver) else effect


def _answered_at_once(effect: Effect) -> Effect:
    return replace(effect, after=None) if isinstance(effect, Answer) else effect


def _delivered_at_once(effect: Effect) -> Effect:
    return replace(effect, after=None) if isinstance(effect, Deliver) else effect


def _reversed_at_a_start(patch: pytest.MonkeyPatch) -> None:
    def backwards(stored: Iterable[MessageStored], **how: Any) -> list[MessageStored]:
        return sorted(stored, **how, reverse=True)

    patch.setattr(recovery, "sorted", backwards, raising=False)


def _cell(table: str, pair: object, result: object) -> Seams:
    def changed(tables: Tables) -> Tables:
        known: Any = getattr(tables, table)
        return replace(tables, **{table: {**known, pair: result}})

    return Seams(tables=changed)


def _processor(pair: object, result: object) -> Seams:
    def changed(tables: Tables) -> Tables:
        known: Any = tables.processor
        cells = {platform: {**table, **({pair: result} if pair in table else {})} for platform, table in known.items()}
        return replace(tables, processor=cells)

    return Seams(tables=changed)


def _expired_a_moment_late(entry: Entry, now_ms: int) -> bool:
    return entry.expires_ms is not None and entry.expires_ms < now_ms


def _recorded_all_the_same(state: Any, turn: Any, queue: Queue, entry: Entry) -> None:
    """Replaces `enter`: record a message even if it is not persistent."""
    entry.recorded = queue.recorded
    if entry.recorded:
        entry.batch = turn.record(stored(entry), lambda _turn: queue.remove(entry))
    entry.order = state.next_order()
    queue.enter(entry)
    watch_expiry(state, entry)
    turn.touch(queue)


def _without_priority(*given: Any, **fields: Any) -> Entry:
    entry = new_entry(*given, **fields)
    entry.priority = 4
    return entry


def _patch(owner: object, name: str, with_what: object) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setattr(owner, name, with_what)


def _outcome(of: Outcome, like: Outcome) -> Callable[[pytest.MonkeyPatch], None]:
    outcomes = settlement._OUTCOMES
    return lambda patch: patch.setitem(outcomes, of, outcomes[like])


def _hand_out_and_keep(queue: Queue, entry: Entry) -> None:
    """Replaces `Queue.take`: deliver a message and keep it on the queue for other receivers."""
    del queue, entry


def _held_for_good(patch: pytest.MonkeyPatch) -> None:
    discard = delivery.discard_expired

    def unless_held(state: Any, turn: Any, queue: Queue, entry: Entry) -> None:
        if entry.state is not CopyState.HELD:
            discard(state, turn, queue, entry)

    patch.setattr(delivery, "discard_expired", unless_held)


def _without_credit(patch: pytest.MonkeyPatch) -> None:
    served = Queue.served

    def free(queue: Queue, receiver: Any, entry: Entry) -> None:
        receiver.credit += 1
        served(queue, receiver, entry)

    patch.setattr(Queue, "served", free)


def _early(patch: pytest.MonkeyPatch) -> None:
    stage = Staging.stage
    patch.setattr(Staging, "stage", lambda staging, entry, due_ms: stage(staging, entry, due_ms - 1))


def _uncommitted_is_everybodys(patch: pytest.MonkeyPatch) -> None:
    def enter_uncommitted(queue: Queue, entry: Entry, _owner: object) -> None:
        entry.unit = None
        queue.enter(entry)

    patch.setattr(Queue, "enter_uncommitted", enter_uncommitted)


def _returned_in_front(patch: pytest.MonkeyPatch) -> None:
    put_back = Queue.put_back

    def in_front(queue: Queue, entry: Entry) -> None:
        if entry.count:
            entry.order = -entry.order
        put_back(queue, entry)

    patch.setattr(Queue, "put_back", in_front)


def _subscriptions_for_ever(patch: pytest.MonkeyPatch) -> None:
    for where in (core_module, handlers):  # both modules import the function: for starts and for ticks
        patch.setattr(where, "end_subscriptions", lambda _state, _turn: None)


def _never_lossy(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Queue, "lossy", property(lambda _queue: False, lambda _queue, _lossy: None), raising=False)


_U, _I, _A = UnitState, UnitInput, UnitAction
_P, _PI, _PA = ProcessorState, ProcessorInput, ProcessorAction

MUTANTS = (
    Mutant("expiry off by one", patch=_patch(Entry, "expired", _expired_a_moment_late)),
    Mutant("priority ignored", patch=_patch(arrivals, "new_entry", _without_priority)),
    Mutant("redelivered flag lost", _effects(_unmarked)),
    Mutant("a unit's put visible to others", patch=_uncommitted_is_everybodys),
    Mutant("backed-out put delivered", _cell("units", (_U.OPEN, _I.BACKOUT), (_U.COMMITTING, _A.APPLY))),
    Mutant("lost connection commits", _cell("units", (_U.OPEN, _I.LOST), (_U.COMMITTING, _A.APPLY))),
    Mutant("group order broken", patch=_patch(groups, "place_in_group", lambda entry: (0, entry.order))),
    Mutant("group held by several", patch=_patch(groups.Holders, "of", lambda _holders, _group: None)),
    Mutant("delayed message early", patch=_early),
    Mutant("unsubscribed subscription still fed", patch=_patch(handlers, "unsubscribe", lambda *_given: None)),
    Mutant("non-persistent survives a kill", patch=_patch(arrivals, "enter", _recorded_all_the_same)),
    Mutant("order changed after recovery", patch=_reversed_at_a_start),
    Mutant("credit ignored", patch=_without_credit),
    Mutant("given to two receivers", patch=_patch(Queue, "take", _hand_out_and_keep)),
    Mutant("selector ignored", patch=_patch(Line, "lets_through", lambda _line, _entry: True)),
    Mutant("given back for others, and comes again", patch=_patch(OwnLine, "lets_through", Line.lets_through)),
    Mutant("released counts as failed", patch=_outcome(Outcome.RELEASED, Outcome.MODIFIED)),
    Mutant("rejected comes back", patch=_outcome(Outcome.REJECTED, Outcome.RELEASED)),
    Mutant("modified is gone", patch=_outcome(Outcome.MODIFIED, Outcome.ACCEPTED)),
    Mutant("failed delivery in front", patch=_returned_in_front),
    Mutant("answered before the disk", _effects(_answered_at_once)),
    Mutant("delivered before the disk", _effects(_delivered_at_once)),
    Mutant("durable subscription not stored", _written(lambda record: not isinstance(record, SubscriptionDefined))),
    Mutant("consumed comes back after a kill", _written(lambda record: not isinstance(record, MessageRemoved))),
    Mutant("failed deliveries forgotten at a kill", _written(lambda record: not isinstance(record, MessageMarked))),
    Mutant("expired stays with its holder", patch=_held_for_good),
    Mutant("time to live forgotten", patch=_subscriptions_for_ever),
    Mutant("at most once is persistent", patch=_never_lossy),
    Mutant(
        "PUT(DISABLED) does not stop the processor",
        _processor((_P.WATCHING, _PI.PUT_DISABLED), (_P.WATCHING, _PA.STAY)),
    ),
    Mutant("the processor stays down", _processor((_P.WATCHING, _PI.FAILURE), (_P.FAILED, _PA.REST))),
    Mutant("nowhere to put: gone", _cell("release", (Step.DEAD_LETTER, Result.REFUSED), (Step.OVER, Act.GO_ON))),
    Mutant("unsubscribed: dead-lettered", _cell("release", (Step.PUT, Result.GONE), (Step.DEAD_LETTER, Act.GO_ON))),
    Mutant("discarded without a report", _cell("release", (Step.PUT, Result.REFUSED_DISCARD), (Step.OVER, Act.GO_ON))),
)
