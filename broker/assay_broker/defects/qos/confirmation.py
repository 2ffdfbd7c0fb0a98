"""Defects of the broker in the confirmation of messages (QS-14)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.commands import Command, Detach, Settle
from assay_broker.defects.model import Defect
from assay_broker.defects.qos.filters import lasts
from assay_broker.defects.shapes import Commands, Rewrite, commands
from assay_broker.defects.view import View
from assay_sdk.driver import Outcome


def _acknowledges(others: Callable[[int, int], bool]) -> Rewrite:
    """Make a function by which an acknowledgement also counts for other unacknowledged deliveries of its receiver.

    Args:
        others: Chooses further deliveries, from the number of each and the number of the last acknowledged delivery.
    """

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Settle) or command.unit is not None or command.outcome is not Outcome.ACCEPTED:
            return None
        if not lasts(view.receiver(command)) or not command.deliveries:
            return None
        last = max(command.deliveries)
        held = (one.delivery for one in view.held(Detach(command.connection, None, command.link)))
        more = (one for one in held if others(one, last) and one not in command.deliveries)
        return (replace(command, deliveries=(*command.deliveries, *more)),)

    return rewrite


QOS_CONFIRMATION_DEFECTS = (
    Defect(
        name="acknowledgement-cumulative",
        rules=("QS-14",),
        text="An acknowledgement also counts for every earlier message of the subscriber.",
        apply=lambda: commands(_acknowledges(lambda other, last: other < last)),
    ),
    Defect(
        name="acknowledgement-of-all",
        rules=("QS-14",),
        text="An acknowledgement counts for every unacknowledged message of the subscriber.",
        apply=lambda: commands(_acknowledges(lambda _other, _last: True)),
    ),
)
