"""Read a performative of the client: its code, its checked fields, and the attach if it is one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

from assay_broker.amqp.frames import attaches, performatives
from assay_broker.amqp.frames.attaches import Attach
from assay_sdk.amqp.types import DecodeError, Described, Reader
from assay_sdk.amqp.values import skip

_LONGEST, _REMEMBERED = 512, 256
"""Octets of the longest performative that is cached, and how many are: some megabytes at most."""
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
"""Performatives that clients repeat, so that the cache helps. Opens differ by their container id, and the other
performatives are so frequent that they have their own fast path."""


Read = tuple[int, Sequence[Any], Attach | None]
"""A performative's code, its fields with None for those left out, and the attach if it is one."""


def performative(octets: bytes) -> Read:
    """Read a performative.

    Raises:
        DecodeError: It is not a performative, or one of its fields is missing or of a wrong type.
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
