"""The table of attributes of each kind of object, with IBM MQ's keywords, values and factory settings."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from assay_broker.core.objects.model import Kind, Value


class Choice(Struct, frozen=True):
    """The words that an attribute can have as its value."""

    words: tuple[str, ...]


class Number(Struct, frozen=True):
    """The values of an attribute that is a whole number.

    Args:
        lowest: The lowest number.
        highest: The highest number.
        words: The words that stand for special numbers, such as ``NOLIMIT``, with these numbers.
    """

    lowest: int
    highest: int
    words: dict[str, int] = {}


class Text(Struct, frozen=True):
    """The values of an attribute that is a text, possibly blank; a text has at most `longest` bytes in UTF-8."""

    longest: int


class Name(Struct, frozen=True):
    """The values of an attribute that is an object's name or blank; a name has at most `longest` characters."""

    longest: int = 48


class Flag(Struct, frozen=True):
    """The values of an attribute that MQSC writes as a bare keyword, such as SHARE, or with NO in front (NOSHARE).

    Definitions hold ``YES`` or ``NO``.
    """


Values = Choice | Number | Text | Name | Flag


class Attribute(Struct, frozen=True, kw_only=True):
    """One attribute of one kind of object.

    Args:
        keyword: IBM MQ's keyword.
        values: The values that the attribute can have.
        default: The factory setting, which SYSTEM.DEFAULT objects have.
        fixed: Whether only the DEFINE that creates an object can set the attribute, not ALTER or DEFINE REPLACE.
        shown: Whether the attribute is read-only: the queue manager sets it, and only DISPLAY shows it.
        zos: Whether only a queue manager on z/OS has the attribute.
        since: The first command level with the attribute, such as 940.
    """

    keyword: str
    values: Values
    default: Value
    fixed: bool = False
    shown: bool = False
    zos: bool = False
    since: int = 0


SYNONYMS: Mapping[str, str] = MappingProxyType({"TARGQ": "TARGET"})
"""The current keyword for each older keyword that MQSC still accepts."""

NO_LIMIT = -1
"""The number that stands for the words NOLIMIT and UNLIMITED in a definition."""
AS_PARENT = -2
"""The number that stands for the word ASPARENT in a definition."""
AS_PUBLISHED = -3
"""The number that stands for the word ASPUB in a definition."""
AS_QUEUE_DEFINES = -4
"""The number that stands for the word ASQDEF in a definition."""

_SWITCH = Choice(("ENABLED", "DISABLED"))
_INHERITED_SWITCH = Choice(("ASPARENT", "ENABLED", "DISABLED"))
_YES = Choice(("NO", "YES"))
_INHERITED_YES = Choice(("ASPARENT", "YES", "NO"))
_DELIVERY = Choice(("ASPARENT", "ALL", "ALLDUR", "ALLAVAIL"))
_SCOPE = Choice(("ASPARENT", "ALL", "QMGR"))
_ANY = 999_999_999
_PRIORITY = (0, 9)
_LARGEST_MESSAGE = 104_857_600
_LONGEST_TEXT = 10_240

_DESCR = Attribute(keyword="DESCR", values=Text(64), default="")

_QUEUE = (
    _DESCR,
    Attribute(keyword="PUT", values=_SWITCH, default="ENABLED"),
    Attribute(keyword="GET", values=_SWITCH, default="ENABLED"),
    Attribute(keyword="DEFPSIST", values=_YES, default="NO"),
    Attribute(keyword="DEFPRTY", values=Number(*_PRIORITY), default=0),
    Attribute(keyword="TYPE", values=Choice(("QLOCAL", "QALIAS", "QMODEL")), default="QLOCAL", shown=True),
)
_CLUSTERED = (
    Attribute(keyword="DEFBIND", values=Choice(("OPEN", "NOTFIXED", "GROUP")), default="OPEN"),
    Attribute(keyword="CLUSTER", values=Name(), default=""),
    Attribute(keyword="CLUSNL", values=Name(), default=""),
)
_STORED = (
    Attribute(keyword="MAXDEPTH", values=Number(0, _ANY), default=5_000),
    Attribute(keyword="MAXMSGL", values=Number(0, _LARGEST_MESSAGE), default=4_194_304),
    Attribute(keyword="MSGDLVSQ", values=Choice(("PRIORITY", "FIFO")), default="PRIORITY"),
    Attribute(keyword="NPMCLASS", values=Choice(("NORMAL", "HIGH")), default="NORMAL"),
    Attribute(keyword="BOTHRESH", values=Number(0, _ANY), default=0),
    Attribute(keyword="BOQNAME", values=Name(), default=""),
    Attribute(keyword="SHARE", values=Flag(), default="YES"),
    Attribute(keyword="HARDENBO", values=Flag(), default="YES"),
    Attribute(keyword="CAPEXPRY", values=Number(1, _ANY, {"NOLIMIT": NO_LIMIT}), default=NO_LIMIT, since=940),
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
_IN_USE = (
    Attribute(keyword="CURDEPTH", values=Number(0, _ANY), default=0, shown=True),
    Attribute(keyword="IPPROCS", values=Number(0, _ANY), default=0, shown=True),
    Attribute(keyword="OPPROCS", values=Number(0, _ANY), default=0, shown=True),
)
_TOPIC = (
    _DESCR,
    Attribute(keyword="TOPICSTR", values=Text(_LONGEST_TEXT), default="", fixed=True),
    Attribute(keyword="DEFPSIST", values=Choice(("ASPARENT", "NO", "YES")), default="ASPARENT"),
    Attribute(keyword="DEFPRTY", values=Number(*_PRIORITY, {"ASPARENT": AS_PARENT}), default=AS_PARENT),
    Attribute(keyword="PUB", values=_INHERITED_SWITCH, default="ASPARENT"),
    Attribute(keyword="SUB", values=_INHERITED_SWITCH, default="ASPARENT"),
    Attribute(keyword="DURSUB", values=_INHERITED_YES, default="ASPARENT"),
    Attribute(keyword="PMSGDLV", values=_DELIVERY, default="ASPARENT"),
    Attribute(keyword="NPMSGDLV", values=_DELIVERY, default="ASPARENT"),
    Attribute(keyword="USEDLQ", values=_INHERITED_YES, default="ASPARENT"),
    Attribute(keyword="PUBSCOPE", values=_SCOPE, default="ASPARENT"),
    Attribute(keyword="SUBSCOPE", values=_SCOPE, default="ASPARENT"),
    Attribute(keyword="PROXYSUB", values=Choice(("FIRSTUSE", "FORCE")), default="FIRSTUSE"),
    Attribute(keyword="TYPE", values=Choice(("LOCAL",)), default="LOCAL", shown=True),
)
_SUB = (
    Attribute(keyword="TOPICSTR", values=Text(_LONGEST_TEXT), default="", fixed=True),
    Attribute(keyword="TOPICOBJ", values=Name(), default="", fixed=True),
    Attribute(keyword="DEST", values=Name(), default=""),
    Attribute(keyword="DESTQMGR", values=Name(), default=""),
    Attribute(keyword="DESTCLAS", values=Choice(("PROVIDED", "MANAGED")), default="PROVIDED", fixed=True),
    Attribute(keyword="EXPIRY", values=Number(1, _ANY, {"UNLIMITED": NO_LIMIT}), default=NO_LIMIT),
    Attribute(
        keyword="PUBPRTY",
        values=Number(*_PRIORITY, {"ASPUB": AS_PUBLISHED, "ASQDEF": AS_QUEUE_DEFINES}),
        default=AS_PUBLISHED,
    ),
    Attribute(keyword="SELECTOR", values=Text(_LONGEST_TEXT), default="", fixed=True),
    Attribute(keyword="SUBSCOPE", values=Choice(("ALL", "QMGR")), default="ALL", fixed=True),
    Attribute(keyword="DURABLE", values=_YES, default="YES", shown=True),
    Attribute(keyword="SUBID", values=Text(48), default="", shown=True),
    Attribute(keyword="SUBTYPE", values=Choice(("ADMIN", "API", "PROXY")), default="ADMIN", shown=True),
)
_QMGR = (
    _DESCR,
    Attribute(keyword="DEADQ", values=Name(), default=""),
    Attribute(keyword="CUSTOM", values=Text(128), default=""),
    Attribute(keyword="MAXMSGL", values=Number(32_768, _LARGEST_MESSAGE), default=4_194_304),
    Attribute(keyword="MAXUMSGS", values=Number(1, _ANY), default=10_000),
    Attribute(keyword="PARENT", values=Name(), default=""),
    Attribute(keyword="PSMODE", values=Choice(("ENABLED", "COMPAT", "DISABLED")), default="ENABLED"),
    Attribute(keyword="CMDLEVEL", values=Number(0, _ANY), default=800, shown=True),
    Attribute(keyword="MAXPRTY", values=Number(*_PRIORITY), default=9, shown=True),
    Attribute(keyword="OPMODE", values=Text(16), default="", shown=True, zos=True),
    Attribute(keyword="PLATFORM", values=Choice(("UNIX", "MVS")), default="UNIX", shown=True),
)

ATTRIBUTES: Mapping[Kind, tuple[Attribute, ...]] = MappingProxyType(
    {
        Kind.QLOCAL: (*_QUEUE, *_CLUSTERED, *_STORED, *_IN_USE),
        Kind.QALIAS: (
            *_QUEUE,
            *_CLUSTERED,
            Attribute(keyword="TARGET", values=Name(), default=""),
            Attribute(keyword="TARGTYPE", values=Choice(("QUEUE", "TOPIC")), default="QUEUE"),
        ),
        Kind.QMODEL: (
            *_QUEUE,
            *_STORED,
            Attribute(keyword="DEFTYPE", values=Choice(("TEMPDYN", "PERMDYN", "SHAREDYN")), default="TEMPDYN"),
        ),
        Kind.TOPIC: _TOPIC,
        Kind.SUB: _SUB,
        Kind.QMGR: _QMGR,
    }
)
"""All attributes of each kind of object."""

_BY_KEYWORD = {kind: {row.keyword: row for row in rows} for kind, rows in ATTRIBUTES.items()}


def defaults(kind: Kind) -> dict[str, Value]:
    """Return the factory settings of a kind of object, without the read-only attributes."""
    return {row.keyword: row.default for row in ATTRIBUTES[kind] if not row.shown}


def attribute(kind: Kind, keyword: str, *, zos: bool, level: int) -> Attribute | None:
    """Return an attribute by its keyword or a synonym; None if objects on this platform and level do not have it.

    Args:
        kind: The object's kind.
        keyword: The keyword, in upper case.
        zos: Whether the queue manager is on z/OS.
        level: The queue manager's command level, such as 800.
    """
    row = _BY_KEYWORD[kind].get(SYNONYMS.get(keyword, keyword))
    return row if row is not None and _known(row, zos=zos, level=level) else None


def attributes(kind: Kind, *, zos: bool, level: int) -> tuple[Attribute, ...]:
    """Return the attributes that objects of a kind have on a queue manager, sorted by keyword.

    Args:
        kind: The objects' kind.
        zos: Whether the queue manager is on z/OS.
        level: The queue manager's command level, such as 800.
    """
    rows = (row for row in ATTRIBUTES[kind] if _known(row, zos=zos, level=level))
    return tuple(sorted(rows, key=lambda row: row.keyword))


def _known(row: Attribute, *, zos: bool, level: int) -> bool:
    return level >= row.since and (zos or not row.zos)
