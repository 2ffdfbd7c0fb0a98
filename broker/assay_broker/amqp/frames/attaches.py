"""Attaches (OASIS AMQP 1.0, 2.7.3, 3.5): the client's, read with all its fields, and ours.

How ours is written is `assay_broker.amqp.frames.attach_encoding`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar, cast

from msgspec import Struct, field

from assay_broker.amqp.frames.fields import Acquires
from assay_broker.amqp.frames.transfers import DeliveryStart
from assay_sdk.amqp.types import DecodeError, Described

ATTACH = 0x12
SOURCE, TARGET, COORDINATOR = 0x28, 0x29, 0x30

_ENDS: Mapping[object, int] = {
    SOURCE: SOURCE,
    "amqp:source:list": SOURCE,
    TARGET: TARGET,
    "amqp:target:list": TARGET,
    COORDINATOR: COORDINATOR,
    "amqp:coordinator:list": COORDINATOR,
}

NAME, HANDLE, ROLE, SND_MODE, RCV_MODE, SOURCE_AT, TARGET_AT = range(7)
OFFERED_AT, DESIRED_AT, PROPERTIES_AT = 11, 12, 13
"""Positions of the fields of an attach that the server uses."""

DEFAULT_EXPIRY = "session-end"
_MIXED = 2


class Terminus(Struct, frozen=True, kw_only=True):
    """A source or target of an attach.

    Args:
        address: The node; None for none.
        durable: 0 not, 1 its configuration, 2 what is unsettled too.
        expiry: When its time begins to run: ``link-detach``, ``session-end``, ``connection-close`` or ``never``.
        timeout_s: How long it then lasts, in seconds.
        dynamic: Whether a node is to be made for it.
        node_properties: Of the node to be made.
        mode: Distribution mode, ``move`` or ``copy``; None for either.
        filters: By key: what they are and what they hold.
        default_outcome: The outcome of unsettled deliveries at the link's end; None for none.
        outcomes: Those that a source knows; empty for nothing said.
        capabilities: Its capabilities.
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
    outcomes: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()


class Coordinator(Struct, frozen=True):
    """The transaction coordinator as a target (4.5.1)."""

    capabilities: tuple[str, ...] = ()


class UnreportedFields:
    """Fields of the client's frames on a link that the engine does not report, kept until they are acted on.

    It drops ``echo`` and the properties of a flow (2.7.4), tells of ``drain`` for as long as it stands, and takes a
    transfer with ``resume`` for any other; and it tells nothing of a message format or a tag left out (2.7.5).
    """

    __slots__ = ("acquires", "begun", "drain", "echo", "flawed", "marked")

    def __init__(self) -> None:
        self.acquires: Acquires | None = None
        """In which transaction deliveries are to be acquired from now on (4.4.3); None if the client has not said."""
        self.begun: DeliveryStart | None = None
        """The delivery of which the client sends more transfers."""
        self.marked: dict[bytes, str | None] = {}
        """Deliveries that are not accepted, by their tags: a sentence says what is wrong with their transfers; None
        marks those that began before the link was attached."""
        self.flawed = False
        """Whether one of them has a sentence."""
        self.drain = False
        """Whether the client has asked to drain the credit and was not answered."""
        self.echo = False
        """Whether the client has asked for a flow and was not answered."""

    def mark(self, delivery: DeliveryStart, flaw: str) -> None:
        """Mark a delivery for which the link is to be detached. Only the first is kept.

        Args:
            delivery: The delivery.  An earlier one with the same tag, of which the engine has not told yet, ends the
                link in its place.
            flaw: What is wrong with it.
        """
        if not self.flawed:
            self.flawed = True
            self.marked[delivery.tag or b""] = flaw


class Attach(Struct, frozen=True, kw_only=True):
    """The fields of the client's attach.

    Args:
        name: The link's name.
        engine_name: Its name in the engine.
        handle: The client's handle in this session.
        receives: Whether the client is the receiver.
        snd_settle_mode: 0 unsettled, 1 settled, 2 mixed.
        rcv_settle_mode: 0 first, 1 second.
        source: The source; None for none.
        target: The target; None for none.
        desired: Desired capabilities of the link.
        properties: Of the link.
        unreported: Fields of later frames that the engine does not report.
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
    unreported: UnreportedFields = field(default_factory=UnreportedFields)


_LONGEST_REST = 52
"""Octets that the frame of our attach has besides, at most."""


class AttachReply(Struct, frozen=True, kw_only=True):
    """The fields of our attach; source, target and others as encoded values, empty for null.

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

    @property
    def varying(self) -> int:
        """Octets of the fields that depend on the client."""
        return len(self.name) + len(self.source) + len(self.target) + len(self.properties)

    @property
    def longest(self) -> int:
        """The most octets that the frame can have; the engine chooses the width of its numbers."""
        return (
            _LONGEST_REST + len(self.name.encode(errors="replace")) + self.varying - len(self.name) + len(self.offered)
        )


def read(performative: object) -> Attach:
    """Read the client's attach.

    Args:
        performative: The fields of the attach, decoded.

    Raises:
        DecodeError: One of them is of a wrong type.
    """
    fields = _Fields(performative, "link's attach")
    name = fields.text(NAME)
    if name is None or fields.at[HANDLE] is None or fields.at[ROLE] is None:
        raise DecodeError("an attach without a name, a handle, or a role")
    return Attach(
        name=name,
        engine_name=name,
        handle=fields.number(HANDLE),
        receives=fields.flag(ROLE),
        snd_settle_mode=_MIXED if fields.at[SND_MODE] is None else fields.number(SND_MODE),
        rcv_settle_mode=fields.number(RCV_MODE),
        source=_source(fields.at[SOURCE_AT]),
        target=_target(fields.at[TARGET_AT]),
        desired=fields.symbols(DESIRED_AT),
        properties=fields.names(PROPERTIES_AT),
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
        outcomes=fields.symbols(9),
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
    outcomes: tuple[str, ...] = (),
) -> Terminus:
    """Read the fields that sources and targets have in common, and add the others."""
    return Terminus(
        address=fields.text(0),
        durable=fields.number(1),
        expiry=fields.text(2) or DEFAULT_EXPIRY,
        timeout_s=fields.number(3),
        dynamic=fields.flag(4),
        node_properties=_of_node(fields.names(5)),
        mode=mode,
        filters=filters,
        default_outcome=default_outcome,
        outcomes=outcomes,
        capabilities=capabilities,
    )


_LIFETIMES = frozenset((0x2B, 0x2C, 0x2D, 0x2E)) | {
    f"amqp:delete-on-{when}:list" for when in ("close", "no-links", "no-messages", "no-links-or-messages")
}
"""Lifetime policies by their descriptors (3.5.10 to 3.5.13)."""


def _of_node(properties: dict[str, object]) -> dict[str, object]:
    """Check the types of the properties of a node to be made (3.5.9)."""
    policy, modes = properties.get("lifetime-policy"), properties.get("supported-dist-modes")
    if policy is not None and not (isinstance(policy, Described) and policy.descriptor in _LIFETIMES):
        raise DecodeError("a lifetime policy that is none")
    if modes is not None and not all(isinstance(one, str) for one in (modes if isinstance(modes, list) else [modes])):
        raise DecodeError("supported distribution modes that are no symbols")
    return properties


_Kind = TypeVar("_Kind", str, int, bool, dict[object, object])
_KINDS: Mapping[type, str] = {str: "text", int: "number", bool: "boolean", dict: "map"}
_NONES = (None,) * (PROPERTIES_AT + 1)


class _Fields:
    """The fields of a composite, by position."""

    def __init__(self, value: object, what: str) -> None:
        if not isinstance(value, list):
            raise DecodeError(f"a {what} that is no list")
        self.at = [*cast("list[object]", value), *_NONES]
        """All fields, including those left out at the end."""
        self._what = what

    def text(self, position: int) -> str | None:
        value = self._typed(position, str)
        return None if value is None else str(value)  # a symbol becomes a plain text

    def number(self, position: int) -> int:
        return self._typed(position, int) or 0

    def flag(self, position: int) -> bool:
        return bool(self._typed(position, bool))

    def symbols(self, position: int) -> tuple[str, ...]:
        value = self.at[position]
        if value is None:
            return ()
        values = cast("list[object]", value) if isinstance(value, list) else [value]
        if not all(isinstance(one, str) for one in values):
            raise DecodeError(f"field {position} of a {self._what} holds something that is no symbol")
        return tuple(str(one) for one in values)

    def names(self, position: int) -> dict[str, object]:
        names: dict[object, object] = self._typed(position, dict) or {}
        if not all(isinstance(name, str) and name.isascii() for name in names):
            raise DecodeError(f"field {position} of a {self._what} has a key that is no symbol")
        return {str(name): one for name, one in names.items()}

    def _typed(self, position: int, kind: type[_Kind]) -> _Kind | None:
        value = self.at[position]
        if value is None or (isinstance(value, kind) and isinstance(value, bool) is (kind is bool)):
            return value
        raise DecodeError(f"field {position} of a {self._what} is no {_KINDS[kind]}")
