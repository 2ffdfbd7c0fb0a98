"""Attaches (OASIS AMQP 1.0, 2.7.3, 3.5): the client's, read with all its fields, and ours.

How ours is written is `assay_broker.amqp.frames.attach_encoding`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec import Struct, field
from msgspec.structs import replace

from assay_broker.amqp.frames.fields import Acquires, symbols
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

_MOST_OF_END = 11
"""Fields of a source, the most that an end of a link has."""
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


def read(fields: Sequence[Any]) -> Attach:
    """Read the client's attach.

    Args:
        fields: All fields of the attach, decoded and of the right types (`assay_broker.amqp.frames.performatives`).

    Raises:
        DecodeError: Something within them is of a wrong type.
    """
    return Attach(
        name=fields[NAME],
        engine_name=fields[NAME],
        handle=fields[HANDLE],
        receives=fields[ROLE],
        snd_settle_mode=_MIXED if fields[SND_MODE] is None else fields[SND_MODE],
        rcv_settle_mode=fields[RCV_MODE] or 0,
        source=_source(fields[SOURCE_AT]),
        target=_target(fields[TARGET_AT]),
        desired=_symbols(fields[DESIRED_AT]),
        properties=_names(fields[PROPERTIES_AT]),
    )


def _source(value: Described | None) -> Terminus | None:
    if value is None:
        return None
    _, fields = _end(value, SOURCE)
    return replace(
        _terminus(fields, capabilities=fields[10]),
        mode=fields[6],
        filters=_names(fields[7]),
        default_outcome=fields[8],
        outcomes=_symbols(fields[9]),
    )


def _target(value: Described | None) -> Terminus | Coordinator | None:
    if value is None:
        return None
    code, fields = _end(value, TARGET, COORDINATOR)
    return Coordinator(_symbols(fields[0])) if code == COORDINATOR else _terminus(fields, capabilities=fields[6])


def _end(value: Described, *codes: int) -> tuple[int, Sequence[Any]]:
    """Return the code of a source or target, and its fields with None for those left out."""
    code = _ENDS.get(value.descriptor)
    if code not in codes:
        raise DecodeError("an attach whose source or target is of another type")
    return code, (*cast("list[object]", value.value), *(None,) * _MOST_OF_END)


def _terminus(fields: Sequence[Any], *, capabilities: object) -> Terminus:
    """Read the fields that sources and targets have in common."""
    address, durable, expiry, timeout_s, dynamic, node = fields[:6]
    return Terminus(
        address=address,
        durable=durable or 0,
        expiry=expiry or DEFAULT_EXPIRY,
        timeout_s=timeout_s or 0,
        dynamic=bool(dynamic),
        node_properties=_of_node(_names(node)),
        capabilities=_symbols(capabilities),
    )


_LIFETIMES = frozenset((0x2B, 0x2C, 0x2D, 0x2E)) | {
    f"amqp:delete-on-{when}:list" for when in ("close", "no-links", "no-messages", "no-links-or-messages")
}
"""Lifetime policies by their descriptors (3.5.10 to 3.5.13)."""


def _of_node(properties: dict[str, object]) -> dict[str, object]:
    """Check the types of the properties of a node to be made (3.5.9)."""
    policy, modes = properties.get("lifetime-policy"), properties.get("supported-dist-modes")
    if policy is not None and not (isinstance(policy, Described) and policy.descriptor in _LIFETIMES):
        raise DecodeError("an unknown lifetime policy")
    if modes is not None and not all(isinstance(one, str) for one in (modes if isinstance(modes, list) else [modes])):
        raise DecodeError("supported distribution modes that are no symbols")
    return properties


def _symbols(value: object) -> tuple[str, ...]:
    found = symbols(value)
    if value is not None and len(found) != (len(cast("list[object]", value)) if isinstance(value, list) else 1):
        raise DecodeError("an attach with a capability or an outcome that is no symbol")
    return found


def _names(value: dict[object, object] | None) -> dict[str, object]:
    names = value or {}
    if not all(isinstance(name, str) and name.isascii() for name in names):
        raise DecodeError("an attach with a key that is no symbol")
    return {str(name): one for name, one in names.items()}
