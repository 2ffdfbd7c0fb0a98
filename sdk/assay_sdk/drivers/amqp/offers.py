"""What a broker can do, as far as AMQP lets a client know it before it asks.

AMQP 1.0 has no list of what a peer can do.  A broker may offer capabilities when it opens (OASIS AMQP 1.0, 2.7.1); JMS
brokers offer those of `OFFERED`, and what is not offered is not claimed.  Everything of `ASSUMED` has no such name: it
is claimed for every broker, and a broker that lacks it is found out when it is asked, or never, as said there.
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
"""What Qpid JMS desires (``AmqpConnectionBuilder``), of which the first makes a broker refuse a client id in use; and
what this client desires besides, as IBM MQ's applications may have it."""

OFFERED: Mapping[str, Capability] = {
    DELAYED_DELIVERY: Capability.DELIVERY_DELAY,
    SHARED_SUBSCRIPTIONS: Capability.SHARED_SUBSCRIPTION,
    OWN_UNCOMMITTED: Capability.OWN_UNCOMMITTED,
    CANCEL_DELAYED: Capability.CANCEL,
}
"""What a broker says that it can when it opens."""

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
"""What is claimed for every broker, with how one that lacks it is found out."""


def capabilities(offered: Iterable[str]) -> frozenset[Capability]:
    """What a connection can do.

    Args:
        offered: Names of the broker's open.
    """
    names = set(offered)
    return frozenset(ASSUMED) | {meant for name, meant in OFFERED.items() if name in names}
