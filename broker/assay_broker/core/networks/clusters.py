"""Clusters: the properties of clustered destinations, and checks of receivers and sends."""

from __future__ import annotations

from assay_broker.core.queues.queue import Queue
from assay_broker.core.queues.routes import Target
from assay_broker.core.refusals import refusal
from assay_sdk.driver import CLUSTERED_PROPERTY, DEFBIND_PROPERTY, PeerProperties
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import Mqrc


def binding(target: Target) -> PeerProperties:
    """Return the cluster properties of a destination for a client that sends to it.

    A destination is clustered if any object that leads to it, such as an alias, is in a cluster. DEFBIND comes from the
    object that the client named.
    """
    clustered = any(one.attributes.get("CLUSTER") or one.attributes.get("CLUSNL") for one in target.path)
    first = target.path[0].attributes.get("DEFBIND") if target.path else None
    return {CLUSTERED_PROPERTY: clustered, DEFBIND_PROPERTY: first if isinstance(first, str) else "OPEN"}


def check_here(queue: Queue) -> None:
    """Refuse a receiver or a browse on a queue of another queue manager.

    Raises:
        RefusalError: The queue belongs to another queue manager.
    """
    if queue.onward is not None:
        member, address = queue.onward
        raise refusal(
            Mqrc.UNKNOWN_OBJECT_NAME,
            f"{address.name} is a queue of {member}; receive or browse it there.",
            address.name,
        )


def check_bound(target: Target, address: Address) -> None:
    """Refuse a delayed message to a clustered destination unless DEFBIND is NOTFIXED.

    Raises:
        RefusalError: The destination is clustered, and its DEFBIND is OPEN or GROUP (DD-11).
    """
    known = binding(target)
    if known[CLUSTERED_PROPERTY] and known[DEFBIND_PROPERTY] != "NOTFIXED":
        raise refusal(
            Mqrc.OPTIONS_ERROR,
            f"{address.name} is in a cluster with DEFBIND({known[DEFBIND_PROPERTY]}); a delayed message needs"
            " DEFBIND(NOTFIXED) there.",
            address.name,
        )
