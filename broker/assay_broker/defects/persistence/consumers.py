"""Defects of a queue's consumers: what they leave, what they hold, and what becomes of it when they go."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.core.commands import Command, Disconnect, Put, Settle
from assay_broker.core.effects import Deliver
from assay_broker.defects.model import Defect
from assay_broker.defects.sends import accepted, dropped, handed_in, is_delayed, is_topic
from assay_broker.defects.shapes import Commands, commands, puts
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address
from assay_sdk.model.selectors import Selector


def _unselected_dropped(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    if is_topic(target) or is_delayed(put, now_ms):
        return None
    selectors = [attach.selector for attach in view.on(target)]
    wanted = any(not text or Selector.parse(text).matches(put.message) for text in selectors)
    return (dropped(put, now_ms),) if selectors and not wanted else None


def _returned_consumed(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A message of a queue that is given back alone counts as consumed."""
    if not isinstance(command, Settle) or command.outcome is not Outcome.MODIFIED:
        return None
    returned = view.held(command)
    lone = len(returned) == 1 and not is_topic(returned[0].origin)
    return (replace(command, outcome=Outcome.ACCEPTED),) if lone else None


def _line_loss_consumes(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A single message of a queue that a consumer holds when its connection is lost counts as consumed."""
    if not isinstance(command, Disconnect) or command.clean:
        return None
    lone = {link for link, held in view.held_by_link(command).items() if len(held) == 1}
    return accepted(command, view, lambda _attach, one: one.link in lone and not is_topic(one.origin))


def _acknowledgement_lost() -> Seams:
    """What a connection acknowledged last, on a queue, is there again when the connection is lost."""
    last: dict[int, Deliver] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Settle) and command.outcome is Outcome.ACCEPTED and command.unit is None:
            last.update((command.connection, delivery) for delivery in view.held(command))
        forgotten = last.pop(command.connection, None) if isinstance(command, Disconnect) else None
        if not isinstance(command, Disconnect) or command.clean or forgotten is None or is_topic(forgotten.origin):
            return None
        return (command, *handed_in(view, forgotten.origin, forgotten.message))

    return commands(rewrite)


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
        apply=lambda: commands(_returned_consumed),
    ),
    Defect(
        name="line-loss-consumes",
        rules=("PD-18",),
        text="A single message that a consumer has not acknowledged counts as consumed when its connection is lost.",
        apply=lambda: commands(_line_loss_consumes),
    ),
    Defect(
        name="acknowledgement-lost-with-the-line",
        rules=("PD-18",),
        text="The last acknowledgement before a connection is lost is forgotten, and its message comes again.",
        apply=_acknowledgement_lost,
    ),
)
