"""The capabilities and properties in the server's open (OASIS AMQP 1.0, 2.7.1)."""

from __future__ import annotations

from functools import cache, lru_cache

from assay_broker.wire import PRODUCT, product_version
from assay_sdk.amqp import types
from assay_sdk.amqp.terms import (
    ANONYMOUS_RELAY,
    CANCEL_DELAYED,
    DELAYED_DELIVERY,
    OPEN_FAILED,
    OWN_UNCOMMITTED,
    SHARED_SUBSCRIPTIONS,
    SOLE_CONNECTION,
)
from assay_sdk.driver import PeerProperties

_Plain = tuple[tuple[str, str | bool], ...]
"""The properties' names and values."""

_FAILED: _Plain = ((OPEN_FAILED, True),)
_OFFERED = (DELAYED_DELIVERY, SHARED_SUBSCRIPTIONS, ANONYMOUS_RELAY)
_IF_DESIRED = (SOLE_CONNECTION, OWN_UNCOMMITTED, CANCEL_DELAYED)
"""The capabilities that the server offers only to clients that desire them."""


def offered(desired: tuple[str, ...]) -> bytes:
    """Return the offered capabilities, encoded: those for all clients, and those that this client desires."""
    return _symbols(tuple([one for one in _IF_DESIRED if one in desired]))


@cache
def _symbols(granted: tuple[str, ...]) -> bytes:
    return types.symbols((*_OFFERED, *granted))


def open_properties(told: PeerProperties, *, failed: bool = False) -> bytes:
    """Return the encoded properties of the server's open.

    Args:
        told: The queue manager's properties.
        failed: Whether the server closes the connection with an error at once.
    """
    return _encoded((*_ours(), *_plain(told), *_FAILED) if failed else (*_ours(), *_plain(told)))


@cache
def _ours() -> _Plain:
    return ("product", PRODUCT), ("version", product_version())


def properties(told: PeerProperties) -> bytes:
    """Return properties as an encoded map; empty for no properties."""
    return _encoded(_plain(told)) if told else b""


def _plain(told: PeerProperties) -> _Plain:
    return tuple([(name, one if isinstance(one, bool) else str(one)) for name, one in told.items()])


@lru_cache(maxsize=64)
def _encoded(told: _Plain) -> bytes:
    """Encode properties as a map; cached, because all clients get the same properties (`bench/broker.py connect`)."""
    return types.mapping(
        {
            types.symbol(name): types.boolean(value) if isinstance(value, bool) else types.string(value)
            for name, value in told
        }
    )
