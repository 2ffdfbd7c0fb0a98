"""What the server says of itself when it opens a connection (OASIS AMQP 1.0, 2.7.1)."""

from __future__ import annotations

from functools import cache, lru_cache

from assay_broker.amqp.editing import changed_frame
from assay_broker.wire import PRODUCT, product_version
from assay_sdk.amqp import types
from assay_sdk.amqp.terms import (
    ANONYMOUS_RELAY,
    DELAYED_DELIVERY,
    OPEN_FAILED,
    OWN_UNCOMMITTED,
    SHARED_SUBSCRIPTIONS,
    SOLE_CONNECTION,
)
from assay_sdk.driver import PeerProperties

_OFFERED_AT, _PROPERTIES_AT = 7, 9
"""Where these fields of an open stand."""
_Plain = tuple[tuple[str, str | bool], ...]
"""Names and what is said of them."""

_FAILED: _Plain = ((OPEN_FAILED, True),)
_OFFERED = (DELAYED_DELIVERY, SHARED_SUBSCRIPTIONS, ANONYMOUS_RELAY)
_IF_DESIRED = (SOLE_CONNECTION, OWN_UNCOMMITTED)
"""What holds for those only who ask for it."""


def offered(desired: tuple[str, ...]) -> bytes:
    """Offered capabilities: ours, and of what is not for everybody that which is desired."""
    return _symbols(tuple([one for one in _IF_DESIRED if one in desired]))


@cache
def _symbols(granted: tuple[str, ...]) -> bytes:
    return types.symbols((*_OFFERED, *granted))


@lru_cache(maxsize=64)
def with_offers(octets: bytes, offered: bytes, properties: bytes) -> bytes:
    """Our open with what is offered put into it, and the properties: the same few for whoever comes.

    Args:
        octets: The frame, as the engine writes it.
        offered: Capabilities, an encoded array of symbols; empty for none.
        properties: An encoded map; empty for none.
    """
    return changed_frame(octets, {_OFFERED_AT: offered or types.null(), _PROPERTIES_AT: properties or types.null()})


def open_properties(told: PeerProperties, *, failed: bool = False) -> bytes:
    """Properties of the open.

    Args:
        told: What the queue manager says of itself.
        failed: Whether a close follows at once, with the reason.
    """
    return _encoded((*_ours(), *_plain(told), *_FAILED) if failed else (*_ours(), *_plain(told)))


@cache
def _ours() -> _Plain:
    return ("product", PRODUCT), ("version", product_version())


def properties(told: PeerProperties) -> bytes:
    """Properties as an encoded map; empty for none."""
    return _encoded(_plain(told)) if told else b""


def _plain(told: PeerProperties) -> _Plain:
    return tuple([(name, one if isinstance(one, bool) else str(one)) for name, one in told.items()])


@lru_cache(maxsize=64)
def _encoded(told: _Plain) -> bytes:
    """The same few for whoever comes."""
    return types.mapping(
        {
            types.symbol(name): types.boolean(value) if isinstance(value, bool) else types.string(value)
            for name, value in told
        }
    )
