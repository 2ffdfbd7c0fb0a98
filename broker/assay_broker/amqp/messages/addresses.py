"""The addresses that AMQP clients write in targets, sources, "to" and "reply-to"."""

from __future__ import annotations

from collections.abc import Mapping

from assay_broker.core.objects.names import TEMPORARY_PREFIXES
from assay_sdk.model.message import Address, AddressKind

SCHEMES: Mapping[AddressKind, str] = {AddressKind.QUEUE: "queue://", AddressKind.TOPIC: "topic://"}
"""The prefixes of names, by the kind of destination that they mean."""


def written(name: str, kind: AddressKind | None) -> Address | None:
    """Return the destination that an address means.

    Args:
        name: The address: a name, or a name after ``queue://`` or ``topic://``.
        kind: The kind of destination in a capability or an annotation; None if the client gave none.  The name of a
            temporary destination takes precedence.

    Returns:
        The destination; None if neither the name nor ``kind`` shows the kind of destination.
    """
    for temporary, prefix in TEMPORARY_PREFIXES.items():
        if name.startswith(prefix):
            return Address(temporary, name)
    if kind is not None:
        return Address(kind, name.removeprefix(SCHEMES.get(kind, "")))
    for named, scheme in SCHEMES.items():
        if name.startswith(scheme):
            return Address(named, name.removeprefix(scheme))
    return None
