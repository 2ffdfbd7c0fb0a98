"""The table of the fields of performatives, with their types, and the check of a client's fields against it.

The table follows OASIS AMQP 1.0, 2.7, 2.8.14, 3.5 and 4.5.1.  The check is needed because the engine treats a field of
a wrong type as missing, and a missing field as zero.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from assay_sdk.amqp.types import DecodeError
from assay_sdk.amqp.values import WIDTHS, inside, simple, skip

OPEN, BEGIN, ATTACH, FLOW, TRANSFER, DISPOSITION, DETACH, END, CLOSE = range(0x10, 0x19)
_ERROR, _SOURCE, _TARGET, _COORDINATOR = 0x1D, 0x28, 0x29, 0x30

_NULL, _DESCRIBED = 0x40, 0x00

_Codes = frozenset[int]
_BOOLEAN: _Codes = frozenset((0x41, 0x42, 0x56))
_UBYTE: _Codes = frozenset((0x50,))
_USHORT: _Codes = frozenset((0x60,))
_UINT: _Codes = frozenset((0x43, 0x52, 0x70))
_ULONG: _Codes = frozenset((0x44, 0x53, 0x80))
_BINARY: _Codes = frozenset((0xA0, 0xB0))
_STRING: _Codes = frozenset((0xA1, 0xB1))
_SYMBOL: _Codes = frozenset((0xA3, 0xB3))
_SYMBOLS: _Codes = _SYMBOL | {0xE0, 0xF0}
_MAP: _Codes = frozenset((0xC1, 0xD1))
_OTHER: _Codes = frozenset((_DESCRIBED,))


class _Field(Struct, frozen=True):
    """A field of an AMQP composite type.

    Args:
        name: The field's name in the specification.
        codes: The format codes of its valid encodings, including null's for an optional field.
        needed: Whether the field is mandatory.
    """

    name: str
    codes: _Codes
    needed: bool


def _needed(name: str, codes: _Codes) -> _Field:
    return _Field(name, codes, needed=True)


def _optional(name: str, codes: _Codes) -> _Field:
    return _Field(name, codes | {_NULL}, needed=False)


_CAPABILITIES = (_optional("offered-capabilities", _SYMBOLS), _optional("desired-capabilities", _SYMBOLS))
_PROPERTIES = _optional("properties", _MAP)
_END_OF_LINK = (
    _optional("address", _STRING),
    _optional("durable", _UINT),
    _optional("expiry-policy", _SYMBOL),
    _optional("timeout", _UINT),
    _optional("dynamic", _BOOLEAN),
    _optional("dynamic-node-properties", _MAP),
)

FIELDS: Mapping[int, tuple[_Field, ...]] = {
    OPEN: (
        _needed("container-id", _STRING),
        _optional("hostname", _STRING),
        _optional("max-frame-size", _UINT),
        _optional("channel-max", _USHORT),
        _optional("idle-time-out", _UINT),
        _optional("outgoing-locales", _SYMBOLS),
        _optional("incoming-locales", _SYMBOLS),
        *_CAPABILITIES,
        _PROPERTIES,
    ),
    BEGIN: (
        _optional("remote-channel", _USHORT),
        _needed("next-outgoing-id", _UINT),
        _needed("incoming-window", _UINT),
        _needed("outgoing-window", _UINT),
        _optional("handle-max", _UINT),
        *_CAPABILITIES,
        _PROPERTIES,
    ),
    ATTACH: (
        _needed("name", _STRING),
        _needed("handle", _UINT),
        _needed("role", _BOOLEAN),
        _optional("snd-settle-mode", _UBYTE),
        _optional("rcv-settle-mode", _UBYTE),
        _optional("source", _OTHER),
        _optional("target", _OTHER),
        _optional("unsettled", _MAP),
        _optional("incomplete-unsettled", _BOOLEAN),
        _optional("initial-delivery-count", _UINT),
        _optional("max-message-size", _ULONG),
        *_CAPABILITIES,
        _PROPERTIES,
    ),
    FLOW: (
        _optional("next-incoming-id", _UINT),
        _needed("incoming-window", _UINT),
        _needed("next-outgoing-id", _UINT),
        _needed("outgoing-window", _UINT),
        _optional("handle", _UINT),
        _optional("delivery-count", _UINT),
        _optional("link-credit", _UINT),
        _optional("available", _UINT),
        _optional("drain", _BOOLEAN),
        _optional("echo", _BOOLEAN),
        _PROPERTIES,
    ),
    TRANSFER: (
        _needed("handle", _UINT),
        _optional("delivery-id", _UINT),
        _optional("delivery-tag", _BINARY),
        _optional("message-format", _UINT),
        _optional("settled", _BOOLEAN),
        _optional("more", _BOOLEAN),
        _optional("rcv-settle-mode", _UBYTE),
        _optional("state", _OTHER),
        _optional("resume", _BOOLEAN),
        _optional("aborted", _BOOLEAN),
        _optional("batchable", _BOOLEAN),
    ),
    DISPOSITION: (
        _needed("role", _BOOLEAN),
        _needed("first", _UINT),
        _optional("last", _UINT),
        _optional("settled", _BOOLEAN),
        _optional("state", _OTHER),
        _optional("batchable", _BOOLEAN),
    ),
    DETACH: (_needed("handle", _UINT), _optional("closed", _BOOLEAN), _optional("error", _OTHER)),
    END: (_optional("error", _OTHER),),
    CLOSE: (_optional("error", _OTHER),),
    _ERROR: (_needed("condition", _SYMBOL), _optional("description", _STRING), _optional("info", _MAP)),
    _SOURCE: (
        *_END_OF_LINK,
        _optional("distribution-mode", _SYMBOL),
        _optional("filter", _MAP),
        _optional("default-outcome", _OTHER),
        _optional("outcomes", _SYMBOLS),
        _optional("capabilities", _SYMBOLS),
    ),
    _TARGET: (*_END_OF_LINK, _optional("capabilities", _SYMBOLS)),
    _COORDINATOR: (_optional("capabilities", _SYMBOLS),),
}

_INNER: Mapping[object, int] = {
    _ERROR: _ERROR,
    _SOURCE: _SOURCE,
    _TARGET: _TARGET,
    _COORDINATOR: _COORDINATOR,
    "amqp:error:list": _ERROR,
    "amqp:source:list": _SOURCE,
    "amqp:target:list": _TARGET,
    "amqp:coordinator:list": _COORDINATOR,
}
"""The composite types that occur as fields, by descriptor; delivery states are checked where they are read."""
_LISTS = frozenset((0x45, 0xC0, 0xD0))


def check(code: int, octets: bytes, at: int) -> None:
    """Check the fields of a composite value.

    Args:
        code: The code of the value's descriptor.
        octets: Octets that contain the value, which must be well-formed.
        at: The offset of the list of fields.

    Raises:
        DecodeError: A mandatory field is missing, a field is of a wrong type, or the value has too many fields.
    """
    known = FIELDS[code]
    if octets[at] not in _LISTS:
        raise DecodeError(f"the fields of 0x{code:02x} are not a list")
    at, count = inside(octets, at, skip(octets, at))
    if count > len(known):
        raise DecodeError(f"0x{code:02x} has {len(known)} fields and not {count}")
    for field in known[:count]:
        form = octets[at]
        if form not in field.codes:
            if form == _NULL:
                raise DecodeError(f"0x{code:02x} is without {field.name}")
            raise DecodeError(f"{field.name} of 0x{code:02x} is of format 0x{form:02x}")
        if form == _DESCRIBED:
            inner, behind = simple(octets, at + 1)
            if inner in _INNER:
                check(_INNER[inner], octets, behind)
        width = WIDTHS[form]
        at = at + 1 + width if width >= 0 else skip(octets, at)
    for field in known[count:]:
        if field.needed:
            raise DecodeError(f"0x{code:02x} is without {field.name}")
