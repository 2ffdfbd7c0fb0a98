"""Queues on which messages wait for the way to another queue manager: one for each destination there."""

from __future__ import annotations

from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.model import Definition, Kind
from assay_sdk.model.message import Address, AddressKind

_HOME = "member://"
_PART = "?"  # no queue manager's name has one

TRANSMISSION = Definition(
    Kind.QLOCAL,
    "SYSTEM.CLUSTER.TRANSMIT.QUEUE",
    defaults(Kind.QLOCAL) | {"MAXDEPTH": 999_999_999, "MAXMSGL": 104_857_600},
)
"""What these queues are set to.  They stand for IBM MQ's one transmission queue, and are no objects of their own."""


def onward_home(member: str, target: Address) -> str:
    """The home of the queue of what is on its way to a destination on another queue manager."""
    return f"{_HOME}{member}{_PART}{target}"


def onward(home: str) -> tuple[str, Address] | None:
    """The queue manager and the destination behind such a home; None for any other home."""
    if not home.startswith(_HOME):
        return None
    member, _, target = home.removeprefix(_HOME).partition(_PART)
    kind, _, name = target.partition("://")
    return member, Address(AddressKind(kind), name)
