"""Keywords of consumers about poison messages (`assay_sdk.engine.deliveries.poison`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from assay_sdk.engine.deliveries.poison import PoisonPolicy
from assay_sdk.faces.caller import Caller
from assay_sdk.model.destinations import Destination
from assay_sdk.model.reasons import JmsErrorKind, Refused


class PoisonOptions(TypedDict, total=False):
    """What to do about a message that comes again and again; where nothing is said, what the broker says holds.

    Attributes:
        max_delivery_count: How often a message is delivered at most, in place of the queue's BOTHRESH; 0 without limit.
        on_poison: The queue to which it is moved then, in place of the queue's BOQNAME.  With `max_delivery_count` and
            without this it is rejected, which leaves it to the broker: most keep it in a dead-letter queue.
    """

    max_delivery_count: int
    on_poison: Destination[Any]


def policy_of(caller: Caller, options: Mapping[str, object]) -> PoisonPolicy:
    """Read the keywords of a call.

    Raises:
        TypeError: A keyword is none of `PoisonOptions`.
        JmsError: The count is no number from 0, or the destination is none.
    """
    for name in options.keys() - PoisonOptions.__annotations__.keys():
        raise TypeError(f"a consumer is not made with {name}: it takes {', '.join(PoisonOptions.__annotations__)}")
    count, target = options.get("max_delivery_count"), options.get("on_poison")
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 0):
        text = f"max_delivery_count is {count!r}: give a number from 0, which is without limit"
        raise caller.error(Refused(JmsErrorKind.MESSAGING, text))
    return PoisonPolicy(count, None if target is None else caller.address(target))
