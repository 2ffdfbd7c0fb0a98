"""The attaches of client and server (OASIS AMQP 1.0, 2.7.3, 3.5), and the reading of the client's attach.

`assay_broker.amqp.frames.attach_encoding` encodes the server's attach.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
"""The positions of the fields of an attach that the server uses."""

_MOST_OF_END = 11
"""The number of fields of a source; a target has fewer."""
DEFAULT_EXPIRY = "session-end"
_MIXED = 2


class Terminus(Struct, frozen=True, kw_only=True):
    """A source or target of an attach.

    Args:
        address: The node's address; None for no address.
        durable: The terminus's durability: 0 none, 1 configuration, 2 unsettled state.
        expiry: The event at which the timeout of the terminus begins: ``link-detach``, ``session-end``,
            ``connection-close`` or ``never``.
        timeout_s: The time for which the terminus lasts after this event, in seconds.
        dynamic: Whether the server shall create a node.
        node_properties: The properties of the node to create.
        mode: The distribution mode, ``move`` or ``copy``; None if the attach names none.
        filters: The filters by key, as described values.
        default_outcome: The outcome of deliveries that are unsettled at the link's end; None for no such outcome.
        outcomes: The outcomes of a source; empty if the attach names none.
        capabilities: The terminus's capabilities.
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
    """The transaction coordinator as a target (AMQP 1.0, 4.5.1)."""

    capabilities: tuple[str, ...] = ()


class UnreportedFields:
    """The fields that the engine does not report, from the client's flows and transfers on one link.

    This object stores them until the link handles them:

    - of a flow: ``echo``, the properties, and each new ``drain`` (AMQP 1.0, 2.7.4)
    - of a transfer: ``resume``, and a mistake in its message-format or delivery-tag (AMQP 1.0, 2.7.5)
    """

    __slots__ = ("acquires", "begun", "drain", "echo", "flawed", "marked")

    def __init__(self) -> None:
        self.acquires: Acquires | None = None
        """A flow's request to acquire further deliveries in a transaction (AMQP 1.0, 4.4.3); None without a request."""
        self.begun: DeliveryStart | None = None
        """The delivery that the client has sent only in part so far; None for no such delivery."""
        self.marked: dict[bytes, str | None] = {}
        """The deliveries that the server does not accept, by tag, each with a sentence about its mistake.

        The sentence is None for a delivery that has no mistake, but began before the link was attached.
        """
        self.flawed = False
        """Whether a delivery in `marked` has a mistake."""
        self.drain = False
        """Whether the client has asked for a drain that the server has not answered yet."""
        self.echo = False
        """Whether the client has asked for a flow that the server has not sent yet."""

    def mark(self, delivery: DeliveryStart, flaw: str) -> None:
        """Mark a delivery whose mistake makes the server detach the link; only the first mistake on a link is stored.

        Args:
            delivery: The delivery. The mark is stored under the delivery's tag. If the engine has not reported an
                earlier delivery with the same tag yet, the server detaches the link as soon as the engine reports the
                earlier one.
            flaw: A sentence that describes the mistake.
        """
        if not self.flawed:
            self.flawed = True
            self.marked[delivery.tag or b""] = flaw


class AttachFrame(Struct, frozen=True, kw_only=True):
    """The fields of the client's attach.

    Args:
        name: The link's name.
        engine_name: The link's name in the engine.  It differs from ``name`` only if the engine needs another name
            (`needs_new_name`).
        handle: The client's handle.
        receives: Whether the client is the link's receiver.
        snd_settle_mode: The sender's settlement mode: 0 unsettled, 1 settled, 2 mixed.
        rcv_settle_mode: The receiver's settlement mode: 0 first, 1 second.
        source: The source; None for null.
        target: The target; None for null.
        desired: The desired capabilities of the link.
        properties: The properties of the link.
        unreported: The fields of later frames that the engine does not report.
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


def needs_new_name(attach: AttachFrame, others: Iterable[AttachFrame]) -> bool:
    """Return whether the engine needs another name for a link.

    A second attach with a link's name steals the link (AMQP 1.0, 2.6.1).  The engine cannot do this, so it gets the
    second link under a new name.  A link whose name has a NUL also gets a new name, because the engine's C code would
    cut the name at the NUL.

    Args:
        attach: The attach of the link.
        others: The attaches of the session's other links.
    """
    return "\0" in attach.name or any(
        one.engine_name == attach.name and one.receives is attach.receives for one in others
    )


_LONGEST_REST = 52
"""The most octets of the server's attach without its fields of variable length."""


class AttachReply(Struct, frozen=True, kw_only=True):
    """The fields of the server's attach; fields of type bytes are encoded, and empty for null.

    Args:
        name: The link's name.
        max_message_size: The most octets of a message that the server accepts; 0 for no limit.
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
        """The length of the fields that depend on the client, in octets; of the name, in characters."""
        return len(self.name) + len(self.source) + len(self.target) + len(self.properties)

    @property
    def longest(self) -> int:
        """The highest possible length of the attach's frame, in octets; the engine encodes small numbers shorter."""
        return (
            _LONGEST_REST + len(self.name.encode(errors="replace")) + self.varying - len(self.name) + len(self.offered)
        )


def read(fields: Sequence[Any]) -> AttachFrame:
    """Return the client's attach from its decoded fields.

    Args:
        fields: All fields of the attach, whose types `assay_broker.amqp.frames.performatives` has checked.

    Raises:
        DecodeError: A value inside a field, such as a capability, is of a wrong type.
    """
    return AttachFrame(
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
    """Return the descriptor code of a source or target, and all its fields; a missing field is None.

    Raises:
        DecodeError: The value is of none of the types in ``codes``.
    """
    code = _ENDS.get(value.descriptor)
    if code not in codes:
        raise DecodeError("an attach whose source or target is of another type")
    return code, (*cast("list[object]", value.value), *(None,) * _MOST_OF_END)


def _terminus(fields: Sequence[Any], *, capabilities: object) -> Terminus:
    """Return a terminus with the fields that both sources and targets have."""
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
"""The descriptors of the lifetime policies (AMQP 1.0, 3.5.10 to 3.5.13)."""


def _of_node(properties: dict[str, object]) -> dict[str, object]:
    """Return the properties of a node to create (AMQP 1.0, 3.5.9), if their types are right.

    Raises:
        DecodeError: A property is of a wrong type.
    """
    policy, modes = properties.get("lifetime-policy"), properties.get("supported-dist-modes")
    if policy is not None and not (isinstance(policy, Described) and policy.descriptor in _LIFETIMES):
        raise DecodeError("an unknown lifetime policy")
    if modes is not None and not all(isinstance(one, str) for one in (modes if isinstance(modes, list) else [modes])):
        raise DecodeError("supported distribution modes that are not symbols")
    return properties


def _symbols(value: object) -> tuple[str, ...]:
    found = symbols(value)
    if value is not None and len(found) != (len(cast("list[object]", value)) if isinstance(value, list) else 1):
        raise DecodeError("an attach with a capability or an outcome that is not a symbol")
    return found


def _names(value: dict[object, object] | None) -> dict[str, object]:
    names = value or {}
    if not all(isinstance(name, str) and name.isascii() for name in names):
        raise DecodeError("an attach with a key that is not a symbol")
    return {str(name): one for name, one in names.items()}
