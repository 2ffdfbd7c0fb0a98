"""Clusters: which destinations are in one, and what that forbids."""

from __future__ import annotations

from assay_broker.core.queues.queue import Queue
from assay_broker.core.queues.routes import Target
from assay_broker.core.refusals import refusal
from assay_sdk.driver import CLUSTERED_PROPERTY, DEFBIND_PROPERTY, PeerProperties
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import Mqrc


def binding(target: Target) -> PeerProperties:
    """What a client should know of a queue before it sends (I-6).

    A destination is clustered when any object on its path is; the DEFBIND of the object that was named first holds.
    """
    clustered = any(one.attributes.get("CLUSTER") or one.attributes.get("CLUSNL") for one in target.path)
    first = target.path[0].attributes.get("DEFBIND") if target.path else None
    return {CLUSTERED_PROPERTY: clustered, DEFBIND_PROPERTY: first if isinstance(first, str) else "OPEN"}


def check_here(queue: Queue) -> None:
    """Refuse to get from, or look at, a queue that is on another queue manager.

    Raises:
        RefusalError: It is.
    """
    if queue.onward is not None:
        member, address = queue.onward
        raise refusal(
            Mqrc.UNKNOWN_OBJECT_NAME, f"{address.name} is a queue of {member}; only there it can be read.", address.name
        )


def check_bound(target: Target, address: Address) -> None:
    """Refuse a delay on the way to a clustered destination that is not chosen anew at each put.

    Raises:
        RefusalError: DEFBIND is OPEN or GROUP (DD-11).
    """
    known = binding(target)
    if known[CLUSTERED_PROPERTY] and known[DEFBIND_PROPERTY] != "NOTFIXED":
        raise refusal(
            Mqrc.OPTIONS_ERROR,
            f"{address.name} is in a cluster with DEFBIND({known[DEFBIND_PROPERTY]}); a delayed message needs"
            " DEFBIND(NOTFIXED) there.",
            address.name,
        )
