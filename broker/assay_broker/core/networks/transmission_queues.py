"""Transmission queues: one for each destination on another queue manager, with the messages to send there."""

from __future__ import annotations

from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.model import Definition, Kind
from assay_sdk.model.message import Address, AddressKind

_HOME = "member://"
_PART = "?"  # separates the two names; a queue manager's name cannot contain it

TRANSMISSION = Definition(
    Kind.QLOCAL,
    "SYSTEM.CLUSTER.TRANSMIT.QUEUE",
    defaults(Kind.QLOCAL) | {"MAXDEPTH": 999_999_999, "MAXMSGL": 104_857_600},
)
"""The definition of all transmission queues. In IBM MQ, this queue is an object; here no command shows it."""


def onward_home(member: str, target: Address) -> str:
    """Return the home of the transmission queue to a destination on another queue manager."""
    return f"{_HOME}{member}{_PART}{target}"


def onward(home: str) -> tuple[str, Address] | None:
    """Return the queue manager and the destination of a transmission queue's home; None for any other home."""
    if not home.startswith(_HOME):
        return None
    member, _, target = home.removeprefix(_HOME).partition(_PART)
    kind, _, name = target.partition("://")
    return member, Address(AddressKind(kind), name)
