"""The queues to which the copies for subscribers are put."""

from __future__ import annotations

from assay_broker.core.queues.resolution import resolve
from assay_broker.core.queues.routes import Target
from assay_broker.core.refusals import refusal
from assay_broker.core.state import State
from assay_broker.core.topics.subscriptions import Administered, Subscriber, sub_at
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc


def target_of(state: State, subscriber: Subscriber) -> Target:
    """Return the queue for a subscriber's copies, by the present definitions.

    Raises:
        RefusalError: The destination of a SUB object cannot be resolved (`resolve`), or is an alias of a topic.
    """
    if not isinstance(subscriber, Administered):
        return Target((subscriber.queue.definition,), subscriber.queue)
    target = resolve(state, Address(AddressKind.QUEUE, subscriber.name))
    if target.queue is None:
        raise refusal(
            Mqrc.ALIAS_BASE_Q_TYPE_ERROR,
            f"The subscription {subscriber.sub} names {subscriber.name} in DEST, which is an alias of a topic.",
            subscriber.name,
        )
    return target


def destination_at(state: State, home: str) -> str | None:
    """Return the name of the queue (DEST) to which a copy staged for a SUB object goes.

    Args:
        state: The queue manager.
        home: The home of the copy.

    Returns:
        The queue's name; None if the copy is for no SUB object, or for one that was deleted, even if another object has
        the same name now (DD-51).
    """
    name = sub_at(home)
    found = None if name is None else state.subscriptions.administered.get(name)
    return None if found is None or found.home != home else found.name
