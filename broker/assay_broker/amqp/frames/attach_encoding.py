"""The encoding of sources, targets and coordinators in the server's attaches (OASIS AMQP 1.0, 2.7.3, 3.5).

`assay_broker.amqp.frames.completion` puts the encoded fields into the engine's frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import cast
from uuid import UUID

from assay_broker.amqp.frames.attaches import (
    COORDINATOR,
    DEFAULT_EXPIRY,
    SOURCE,
    Terminus,
)
from assay_sdk.amqp import types
from assay_sdk.amqp.types import Described, Symbol

_SHORT, _REMEMBERED = 512, 1_024
"""The most characters of a cached terminus's address and capabilities together, and the most cached termini
(`bench/broker.py connect`)."""
_NULL = types.null()


def encode(value: object) -> bytes:  # noqa: C901, PLR0911  one return for each type
    """Encode a decoded value, for the fields that the server's attach copies from the client's attach.

    Raises:
        TypeError: The value's type does not occur in those fields.
    """
    match value:
        case None:
            return _NULL
        case bool():
            return types.boolean(value)
        case int():
            return types.ulong(value) if value >= 0 else types.long(value)
        case Symbol():
            return types.symbol(value)
        case str():
            return types.string(value)
        case bytes():
            return types.binary(value)
        case float():
            return types.double(value)
        case UUID():
            return b"\x98" + value.bytes
        case Described():
            return b"\x00" + encode(value.descriptor) + encode(value.value)
        case list():
            return types.compound(encode(one) for one in cast("list[object]", value))
        case dict():
            items = cast("dict[object, object]", value)
            return types.mapping({encode(key): encode(one) for key, one in items.items()})
        case _:
            raise TypeError(f"a {type(value).__name__} cannot be encoded in an attach")


def encode_terminus(terminus: Terminus, code: int, outcomes: bytes = b"") -> bytes:
    """Encode a source or target.

    Args:
        terminus: The fields.
        code: `SOURCE` or `TARGET`.
        outcomes: For a source, the outcomes that it supports, encoded; empty for null.
    """
    address, capabilities, known = terminus.address, terminus.capabilities, terminus.outcomes
    is_short = len(address or "") + sum(map(len, capabilities)) <= _SHORT
    if is_short and terminus == Terminus(address=address, capabilities=capabilities, outcomes=known):
        return _plain_terminus(address, capabilities, code, outcomes)
    return _encode_terminus(terminus, code, outcomes)


@lru_cache(_REMEMBERED)
def _plain_terminus(address: str | None, capabilities: tuple[str, ...], code: int, outcomes: bytes) -> bytes:
    """Encode a terminus that has only an address, capabilities and outcomes; cached, because many links share it."""
    return _encode_terminus(Terminus(address=address, capabilities=capabilities), code, outcomes)


def _encode_terminus(terminus: Terminus, code: int, outcomes: bytes) -> bytes:
    items = [
        _NULL if terminus.address is None else types.string(terminus.address),
        types.uint(terminus.durable) if terminus.durable else _NULL,
        _NULL if terminus.expiry == DEFAULT_EXPIRY else types.symbol(terminus.expiry),
        types.uint(terminus.timeout_s) if terminus.timeout_s else _NULL,
        types.boolean(value=True) if terminus.dynamic else _NULL,
        _encode_names(terminus.node_properties),
    ]
    if code == SOURCE:
        items += [
            _NULL if terminus.mode is None else types.symbol(terminus.mode),
            _encode_names(terminus.filters),
            encode(terminus.default_outcome),
            outcomes or _NULL,
        ]
    items.append(types.symbols(terminus.capabilities) if terminus.capabilities else _NULL)
    return types.described(code, types.fields(items))


def _encode_names(names: Mapping[str, object]) -> bytes:
    """Encode a map with symbols as keys; return null for an empty map."""
    if not names:
        return _NULL
    return types.mapping({types.symbol(name): encode(value) for name, value in names.items()})


def encode_coordinator(capabilities: tuple[str, ...]) -> bytes:
    """Encode the coordinator as a target."""
    return types.described(COORDINATOR, types.fields((types.symbols(capabilities),)))
