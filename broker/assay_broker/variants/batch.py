"""The tolerated variants of the rules of batches."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.core.commands import Command, Disconnect
from assay_broker.core.effects import Deliver
from assay_broker.defects.shapes import deliveries, filters
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_broker.variants.model import Variant


def _unmarked_after_loss() -> Seams:
    """Return filters that do not mark a message as redelivered if its earlier delivery was on a lost connection."""
    lost: set[str | None] = set()

    def note(command: Command, _now_ms: int, view: View) -> tuple[Command, ...] | None:
        if isinstance(command, Disconnect) and not command.clean:
            lost.update(one.message.message_id for one in view.unsettled(command))
        return None

    def delivery(delivered: Deliver, _view: View) -> Deliver:
        return replace(delivered, redelivered=False, count=0) if delivered.message.message_id in lost else delivered

    return filters(note, delivery=delivery)


def _counted(delivery: Deliver, _view: View) -> Deliver:
    """Return a delivery with its count but without the flag for redelivery."""
    return replace(delivery, redelivered=False)


BATCH_VARIANTS = (
    Variant(
        name="unmarked-after-a-lost-connection",
        rules=("BT-09",),
        text="Messages that were sent on a lost connection are sent again without the mark of redelivery.",
        allowed_by="BATCH:38 says nothing of a mark, and a broker cannot know what a lost client has received.",
        apply=_unmarked_after_loss,
    ),
    Variant(
        name="redelivery-counted-only",
        rules=("BT-09",),
        text="A redelivered message has a delivery count above 1, but not the flag for redelivery.",
        allowed_by="Jakarta Messaging 3.1, 3.5.11: JMSXDeliveryCount above 1 says that a message was delivered before.",
        apply=lambda: deliveries(_counted),
    ),
)
