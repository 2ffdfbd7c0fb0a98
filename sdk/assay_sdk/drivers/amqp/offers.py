"""The capabilities of AMQP connections and of senders' links.

A broker may offer capabilities in its open (OASIS AMQP 1.0, 2.7.1), but AMQP 1.0 defines no names for them.

- `OFFERED`: JMS brokers offer these capabilities by name.  A connection has such a capability only if its broker offers
  it.  `OFFERED_TO_SENDERS` has the capabilities that a broker may instead offer on a link, for its destination only.
- `ASSUMED`: these capabilities have no names, so the client assumes that every broker has them.  The table says how the
  client notices that a broker lacks one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assay_sdk.amqp.terms import (
    ANONYMOUS_RELAY,
    CANCEL_DELAYED,
    DELAYED_DELIVERY,
    OWN_UNCOMMITTED,
    SHARED_SUBSCRIPTIONS,
    SOLE_CONNECTION,
)
from assay_sdk.model.capabilities import Capability

DESIRED = (SOLE_CONNECTION, DELAYED_DELIVERY, ANONYMOUS_RELAY, SHARED_SUBSCRIPTIONS, OWN_UNCOMMITTED, CANCEL_DELAYED)
"""Capabilities that the client desires in its open.  Qpid JMS desires the first four (``AmqpConnectionBuilder``); the
first makes a broker refuse a client id that another connection uses.  The last two are the kit's own."""

OFFERED: Mapping[str, Capability] = {
    DELAYED_DELIVERY: Capability.DELIVERY_DELAY,
    SHARED_SUBSCRIPTIONS: Capability.SHARED_SUBSCRIPTION,
    OWN_UNCOMMITTED: Capability.OWN_UNCOMMITTED,
    CANCEL_DELAYED: Capability.CANCEL,
}
"""Names that a broker may offer in its open, with the capability that each name stands for."""

OFFERED_TO_SENDERS: Mapping[str, Capability] = {DELAYED_DELIVERY: Capability.DELIVERY_DELAY}
"""Names that a broker may offer in its attach to a sender, as in Qpid JMS (``AmqpProducerBuilder``), with their
capabilities."""

_SILENT = "the client does not notice: a broker may ignore this field of a message's header"

ASSUMED: Mapping[Capability, str] = {
    Capability.TIME_TO_LIVE: _SILENT,
    Capability.PRIORITY: _SILENT,
    Capability.NON_PERSISTENT: _SILENT,
    Capability.SELECTOR: "the broker's attach lacks the filter, and the client refuses the receiver as unsupported",
    Capability.BROWSE: "the broker refuses the link; a broker that moves messages instead is not noticed",
    Capability.TOPIC: "the broker refuses the link",
    Capability.DURABLE_SUBSCRIPTION: "the broker refuses the link; a broker that forgets them is not noticed",
    Capability.TEMPORARY_DESTINATION: "the broker refuses the link with a dynamic target",
    Capability.LOCAL_TRANSACTION: "the broker refuses the link to the coordinator",
    Capability.CLIENT_ID: (
        f"the client id is the container id; a broker that does not offer {SOLE_CONNECTION} accepts a second connection"
        " with the same id"
    ),
}
"""Capabilities that the client assumes on every connection, and how the client notices that a broker lacks one."""


def capabilities(offered: Iterable[str]) -> frozenset[Capability]:
    """Return the capabilities of a connection.

    Args:
        offered: Names of the capabilities that the broker offers in its open.
    """
    names = set(offered)
    return frozenset(ASSUMED) | {meant for name, meant in OFFERED.items() if name in names}


def desired_of_sender(connection: frozenset[Capability]) -> tuple[str, ...]:
    """Return the desired-capabilities for a sender's attach: those of `OFFERED_TO_SENDERS` that the connection lacks.

    Args:
        connection: Capabilities of the connection.
    """
    return tuple(name for name, meant in OFFERED_TO_SENDERS.items() if meant not in connection)


def capabilities_of_sender(offered: Iterable[str]) -> frozenset[Capability]:
    """Return the capabilities that a sender's link has in addition to the connection's capabilities.

    Args:
        offered: Names of the capabilities that the broker offers in its attach.
    """
    names = set(offered)
    return frozenset(meant for name, meant in OFFERED_TO_SENDERS.items() if name in names)
