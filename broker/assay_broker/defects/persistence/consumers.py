"""Defects of a queue's consumers: what they leave, what they hold, and what becomes of it when they go."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.core.commands import Command, Disconnect, Put, Settle
from assay_broker.core.effects import Deliver
from assay_broker.defects.model import Defect, Held, Watch, dropped, handed_in, is_topic, puts
from assay_broker.seams import Seams
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address
from assay_sdk.model.selectors import Selector

_AGENT = -5  # a connection of the defect's own


def _unselected_dropped(put: Put, target: Address, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
    if is_topic(target) or (put.message.delivery_time_ms or 0) > now_ms:
        return None
    selectors = [attach.selector for attach in watch.on(target)]
    wanted = any(not text or Selector.parse(text).matches(put.message) for text in selectors)
    return (dropped(put, now_ms),) if selectors and not wanted else None


def _returned_consumed() -> Seams:
    """A message of a queue that is given back alone counts as consumed."""
    held = Held()

    def command(passing: Command, _now_ms: int) -> tuple[Command, ...]:
        returned = held.settled(passing) if isinstance(passing, Settle) and passing.outcome is Outcome.MODIFIED else ()
        held.note(passing)
        if isinstance(passing, Settle) and len(returned) == 1 and not is_topic(returned[0].origin):
            return (replace(passing, outcome=Outcome.ACCEPTED),)
        return (passing,)

    return Seams(command=command, effects=held.heed)


def _line_loss_consumes() -> Seams:
    """A single message of a queue that a consumer holds when its connection is lost counts as consumed."""
    held = Held()

    def command(passing: Command, _now_ms: int) -> tuple[Command, ...]:
        consumed: list[Command] = []
        if isinstance(passing, Disconnect) and not passing.clean:
            lone = [deliveries[0] for deliveries in held.of(passing).values() if len(deliveries) == 1]
            consumed += [
                Settle(one.connection, None, one.link, (one.delivery,), Outcome.ACCEPTED)
                for one in lone
                if not is_topic(one.origin)
            ]
        held.note(passing)
        return (*consumed, passing)

    return Seams(command=command, effects=held.heed)


def _acknowledgement_lost() -> Seams:
    """What a connection acknowledged last, on a queue, is there again when the connection is lost."""
    held = Held()
    last: dict[int, Deliver] = {}

    def command(passing: Command, _now_ms: int) -> tuple[Command, ...]:
        again: tuple[Command, ...] = ()
        if isinstance(passing, Settle) and passing.outcome is Outcome.ACCEPTED and passing.unit is None:
            for delivery in held.settled(passing):
                last[passing.connection] = delivery
        elif isinstance(passing, Disconnect):
            forgotten = last.pop(passing.connection, None)
            if forgotten is not None and not passing.clean and not is_topic(forgotten.origin):
                again = handed_in(_AGENT, forgotten.origin, forgotten.message)
        held.note(passing)
        return (passing, *again)

    return Seams(command=command, effects=held.heed)


CONSUMER_DEFECTS = (
    Defect(
        name="unselected-dropped",
        rules=("PD-18",),
        text="A queue whose consumers all select drops what none of them wants.",
        apply=lambda: puts(_unselected_dropped),
    ),
    Defect(
        name="returned-consumed",
        rules=("PD-18",),
        text="A single message that a consumer gives back, as one that is closed does, counts as consumed.",
        apply=_returned_consumed,
    ),
    Defect(
        name="line-loss-consumes",
        rules=("PD-18",),
        text="A single message that a consumer has not acknowledged counts as consumed when its connection is lost.",
        apply=_line_loss_consumes,
    ),
    Defect(
        name="acknowledgement-lost-with-the-line",
        rules=("PD-18",),
        text="The last acknowledgement before a connection is lost is forgotten, and its message comes again.",
        apply=_acknowledgement_lost,
    ),
)
