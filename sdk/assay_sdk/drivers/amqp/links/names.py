"""Names and attach fields of links for queues, topics and subscriptions, as in Apache Qpid JMS.

The names and fields follow ``AmqpSubscriptionTracker`` and ``AmqpConsumerBuilder`` of Qpid JMS, because brokers are
written for Qpid JMS.  The name of a link identifies its durable subscription.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterable
from typing import Any, cast

from proton import (
    UNDESCRIBED,
    Array,
    Data,
    Delivery,
    Described,
    Link,
    Receiver,
    Sender,
    Session,
    Terminus,
    symbol,
    ulong,
)

from assay_sdk.amqp.codec import Prefixes, wire_name
from assay_sdk.amqp.conventions import Conventions
from assay_sdk.amqp.terms import (
    CANCEL_NODE,
    DELIMITER,
    GLOBAL,
    LOCAL_TRANSACTIONS,
    NO_LOCAL,
    NO_LOCAL_CODE,
    NO_LOCAL_VALUE,
    SELECTOR,
    SELECTOR_CODE,
    SHARED,
    VOLATILE,
)
from assay_sdk.driver import Durability, OpenReceiver, OpenSender, PeerProperties
from assay_sdk.drivers.amqp.transport.attach_fields import AttachFields
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc, Refused, refused

_OUTCOMES = ("amqp:accepted:list", "amqp:rejected:list", "amqp:released:list", "amqp:modified:list")

_LIFETIME, _DELETE_ON_CLOSE = "lifetime-policy", 0x2B
"""Lifetime of a dynamic node (AMQP 1.0, 3.5.10): the broker deletes it when the link that created it closes."""

QPID_DEFAULT_OUTCOME = AttachFields(modified=True)
"""Default outcome of a receiver's source: modified, delivery-failed.  The broker applies it to messages for which the
receiver sends no outcome.  Qpid JMS requests this outcome, too."""


class LinkNames:
    """The names of one connection's links.

    Args:
        explicit: Whether the application gave a client id; the connection's subscriptions then belong to this id,
            unless a command asks for a subscription that belongs to no client id.
    """

    def __init__(self, *, explicit: bool) -> None:
        self._explicit = explicit
        self._used: set[str] = set()

    def plain(self, address: Address | None) -> str:
        """Return a unique name for a link that belongs to no named subscription."""
        return f"assay:{address.name if address else 'anonymous'}:{uuid.uuid4()}"

    def subscription(self, command: OpenReceiver) -> str | Refused:
        """Reserve the name of a receiver's link.

        Returns:
            The name of the link; a `Refused` if the subscription's name is invalid, or if the subscription is unshared
            and has a consumer on this connection.
        """
        name = command.name
        if name is None:
            return self.plain(command.address)
        if (illegal := _refused_name(name)) is not None:
            return illegal
        if not command.shared:
            if name in self._used:
                return refused(
                    Mqrc.SUBSCRIPTION_IN_USE,
                    f"the subscription {name!r} has a consumer on this connection: close the consumer first",
                    name,
                )
            self._used.add(name)
            return name
        candidates = self._shared(name, command.durability, globally=self.globally(is_global=command.is_global))
        found = next(candidate for candidate in candidates if candidate not in self._used)
        self._used.add(found)
        return found

    def unsubscribing(self, name: str, *, shared: bool, is_global: bool = False) -> str | Refused:
        """Return the name of the link that removes a subscription.

        Args:
            name: Name of the subscription.
            shared: Whether the subscription is shared.
            is_global: Whether the subscription belongs to no client id.

        Returns:
            The name of the link; a `Refused` if the subscription's name contains the delimiter, because the broker
            would then remove the subscription whose name precedes the delimiter.
        """
        if (illegal := _refused_name(name)) is not None:
            return illegal
        return f"{name}{DELIMITER}{GLOBAL}" if shared and self.globally(is_global=is_global) else name

    def release(self, name: str) -> None:
        """Free the name of a closed link."""
        self._used.discard(name)

    def globally(self, *, is_global: bool) -> bool:
        """Return whether a shared subscription belongs to no client id.

        The shared subscriptions of a connection without a client id belong to no client id.

        Args:
            is_global: Whether the command asks for a subscription that belongs to no client id.
        """
        return is_global or not self._explicit

    @staticmethod
    def _shared(name: str, durability: Durability, *, globally: bool) -> Iterable[str]:
        durable = durability is Durability.DURABLE
        stem = GLOBAL if globally else ""
        if not durable:
            stem = f"{stem}-{VOLATILE}" if stem else VOLATILE
        for number in itertools.count(1):
            if durable and number == 1:
                yield f"{name}{DELIMITER}{stem}" if stem else name
            else:
                yield f"{name}{DELIMITER}{stem}{number}"


def _refused_name(name: str) -> Refused | None:
    """Return the refusal of a subscription's name that cannot be part of a link's name; None for a valid name."""
    if DELIMITER not in name:
        return None
    return refused(Mqrc.SUB_NAME_ERROR, f"the subscription name {name!r} contains {DELIMITER!r}: leave it out", name)


def _put_symbols(data: Data, names: Iterable[str]) -> None:
    data.put_object(
        Array(cast("Any", UNDESCRIBED), Data.SYMBOL, *(symbol(name) for name in names))
    )  # the cast, because Proton declares the descriptor's type too narrowly


def make_sender(session: Session, command: OpenSender, names: LinkNames, prefixes: Prefixes) -> Sender:
    """Create the link of a sender to a destination; the caller opens the link.

    Args:
        session: Proton's session.
        command: Command that opens the link.
        names: Names of the connection's links.
        prefixes: Prefixes that the broker requires for names.
    """
    link: Sender = session.sender(names.plain(command.address))
    link.snd_settle_mode = Link.SND_SETTLED if command.settled else Link.SND_UNSETTLED
    link.rcv_settle_mode = Link.RCV_FIRST
    _put_symbols(link.source.outcomes, _OUTCOMES)
    if command.address is not None and command.dynamic:
        link.target.dynamic = True
        link.target.properties.put_dict({symbol(_LIFETIME): Described(ulong(_DELETE_ON_CLOSE), [])})
        _put_symbols(link.target.capabilities, (command.address.kind.value,))
    elif command.address is not None:
        link.target.address = wire_name(command.address, prefixes)
        _put_symbols(link.target.capabilities, (command.address.kind.value,))
    return link


def make_receiver(session: Session, command: OpenReceiver, name: str, names: LinkNames, prefixes: Prefixes) -> Receiver:
    """Create the link of a receiver from a queue or subscription; the caller opens the link.

    Args:
        session: Proton's session.
        command: Command that opens the link.
        name: Result of `LinkNames.subscription`.
        names: Names of the connection's links.
        prefixes: Prefixes that the broker requires for names.
    """
    link: Receiver = session.receiver(name)
    link.snd_settle_mode = Link.SND_SETTLED if command.settled else Link.SND_UNSETTLED
    # With the mode "second", the broker settles a message only after it has stored the outcome (AMQP 1.0, 2.7.3).  A
    # broker that does not support this mode answers with "first".
    link.rcv_settle_mode = Link.RCV_FIRST if command.settled else Link.RCV_SECOND
    source = link.source
    source.address = wire_name(command.address, prefixes)
    _put_symbols(source.outcomes, _OUTCOMES)
    capabilities = [command.address.kind.value]
    if command.shared:
        capabilities.append(SHARED)
        if names.globally(is_global=command.is_global):
            capabilities.append(GLOBAL)
    _put_symbols(source.capabilities, capabilities)
    if command.durability is Durability.DURABLE:
        source.durability = Terminus.DELIVERIES
        source.expiry_policy = Terminus.EXPIRE_NEVER
        source.distribution_mode = Terminus.DIST_MODE_COPY
    else:
        source.durability = Terminus.NONDURABLE
        source.expiry_policy = Terminus.EXPIRE_WITH_LINK
        if command.address.kind in {AddressKind.TOPIC, AddressKind.TEMPORARY_TOPIC}:
            source.distribution_mode = Terminus.DIST_MODE_COPY
    if command.timeout_ms is not None:
        # The field has whole seconds (OASIS AMQP 1.0, 3.5.3).  The client rounds up, so that the subscription does not
        # end too early.
        source.timeout = -(-command.timeout_ms // 1000)
        source.expiry_policy = Terminus.EXPIRE_WITH_LINK
    _put_filters(link, command.selector, no_local=command.no_local)
    return link


def follow(conventions: Conventions, link: Sender | Receiver, command: OpenSender | OpenReceiver) -> None:
    """Adapt a link that is not open yet to the broker's conventions.

    Args:
        conventions: Rules that the client must follow and that the broker's *open* frame does not name.
        link: The link.
        command: Command that opens the link.
    """
    if not conventions.settles_second:
        link.rcv_settle_mode = Link.RCV_FIRST
    if conventions.durable_termini and command.address is not None and command.address.kind is AddressKind.QUEUE:
        terminus = link.target if isinstance(link, Sender) else link.source
        terminus.durability = Terminus.CONFIGURATION


def make_browser(
    session: Session, address: Address, selector: str | None, names: LinkNames, prefixes: Prefixes
) -> Receiver:
    """Create a receiver's link that browses a queue; the caller opens the link.

    The link's distribution mode is copy, and the broker sends settled messages.
    """
    link: Receiver = session.receiver(names.plain(address))
    link.snd_settle_mode = Link.SND_SETTLED
    link.rcv_settle_mode = Link.RCV_FIRST
    link.source.address = wire_name(address, prefixes)
    link.source.distribution_mode = Terminus.DIST_MODE_COPY
    _put_symbols(link.source.outcomes, _OUTCOMES)
    _put_symbols(link.source.capabilities, (address.kind.value,))
    _put_filters(link, selector, no_local=False)
    return link


def make_lookup(session: Session, name: str) -> Receiver:
    """Create a receiver's link with a null source: the broker then looks for a subscription with the link's name."""
    link: Receiver = session.receiver(name)
    link.source.type = Terminus.UNSPECIFIED
    link.snd_settle_mode = Link.SND_UNSETTLED
    link.rcv_settle_mode = Link.RCV_FIRST
    return link


def make_coordinator(session: Session) -> Sender:
    """Create a sender's link to the transaction coordinator; the caller opens the link (AMQP 1.0, 4.2, 4.5.1)."""
    link: Sender = session.sender(f"assay:coordinator:{uuid.uuid4()}")
    link.snd_settle_mode = Link.SND_UNSETTLED
    link.rcv_settle_mode = Link.RCV_FIRST
    link.target.type = Terminus.COORDINATOR
    _put_symbols(link.target.capabilities, (LOCAL_TRANSACTIONS,))
    _put_symbols(link.source.outcomes, _OUTCOMES)
    return link


def make_canceller(session: Session) -> Sender:
    """Create a sender's link to the node that cancels delayed messages (`CANCEL_NODE`); the caller opens the link."""
    link: Sender = session.sender(f"assay:cancel:{uuid.uuid4()}")
    link.snd_settle_mode = Link.SND_UNSETTLED
    link.rcv_settle_mode = Link.RCV_FIRST
    link.target.address = CANCEL_NODE
    _put_symbols(link.source.outcomes, _OUTCOMES)
    return link


def _put_filters(link: Receiver, selector: str | None, *, no_local: bool) -> None:
    filters: dict[symbol, Described] = {}
    if selector is not None:
        filters[symbol(SELECTOR)] = Described(ulong(SELECTOR_CODE), selector)
    if no_local:
        filters[symbol(NO_LOCAL)] = Described(ulong(NO_LOCAL_CODE), NO_LOCAL_VALUE)
    if filters:
        link.source.filter.put_dict(filters)


def missing_filters(link: Receiver, wanted: Iterable[str]) -> tuple[str, ...]:
    """Return the requested filters that the broker does not apply, because its attach lacks them (AMQP 1.0, 3.5.1)."""
    data = link.remote_source.filter
    data.rewind()
    names = {str(name) for name in data.get_dict()} if data.next() is not None else set[str]()
    return tuple(name for name in wanted if name not in names)


def peer_properties(fields: object) -> PeerProperties:
    """Return the properties of the broker's open or attach (AMQP 1.0, 2.7.1, 2.7.3).

    Values other than booleans and integers become text.

    Args:
        fields: Proton's map of properties; None if the frame has none.
    """
    properties = cast("dict[object, object]", fields) if isinstance(fields, dict) else {}
    return {str(name): value if isinstance(value, bool | int) else str(value) for name, value in properties.items()}


def has_terminus(terminus: Terminus) -> bool:
    """Return whether a source or target is not null."""
    return bool(terminus.type != Terminus.UNSPECIFIED)


ACCEPTED_STATE = Described(ulong(int(Delivery.ACCEPTED)), [])
"""The outcome inside a transactional state (AMQP 1.0, 4.4.2)."""


def set_state_data(delivery: Delivery, data: list[object] | None) -> None:
    """Set the fields of a delivery state for which Proton has no attributes; None clears them."""
    delivery.local.data = cast("Any", data)  # Proton declares a list of ints, but accepts any AMQP data


TRANSACTIONAL = 0x34
DECLARED = 0x33
