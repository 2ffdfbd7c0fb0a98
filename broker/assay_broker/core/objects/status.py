"""The present state that DISPLAY shows in addition to definitions."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from msgspec import Struct

from assay_broker.core.objects.attributes import ATTRIBUTES
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.model import Definition, Kind, Namespace, Value

_SUBSCRIPTION_ID_DIGITS = 48


class TopicStatus(Struct, frozen=True):
    """The attributes that apply to a topic string.

    Args:
        topic: The topic string.
        attributes: The values of the attributes, by keyword, including inherited values.
    """

    topic: str
    attributes: dict[str, Value]


class ThreadStatus(Struct, frozen=True):
    """The state of a branch of a global unit of work.

    Args:
        name: The branch's xid in hexadecimal digits.
        attributes: The values of the attributes, by keyword.
    """

    name: str
    attributes: dict[str, Value]


def complete(definition: Definition, host: Host, live: Mapping[str, Value]) -> Definition:
    """Return an object with all attributes that DISPLAY can show.

    Args:
        definition: The object.
        host: The queue manager's platform and level.
        live: The values of the object's present state, such as CURDEPTH; for a missing value, the default applies.
    """
    shown = {row.keyword: row.default for row in ATTRIBUTES[definition.kind] if row.shown}
    if definition.namespace is Namespace.QUEUE:
        shown["TYPE"] = definition.kind.value
    elif definition.kind is Kind.SUB:
        shown["SUBID"] = sub_id(definition)
    elif definition.kind is Kind.QMGR:
        shown["CMDLEVEL"] = host.level
        shown["PLATFORM"] = "MVS" if host.zos else "UNIX"
    return Definition(definition.kind, definition.name, definition.attributes | shown | dict(live))


def sub_id(definition: Definition) -> str:
    """Return the SUBID of a SUB object.

    An object from the queue manager's settings has no stored SUBID; its name alone gives the SUBID.
    """
    return str(definition.attributes.get("SUBID") or subscription_id(definition.name))


def subscription_id(name: str) -> str:
    """Return the identifier (SUBID) of a subscription: 24 bytes in hexadecimal digits.

    Args:
        name: A text that names only this subscription.
    """
    return sha256(name.encode()).hexdigest()[:_SUBSCRIPTION_ID_DIGITS].upper()
