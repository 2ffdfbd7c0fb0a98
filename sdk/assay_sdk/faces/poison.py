"""Keyword arguments of consumers for poison messages (`assay_sdk.engine.deliveries.poison`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from assay_sdk.engine.deliveries.poison import PoisonPolicy
from assay_sdk.faces.caller import Caller
from assay_sdk.model.destinations import Destination
from assay_sdk.model.reasons import JmsErrorKind, Refused


class PoisonOptions(TypedDict, total=False):
    """The limit on a message's deliveries, and the queue to which the client moves a message above the limit.

    By default, the attributes of the consumed queue apply: BOTHRESH is the limit, and BOQNAME names the queue for the
    moved messages.  If BOQNAME is empty or its queue refuses a message, the message goes to the dead-letter queue.

    Attributes:
        max_delivery_count: The highest number of deliveries of a message, in place of BOTHRESH; 0 for no limit.
            Without `on_poison`, the client rejects a message that exceeds the limit, and most brokers move a rejected
            message to a dead-letter queue.
        on_poison: Queue to which the client moves a message that exceeds the limit, in place of BOQNAME.  Without
            `max_delivery_count`, this option has an effect only if the consumed queue has a BOTHRESH.
    """

    max_delivery_count: int
    on_poison: Destination[Any]


def policy_of(caller: Caller, options: Mapping[str, object]) -> PoisonPolicy:
    """Make a consumer's policy for poison messages from the keyword arguments of a call.

    Raises:
        TypeError: A keyword is not one of `PoisonOptions`.
        JmsError: The count is negative or not an integer, or `on_poison` is not a destination.
    """
    for name in options.keys() - PoisonOptions.__annotations__.keys():
        raise TypeError(f"unknown keyword {name}: a consumer takes {', '.join(PoisonOptions.__annotations__)}")
    count, target = options.get("max_delivery_count"), options.get("on_poison")
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 0):
        text = f"max_delivery_count is {count!r}: give a number from 0, where 0 means no limit"
        raise caller.error(Refused(JmsErrorKind.MESSAGING, text))
    return PoisonPolicy(count, None if target is None else caller.address(target))
