"""The texts of destinations in headers; the server and the clients write the same texts.

======================================  =====================================================================
header                                  destination
======================================  =====================================================================
``/queue/NAME``                         the queue NAME
``/topic/STRING``                       the topic STRING
``/remote-temp-queue/NAME``             the temporary queue NAME; any connection may use this text
``/remote-temp-topic/NAME``             the temporary topic NAME; any connection may use this text
======================================  =====================================================================
"""

from __future__ import annotations

from collections.abc import Mapping

from assay_sdk.model.message import Address, AddressKind

PREFIXES: Mapping[AddressKind, str] = {
    AddressKind.QUEUE: "/queue/",
    AddressKind.TOPIC: "/topic/",
    AddressKind.TEMPORARY_QUEUE: "/remote-temp-queue/",
    AddressKind.TEMPORARY_TOPIC: "/remote-temp-topic/",
}
"""The prefix for each kind of destination."""

OWN_PREFIXES: Mapping[AddressKind, str] = {
    AddressKind.TEMPORARY_QUEUE: "/temp-queue/",
    AddressKind.TEMPORARY_TOPIC: "/temp-topic/",
}
"""The prefix for a temporary destination of the same connection; the client chooses the rest of the text."""

_WRITTEN: dict[Address, str] = {}
_REMEMBERED = 1_000
_LASTING = (AddressKind.QUEUE, AddressKind.TOPIC)


def written(address: Address) -> str:
    """Return a destination as a header's value; the function caches the texts of queues and topics."""
    found = _WRITTEN.get(address)
    if found is None:
        found = PREFIXES[address.kind] + address.name
        if address.kind in _LASTING:
            if len(_WRITTEN) >= _REMEMBERED:
                _WRITTEN.clear()
            _WRITTEN[address] = found
    return found
