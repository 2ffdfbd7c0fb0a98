"""What the server says of itself when it opens a connection (OASIS AMQP 1.0, 2.7.1)."""

from __future__ import annotations

from assay_broker.wire import PRODUCT, product_version
from assay_sdk.amqp import types
from assay_sdk.amqp.terms import (
    ANONYMOUS_RELAY,
    DELAYED_DELIVERY,
    OPEN_FAILED,
    SHARED_SUBSCRIPTIONS,
    SOLE_CONNECTION,
)
from assay_sdk.driver import PeerProperties

_OFFERED = (DELAYED_DELIVERY, SHARED_SUBSCRIPTIONS, ANONYMOUS_RELAY)


def offered(desired: tuple[str, ...]) -> bytes:
    """Offered capabilities: ours, and to be the container's only connection if that is desired."""
    sole = (SOLE_CONNECTION,) if SOLE_CONNECTION in desired else ()
    return types.symbols((*_OFFERED, *sole))


def open_properties(told: PeerProperties, *, failed: bool = False) -> bytes:
    """Properties of the open.

    Args:
        told: What the queue manager says of itself.
        failed: Whether a close follows at once, with the reason.
    """
    everything: PeerProperties = {"product": PRODUCT, "version": product_version(), **told}
    if failed:
        everything[OPEN_FAILED] = True
    encoded = {
        types.symbol(name): types.boolean(value) if isinstance(value, bool) else types.string(str(value))
        for name, value in everything.items()
    }
    return types.mapping(encoded)
