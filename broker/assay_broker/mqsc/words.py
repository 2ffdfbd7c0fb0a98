"""The verbs and nouns of MQSC, and their valid combinations."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assay_broker.core.objects.model import Kind

VERBS: Mapping[str, str] = MappingProxyType(
    {
        "DEFINE": "DEFINE",
        "DEF": "DEFINE",
        "ALTER": "ALTER",
        "ALT": "ALTER",
        "DISPLAY": "DISPLAY",
        "DIS": "DISPLAY",
        "DELETE": "DELETE",
        "CLEAR": "CLEAR",
        "SET": "SET",
        "RESOLVE": "RESOLVE",
    }
)
"""The full verbs, by verb or abbreviation.  No other abbreviation is valid; DELETE has none."""

NOUNS: Mapping[str, str] = MappingProxyType(
    {
        "QLOCAL": "QLOCAL",
        "QL": "QLOCAL",
        "QALIAS": "QALIAS",
        "QA": "QALIAS",
        "QMODEL": "QMODEL",
        "QM": "QMODEL",
        "QUEUE": "QUEUE",
        "Q": "QUEUE",
        "QSTATUS": "QSTATUS",
        "QS": "QSTATUS",
        "TOPIC": "TOPIC",
        "TPSTATUS": "TPSTATUS",
        "TPS": "TPSTATUS",
        "SUB": "SUB",
        "QMGR": "QMGR",
        "SYSTEM": "SYSTEM",
        "TOPICSTR": "TOPICSTR",
        "AUTHREC": "AUTHREC",
        "THREAD": "THREAD",
        "THR": "THREAD",
        "INDOUBT": "INDOUBT",
        "IND": "INDOUBT",
    }
)
"""The full nouns, by noun or abbreviation."""

QUEUE_KINDS = (Kind.QLOCAL, Kind.QALIAS, Kind.QMODEL)

KINDS: Mapping[str, tuple[Kind, ...]] = MappingProxyType(
    {
        "QLOCAL": (Kind.QLOCAL,),
        "QALIAS": (Kind.QALIAS,),
        "QMODEL": (Kind.QMODEL,),
        "QUEUE": QUEUE_KINDS,
        "QSTATUS": (Kind.QLOCAL,),
        "TOPIC": (Kind.TOPIC,),
        "SUB": (Kind.SUB,),
        "QMGR": (Kind.QMGR,),
        "SYSTEM": (Kind.QMGR,),
    }
)
"""The kinds of objects of each noun."""

DEFINABLE = ("QLOCAL", "QALIAS", "QMODEL", "TOPIC", "SUB")

VALID: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "DEFINE": DEFINABLE,
        "ALTER": (*DEFINABLE, "QMGR"),
        "DISPLAY": (
            "QUEUE",
            "QLOCAL",
            "QALIAS",
            "QMODEL",
            "QSTATUS",
            "TOPIC",
            "TPSTATUS",
            "SUB",
            "QMGR",
            "AUTHREC",
            "SYSTEM",
            "THREAD",
        ),
        "DELETE": DEFINABLE,
        "CLEAR": ("QLOCAL", "TOPICSTR"),
        "SET": ("AUTHREC",),
        "RESOLVE": ("INDOUBT",),
    }
)
"""The nouns that each verb takes."""

ZOS_ONLY = frozenset({("DISPLAY", "SYSTEM")})
NOT_ON_ZOS = frozenset({("SET", "AUTHREC"), ("DISPLAY", "AUTHREC")})
"""The commands that do not exist on z/OS, because the external security manager decides about authority there."""

STATUS_KEYWORDS = ("CURDEPTH", "IPPROCS", "OPPROCS")
"""The attributes of DISPLAY QSTATUS."""

SYSTEM_KEYWORDS = ("OPMODE",)
TOPIC_STATUS_KEYWORDS = (
    "ADMIN",
    "DEFPRTY",
    "DEFPSIST",
    "DURSUB",
    "NPMSGDLV",
    "PMSGDLV",
    "PUB",
    "RETAINED",
    "SUB",
    "SUBCOUNT",
    "USEDLQ",
)
"""The attributes of DISPLAY TPSTATUS."""

LONGEST_TOPIC = 10_240
"""The most bytes of a topic string."""
