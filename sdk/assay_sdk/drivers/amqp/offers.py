"""Capabilities of a broker, as far as AMQP tells a client.

AMQP 1.0 has no list of a peer's capabilities.  A broker may offer some when it opens (OASIS AMQP 1.0, 2.7.1).  JMS
brokers offer those of `OFFERED`, and a connection has only the ones that are offered.  The capabilities of `ASSUMED`
have no such name, so every connection has them; the table says how a broker that lacks one is detected.
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
"""Capabilities that the client requests: those of Qpid JMS (``AmqpConnectionBuilder``), of which the first makes a
broker refuse a client id in use, and those of IBM MQ's applications."""

OFFERED: Mapping[str, Capability] = {
    DELAYED_DELIVERY: Capability.DELIVERY_DELAY,
    SHARED_SUBSCRIPTIONS: Capability.SHARED_SUBSCRIPTION,
    OWN_UNCOMMITTED: Capability.OWN_UNCOMMITTED,
    CANCEL_DELAYED: Capability.CANCEL,
}
"""Capabilities that a broker offers when it opens."""

_SILENT = "a field of the message's header, which a broker may leave aside without a word"

ASSUMED: Mapping[Capability, str] = {
    Capability.TIME_TO_LIVE: _SILENT,
    Capability.PRIORITY: _SILENT,
    Capability.NON_PERSISTENT: _SILENT,
    Capability.SELECTOR: "a filter that does not come back in the attach's source is refused here as unsupported",
    Capability.BROWSE: "a broker that cannot copy refuses the link; one that moves instead is not noticed",
    Capability.TOPIC: "a broker without topics refuses the link",
    Capability.DURABLE_SUBSCRIPTION: "a broker without refuses the link; one that forgets them is not noticed",
    Capability.TEMPORARY_DESTINATION: "a broker that makes no nodes on request refuses the link",
    Capability.LOCAL_TRANSACTION: "a broker that refuses the link to its coordinator has none: unsupported",
    Capability.CLIENT_ID: (
        "a client's name is its container's; that a second connection of the name is refused is desired "
        f"({SOLE_CONNECTION}), and a broker that does not offer it takes both"
    ),
}
"""Capabilities that every connection has, with how a broker that lacks one is detected."""


def capabilities(offered: Iterable[str]) -> frozenset[Capability]:
    """Return the capabilities of a connection.

    Args:
        offered: Offered capabilities of the broker's open.
    """
    names = set(offered)
    return frozenset(ASSUMED) | {meant for name, meant in OFFERED.items() if name in names}
