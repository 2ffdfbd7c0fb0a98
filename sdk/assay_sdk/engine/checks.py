"""What the client refuses by itself, before anything is sent: one row a rule.

`CAPABILITIES` says what a wire must be able to do and always holds; `RULES` are the documents' rules for clients and
can be switched off for a connection, so that the broker's own answer is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from msgspec import Struct

from assay_sdk.driver import Durability
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.settings import DEFAULT_PRIORITY, MAX_PRIORITY, DeliveryMode, ProducerSettings, Source
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import AddressKind
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused

PeerProperties = Mapping[str, str | int | bool]

LEVEL_PROPERTY = "x-opt-mq-level"
"""Where a queue manager names its level when the connection opens (I-6); absent elsewhere."""

_DELAY_SINCE = (8, 0)
"""The first level with delivery delay (DD-10)."""


class Moment(StrEnum):
    """When a rule is looked at."""

    SET_TTL = "set-time-to-live"
    SET_DELAY = "set-delivery-delay"
    SEND = "send"


class ProducerRule(Struct, frozen=True):
    """A rule on what a producer is set to.

    Args:
        rule: Its id in the catalogue.
        moment: When it is looked at.
        broken: Whether these settings, with what the peer said of itself, break it.
        mqrc: Its reason.
        text: What the application is told; ``{ttl_ms}`` and ``{delay_ms}`` are filled in.
    """

    rule: str
    moment: Moment
    broken: Callable[[ProducerSettings, PeerProperties], bool]
    mqrc: Mqrc
    text: str


def _expires_before_due(settings: ProducerSettings, peer: PeerProperties) -> bool:
    """A message that never expires (0) is never refused; equal is allowed: the reading of DD-12."""
    del peer
    return 0 < settings.ttl_ms < settings.delay_ms


def _peer_is_too_old(settings: ProducerSettings, peer: PeerProperties) -> bool:
    level = peer.get(LEVEL_PROPERTY)
    if settings.delay_ms == 0 or not isinstance(level, str):
        return False
    return tuple(int(part) for part in level.split(".") if part.isdecimal()) < _DELAY_SINCE


RULES: tuple[ProducerRule, ...] = (
    ProducerRule(
        "DD-10",
        Moment.SET_DELAY,
        _peer_is_too_old,
        Mqrc.FUNCTION_NOT_SUPPORTED,
        "the queue manager is older than level 8.0, so it has no delivery delay: leave the delay at 0",
    ),
    ProducerRule(
        "DD-12",
        Moment.SET_TTL,
        _expires_before_due,
        Mqrc.EXPIRY_ERROR,
        "a time to live of {ttl_ms} ms would end before the delivery delay of {delay_ms} ms: make it at least as long",
    ),
    ProducerRule(
        "DD-13",
        Moment.SET_DELAY,
        _expires_before_due,
        Mqrc.EXPIRY_ERROR,
        "a delivery delay of {delay_ms} ms would outlast the time to live of {ttl_ms} ms: make it at most as long",
    ),
    ProducerRule(
        "DD-14",
        Moment.SEND,
        _expires_before_due,
        Mqrc.EXPIRY_ERROR,
        "this send's time to live of {ttl_ms} ms would end before the delivery delay of {delay_ms} ms:"
        " make it at least as long",
    ),
)


def check_rules(moment: Moment, settings: ProducerSettings, peer: PeerProperties, to: str) -> None:
    """Hold a producer's settings against the rules of a moment.

    Args:
        moment: Which rules.
        settings: As they would be.
        peer: What the peer said of itself.
        to: The destination's name, for the refusal.

    Raises:
        RefusedError: The first rule broken.
    """
    for rule in RULES:
        if rule.moment is moment and rule.broken(settings, peer):
            text = rule.text.format(ttl_ms=settings.ttl_ms, delay_ms=settings.delay_ms)
            raise RefusedError(refused(rule.mqrc, f"{rule.mqrc.label}: {text}", *([to] if to else [])))


def check_client_id(source: Source, client_id: str | None) -> None:
    """PD-17: an unshared durable subscription is named by client id and name (JMS 8.3.3), so it needs the former.

    Raises:
        RefusedError: There is no client id.
    """
    if source.durability is Durability.DURABLE and not source.shared and client_id is None:
        raise RefusedError(
            Refused(
                JmsErrorKind.ILLEGAL_STATE,
                f"the durable subscription {source.name!r} needs a client id: connect with one, or share it",
                objects=(source.name,) if source.name else (),
            )
        )


def _is_topic(source: Source) -> bool:
    return source.address.kind in {AddressKind.TOPIC, AddressKind.TEMPORARY_TOPIC}


PRODUCER_CAPABILITIES: tuple[tuple[Capability, Callable[[ProducerSettings], bool]], ...] = (
    (Capability.DELIVERY_DELAY, lambda settings: settings.delay_ms > 0),
    (Capability.TIME_TO_LIVE, lambda settings: settings.ttl_ms > 0),
    (Capability.PRIORITY, lambda settings: settings.priority != DEFAULT_PRIORITY),
    (Capability.NON_PERSISTENT, lambda settings: settings.mode is DeliveryMode.NON_PERSISTENT),
)
"""What a send asks of the wire."""

CONSUMER_CAPABILITIES: tuple[tuple[Capability, Callable[[Source], bool]], ...] = (
    (Capability.SELECTOR, lambda source: bool(source.selector)),
    (Capability.TOPIC, _is_topic),
    (Capability.DURABLE_SUBSCRIPTION, lambda source: source.durability is Durability.DURABLE),
    (Capability.SHARED_SUBSCRIPTION, lambda source: source.shared),
)
"""What a consumer asks of the wire."""


def need(capability: Capability, offered: frozenset[Capability]) -> None:
    """Ask for a capability.

    Raises:
        RefusedError: The wire does not offer it.
    """
    if capability not in offered:
        raise RefusedError(
            Refused(
                JmsErrorKind.UNSUPPORTED,
                f"this connection has no {capability.value}: its driver or broker does not offer it",
                objects=(capability.value,),
            )
        )


def check_send_capabilities(settings: ProducerSettings, offered: frozenset[Capability]) -> None:
    """Ask for everything that a send with these settings needs.

    Raises:
        RefusedError: The wire lacks something.
    """
    for capability, asked in PRODUCER_CAPABILITIES:
        if asked(settings):
            need(capability, offered)


def check_source_capabilities(source: Source, offered: frozenset[Capability]) -> None:
    """Ask for everything that a consumer needs.

    Raises:
        RefusedError: The wire lacks something.
    """
    for capability, asked in CONSUMER_CAPABILITIES:
        if asked(source):
            need(capability, offered)


def check_priority(priority: object) -> None:
    """JMS 3.4.10: ten levels.

    Raises:
        RefusedError: It is not an integer of 0 to 9.
    """
    if isinstance(priority, bool) or not isinstance(priority, int) or not 0 <= priority <= MAX_PRIORITY:
        raise RefusedError(
            refused(Mqrc.PRIORITY_ERROR, f"a priority is an integer from 0 to {MAX_PRIORITY}, not {priority!r}")
        )
