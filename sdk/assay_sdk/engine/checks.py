"""What the client refuses by itself, before anything is sent: one row a rule.

`CAPABILITIES` says what a wire must be able to do and always holds; `RULES` are the documents' rules for clients and
can be switched off for a connection, so that the broker's own answer is seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

from assay_sdk.driver import CLUSTERED_PROPERTY, DEFBIND_PROPERTY, LEVEL_PROPERTY, Durability, PeerProperties
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.settings import (
    AS_DESTINATION,
    DEFAULT_PRIORITY,
    MAX_PRIORITY,
    DeliveryMode,
    ProducerSettings,
    Source,
)
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.properties import LAST_IN_GROUP, RETAIN, RETAIN_PUBLICATION
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused

_PRIORITIES = frozenset({AS_DESTINATION, *range(MAX_PRIORITY + 1)})
"""What a producer's priority may be (JMS 3.4.10, DELAY:58)."""

_TOPICS = frozenset({AddressKind.TOPIC, AddressKind.TEMPORARY_TOPIC})

_DELAY_SINCE = (8, 0)
"""The first level with delivery delay (DD-10)."""

_LEVEL = re.compile(r"(?P<version>[0-9]{1,4})(?:\.(?P<release>[0-9]{1,4}))?(?:\.[0-9]{1,4})*", re.ASCII)

_DEFBIND_WITHOUT_DELAY = frozenset({"OPEN", "GROUP"})
"""The values of DEFBIND with which a clustered destination takes no delay: all but NOTFIXED (DD-11)."""


class Moment(StrEnum):
    """When a rule is looked at."""

    SET_TTL = "set-time-to-live"
    SET_DELAY = "set-delivery-delay"
    SEND = "send"


class SettingsToCheck(Struct, frozen=True, kw_only=True):
    """What an application tries to set or to send.

    Args:
        settings: The producer's, as they would be.
        peer: What the peer said of itself.
        to: The destination; None for a producer whose sends name it.
        destination: What the peer said of the destination; empty where it said nothing, or nothing is known of it.
        message: What is to be sent; None where something is set.
    """

    settings: ProducerSettings
    peer: PeerProperties
    to: Address | None
    destination: PeerProperties
    message: Message | None = None


class ProducerRule(Struct, frozen=True):
    """A rule on what a producer is set to, and on what it sends.

    Args:
        rule: Its id in the catalogue.
        moment: When it is looked at.
        broken: Whether this attempt breaks it.
        mqrc: Its reason.
        text: What the application is told; ``{ttl_ms}``, ``{delay_ms}`` and ``{defbind}`` are filled in.
    """

    rule: str
    moment: Moment
    broken: Callable[[SettingsToCheck], bool]
    mqrc: Mqrc
    text: str


def _expires_before_due(attempt: SettingsToCheck) -> bool:
    """A message that never expires (0) is never refused; equal is allowed: the reading of DD-12."""
    return 0 < attempt.settings.ttl_ms < attempt.settings.delay_ms


def _peer_is_too_old(attempt: SettingsToCheck) -> bool:
    """A peer that names no level, or none that can be read, is asked instead (I-6)."""
    level = attempt.peer.get(LEVEL_PROPERTY)
    found = _LEVEL.fullmatch(level) if isinstance(level, str) else None
    if found is None or attempt.settings.delay_ms == 0:
        return False
    return (int(found["version"]), int(found["release"] or 0)) < _DELAY_SINCE


def _is_bound_in_a_cluster(attempt: SettingsToCheck) -> bool:
    """A destination of which the peer does not say both things is left to the broker (I-6)."""
    return (
        attempt.settings.delay_ms > 0
        and attempt.destination.get(CLUSTERED_PROPERTY) is True
        and attempt.destination.get(DEFBIND_PROPERTY) in _DEFBIND_WITHOUT_DELAY
    )


def _is_delayed_and_retained(attempt: SettingsToCheck) -> bool:
    """Only what is published is retained: on a message to a queue the property says nothing."""
    return (
        attempt.settings.delay_ms > 0
        and attempt.to is not None
        and attempt.to.kind in _TOPICS
        and attempt.message is not None
        and attempt.message.properties.get(RETAIN) == RETAIN_PUBLICATION
    )


def _is_delayed_in_a_group(attempt: SettingsToCheck) -> bool:
    message = attempt.message
    return (
        attempt.settings.delay_ms > 0
        and message is not None
        and (
            message.group_id is not None
            or message.group_sequence is not None
            or message.properties.get(LAST_IN_GROUP) is True
        )
    )


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
    ProducerRule(
        "DD-11",
        Moment.SEND,
        _is_bound_in_a_cluster,
        Mqrc.OPTIONS_ERROR,
        "the destination is clustered with DEFBIND({defbind}), so it takes no delivery delay:"
        " give it DEFBIND(NOTFIXED), or send without the delay of {delay_ms} ms",
    ),
    ProducerRule(
        "DD-16",
        Moment.SEND,
        _is_delayed_and_retained,
        Mqrc.OPTIONS_ERROR,
        "a retained publication takes no delivery delay: leave out the delay of {delay_ms} ms, or " + RETAIN,
    ),
    ProducerRule(
        "DD-17",
        Moment.SEND,
        _is_delayed_in_a_group,
        Mqrc.OPTIONS_ERROR,
        "a message in a group takes no delivery delay: leave out the delay of {delay_ms} ms, or the group",
    ),
)


def check_rules(moment: Moment, attempt: SettingsToCheck) -> None:
    """Hold an attempt against the rules of a moment.

    Args:
        moment: Which rules.
        attempt: What is tried.

    Raises:
        RefusedError: The first rule broken.
    """
    for rule in RULES:
        if rule.moment is moment and rule.broken(attempt):
            text = rule.text.format(
                ttl_ms=attempt.settings.ttl_ms,
                delay_ms=attempt.settings.delay_ms,
                defbind=attempt.destination.get(DEFBIND_PROPERTY),
            )
            objects = () if attempt.to is None else (attempt.to.name,)
            raise RefusedError(refused(rule.mqrc, f"{rule.mqrc.label}: {text}", *objects))


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
    return source.address.kind in _TOPICS


PRODUCER_CAPABILITIES: tuple[tuple[Capability, Callable[[ProducerSettings], bool]], ...] = (
    (Capability.DELIVERY_DELAY, lambda settings: settings.delay_ms > 0),
    (Capability.TIME_TO_LIVE, lambda settings: settings.ttl_ms > 0),
    (Capability.PRIORITY, lambda settings: settings.priority not in {DEFAULT_PRIORITY, AS_DESTINATION}),
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
    """JMS 3.4.10: ten levels; or as the destination defines.

    Raises:
        RefusedError: It is neither an integer of 0 to 9 nor `AS_DESTINATION`.
    """
    whole = isinstance(priority, int) and not isinstance(priority, bool)
    if not whole or priority not in _PRIORITIES:
        text = f"a priority is an integer from 0 to {MAX_PRIORITY}, or {AS_DESTINATION} (as the destination defines)"
        raise RefusedError(refused(Mqrc.PRIORITY_ERROR, f"{text}, not {priority!r}"))
