"""The meaning of sources and targets: destination, subscription and selector (OASIS AMQP 1.0, 3.5).

The name of a temporary destination shows its kind, queue or topic.  For other names, the server finds the kind in this
order: from capabilities, which Qpid JMS writes, from the prefixes ``queue://`` and ``topic://``, and from the queue
manager's objects.

The name of a link names its subscription (``AmqpSubscriptionTracker`` of Qpid JMS).  If the subscription is shared, the
link's name also has a part after the first `DELIMITER`, which only makes the name unique.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.amqp.frames.attach_encoding import encode_terminus
from assay_broker.amqp.frames.attaches import DEFAULT_EXPIRY, SOURCE, AttachFrame, Terminus
from assay_broker.amqp.messages.addresses import written
from assay_broker.amqp.messages.dispositions import described
from assay_broker.core.objects.names import TEMPORARY_PREFIXES
from assay_broker.core.topics.subscriptions import Terms
from assay_sdk.amqp import types
from assay_sdk.amqp.terms import DELIMITER, GLOBAL, NO_LOCAL_CODE, SELECTOR, SELECTOR_CODE, SHARED
from assay_sdk.amqp.types import Described, Symbol
from assay_sdk.driver import Durability, Outcome
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc, Refused, refused

KindOf = Callable[[str], AddressKind]
"""A function that returns the kind of destination for a name that a client gave without a kind."""

_OUTCOMES = ("amqp:accepted:list", "amqp:rejected:list", "amqp:released:list", "amqp:modified:list")
_DECLARED = "amqp:declared:list"
"""The outcome *declared*, which only a link to the transaction coordinator may support."""
OUTCOMES = types.symbols(_OUTCOMES)
"""The outcomes that the server's sources support, encoded."""


def senders(source: Terminus | None) -> bytes:
    """Encode the source of a client's sending link, with the outcomes that the server supports (AMQP 1.0, 2.6.3)."""
    if source is None:
        return b""
    return encode_terminus(source, SOURCE, _known(source.outcomes) if source.outcomes else OUTCOMES)


@lru_cache(64)
def _known(outcomes: tuple[str, ...]) -> bytes:
    return types.symbols(name for name in (*_OUTCOMES, _DECLARED) if name in outcomes)


_KINDS = tuple((kind, kind.value) for kind in AddressKind)

_SELECTORS = frozenset({SELECTOR_CODE, "apache.org:selector-filter:string"})
_NO_LOCALS = frozenset({NO_LOCAL_CODE, "apache.org:no-local-filter:list"})
"""`_SELECTORS` and `_NO_LOCALS` are the descriptors of the filters, numeric and symbolic (registry at apache.org)."""

_NEVER = "never"
_MS = 1000
_DELETE_ON_CLOSE = Described(0x2B, [])
"""The lifetime policy of temporary destinations: the destination ends when its link is closed (AMQP 1.0, 3.5.10)."""

_QUEUES = (AddressKind.QUEUE, AddressKind.TEMPORARY_QUEUE)


class Reception(Struct, frozen=True, kw_only=True):
    """The meaning of a receiver's source.

    Args:
        address: The destination.
        source: The source as the server applies it, for the server's attach.
        selector: The JMS selector; None for no selector.
        no_local: Whether to leave out messages sent by the same connection or under the same client id.
        durability: The kind of subscription.
        name: The subscription's name; None for no name.
        shared: Whether the subscription is shared.
        is_global: Whether the subscription belongs to no client id.
        timeout_ms: The time for which a durable subscription outlives its receivers, in milliseconds; None for ever.
        made: Whether the destination is temporary and created for this link.
        browse: Whether the link only browses.
        default: The outcome of unsettled deliveries at the link's end.
        settled: The outcome of a delivery that the client settles without an outcome: the source's default outcome or,
            as MQ Light clients expect, *accepted*.
    """

    address: Address
    source: Terminus
    selector: str | None = None
    no_local: bool = False
    durability: Durability = Durability.NON_DURABLE
    name: str | None = None
    shared: bool = False
    is_global: bool = False
    timeout_ms: int | None = None
    made: bool = False
    browse: bool = False
    default: Outcome = Outcome.MODIFIED
    settled: Outcome = Outcome.ACCEPTED


class Sending(Struct, frozen=True, kw_only=True):
    """The meaning of a sender's target.

    Args:
        address: The destination; None if each message names its own destination.
        target: The target as the server applies it, for the server's attach.
        made: Whether the destination is temporary and created for this link.
    """

    address: Address | None
    target: Terminus
    made: bool = False


def destination(name: str, capabilities: tuple[str, ...], kind_of: KindOf) -> Address:
    """Return the queue or topic that a name means.

    Args:
        name: The name, perhaps with a prefix.
        capabilities: The capabilities of the source or target.
        kind_of: Returns the kind of a destination; called if neither the name nor a capability shows the kind.
    """
    said = next((kind for kind, capability in _KINDS if capability in capabilities), None)
    return written(name, said) or Address(kind_of(name), name)


def named(to: Address, kind_of: KindOf) -> Address:
    """Return the destination that a message on the anonymous relay names.

    A client marks a message for a topic or a temporary destination (``x-opt-jms-dest``).  If the message seems to be
    for a queue, its client may have named no kind at all, so `kind_of` decides.
    """
    return destination(to.name, () if to.kind is AddressKind.QUEUE else (to.kind.value,), kind_of)


def _made(capabilities: tuple[str, ...]) -> Address:
    """Return a new address for a temporary destination."""
    topic = AddressKind.TEMPORARY_TOPIC.value in capabilities or AddressKind.TOPIC.value in capabilities
    kind = AddressKind.TEMPORARY_TOPIC if topic else AddressKind.TEMPORARY_QUEUE
    return Address(kind, TEMPORARY_PREFIXES[kind] + uuid4().hex)


def _as_made(terminus: Terminus, address: Address) -> Terminus:
    return replace(
        terminus,
        address=address.name,
        node_properties={"lifetime-policy": _DELETE_ON_CLOSE},
        capabilities=(address.kind.value,),
    )


def sending(target: Terminus, kind_of: KindOf) -> Sending:
    """Return the meaning of a sender's target."""
    if target.dynamic:
        address = _made(target.capabilities)
        return Sending(address=address, target=_as_made(target, address), made=True)
    if target.address is None:
        return Sending(address=None, target=target)
    return Sending(address=destination(target.address, target.capabilities, kind_of), target=target)


def reception(attach: AttachFrame, source: Terminus, kind_of: KindOf) -> Reception | Refused:
    """Return the meaning of a receiver's source, or a refusal if the source is not valid."""
    if source.dynamic:
        address = _made(source.capabilities)
        source = _as_made(source, address)
    elif source.address is None:
        return refused(Mqrc.UNKNOWN_OBJECT_NAME, "The source of a receiver must name a queue or a topic.")
    else:
        address = destination(source.address, source.capabilities, kind_of)
    selector, no_local, filters = _filters(source)
    if isinstance(selector, Refused):
        return selector
    is_queue = address.kind in _QUEUES
    if is_queue:
        filters.pop(no_local or "", None)
    default = described(source.default_outcome, Outcome.MODIFIED)  # JMS counts a delivery without an outcome as failed
    plan = Reception(
        address=address,
        source=_of_queue(source, filters) if is_queue else replace(source, filters=filters),
        selector=selector,
        no_local=no_local is not None and not is_queue,
        made=source.dynamic,
        browse=is_queue and source.mode == "copy",
        default=default,
        settled=Outcome.ACCEPTED if source.default_outcome is None else default,
    )
    return plan if is_queue else _subscribing(attach, plan)


def _of_queue(source: Terminus, filters: Mapping[str, object]) -> Terminus:
    """Return the source of a receiver on a queue, with the distribution mode and expiry that the server applies."""
    mode = "copy" if source.mode == "copy" else "move"
    if source.dynamic:
        return replace(source, filters=filters, mode=mode)
    return replace(source, filters=filters, mode=mode, durable=0, expiry=DEFAULT_EXPIRY, timeout_s=0)


def _subscribing(attach: AttachFrame, plan: Reception) -> Reception:
    """Return the meaning of a receiver's source on a topic, with the subscription that the link's name identifies.

    A non-durable subscription has a name, too: if a durable subscription of this name still has time to live, the
    receiver gets that one (QS-20).
    """
    source = plan.source
    shared = SHARED in source.capabilities
    never, timeout_ms = source.expiry == _NEVER, source.timeout_s * _MS
    lasts = bool(source.durable) or never or timeout_ms > 0
    return replace(
        plan,
        durability=Durability.DURABLE if lasts else Durability.NON_DURABLE,
        name=subscription_name(attach.name, shared=shared),
        shared=shared,
        is_global=shared and GLOBAL in source.capabilities,
        timeout_ms=None if never or (shared and not lasts) else timeout_ms,
    )


def subscription_name(link: str, *, shared: bool) -> str:
    """Return the name of the subscription that belongs to a link's name."""
    return link.partition(DELIMITER)[0] if shared else link


def looks_for_global(attach: AttachFrame) -> bool:
    """Return whether an attach without a source asks for a subscription that belongs to no client id."""
    return GLOBAL in attach.desired or attach.name.partition(DELIMITER)[2].startswith(GLOBAL)


def found_source(terms: Terms) -> Terminus:
    """Return the source of a subscription that a look-up has found."""
    capabilities = [terms.topic.kind.value]
    if terms.shared:
        capabilities.append(SHARED)
        if terms.client_id is None:
            capabilities.append(GLOBAL)
    selector = {SELECTOR: Described(SELECTOR_CODE, terms.selector)} if terms.selector else {}
    return Terminus(
        address=terms.topic.name,
        durable=2,
        expiry=_NEVER if terms.timeout_ms is None else "link-detach",
        timeout_s=-(-(terms.timeout_ms or 0) // _MS),
        mode="copy",
        filters=selector,
        capabilities=tuple(capabilities),
    )


def _filters(source: Terminus) -> tuple[str | Refused | None, str | None, dict[str, object]]:
    """Return the selector, the key of the no-local filter, and the filters that the server applies.

    The selector is None if the source has none, and a refusal if its value is not a text.
    """
    selector: str | Refused | None = None
    no_local: str | None = None
    honoured: dict[str, object] = {}
    for key, value in source.filters.items():
        descriptor = value.descriptor if isinstance(value, Described) else key
        inner = value.value if isinstance(value, Described) else value
        if descriptor in _SELECTORS or (not isinstance(value, Described) and key == SELECTOR):
            if not isinstance(inner, str) or isinstance(inner, Symbol):
                selector = refused(Mqrc.SELECTOR_SYNTAX_ERROR, f"The filter {key!r} holds no text: write a selector.")
                break
            selector, honoured[key] = inner, value
        elif descriptor in _NO_LOCALS:
            no_local, honoured[key] = key, value
    return selector, no_local, honoured
