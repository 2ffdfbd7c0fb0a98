"""Addresses as AMQP clients write them in targets, sources, "to" and "reply-to"."""

from __future__ import annotations

from collections.abc import Mapping

from assay_broker.core.objects.names import TEMPORARY_PREFIXES
from assay_sdk.model.message import Address, AddressKind

SCHEMES: Mapping[AddressKind, str] = {AddressKind.QUEUE: "queue://", AddressKind.TOPIC: "topic://"}
"""Prefixes that say what kind of destination a name means."""


def written(name: str, kind: AddressKind | None) -> Address | None:
    """Read an address that says which kind of destination it means; None for any other.

    Args:
        name: The address: a name, or a name behind ``queue://`` or ``topic://``.
        kind: The kind that a capability or an annotation says; None where nothing does.

    Returns:
        None where neither the name nor anything else says what kind of destination it is.
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
