"""Checks that the client makes before it sends anything.

- Capabilities: `PRODUCER_CAPABILITIES` and `CONSUMER_CAPABILITIES` say which capability of the connection a call needs.
  These checks always apply.
- Rules: `RULES` has the catalogue's rules for clients.  A connection with ``checks=False`` does not check them, so that
  a test sees the broker's own answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from reprlib import repr as short

from msgspec import Struct

from assay_sdk.amqp.terms import DELIMITER
from assay_sdk.driver import CLUSTERED_PROPERTY, DEFBIND_PROPERTY, LEVEL_PROPERTY, Durability, PeerProperties
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.settings import AS_DESTINATION, MAX_PRIORITY, DeliveryMode, ProducerSettings, Source
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import DEFAULT_PRIORITY, Address, AddressKind, Message
from assay_sdk.model.properties import LAST_IN_GROUP, RETAIN, RETAIN_PUBLICATION
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused
from assay_sdk.model.texts import TextError, check_name, check_selector_text

_PRIORITIES = frozenset({AS_DESTINATION, *range(MAX_PRIORITY + 1)})
"""Valid priorities of a producer (JMS 2.0, 3.4.10, DELAY:58)."""

_TOPICS = frozenset({AddressKind.TOPIC, AddressKind.TEMPORARY_TOPIC})

_DELAY_SINCE = (8, 0)
"""The first command level of a queue manager that has delivery delay (DD-10)."""

_LEVEL = re.compile(r"(?P<version>[0-9]{1,4})(?:\.(?P<release>[0-9]{1,4}))?(?:\.[0-9]{1,4})*", re.ASCII)

_DEFBIND_WITHOUT_DELAY = frozenset({"OPEN", "GROUP"})
"""Values of DEFBIND with which a clustered destination takes no delayed messages (DD-11)."""


class Moment(StrEnum):
    """The moment at which a rule is checked."""

    SET_TTL = "set-time-to-live"
    SET_DELAY = "set-delivery-delay"
    SEND = "send"


class SettingsToCheck(Struct, frozen=True, kw_only=True):
    """The input of a producer rule: a change of a producer's settings, or a send with its settings and its message.

    Args:
        settings: Settings of the producer after the change, or of the send.
        peer: Properties that the broker gave for the connection.
        to: Destination; None if the producer has none.
        destination: Properties that the broker gave for the destination; empty if it gave none.
        message: Message to send; None for a change of settings.
    """

    settings: ProducerSettings
    peer: PeerProperties
    to: Address | None
    destination: PeerProperties
    message: Message | None = None


class ProducerRule(Struct, frozen=True):
    """A rule for the settings of a producer and for its messages.

    Args:
        rule: Id of the rule in the catalogue.
        moment: When the rule is checked.
        broken: Returns whether the settings or the message break the rule.
        mqrc: Reason code of the refusal.
        text: Sentence of the refusal, with the placeholders ``{ttl_ms}``, ``{delay_ms}`` and ``{defbind}``.
    """

    rule: str
    moment: Moment
    broken: Callable[[SettingsToCheck], bool]
    mqrc: Mqrc
    text: str


def _expires_before_due(attempt: SettingsToCheck) -> bool:
    """Return whether the time to live is shorter than the delay.

    A time to live of 0 means no expiry.  By the kit's reading of DD-12, both times may be equal.
    """
    return 0 < attempt.settings.ttl_ms < attempt.settings.delay_ms


def _peer_is_too_old(attempt: SettingsToCheck) -> bool:
    """Return whether the settings have a delay, and the broker's level is too low for a delay.

    If the broker sent no level, or one that the client cannot read, return False, so that the broker decides.
    """
    level = attempt.peer.get(LEVEL_PROPERTY)
    found = _LEVEL.fullmatch(level) if isinstance(level, str) else None
    if found is None or attempt.settings.delay_ms == 0:
        return False
    return (int(found["version"]), int(found["release"] or 0)) < _DELAY_SINCE


def _is_bound_in_a_cluster(attempt: SettingsToCheck) -> bool:
    """Return whether a delayed message goes to a clustered destination whose DEFBIND does not allow a delay.

    If the broker did not send both properties of the destination, return False, so that the broker decides.
    """
    return (
        attempt.settings.delay_ms > 0
        and attempt.destination.get(CLUSTERED_PROPERTY) is True
        and attempt.destination.get(DEFBIND_PROPERTY) in _DEFBIND_WITHOUT_DELAY
    )


def _is_delayed_and_retained(attempt: SettingsToCheck) -> bool:
    """Return whether a message is a delayed, retained publication; False for queues, which ignore retention."""
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
        "the queue manager is older than level 8.0 and has no delivery delay: leave the delay at 0",
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
    """Check a change of settings, or a message, against the rules of a moment.

    Args:
        moment: The moment, which selects the rules.
        attempt: The change or the message.

    Raises:
        RefusedError: A rule is broken; reason code and text are those of the first broken rule in `RULES`.
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
    """Check that a connection with an unshared durable subscription has a client id (PD-17).

    The client id is a part of the subscription's identity (JMS 2.0, 8.3.3).

    Raises:
        RefusedError: The connection has no client id, and the subscription is durable and unshared.
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
"""For each capability, a function that returns whether a send needs it."""

CONSUMER_CAPABILITIES: tuple[tuple[Capability, Callable[[Source], bool]], ...] = (
    (Capability.SELECTOR, lambda source: bool(source.selector)),
    (Capability.TOPIC, _is_topic),
    (Capability.DURABLE_SUBSCRIPTION, lambda source: source.durability is Durability.DURABLE),
    (Capability.SHARED_SUBSCRIPTION, lambda source: source.shared),
)
"""For each capability, a function that returns whether a consumer of a source needs it."""


def need(capability: Capability, offered: frozenset[Capability]) -> None:
    """Check that a connection has a capability.

    Args:
        capability: The needed capability.
        offered: Capabilities of the connection.

    Raises:
        RefusedError: The connection lacks the capability.
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
    """Check that a connection has the capabilities that a send with these settings needs.

    Raises:
        RefusedError: The connection lacks one of the capabilities.
    """
    for capability, asked in PRODUCER_CAPABILITIES:
        if asked(settings):
            need(capability, offered)


def check_selector(selector: object) -> None:
    """Check the type, the characters and the length of a selector; the broker checks its syntax.

    Raises:
        RefusedError: The selector is not text, has an unpaired surrogate, or is too long.
    """
    if selector is None:
        return
    if not isinstance(selector, str):
        text = f"the selector is {short(selector)}: give text, such as \"colour = 'red'\""
        raise RefusedError(Refused(JmsErrorKind.INVALID_SELECTOR, text))
    try:
        check_selector_text(selector)
    except TextError as error:
        raise RefusedError(Refused(JmsErrorKind.INVALID_SELECTOR, str(error))) from error


def check_client_id_text(client_id: object) -> None:
    """Check the type, the characters and the length of a client id; None is valid.

    Raises:
        RefusedError: The client id is not text, is empty or too long, or has control characters or unpaired surrogates.
    """
    if client_id is None:
        return
    try:
        check_name(client_id, "client_id")
    except TextError as error:
        raise RefusedError(Refused(JmsErrorKind.INVALID_CLIENT_ID, str(error))) from error


def check_subscription_name(name: object) -> None:
    """Check the type, the characters and the length of a subscription's name.

    A name with ``|`` is refused with every driver, so that a test in process finds a name that AMQP cannot carry.  Over
    AMQP, this character separates the subscription's name from a suffix of the link's name (Qpid JMS,
    ``AmqpSubscriptionTracker``).

    Raises:
        RefusedError: The name is not text, is empty or too long, or has control characters, unpaired surrogates or
            ``|``.
    """
    try:
        check_name(name, "the subscription name")
    except TextError as error:
        raise RefusedError(refused(Mqrc.SUB_NAME_ERROR, str(error))) from error
    if isinstance(name, str) and DELIMITER in name:
        text = f"the subscription name {name!r} contains {DELIMITER!r}: leave it out"
        raise RefusedError(refused(Mqrc.SUB_NAME_ERROR, text, name))


def check_poison(source: Source) -> None:
    """Check that a consumer does not move poison messages to the queue from which it receives.

    Raises:
        RefusedError: `on_poison` names this queue.
    """
    if source.poison.move_to == source.address:
        text = f"on_poison is {source.address}, from which this consumer receives: name another queue"
        raise RefusedError(Refused(JmsErrorKind.INVALID_DESTINATION, text, objects=(source.address.name,)))


def check_source_capabilities(source: Source, offered: frozenset[Capability]) -> None:
    """Check that a connection has the capabilities that a consumer needs.

    Raises:
        RefusedError: The connection lacks one of the capabilities.
    """
    for capability, asked in CONSUMER_CAPABILITIES:
        if asked(source):
            need(capability, offered)


def check_priority(priority: object) -> None:
    """Check a priority (JMS 2.0, 3.4.10).

    Raises:
        RefusedError: The priority is neither an integer from 0 to 9 nor `AS_DESTINATION`.
    """
    whole = isinstance(priority, int) and not isinstance(priority, bool)
    if not whole or priority not in _PRIORITIES:
        text = f"a priority is an integer from 0 to {MAX_PRIORITY}, or {AS_DESTINATION} (as the destination defines)"
        raise RefusedError(refused(Mqrc.PRIORITY_ERROR, f"{text}, not {priority!r}"))
