"""The MQSC commands that create copies of existing objects: DEFINE, or ALTER QMGR for the queue manager."""

from __future__ import annotations

from collections.abc import Iterator

from assay_broker.core.objects.attributes import Flag, Name, Text, attributes
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.model import Definition, Kind, Value
from assay_broker.core.objects.values import shown

_LONGEST = 2_000
"""The most characters of a folded part on one line; MQSC allows 2,048 characters in a line."""


def written(definition: Definition, host: Host) -> str:
    """Return the command that creates a copy of an object: DEFINE, or ALTER for the queue manager itself.

    The DEFINE command replaces an existing object.  It omits read-only attributes, because DEFINE does not take them.
    It also omits TOPICOBJ of a subscription: the definition's TOPICSTR is the whole topic string already, and with
    TOPICOBJ, DEFINE would add the string of the topic object again.

    Args:
        definition: The object.
        host: The platform and level of the queue manager that will run the command.
    """
    if definition.kind is Kind.QMGR:
        parts = ["ALTER QMGR"]
    else:
        parts = [f"DEFINE {definition.kind}({_quoted(definition.name)}) REPLACE"]
    for row in attributes(definition.kind, zos=host.zos, level=host.level):
        if row.shown or (definition.kind is Kind.SUB and row.keyword == "TOPICOBJ"):
            continue  # TOPICSTR of a SUB object is whole already
        value = definition.attributes[row.keyword]
        if isinstance(row.values, Flag):
            parts.append(row.keyword if value == "YES" else f"NO{row.keyword}")
        elif isinstance(row.values, Text | Name):
            parts.append(f"{row.keyword}({_quoted(value)})")
        else:
            parts.append(f"{row.keyword}({shown(row, value)})")
    return " +\n    ".join("".join(_folded(part)) for part in parts) + "\n"


def _quoted(value: Value) -> str:
    text = str(value).replace("'", "''")
    return f"'{text or ' '}'"


def _folded(part: str) -> Iterator[str]:
    """Fold a long part of a command into lines.

    A line ends in ``-``, and the command continues in the first column of the next line.  An asterisk in the first
    column would begin a comment.  So before an asterisk the line ends in ``+``, and the next line begins with a blank,
    which does not belong to the command.
    """
    while len(part) > _LONGEST:
        piece, part = part[:_LONGEST], part[_LONGEST:]
        yield piece
        yield "+\n " if part.startswith("*") else "-\n"
    yield part
