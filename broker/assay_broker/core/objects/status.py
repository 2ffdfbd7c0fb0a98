"""What is shown of an object beside what it is defined with."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from msgspec import Struct

from assay_broker.core.objects.attributes import ATTRIBUTES
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.model import Definition, Kind, Namespace, Value

_SUBSCRIPTION_ID_DIGITS = 48


class TopicStatus(Struct, frozen=True):
    """What holds for a topic string.

    Args:
        topic: The topic string.
        attributes: By keyword, with nothing left to a parent.
    """

    topic: str
    attributes: dict[str, Value]


class ThreadStatus(Struct, frozen=True):
    """A branch of a global unit of work.

    Args:
        name: Its xid in hexadecimal digits.
        attributes: By keyword.
    """

    name: str
    attributes: dict[str, Value]


def complete(definition: Definition, host: Host, live: Mapping[str, Value]) -> Definition:
    """An object with everything that DISPLAY knows of it.

    Args:
        definition: The object.
        host: The queue manager.
        live: What is known of it at this moment, as CURDEPTH; what is missing is shown as if nobody used it.
    """
    shown = {row.keyword: row.default for row in ATTRIBUTES[definition.kind] if row.shown}
    if definition.namespace is Namespace.QUEUE:
        shown["TYPE"] = definition.kind.value
    elif definition.kind is Kind.SUB:
        shown["SUBID"] = subscription_id(definition.name)
    elif definition.kind is Kind.QMGR:
        shown["CMDLEVEL"] = host.level
        shown["PLATFORM"] = "MVS" if host.zos else "UNIX"
    return Definition(definition.kind, definition.name, definition.attributes | shown | dict(live))


def subscription_id(name: str) -> str:
    """The identifier of a subscription, made from its name: 24 bytes in hexadecimal digits."""
    return sha256(name.encode()).hexdigest()[:_SUBSCRIPTION_ID_DIGITS].upper()
