"""The reading of a client's performative: its code, its checked fields, and for an attach, the `AttachFrame`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

from assay_broker.amqp.frames import attaches, performatives
from assay_broker.amqp.frames.attaches import AttachFrame
from assay_sdk.amqp.types import DecodeError, Described, Reader
from assay_sdk.amqp.values import skip

_LONGEST, _REMEMBERED = 512, 256
"""The most octets of a performative that is cached, and the most performatives in the cache (a few megabytes)."""
_REPEATED = frozenset(
    bytes((0x00, 0x53, code))
    for code in (
        performatives.BEGIN,
        performatives.ATTACH,
        performatives.DETACH,
        performatives.END,
        performatives.CLOSE,
    )
)
"""The heads of the performatives that are cached, because clients repeat them (`bench/broker.py connect`).

Opens are not cached, because they differ by their container id.  Transfers, flows and dispositions have their own fast
paths.
"""


Read = tuple[int, Sequence[Any], AttachFrame | None]
"""A performative: its code, its fields (None for a missing field), and its `AttachFrame` (None if it is no attach)."""


def performative(octets: bytes) -> Read:
    """Decode a performative and check its fields.

    Raises:
        DecodeError: The octets are not a performative, a mandatory field is missing, a field is of a wrong type, or
            the performative has too many fields.
    """
    return (_cached if octets[:3] in _REPEATED and len(octets) <= _LONGEST else _read)(octets)


def _read(octets: bytes) -> Read:
    value = Reader(octets).value()
    if not isinstance(value, Described) or not isinstance(value.value, list):
        raise DecodeError("a frame without a performative")
    code = value.descriptor
    if not isinstance(code, int) or not performatives.OPEN <= code <= performatives.CLOSE:
        raise DecodeError(f"no performative has the descriptor {code!r}")
    performatives.check(code, octets, skip(octets, 1))
    fields = (*cast("list[object]", value.value), *(None,) * (len(performatives.FIELDS[code]) - len(value.value)))
    return code, fields, attaches.read(fields) if code == performatives.ATTACH else None


_cached = lru_cache(_REMEMBERED)(_read)
