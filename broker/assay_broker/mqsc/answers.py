"""The output of runmqsc: the echo of each command, its answer, and the three lines at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay_broker.core.administration.authority import AuthorityRecord
from assay_broker.core.objects.attributes import Flag, attributes
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.model import Definition, Kind, Namespace
from assay_broker.core.objects.status import ThreadStatus, TopicStatus
from assay_broker.core.objects.values import shown
from assay_broker.mqsc.lines import SourceCommand
from assay_broker.mqsc.statements import Showing

_INDENT = "   "
_COLUMN = 40
_HEADS = {Namespace.QUEUE: "QUEUE", Namespace.TOPIC: "TOPIC", Namespace.SUB: "SUB", Namespace.QMGR: "QMNAME"}
_FEW = {0: "No", 1: "One"}


def echo(number: int, command: SourceCommand) -> Iterator[str]:
    """Yield a command's own lines as runmqsc echoes them; the first line begins with the command's number.

    Args:
        number: The command's number in its script; END has a number, too.
        command: The command.
    """
    for place, line in enumerate(command.lines):
        yield f"{number:6d} : {line}" if place == 0 else echo_remark(line)


def echo_remark(line: str) -> str:
    """Return a line without a number as runmqsc echoes it: a comment, a blank line, or a command's further line."""
    return f"       : {line}"


def tail(read: int, syntax_errors: int, not_processed: int) -> tuple[str, str, str]:
    """Return the three lines at the end of the output.

    Args:
        read: The number of commands that were read, without END.
        syntax_errors: The number of commands with a syntax error.
        not_processed: The number of valid commands that the queue manager refused.
    """
    have = "has" if syntax_errors == 1 else "have"
    return (
        f"{_FEW.get(read, read)} MQSC command{_plural(read)} read.",
        f"{_FEW.get(syntax_errors, syntax_errors)} command{_plural(syntax_errors)} {have} a syntax error.",
        "All valid MQSC commands were processed."
        if not_processed == 0
        else f"{_FEW.get(not_processed, not_processed)} valid MQSC command{_plural(not_processed)}"
        " could not be processed.",
    )


def _plural(count: int) -> str:
    return "" if count == 1 else "s"


def object_lines(definition: Definition, showing: Showing, host: Host, *, status: bool = False) -> list[str]:
    """Return the lines of DISPLAY for one object.

    Args:
        definition: The object, including its read-only attributes.
        showing: The attributes to show.
        host: The queue manager's platform and level.
        status: Whether the command asks for the object's status, not its definition.
    """
    return _columns(_items(definition, showing, host, status=status))


def authority_lines(record: AuthorityRecord) -> list[str]:
    """Return the lines of DISPLAY AUTHREC for one authority record."""
    return _columns(
        (
            f"PROFILE({record.profile})",
            f"ENTITY({record.entity})",
            f"ENTTYPE({'GROUP' if record.group else 'PRINCIPAL'})",
            f"OBJTYPE({record.object_type})",
            f"AUTHLIST({','.join(record.authorities) or 'NONE'})",
        )
    )


def topic_lines(status: TopicStatus, showing: Showing) -> list[str]:
    """Return the lines of DISPLAY TPSTATUS for a topic string."""
    items = (
        f"{keyword}({value})"
        for keyword, value in status.attributes.items()
        if showing.keywords is None or keyword in showing.keywords
    )
    return _columns((f"TPSTATUS({status.topic})", *items))


def thread_lines(status: ThreadStatus) -> list[str]:
    """Return the lines of DISPLAY THREAD for a branch; its name has a separate line, because the name is long."""
    items = (f"{keyword}({value or ' '})" for keyword, value in status.attributes.items())
    return [f"{_INDENT}THREAD({status.name})", *_columns(items)]


def _items(definition: Definition, showing: Showing, host: Host, *, status: bool) -> Iterator[str]:
    yield f"{_HEADS[definition.namespace]}({definition.name})"
    if definition.namespace is Namespace.QUEUE:
        yield "TYPE(QUEUE)" if status else f"TYPE({definition.kind})"
    for row in attributes(definition.kind, zos=host.zos, level=host.level):
        wanted = showing.keywords is None or row.keyword in showing.keywords
        if not wanted or (row.keyword == "TYPE" and definition.kind is not Kind.TOPIC):
            continue
        value = shown(row, definition.attributes[row.keyword])
        if isinstance(row.values, Flag):
            yield row.keyword if value == "YES" else f"NO{row.keyword}"
        else:
            yield f"{row.keyword}({value or ' '})"


def _columns(items: Iterable[str]) -> list[str]:
    """Arrange items in two columns, and give each item that is too long for a column its own line."""
    lines: list[str] = []
    left = ""
    for item in items:
        if len(item) >= _COLUMN:
            lines.extend([left, item] if left else [item])
            left = ""
        elif left:
            lines.append(left.ljust(_COLUMN) + item)
            left = ""
        else:
            left = item
    if left:
        lines.append(left)
    return [_INDENT + line for line in lines]
