"""IBM MQ's factory settings: the objects of a new queue manager."""

from __future__ import annotations

from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.model import Definition, Kind, Value

STAGING_QUEUE = "SYSTEM.DDELAY.LOCAL.QUEUE"
"""The name of IBM MQ's staging queue for delayed messages (DELAY:30)."""

DEAD_LETTER_QUEUE = "SYSTEM.DEAD.LETTER.QUEUE"
BASE_TOPIC = "SYSTEM.BASE.TOPIC"
"""The topic object whose attributes apply where no other topic object sets them, such as DEFPSIST(NO) (QS-34)."""
RETAINED_QUEUE = "SYSTEM.RETAINED.PUB.QUEUE"
"""The queue whose attributes limit retained publications; the publications themselves are not on the queue."""
LOCAL_DEFAULT = "SYSTEM.DEFAULT.LOCAL.QUEUE"
MODEL_DEFAULT = "SYSTEM.DEFAULT.MODEL.QUEUE"
DURABLE_MODEL = "SYSTEM.DURABLE.MODEL.QUEUE"
NON_DURABLE_MODEL = "SYSTEM.NDURABLE.MODEL.QUEUE"
ON_USE = "ONUSE(YES)"
"""The word in the CUSTOM attribute that makes the queue manager create undefined queues on use; not in IBM MQ."""

_BASE_TOPIC: dict[str, Value] = {
    "DEFPSIST": "NO",
    "DEFPRTY": 0,
    "PUB": "ENABLED",
    "SUB": "ENABLED",
    "DURSUB": "YES",
    "PMSGDLV": "ALLDUR",
    "NPMSGDLV": "ALLAVAIL",
    "USEDLQ": "YES",
    "PUBSCOPE": "ALL",
    "SUBSCOPE": "ALL",
}


def _of(kind: Kind, name: str, **given: Value) -> Definition:
    return Definition(kind, name, defaults(kind) | given)


def factory(name: str, *, zos: bool) -> tuple[Definition, ...]:
    """Return the objects of a new queue manager.

    Args:
        name: The queue manager's name.
        zos: Whether the queue manager is on z/OS, where an administrator has to define the staging queue (DD-35,
            DD-40).
    """
    staging = () if zos else (_of(Kind.QLOCAL, STAGING_QUEUE, MAXDEPTH=100_000, MSGDLVSQ="FIFO"),)
    return (
        _of(Kind.QMGR, name),
        _of(Kind.QLOCAL, LOCAL_DEFAULT),
        _of(Kind.QALIAS, "SYSTEM.DEFAULT.ALIAS.QUEUE"),
        _of(Kind.QMODEL, MODEL_DEFAULT),
        _of(Kind.QMODEL, DURABLE_MODEL, DEFTYPE="PERMDYN"),
        _of(Kind.QMODEL, NON_DURABLE_MODEL),
        _of(Kind.TOPIC, "SYSTEM.DEFAULT.TOPIC"),
        _of(Kind.SUB, "SYSTEM.DEFAULT.SUB"),
        _of(Kind.TOPIC, BASE_TOPIC, **_BASE_TOPIC),
        _of(Kind.QLOCAL, DEAD_LETTER_QUEUE),
        _of(Kind.QLOCAL, RETAINED_QUEUE, MAXDEPTH=100_000),
        *staging,
    )
