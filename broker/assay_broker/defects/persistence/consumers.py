"""Defects of a queue's consumers: messages that no consumer selects, and unacknowledged messages of ended consumers."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.core.commands import Command, Disconnect, Put, Settle
from assay_broker.core.effects import Deliver
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import accepted, dropped, handed_in, is_delayed, is_topic
from assay_broker.defects.shapes import Commands, commands, puts
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address
from assay_sdk.model.selectors import Selector


@defect(puts, "unselected-dropped", "PD-18")
def _unselected_dropped(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """If all consumers of a queue have selectors, the queue drops messages that match none of the selectors."""
    if is_topic(target) or is_delayed(put, now_ms):
        return None
    selectors = [attach.selector for attach in view.on(target)]
    wanted = any(not text or Selector.parse(text).matches(put.message) for text in selectors)
    return (dropped(put, now_ms),) if selectors and not wanted else None


@defect(commands, "returned-consumed", "PD-18")
def _returned_consumed(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A single message that a consumer returns, for example by closing, counts as consumed."""
    if not isinstance(command, Settle) or command.outcome is not Outcome.MODIFIED:
        return None
    returned = view.held(command)
    lone = len(returned) == 1 and not is_topic(returned[0].origin)
    return (replace(command, outcome=Outcome.ACCEPTED),) if lone else None


@defect(commands, "line-loss-consumes", "PD-18")
def _line_loss_consumes(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a connection is lost, a consumer's only unacknowledged message counts as consumed."""
    if not isinstance(command, Disconnect) or command.clean:
        return None
    lone = {link for link, held in view.held_by_link(command).items() if len(held) == 1}
    return accepted(command, view, lambda _attach, one: one.link in lone and not is_topic(one.origin))


@defect(made, "acknowledgement-lost-with-the-line", "PD-18")
def _acknowledgement_lost() -> Seams:
    """When a connection is lost, the broker ignores that client's last acknowledgement and redelivers the message."""
    last: dict[int, Deliver] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Settle) and command.outcome is Outcome.ACCEPTED and command.unit is None:
            last.update((command.connection, delivery) for delivery in view.held(command))
        forgotten = last.pop(command.connection, None) if isinstance(command, Disconnect) else None
        if not isinstance(command, Disconnect) or command.clean or forgotten is None or is_topic(forgotten.origin):
            return None
        return (command, *handed_in(view, forgotten.origin, forgotten.message))

    return commands(rewrite)


@defect(commands, "held-non-persistent-comes-twice", "PD-21")
def _held_comes_twice(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a connection is lost, its unacknowledged non-persistent messages return to the queue twice."""
    if not isinstance(command, Disconnect) or command.clean:
        return None
    held = [one for one in view.held(command) if not one.message.durable and not is_topic(one.origin)]
    copies = [sent for one in held for sent in handed_in(view, one.origin, one.message)]
    return (command, *copies) if held else None


CONSUMER_DEFECTS = (
    _unselected_dropped,
    _returned_consumed,
    _line_loss_consumes,
    _acknowledgement_lost,
    _held_comes_twice,
)
