"""The destinations that STOMP clients write in headers, and the queues and topics that they mean.

======================================  =====================================================================
header                                  destination
======================================  =====================================================================
``/queue/NAME``, ``/amq/queue/NAME``    the queue NAME
``/topic/STRING``                       the topic STRING; the wildcards of a subscription are IBM MQ's, + and #
``queue://NAME``, ``topic://STRING``    the queue NAME, the topic STRING, as JMS clients write them
``/temp-queue/X``, ``/temp-topic/X``    a temporary destination; the name X is valid on this connection only
``/remote-temp-queue/NAME``             another connection's temporary queue, as its ``reply-to`` names it
``/remote-temp-topic/NAME``             another connection's temporary topic, as its ``reply-to`` names it
another text                            the queue or topic object of this name, or a queue if no object has the name;
                                        ``destination-type`` or ``subscription-type`` decide instead: ANYCAST for a
                                        queue, MULTICAST for a topic
======================================  =====================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay_broker.core.objects.names import TEMPORARY_PREFIXES
from assay_broker.stomp.faults import FaultError
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc
from assay_sdk.stomp.messages import OWN_PREFIXES, PREFIXES

_QUEUE, _TOPIC = AddressKind.QUEUE, AddressKind.TOPIC

_PREFIXES: Mapping[str, AddressKind] = {
    **{prefix: kind for kind, prefix in PREFIXES.items()},
    "/amq/queue/": _QUEUE,
    "queue://": _QUEUE,
    "topic://": _TOPIC,
}
_OWN: Mapping[str, AddressKind] = {prefix: kind for kind, prefix in OWN_PREFIXES.items()}
_ROUTING: Mapping[str, AddressKind] = {"ANYCAST": _QUEUE, "MULTICAST": _TOPIC}
_REMEMBERED = 1_000


class Destinations:
    """The destinations that one connection names.

    Args:
        kind_of: Returns the kind of a destination for a name without a kind.
    """

    def __init__(self, kind_of: Callable[[str], AddressKind]) -> None:
        self._kind_of = kind_of
        self._known: dict[str, Address] = {}
        self.own: dict[str, Address] = {}
        """The temporary destinations of this connection, by the text that names them here."""
        self.prefix = ""
        """The part of the names of temporary destinations that is unique to this connection."""

    def read(self, text: str, routing: str | None = None) -> Address:
        """Return the destination that a header means.

        The method caches queues and topics whose text begins with ``/``, so that successive messages share one object.

        Args:
            text: The header's value.
            routing: The value of ``destination-type`` or ``subscription-type``; None without this header.

        Raises:
            FaultError: The text contains no name, or `routing` is neither ANYCAST nor MULTICAST.
        """
        known = self._known.get(text)
        if known is not None and routing is None:
            return known
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        found = self._read(text, routing)
        if found.kind in (_QUEUE, _TOPIC) and routing is None and text.startswith("/"):
            self._known[text] = found
        return found

    def _read(self, text: str, routing: str | None) -> Address:
        for prefix, kind in _OWN.items():
            if text.startswith(prefix):
                return self._temporary(text, text.removeprefix(prefix), kind)
        for kind, prefix in TEMPORARY_PREFIXES.items():
            if text.startswith(prefix):
                return Address(kind, text)
        for prefix, kind in _PREFIXES.items():
            if text.startswith(prefix):
                return self._named(kind, text.removeprefix(prefix), text)
        if routing is not None:
            if routing not in _ROUTING:
                raise FaultError(f"The type of the destination is {routing[:40]!r}: write ANYCAST or MULTICAST")
            return self._named(_ROUTING[routing], text, text)
        return self._named(self._kind_of(text), text, text)

    @staticmethod
    def _named(kind: AddressKind, name: str, text: str) -> Address:
        if not name:
            raise FaultError(f"The destination {text[:60]!r} has no name", Mqrc.UNKNOWN_OBJECT_NAME)
        for temporary, prefix in TEMPORARY_PREFIXES.items():
            if name.startswith(prefix):
                return Address(temporary, name)
        return Address(kind, name)

    def _temporary(self, text: str, name: str, kind: AddressKind) -> Address:
        if name.startswith(TEMPORARY_PREFIXES[kind]):
            return Address(kind, name)
        found = self.own.get(text)
        if found is None:
            if not name:
                raise FaultError(f"The destination {text!r} has no name", Mqrc.UNKNOWN_OBJECT_NAME)
            found = Address(kind, f"{TEMPORARY_PREFIXES[kind]}{self.prefix}.{len(self.own) + 1}")
            self.own[text] = found
        return found
