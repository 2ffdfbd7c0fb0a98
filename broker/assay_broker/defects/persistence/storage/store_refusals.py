"""Defects of messages and durable subscriptions after the store has refused to record a change."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Commit, Detach, Put, Stored, StoreFailed, Unsubscribe
from assay_broker.core.effects import Answer, Effect
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import handed_in, is_durable
from assay_broker.defects.shapes import Commands, commands, filters
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.reasons import Mqrc

_STORE_REASONS = frozenset({Mqrc.STORAGE_MEDIUM_FULL, Mqrc.BACKED_OUT})


def kept_although_refused(chosen: Callable[[Sent], bool]) -> Seams:
    """Make filters that put a message although the store has refused to record the send or the commit.

    The message is put at the next command.

    Args:
        chosen: Chooses the sends.
    """
    asked: dict[tuple[int, int | None], list[Sent]] = {}
    kept: list[Sent] = []

    def command(passing: Command, now_ms: int, view: View) -> Commands | None:
        sent = view.sent(passing, now_ms)
        if isinstance(passing, Commit):
            of_unit = [one for unit in view.ended(passing) for one in unit.sent if chosen(one)]
            asked[passing.connection, passing.token] = of_unit
        elif sent is not None and sent.put.unit is None and chosen(sent):
            asked[sent.put.connection, sent.put.token] = [sent]
        if not kept:
            return None
        again = [put for one in kept for put in handed_in(view, one.target, one.message)]
        kept.clear()
        return (*again, passing)

    def effects(passing: tuple[Effect, ...], _now_ms: int, _view: View) -> tuple[Effect, ...]:
        for effect in passing:
            if isinstance(effect, Answer) and effect.refused is not None and effect.refused.mqrc in _STORE_REASONS:
                kept.extend(asked.pop((effect.connection, effect.token), []))
        return passing

    return filters(command, effects=effects)


@defect(made, "store-refused-stays-queued", "PD-20", "PD-23")
def _store_refused_stays() -> Seams:
    """The broker delivers a message without a delay although the store refused to record the send or the commit."""
    return kept_although_refused(lambda sent: not sent.delayed)


@defect(made, "store-refused-accepted", "PD-20", "PD-23")
def _store_refused_accepted() -> Seams:
    """The broker accepts a send although the store refused the message."""
    asked: set[tuple[int, int | None]] = set()

    def command(passing: Command, _now_ms: int, _view: View) -> Commands | None:
        if isinstance(passing, Put):
            asked.add((passing.connection, passing.token))
        return None

    def effects(passing: tuple[Effect, ...], _now_ms: int, _view: View) -> tuple[Effect, ...]:
        return tuple(told(effect) if isinstance(effect, Answer) else effect for effect in passing)

    def told(answer: Answer) -> Answer:
        by_store = answer.refused is not None and answer.refused.mqrc in _STORE_REASONS
        of_send = (answer.connection, answer.token) in asked
        return replace(answer, refused=None) if by_store and of_send else answer

    return filters(command, effects=effects)


def _after_refusal(follow: Callable[[Command, View], Commands]) -> Seams:
    """Make filters that add commands when the store has refused the change of an attach or an unsubscription.

    Args:
        follow: Returns the commands to add, from the refused command.
    """
    last: list[Command] = []

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach | Unsubscribe):
            last[:] = [command]
        if not isinstance(command, Stored | StoreFailed) or not last:
            return None
        asked = last.pop()
        return (command, *follow(asked, view)) if isinstance(command, StoreFailed) else None

    return commands(rewrite)


def _returns(asked: Command) -> bool:
    return isinstance(asked, Attach) and is_durable(asked) and bool(asked.timeout_ms)


@defect(made, "refused-return-ends-subscription", "QS-21")
def _refused_return_ends() -> Seams:
    """A subscription with a time to live ends when the store refuses the record of its subscriber's return."""

    def follow(asked: Command, _view: View) -> Commands:
        if not isinstance(asked, Attach) or not _returns(asked):
            return ()
        return (Unsubscribe(asked.connection, None, str(asked.name), everybodys=asked.everybodys),)

    return _after_refusal(follow)


@defect(made, "refused-return-stops-the-time", "QS-22")
def _refused_return_stops() -> Seams:
    """A subscription never ends after the store has refused the record of its subscriber's return.

    The defect attaches a receiver with an unlimited time to live to the subscription, and detaches it at once.
    """

    def follow(asked: Command, view: View) -> Commands:
        if not isinstance(asked, Attach) or not _returns(asked):
            return ()
        lasting = replace(asked, token=None, link=view.own_number(), timeout_ms=None)
        return (lasting, Detach(asked.connection, None, lasting.link))

    return _after_refusal(follow)


@defect(made, "refused-unsubscription-loses-messages", "PD-13")
def _refused_unsubscription_loses() -> Seams:
    """A durable subscription loses its messages although the store refuses to record its end.

    The subscription ends in spite of the refusal, and the returning subscriber creates a new subscription.
    """

    def follow(asked: Command, _view: View) -> Commands:
        return (replace(asked, token=None),) if isinstance(asked, Unsubscribe) else ()

    return _after_refusal(follow)


STORE_REFUSAL_DEFECTS = (
    _store_refused_stays,
    _store_refused_accepted,
    _refused_return_ends,
    _refused_return_stops,
    _refused_unsubscription_loses,
)
