"""What the server says of itself when it opens a connection (OASIS AMQP 1.0, 2.7.1)."""

from __future__ import annotations

from functools import lru_cache

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

_OFFERED = types.symbols((DELAYED_DELIVERY, SHARED_SUBSCRIPTIONS, ANONYMOUS_RELAY))
_OFFERED_ALONE = types.symbols((DELAYED_DELIVERY, SHARED_SUBSCRIPTIONS, ANONYMOUS_RELAY, SOLE_CONNECTION))


def offered(desired: tuple[str, ...]) -> bytes:
    """Offered capabilities: ours, and to be the container's only connection if that is desired."""
    return _OFFERED_ALONE if SOLE_CONNECTION in desired else _OFFERED


def open_properties(told: PeerProperties, *, failed: bool = False) -> bytes:
    """Properties of the open.

    Args:
        told: What the queue manager says of itself.
        failed: Whether a close follows at once, with the reason.
    """
    failure = {OPEN_FAILED: True} if failed else {}
    return properties({"product": PRODUCT, "version": product_version(), **told, **failure})


def properties(told: PeerProperties) -> bytes:
    """Properties as an encoded map; empty for none."""
    if not told:
        return b""
    return _encoded(tuple((name, one if isinstance(one, bool) else str(one)) for name, one in told.items()))


@lru_cache(maxsize=64)
def _encoded(told: tuple[tuple[str, str | bool], ...]) -> bytes:
    """The same few for whoever comes."""
    return types.mapping(
        {
            types.symbol(name): types.boolean(value) if isinstance(value, bool) else types.string(value)
            for name, value in told
        }
    )
