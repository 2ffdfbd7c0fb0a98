"""Products with clients over STOMP; their capabilities are derived from those of the same products over AMQP."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from assay_adapters.brokers.amqp.administration import OFFERED_BY
from assay_adapters.brokers.amqp.common import OF_THE_KIT
from assay_adapters.brokers.amqp.product import Product
from assay_adapters.clients.mqlight import CAPABILITIES as MQ_LIGHT
from assay_adapters.clients.sdk import CAPABILITIES as JMS
from assay_adapters.ports.client import Source
from assay_sdk.model.capabilities import Capability
from assay_sdk.stomp.conventions import Conventions

PORT = 61613
"""The port for STOMP inside the containers."""

_UNREAD = Source("The kit's proxy reads AMQP frames only.", "adapters/assay_adapters/faults/sightings.py")
_MQ_LIGHT = Source("MQ Light is defined over AMQP 1.0.", "docs/mqlight.md")


def _lacks_of(title: str) -> dict[Capability, Source]:
    return {
        Capability.XA: Source("STOMP has no frames for branches of global units of work.", "STOMP 1.2, BEGIN"),
        Capability.CANCEL: Source("Over STOMP a client can schedule a message, and cannot cancel it."),
        Capability.DEFAULT_PERSISTENCE: Source(
            f"{title} treats a SEND without the persistent header as not persistent; no setting changes this."
        ),
        Capability.RETAINED_PUBLICATION: Source(f"{title} keeps no publication for later subscribers over STOMP."),
        Capability.RETURN_TO_OTHERS: Source(
            "Over STOMP our client keeps a message that a receiver gives back, and delivers it again itself.",
            "docs/stomp-driver.md",
        ),
        Capability.TYPED_PROPERTIES: Source("The value of a header is a text.", "STOMP 1.2, Standard Headers"),
        Capability.KILL_AT_ANSWER: _UNREAD,
        Capability.KILL_AT_FIRST_SIGHT: _UNREAD,
        **{name: _MQ_LIGHT for name in MQ_LIGHT if name not in JMS},
    }


def over_stomp(
    product: Product, conventions: Conventions, has: Mapping[Capability, Source], lacks: Mapping[Capability, Source]
) -> Product:
    """Return a product with clients over STOMP instead of AMQP.

    The result keeps the product's container, its administrator, and the capabilities that the kit gives. Like the
    backend `reference-server+stomp`, the result claims no profile.

    Args:
        product: The product over AMQP.
        conventions: The product's choices in the points that STOMP leaves to brokers.
        has: The product's capabilities over STOMP, each with its source.
        lacks: The capabilities that this product lacks over STOMP, each with the reason.
    """
    # An administrator's capabilities do not depend on the protocol of the clients.
    missing = {**product.lacks, **_lacks_of(product.title), **lacks}
    kept = {name: source for name, source in product.capabilities.items() if name in OF_THE_KIT or name in OFFERED_BY}
    named = Capability.NAMELESS_CONNECTION
    capabilities = {
        **{name: source for name, source in kept.items() if name not in missing},
        named: Source(f"{product.title} accepts a CONNECT without a client id."),
        **has,
    }
    return structs.replace(
        product,
        name=f"{product.name}+stomp",
        protocol="stomp",
        port=PORT,
        stomp=conventions,
        defines_queues=False,
        profiles=(),
        capabilities=capabilities,
        lacks={name: source for name, source in missing.items() if name not in capabilities},
    )
