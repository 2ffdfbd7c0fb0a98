"""What each kind of object can be set to: one row an attribute, with IBM MQ's keyword, values and factory setting."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from assay_broker.core.objects.model import Kind, Value


class Choice(Struct, frozen=True):
    """One of several words."""

    words: tuple[str, ...]


class Number(Struct, frozen=True):
    """A whole number, or a word that stands for one (``NOLIMIT``)."""

    lowest: int
    highest: int
    words: dict[str, int] = {}


class Text(Struct, frozen=True):
    """Any text of at most so many characters; blank is allowed."""

    longest: int


class Name(Struct, frozen=True):
    """An object's name, or blank."""

    longest: int = 48


class Attribute(Struct, frozen=True, kw_only=True):
    """One attribute of one kind of object.

    Args:
        keyword: IBM MQ's.
        values: What it can be.
        default: The factory setting, which SYSTEM.DEFAULT objects carry.
        fixed: Whether it can be given at DEFINE only.
        shown: Whether it is only shown: the queue manager sets it.
        zos: Whether only a queue manager on z/OS has it.
    """

    keyword: str
    values: Choice | Number | Text | Name
    default: Value
    fixed: bool = False
    shown: bool = False
    zos: bool = False


_SWITCH = Choice(("ENABLED", "DISABLED"))
_YES = Choice(("NO", "YES"))
_BIND = Choice(("OPEN", "NOTFIXED", "GROUP"))
_ANY = 999_999_999
_LARGEST_MESSAGE = 104_857_600
_DELIVERY = Choice(("ASPARENT", "ALL", "ALLDUR", "ALLAVAIL"))

_QUEUE = (
    Attribute(keyword="DESCR", values=Text(64), default=""),
    Attribute(keyword="PUT", values=_SWITCH, default="ENABLED"),
    Attribute(keyword="GET", values=_SWITCH, default="ENABLED"),
    Attribute(keyword="DEFPSIST", values=_YES, default="NO"),
    Attribute(keyword="DEFPRTY", values=Number(0, 9), default=0),
    Attribute(keyword="DEFBIND", values=_BIND, default="OPEN"),
    Attribute(keyword="CLUSTER", values=Name(), default=""),
    Attribute(keyword="CLUSNL", values=Name(), default=""),
)
_STORED = (
    Attribute(keyword="MAXDEPTH", values=Number(0, _ANY), default=5_000),
    Attribute(keyword="MAXMSGL", values=Number(0, _LARGEST_MESSAGE), default=4_194_304),
    Attribute(keyword="MSGDLVSQ", values=Choice(("PRIORITY", "FIFO")), default="PRIORITY"),
    Attribute(keyword="BOTHRESH", values=Number(0, _ANY), default=0),
    Attribute(keyword="BOQNAME", values=Name(), default=""),
    Attribute(
        keyword="INDXTYPE",
        values=Choice(("NONE", "MSGID", "CORRELID", "GROUPID", "MSGTOKEN")),
        default="NONE",
        zos=True,
    ),
    Attribute(
        keyword="QSGDISP", values=Choice(("QMGR", "COPY", "GROUP", "SHARED")), default="QMGR", zos=True, fixed=True
    ),
    Attribute(keyword="STGCLASS", values=Name(8), default="DEFAULT", zos=True),
)

ATTRIBUTES: Mapping[Kind, tuple[Attribute, ...]] = MappingProxyType(
    {
        Kind.QLOCAL: (*_QUEUE, *_STORED),
        Kind.QALIAS: (
            *_QUEUE,
            Attribute(keyword="TARGET", values=Name(), default=""),
            Attribute(keyword="TARGTYPE", values=Choice(("QUEUE", "TOPIC")), default="QUEUE"),
        ),
        Kind.QMODEL: (
            *_QUEUE,
            *_STORED,
            Attribute(keyword="DEFTYPE", values=Choice(("TEMPDYN", "PERMDYN", "SHAREDYN")), default="TEMPDYN"),
        ),
        Kind.TOPIC: (
            Attribute(keyword="DESCR", values=Text(64), default=""),
            Attribute(keyword="TOPICSTR", values=Text(10_240), default="", fixed=True),
            Attribute(keyword="DEFPSIST", values=Choice(("ASPARENT", "NO", "YES")), default="ASPARENT"),
            Attribute(keyword="DEFPRTY", values=Number(0, 9, {"ASPARENT": -2}), default=-2),
            Attribute(keyword="PUB", values=Choice(("ASPARENT", "ENABLED", "DISABLED")), default="ASPARENT"),
            Attribute(keyword="SUB", values=Choice(("ASPARENT", "ENABLED", "DISABLED")), default="ASPARENT"),
            Attribute(keyword="DURSUB", values=Choice(("ASPARENT", "YES", "NO")), default="ASPARENT"),
            Attribute(keyword="PMSGDLV", values=_DELIVERY, default="ASPARENT"),
            Attribute(keyword="NPMSGDLV", values=_DELIVERY, default="ASPARENT"),
            Attribute(keyword="USEDLQ", values=Choice(("ASPARENT", "YES", "NO")), default="ASPARENT"),
        ),
        Kind.SUB: (
            Attribute(keyword="TOPICSTR", values=Text(10_240), default="", fixed=True),
            Attribute(keyword="TOPICOBJ", values=Name(), default="", fixed=True),
            Attribute(keyword="DEST", values=Name(), default=""),
            Attribute(keyword="DESTCLAS", values=Choice(("PROVIDED", "MANAGED")), default="PROVIDED", fixed=True),
            Attribute(keyword="SELECTOR", values=Text(10_240), default="", fixed=True),
        ),
        Kind.QMGR: (
            Attribute(keyword="DESCR", values=Text(64), default=""),
            Attribute(keyword="DEADQ", values=Name(), default=""),
            Attribute(keyword="CUSTOM", values=Text(128), default=""),
            Attribute(keyword="MAXMSGL", values=Number(32_768, _LARGEST_MESSAGE), default=4_194_304),
            Attribute(keyword="MAXUMSGS", values=Number(1, _ANY), default=10_000),
            Attribute(keyword="PARENT", values=Name(), default=""),
        ),
    }
)
"""All attributes by kind; DISPLAY sorts by keyword."""


def defaults(kind: Kind) -> dict[str, Value]:
    """The factory settings of a kind of object."""
    return {attribute.keyword: attribute.default for attribute in ATTRIBUTES[kind]}
