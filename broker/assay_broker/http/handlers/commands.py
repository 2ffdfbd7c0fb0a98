"""The handler of MQSC commands, as text or in JSON (IBM MQ, ``/admin/action/qmgr/{qmgr}/mqsc``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from assay_broker.core.administration.authority import AuthorityRecord
from assay_broker.core.administration.changes import DisplayObjects
from assay_broker.core.objects.attributes import ATTRIBUTES, SYNONYMS, Flag, Name, Text, attributes
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.model import Definition, Kind, Namespace, Value
from assay_broker.core.objects.status import ThreadStatus, TopicStatus
from assay_broker.core.objects.values import shown
from assay_broker.http.requests.connections import ManagerConnection
from assay_broker.http.requests.problems import FAILED, Faults, HttpProblem
from assay_broker.http.requests.request import ApiRequest, json_answer
from assay_broker.mqsc.lines import LONGEST_COMMAND, LineFault, Piece, Position, SourceCommand
from assay_broker.mqsc.messages import SHOWN
from assay_broker.mqsc.script import CommandAnswer, Shown, conclude, understand
from assay_broker.mqsc.statements import Statement
from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.reasons import Refused

Given = str | int | bool | list[str | int]
"""A parameter's value in JSON."""


class CommandText(Struct, frozen=True, forbid_unknown_fields=True):
    """The object ``parameters`` of a request with an MQSC command as text (`RunCommand`)."""

    command: str


class RunCommand(Struct, frozen=True, forbid_unknown_fields=True, tag="runCommand", tag_field="type"):
    """The body of a request with an MQSC command as text, as for runmqsc."""

    parameters: CommandText


class RunCommandJson(
    Struct,
    frozen=True,
    forbid_unknown_fields=True,
    tag="runCommandJSON",
    tag_field="type",
    rename="camel",
    kw_only=True,
):
    """The body of a request with a command in JSON.

    Args:
        command: The verb.
        qualifier: The noun.
        name: The object's name, which is not folded to upper case.
        parameters: The parameters' values, by keyword in upper or lower case.
        response_parameters: The keywords that a DISPLAY shows, or ``all``.
        on_use: An extension of the kit: whether DISPLAY also shows a queue without a definition, if the queue manager
            would create the queue on first use.
    """

    command: str
    qualifier: str
    name: str | None = None
    parameters: dict[str, Given] = {}
    response_parameters: list[str] = []
    on_use: bool = False


Body = RunCommand | RunCommandJson
_DECODER = msgspec.json.Decoder(Body)


async def run(request: ApiRequest) -> Response:
    """Carry out the MQSC command in a request."""
    octets = await request.body()
    try:
        body = _DECODER.decode(octets)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise HttpProblem(Faults.BODY, f"The body is not a valid command: {error}.") from error
    async with request.connected() as asker:
        host = request.served.queue_manager.settings.host
        if isinstance(body, RunCommand):
            text = body.parameters.command
            _, answer = await _run(text, asker, host)
            items = list(_texts(answer))
        else:
            statement, answer = await _run(json_command(body), asker, host, on_use=body.on_use)
            items = [_refusal(answer)] if answer.refused else list(_objects(statement, answer, host))
    failed = answer.refused is not None
    return json_answer(
        {
            "commandResponse": items,
            "overallCompletionCode": FAILED if failed else 0,
            "overallReasonCode": int(Mqrccf.COMMAND_FAILED) if failed else 0,
        }
    )


async def _run(
    text: str, asker: ManagerConnection, host: Host, *, on_use: bool = False
) -> tuple[Statement | None, CommandAnswer]:
    """Carry out a command given as text.

    Args:
        text: The command.
        asker: The connection to the queue manager.
        host: The queue manager's platform and level.
        on_use: Whether DISPLAY also shows a queue that the queue manager would create on first use.

    Returns:
        The command's statement (None if the text is not a valid command), and the answer.
    """
    command = one_command(text)
    statement = understand(1, command, host)
    if isinstance(statement, CommandAnswer):
        return None, statement
    change = statement.change
    if on_use and isinstance(change, DisplayObjects):
        change = replace(change, on_use=True)
    value = await asker.administer(change)
    found = value if isinstance(value, Refused) else tuple(one for one in value or () if isinstance(one, Shown))
    return statement, conclude(1, command, statement, found, host)


def one_command(text: str) -> SourceCommand:
    """Return the command in a string.

    The string is no script: ``+`` and ``-`` at the end of a line, and ``*`` at its beginning, have no special meaning.
    """
    start = Position(1, 1)
    fault = None
    if len(text) > LONGEST_COMMAND:
        fault = LineFault(start, f"A command has at most {LONGEST_COMMAND} characters, and this one has more.")
    return SourceCommand(text=text, pieces=(Piece(0, start),), lines=(text,), fault=fault)


# answers as text -----------------------------------------------------------------------------------------------------


def _texts(answer: CommandAnswer) -> Iterator[dict[str, object]]:
    """Yield an item for each object of a DISPLAY, or one item for any other answer.

    The item for a refusal has the column of the mistake.
    """
    refused = answer.refused
    if refused is not None:
        yield {
            "completionCode": FAILED,
            "reasonCode": refused.reason,
            "text": ["\n".join(answer.lines)],
            "column": refused.at.column,
            "syntaxError": refused.syntax,
        }
        return
    heads = frozenset(SHOWN.values())
    item: list[str] = []
    for line in answer.lines:
        if line in heads and item:
            yield _done(item)
            item = []
        item.append(line)
    yield _done(item)


def _done(lines: list[str]) -> dict[str, object]:
    return {"completionCode": 0, "reasonCode": 0, "text": ["\n".join(lines)]}


# answers in JSON -----------------------------------------------------------------------------------------------------

_NAMES = {Namespace.QUEUE: "queue", Namespace.TOPIC: "topic", Namespace.SUB: "sub", Namespace.QMGR: "qmname"}


def _refusal(answer: CommandAnswer) -> dict[str, object]:
    refused = answer.refused
    if refused is None:
        raise TypeError("a command that was carried out has no refusal")
    identifier = answer.lines[0].partition(":")[0]
    return {"completionCode": FAILED, "reasonCode": refused.reason, "message": [f"{identifier}: {refused.text}"]}


def _objects(statement: Statement | None, answer: CommandAnswer, host: Host) -> Iterator[dict[str, object]]:
    if statement is None or statement.verb != "DISPLAY":
        yield {"completionCode": 0, "reasonCode": 0, "message": list(answer.lines)}
        return
    for one in answer.shown:
        yield {"completionCode": 0, "reasonCode": 0, "parameters": dict(_parameters(one, statement, host))}


def _parameters(one: Shown, statement: Statement, host: Host) -> Iterator[tuple[str, object]]:
    wanted = statement.showing.keywords
    if isinstance(one, AuthorityRecord):
        yield "profile", one.profile
        yield "entity", one.entity
        yield "enttype", "GROUP" if one.group else "PRINCIPAL"
        yield "objtype", one.object_type
        yield "authlist", list(one.authorities)
    elif isinstance(one, TopicStatus | ThreadStatus):
        is_topic = isinstance(one, TopicStatus)
        yield "tpstatus" if is_topic else "thread", one.topic if isinstance(one, TopicStatus) else one.name
        for keyword, value in one.attributes.items():
            if wanted is None or keyword in wanted:
                yield keyword.lower(), value
    else:
        yield from _definition(one, wanted, host, status=statement.noun == "QSTATUS")


def _definition(
    one: Definition, wanted: tuple[str, ...] | None, host: Host, *, status: bool
) -> Iterator[tuple[str, object]]:
    yield _NAMES[one.namespace], one.name
    if one.namespace is Namespace.QUEUE:
        yield "type", "QUEUE" if status else one.kind.value
    for row in attributes(one.kind, zos=host.zos, level=host.level):
        if (wanted is None or row.keyword in wanted) and (row.keyword != "TYPE" or one.kind is Kind.TOPIC):
            yield (
                row.keyword.lower(),
                _number_or_word(one.attributes[row.keyword], shown(row, one.attributes[row.keyword])),
            )


def _number_or_word(value: Value, text: str) -> Value:
    """Return an attribute's value as a number if DISPLAY shows this number, otherwise as the text of DISPLAY."""
    return value if isinstance(value, int) and text == str(value) else text


# commands in JSON ----------------------------------------------------------------------------------------------------

_KEYWORD = re.compile(r"[A-Za-z]{1,32}")
_WORD = re.compile(r"[A-Za-z0-9._/%]+\*?|\*|-?[0-9]+")
_ROWS = {row.keyword: row for rows in ATTRIBUTES.values() for row in rows}
_AS_GIVEN = frozenset({"PROFILE", "PRINCIPAL", "GROUP", "LIKE"})
_BARE = frozenset({"REPLACE", "PURGE", "ALL", *(key for key, row in _ROWS.items() if isinstance(row.values, Flag))})
_ANSWERS: Mapping[str, bool] = {"yes": True, "no": False, "true": True, "false": False}


def json_command(body: RunCommandJson) -> str:
    """Translate a command in JSON to a command as text.

    Args:
        body: The command in JSON.

    Raises:
        HttpProblem: A keyword or its value is not valid.
    """
    verb, noun = _keyword(body.command), _keyword(body.qualifier)
    parts = [verb, noun if body.name is None else f"{noun}({_quoted(body.name)})"]
    parts += [_parameter(_keyword(name), value) for name, value in body.parameters.items()]
    parts += [_keyword(word) for word in body.response_parameters]
    return " ".join(filter(None, parts))


def _keyword(given: str) -> str:
    if _KEYWORD.fullmatch(given) is None:
        raise HttpProblem(Faults.BODY, f"{given[:40]!a} is not a keyword of MQSC.")
    return given.upper()


def _parameter(keyword: str, value: Given) -> str:
    """Return a parameter in MQSC.

    A keyword that has no value in MQSC, such as REPLACE, has yes or no in JSON.  Yes gives the keyword.  No gives the
    opposite keyword of an attribute, such as NOSHARE, and an empty string for other keywords, such as REPLACE.
    """
    full = SYNONYMS.get(keyword, keyword)
    if full in _BARE or full.removeprefix("NO") in _BARE:
        said = _ANSWERS.get(str(value).lower())
        if said is None:
            raise HttpProblem(Faults.BODY, f"{keyword} must be yes or no, not {str(value)[:40]!a}.")
        return _bare(full, said=said)
    if full == "WHERE" and isinstance(value, str):
        return f"WHERE({value})"
    values = [str(one) for one in value] if isinstance(value, list) else [str(value)]
    row = _ROWS.get(full)
    keeps_case = full in _AS_GIVEN or (row is not None and isinstance(row.values, Text | Name))
    if full == "WHERE":
        return f"WHERE({' '.join([*values[:2], *map(_quoted, values[2:])])})"
    return f"{full}({','.join(_quoted(one) if keeps_case else _folded(one) for one in values)})"


def _bare(keyword: str, *, said: bool) -> str:
    if said:
        return keyword
    row = _ROWS.get(keyword.removeprefix("NO"))
    if row is None or not isinstance(row.values, Flag):
        return ""
    return row.keyword if keyword.startswith("NO") else f"NO{row.keyword}"


def _folded(value: str) -> str:
    """Return a comma-separated list with its MQSC words in upper case, and its other entries in quotes."""
    words = [word.strip() for word in value.split(",")]
    return ",".join(word.upper() if _WORD.fullmatch(word) else _quoted(word) for word in words)


def _quoted(value: str) -> str:
    text = value.replace("'", "''")
    return f"'{text or ' '}'"
