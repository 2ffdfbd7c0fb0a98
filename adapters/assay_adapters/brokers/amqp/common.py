"""Capabilities that our SDK, the container and the proxy give every product, and capabilities that no product has."""

from __future__ import annotations

from collections.abc import Mapping

from assay_adapters.clients.mqlight import CAPABILITIES as MQLIGHT_CAPABILITIES
from assay_adapters.clients.sdk import CAPABILITIES as SDK_CAPABILITIES
from assay_adapters.clients.sdk import NAMED_BY_CONTAINER
from assay_adapters.ports.client import Source
from assay_sdk.model.capabilities import Capability

_CONTAINER = Source(
    "The broker runs in a container of this machine, through Docker.", "adapters/assay_adapters/containers/container.py"
)
_DISK = Source("The broker's data is on a disk of the kit's own.", "adapters/assay_adapters/disks/filesystem.py")
_PROXY = Source("Clients connect through the kit's proxy.", "adapters/assay_adapters/faults/proxy.py")

OF_THE_KIT: Mapping[Capability, Source] = {
    Capability.QUEUE: SDK_CAPABILITIES[Capability.QUEUE],
    Capability.SESSION: SDK_CAPABILITIES[Capability.SESSION],
    Capability.BATCH_LISTENER: SDK_CAPABILITIES[Capability.BATCH_LISTENER],
    Capability.CHECKS_OFF: SDK_CAPABILITIES[Capability.CHECKS_OFF],
    Capability.RELEASE: Source(
        "The client gives messages back with the outcomes released and modified.", "OASIS AMQP 1.0, 3.4.4 and 3.4.5"
    ),
    Capability.MESSAGE_ID: Source("The client sets message-id and creation-time.", "OASIS AMQP 1.0, 3.2.4"),
    Capability.TYPED_PROPERTIES: Source("Application properties have types.", "OASIS AMQP 1.0, 3.2.5"),
    Capability.AUTO_CONFIRM: MQLIGHT_CAPABILITIES[Capability.AUTO_CONFIRM],
    Capability.RECONNECT: MQLIGHT_CAPABILITIES[Capability.RECONNECT],
    Capability.RESTART: _CONTAINER,
    Capability.KILL: _CONTAINER,
    Capability.POWER_LOSS: _DISK,
    **dict.fromkeys((Capability.KILL_AT_ANSWER, Capability.KILL_AT_FIRST_SIGHT, Capability.CUT), _PROXY),
    Capability.DATA_FOLDER: Source(
        "Docker returns the files of a container.", "adapters/assay_adapters/containers/files.py"
    ),
}
"""Capabilities that every product has, because our client, the container, the proxy or the disk gives them.

A machine without FUSE has no such disk, so no power loss.
"""


def lacks_of(title: str) -> dict[Capability, Source]:
    """Return the capabilities that no product has through this adapter, with the reasons.

    Args:
        title: The product's name.
    """
    return {
        Capability.ADMIN: Source(f"{title} has no objects of IBM MQ, and so none of their attributes."),
        Capability.MESSAGE_LIMIT: Source(f"{title} has no setting for the longest message of a queue."),
        Capability.PUT_INHIBIT: Source(f"{title} has no setting that makes a queue refuse all messages."),
        Capability.DEFAULT_PERSISTENCE: Source(
            f"In AMQP a message without the durable header is not durable; {title} has no other default.",
            "OASIS AMQP 1.0, 3.2.1",
        ),
        Capability.ALIAS: Source(f"{title} has no alias of a queue or topic whose target an administrator can change."),
        Capability.DEAD_LETTER_QUEUE: Source(
            f"{title} has no queue for messages that cannot be put to their target, with a header that says why."
        ),
        Capability.NATIVE_PUT: Source(f"{title} has no interface for applications like IBM MQ's MQI."),
        Capability.FACTORY_SETTINGS: Source(
            f"{title} has no objects of IBM MQ, and so none of their factory settings."
        ),
        Capability.STAGING_QUEUE: Source(f"A delayed message waits inside {title}, not on a separate queue."),
        Capability.FLUSH_TRACE: Source(f"{title} does not show clients when it forces a message to the disk."),
        Capability.XA: Source(
            f"AMQP 1.0 has no form for the branches of global transactions, so {title} cannot offer them over it.",
            "OASIS AMQP 1.0, 4.2",
        ),
        Capability.CANCEL: Source("Over AMQP a client can schedule a message, and cannot cancel it."),
        Capability.BLOCK_WRITE: Source(f"The kit cannot block the writes for one queue of {title} in a container."),
        Capability.RESTART_AT_LEVEL: Source(f"{title} has no command levels, so a restart cannot migrate it."),
        Capability.STORE_ERROR: Source(f"The kit cannot cause storage errors of {title} in a container."),
        Capability.WORKER_DIES: Source(f"{title} has no separate process for delayed messages that the kit could end."),
        Capability.RETAINED_PUBLICATION: Source(f"{title} keeps no publication for later subscribers over AMQP."),
        Capability.OWN_UNCOMMITTED: Source(
            "A message sent in a transaction reaches its queue at the commit.", "Jakarta Messaging 3.1, 6.2.7"
        ),
        Capability.TOPIC_WILDCARD: Source(
            f"The patterns of {title} have other wildcards and another separator than MQ Light's."
        ),
        Capability.NAMELESS_CONNECTION: NAMED_BY_CONTAINER,
        Capability.VIRTUAL_TIME: Source(f"{title} uses the machine's clock."),
    }
