"""Attaches as frames (OASIS AMQP 1.0, 2.7.3, 3.5): what the peer's says, and what ours says.

Pure.  The peer's attach is read here with all its fields; ours leaves the engine with its links' names, handles and
modes, and gets source, target, capabilities and properties put into it here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import cast
from uuid import UUID

from msgspec import Struct, field

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import frame
from assay_sdk.amqp.types import DecodeError, Described, Symbol
from assay_sdk.amqp.values import simple, skip

ATTACH = 0x12
SOURCE, TARGET, COORDINATOR = 0x28, 0x29, 0x30
_HEAD = bytes((0, 0x53, ATTACH))
_NULL = types.null()

_ENDS: Mapping[object, int] = {
    SOURCE: SOURCE,
    "amqp:source:list": SOURCE,
    TARGET: TARGET,
    "amqp:target:list": TARGET,
    COORDINATOR: COORDINATOR,
    "amqp:coordinator:list": COORDINATOR,
}

_NAME, _HANDLE, _ROLE, _SND_MODE, _RCV_MODE = range(5)
_SOURCE_AT, _TARGET_AT, _OFFERED_AT, _DESIRED_AT, _PROPERTIES_AT = 5, 6, 11, 12, 13

DEFAULT_EXPIRY = "session-end"
_SHORT, _REMEMBERED = 512, 1_024
"""What is up to so long is kept, to be said again; and how many of each kind."""
_MIXED = 2


class Terminus(Struct, frozen=True, kw_only=True):
    """A source, or a target, as it stands in an attach.

    Args:
        address: Which node; None for none.
        durable: 0 not, 1 its configuration, 2 what is unsettled too.
        expiry: When its time begins to run: ``link-detach``, ``session-end``, ``connection-close`` or ``never``.
        timeout_s: How long it then lasts, in seconds.
        dynamic: Whether a node is to be made for it.
        node_properties: Of the node to be made.
        mode: Distribution mode, ``move`` or ``copy``; None for either.
        filters: By key: what they are and what they hold.
        default_outcome: What an unsettled delivery becomes when the link goes; None for nothing said.
        capabilities: What it can or is to do.
    """

    address: str | None = None
    durable: int = 0
    expiry: str = DEFAULT_EXPIRY
    timeout_s: int = 0
    dynamic: bool = False
    node_properties: Mapping[str, object] = {}
    mode: str | None = None
    filters: Mapping[str, object] = {}
    default_outcome: Described | None = None
    capabilities: tuple[str, ...] = ()


class Coordinator(Struct, frozen=True):
    """The target that is the transaction coordinator (4.5.1)."""

    capabilities: tuple[str, ...] = ()


class Wishes:
    """What the peer's frames on a link say of which the engine does not tell, until it is done.

    It drops ``echo`` and the properties of a flow (2.7.4), tells of ``drain`` for as long as it stands, and takes a
    transfer with ``resume`` for any other (2.7.5).
    """

    __slots__ = ("acquires", "drain", "echo", "resumed")

    def __init__(self) -> None:
        self.acquires = False
        """Have what is delivered be part of a unit of work from then on (4.4.3)."""
        self.resumed: set[bytes] = set()
        """Tags of deliveries that began before the link was attached."""
        self.drain = False
        """Use the credit up or give it back, and say so."""
        self.echo = False
        """Say how the link stands."""


class Attach(Struct, frozen=True, kw_only=True):
    """What the peer's attach says.

    Args:
        name: The link's name.
        engine_name: What the engine calls it.
        handle: What the peer calls the link in this session.
        receives: Whether the peer is the receiver.
        snd_settle_mode: 0 unsettled, 1 settled, 2 mixed.
        rcv_settle_mode: 0 first, 1 second.
        source: Where from; None for nothing.
        target: Where to; None for nothing.
        desired: Desired capabilities of the link.
        properties: Of the link.
        wishes: What the flows ask for that come over the link.
    """

    name: str
    engine_name: str
    handle: int
    receives: bool
    snd_settle_mode: int = _MIXED
    rcv_settle_mode: int = 0
    source: Terminus | None = None
    target: Terminus | Coordinator | None = None
    desired: tuple[str, ...] = ()
    properties: Mapping[str, object] = {}
    wishes: Wishes = field(default_factory=Wishes)


class AttachEnd(Struct, frozen=True, kw_only=True):
    """What our attach says; source, target and the rest as encoded values, empty for null.

    Args:
        name: The link's name.
        max_message_size: Octets of a message that we take; 0 for no limit.
    """

    name: str
    source: bytes = b""
    target: bytes = b""
    offered: bytes = b""
    properties: bytes = b""
    snd_settle_mode: int = _MIXED
    rcv_settle_mode: int = 0
    max_message_size: int = 0


# --- reading


def read(performative: object) -> Attach:
    """The peer's attach.

    Args:
        performative: The fields of the attach, decoded.

    Raises:
        DecodeError: One of them is of a wrong type.
    """
    fields = _Fields(performative, "link's attach")
    name = fields.text(_NAME)
    if name is None or fields.at[_HANDLE] is None or fields.at[_ROLE] is None:
        raise DecodeError("an attach without a name, a handle, or a role")
    return Attach(
        name=name,
        engine_name=name,
        handle=fields.number(_HANDLE),
        receives=fields.flag(_ROLE),
        snd_settle_mode=_MIXED if fields.at[_SND_MODE] is None else fields.number(_SND_MODE),
        rcv_settle_mode=fields.number(_RCV_MODE),
        source=_source(fields.at[_SOURCE_AT]),
        target=_target(fields.at[_TARGET_AT]),
        desired=fields.symbols(_DESIRED_AT),
        properties=fields.names(_PROPERTIES_AT),
    )


def _end(value: object, *codes: int) -> tuple[int, object]:
    if isinstance(value, Described):
        code = _ENDS.get(value.descriptor)
        if code in codes:
            return code, value.value
    raise DecodeError("an attach whose source or target is none")


def _source(value: object) -> Terminus | None:
    if value is None:
        return None
    _, items = _end(value, SOURCE)
    fields = _Fields(items, "source")
    outcome = fields.at[8]
    if outcome is not None and not isinstance(outcome, Described):
        raise DecodeError("a default outcome that is none")
    return _terminus(
        fields,
        mode=fields.text(6),
        filters=fields.names(7),
        default_outcome=outcome,
        capabilities=fields.symbols(10),
    )


def _target(value: object) -> Terminus | Coordinator | None:
    if value is None:
        return None
    code, items = _end(value, TARGET, COORDINATOR)
    fields = _Fields(items, "target")
    if code == COORDINATOR:
        return Coordinator(fields.symbols(0))
    return _terminus(fields, capabilities=fields.symbols(6))


def _terminus(
    fields: _Fields,
    *,
    capabilities: tuple[str, ...],
    mode: str | None = None,
    filters: Mapping[str, object] = MappingProxyType({}),
    default_outcome: Described | None = None,
) -> Terminus:
    """What a source and a target begin with alike, and what else they say."""
    return Terminus(
        address=fields.text(0),
        durable=fields.number(1),
        expiry=fields.text(2) or DEFAULT_EXPIRY,
        timeout_s=fields.number(3),
        dynamic=fields.flag(4),
        node_properties=fields.names(5),
        mode=mode,
        filters=filters,
        default_outcome=default_outcome,
        capabilities=capabilities,
    )


_NONES = (None,) * (_PROPERTIES_AT + 1)


class _Fields:
    """The fields of a composite, by position."""

    def __init__(self, value: object, what: str) -> None:
        if not isinstance(value, list):
            raise DecodeError(f"a {what} that is no list")
        self.at = [*cast("list[object]", value), *_NONES]
        """All fields, those too that were left out at the end."""
        self._what = what

    def text(self, position: int) -> str | None:
        value = self.at[position]
        if value is None:
            return None
        if not isinstance(value, str):
            raise DecodeError(f"field {position} of a {self._what} is no text")
        return str(value)

    def number(self, position: int) -> int:
        value = self.at[position]
        if value is None:
            return 0
        if isinstance(value, bool) or not isinstance(value, int):
            raise DecodeError(f"field {position} of a {self._what} is no number")
        return value

    def flag(self, position: int) -> bool:
        value = self.at[position]
        if value is not None and not isinstance(value, bool):
            raise DecodeError(f"field {position} of a {self._what} is no boolean")
        return bool(value)

    def symbols(self, position: int) -> tuple[str, ...]:
        value = self.at[position]
        if value is None:
            return ()
        values = cast("list[object]", value) if isinstance(value, list) else [value]
        if not all(isinstance(one, str) for one in values):
            raise DecodeError(f"field {position} of a {self._what} holds something that is no symbol")
        return tuple(str(one) for one in values)

    def names(self, position: int) -> dict[str, object]:
        value = self.at[position]
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise DecodeError(f"field {position} of a {self._what} is no map")
        names = cast("dict[object, object]", value)
        if not all(isinstance(name, str) and name.isascii() for name in names):
            raise DecodeError(f"field {position} of a {self._what} has a key that is no symbol")
        return {str(name): one for name, one in names.items()}


# --- writing


def encode(value: object) -> bytes:  # noqa: C901, PLR0911  one return a type is the table
    """A plain value again, as it came: for the parts of the peer's attach that ours repeats.

    Raises:
        TypeError: It is of a type that none of those parts has.
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
            raise TypeError(f"a {type(value).__name__} is not repeated in an attach")


def encode_terminus(terminus: Terminus, code: int, outcomes: bytes = b"") -> bytes:
    """A source or target.

    Args:
        terminus: What it says.
        code: `SOURCE` or `TARGET`.
        outcomes: Of a source: the outcomes that it takes, encoded.
    """
    address, capabilities = terminus.address, terminus.capabilities
    is_short = len(address or "") + sum(map(len, capabilities)) <= _SHORT
    if is_short and terminus == Terminus(address=address, capabilities=capabilities):
        return _plain_terminus(address, capabilities, code, outcomes)
    return _encode_terminus(terminus, code, outcomes)


@lru_cache(_REMEMBERED)
def _plain_terminus(address: str | None, capabilities: tuple[str, ...], code: int, outcomes: bytes) -> bytes:
    """One of which nothing else is said, as of most: many links lead to the same few places."""
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
    """A map with symbols as its keys; null for one that is empty."""
    if not names:
        return _NULL
    return types.mapping({types.symbol(name): encode(value) for name, value in names.items()})


def encode_coordinator(capabilities: tuple[str, ...]) -> bytes:
    """The coordinator as a target."""
    return types.described(COORDINATOR, types.fields((types.symbols(capabilities),)))


def with_ends(octets: bytes, name: str, end: AttachEnd) -> tuple[bytes, int | None]:
    """An outgoing frame; if it is this link's attach, with its ends put into it, and the handle that it has.

    Args:
        octets: Any complete frame.
        name: What the engine calls the link.
        end: What the attach says.
    """
    size = len(octets) + len(end.name) + len(end.source) + len(end.target)
    return (_with_ends_again if size <= _SHORT else _with_ends)(octets, name, end)


def _with_ends(octets: bytes, name: str, end: AttachEnd) -> tuple[bytes, int | None]:
    begin = octets[4] * 4
    if not octets.startswith(_HEAD, begin):
        return octets, None
    parts = encoded_items(octets[begin + len(_HEAD) :])
    if simple(parts[_NAME], 0)[0] != name:
        return octets, None
    handle, _ = simple(parts[_HANDLE], 0)
    parts[_NAME] = types.string(end.name)
    parts += [_NULL] * (_PROPERTIES_AT + 1 - len(parts))
    for position, value in (
        (_SOURCE_AT, end.source),
        (_TARGET_AT, end.target),
        (_OFFERED_AT, end.offered),
        (_PROPERTIES_AT, end.properties),
    ):
        parts[position] = value or _NULL
    octets = frame(types.described(ATTACH, types.fields(parts)), channel=int.from_bytes(octets[6:8]))
    return octets, handle if isinstance(handle, int) else None


_with_ends_again = lru_cache(_REMEMBERED)(_with_ends)


def changed(octets: bytes, fields: Mapping[int, bytes]) -> bytes:
    """A performative of the peer's with other fields in it.

    Args:
        octets: The performative, well-formed.
        fields: Encoded values by position.
    """
    at = skip(octets, 1)  # behind the descriptor
    parts = encoded_items(octets[at:])
    for position, value in fields.items():
        parts[position] = value
    return octets[:at] + types.compound(parts)


_LIST8_HEAD, _LIST32_HEAD = 3, 9


def encoded_items(octets: bytes) -> list[bytes]:
    """The encoded items of an encoded list that is not empty."""
    short = octets[0] == 0xC0  # noqa: PLR2004  a list of less than 256 octets
    count = octets[2] if short else int.from_bytes(octets[5:9])
    at = _LIST8_HEAD if short else _LIST32_HEAD
    spans: list[bytes] = []
    for _ in range(count):
        begin, at = at, skip(octets, at)
        spans.append(octets[begin:at])
    return spans
