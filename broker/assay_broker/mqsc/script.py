"""Runs a script: carries out its commands in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from assay_broker.core.administration.authority import AuthorityRecord
from assay_broker.core.administration.changes import Change
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.model import Definition
from assay_broker.core.objects.reasons import ObjectRefused
from assay_broker.core.objects.status import ThreadStatus, TopicStatus
from assay_broker.mqsc.answers import authority_lines, echo, echo_remark, object_lines, tail, thread_lines, topic_lines
from assay_broker.mqsc.display_statements import read
from assay_broker.mqsc.lines import Position, Remark, SourceCommand, source_commands
from assay_broker.mqsc.messages import DONE, REFUSED, REFUSED_OTHERWISE, SHOWN
from assay_broker.mqsc.statements import Statement
from assay_broker.mqsc.syntax import MqscFaultError, parameters
from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.reasons import Mqrc, Refused

Shown = Definition | AuthorityRecord | TopicStatus | ThreadStatus
Ask = Callable[[Change], tuple[Shown, ...] | Refused]
"""A function that sends a command to a queue manager and returns the refusal, or the objects that a DISPLAY shows."""

_QUEUES = frozenset({"QLOCAL", "QALIAS", "QMODEL", "QUEUE"})
_LONGEST_SEGMENT = 200
_INDENT = "   "


class CommandRefused(Struct, frozen=True, kw_only=True):
    """The refusal of a command of a script.

    Args:
        at: The position of the mistake in the script.
        reason: The reason code, an MQRC or MQRCCF.
        text: A sentence that gives the reason.
        syntax: Whether the command itself is not valid.
        objects: The names of the objects at fault.
    """

    at: Position
    reason: int
    text: str
    syntax: bool
    objects: tuple[str, ...] = ()


class CommandAnswer(Struct, frozen=True, kw_only=True):
    """The answer to one command of a script.

    Args:
        number: The command's number in its script, from 1.
        command: The command.
        lines: The answer as runmqsc writes it.
        refused: The refusal; None if the command was carried out.
        shown: The objects that a DISPLAY shows.
    """

    number: int
    command: SourceCommand
    lines: tuple[str, ...]
    refused: CommandRefused | None = None
    shown: tuple[Shown, ...] = ()


class ScriptAnswer(Struct, frozen=True):
    """The answers to the commands of a script.

    Args:
        answers: The answers to the script's commands, in order.
        lines: The whole output of runmqsc: commands, answers and the three lines at the end.
    """

    answers: tuple[CommandAnswer, ...]
    lines: tuple[str, ...]

    @property
    def refused(self) -> tuple[CommandRefused, ...]:
        """The refusals of commands; empty if all commands were carried out."""
        return tuple(answer.refused for answer in self.answers if answer.refused is not None)


def run_script(script: str, ask: Ask, host: Host) -> ScriptAnswer:
    """Carry out the commands of a script in order; after a refused command, go on with the next one.

    Args:
        script: The script's text.
        ask: Sends a command to the queue manager.
        host: The queue manager's platform and level.
    """
    answers: list[CommandAnswer] = []
    lines: list[str] = []
    for item in source_commands(script):
        if isinstance(item, Remark):
            lines.append(echo_remark(item.line))
            continue
        number = len(answers) + 1
        lines.extend(echo(number, item))
        if item.ends:
            break
        answer = run_command(number, item, ask, host)
        answers.append(answer)
        lines.extend(answer.lines)
    reasons = [answer.refused for answer in answers if answer.refused is not None]
    wrong = sum(reason.syntax for reason in reasons)
    lines.extend(tail(len(answers), wrong, len(reasons) - wrong))
    return ScriptAnswer(tuple(answers), tuple(lines))


def statements(script: str, host: Host) -> Iterator[Statement]:
    """Yield the statements of a script that must be valid, such as `default.mqsc`.

    Args:
        script: The script's text.
        host: The queue manager's platform and level.

    Raises:
        MqscFaultError: A command of the script is not valid.
    """
    for item in source_commands(script):
        if isinstance(item, SourceCommand) and not item.ends:
            yield read(parameters(item), host)


def run_command(number: int, command: SourceCommand, ask: Ask, host: Host) -> CommandAnswer:
    """Carry out one command of a script.

    Args:
        number: The command's number in its script, from 1.
        command: The command.
        ask: Sends a command to the queue manager.
        host: The queue manager's platform and level.
    """
    understood = understand(number, command, host)
    if isinstance(understood, CommandAnswer):
        return understood
    return conclude(number, command, understood, ask(understood.change), host)


def understand(number: int, command: SourceCommand, host: Host) -> Statement | CommandAnswer:
    """Return the statement of a command, or the answer that refuses a command that is not valid.

    Args:
        number: The command's number in its script, from 1.
        command: The command.
        host: The queue manager's platform and level.
    """
    if command.fault is not None:
        fault = command.fault
        refused = CommandRefused(at=fault.at, reason=int(Mqrccf.PARM_SYNTAX_ERROR), text=fault.text, syntax=True)
        return _refused(number, command, refused, "AMQ8405I", Mqrccf.PARM_SYNTAX_ERROR.label)
    try:
        return read(parameters(command), host)
    except MqscFaultError as error:
        refused = CommandRefused(
            at=command.position(error.begin), reason=int(error.reason), text=error.text, syntax=True
        )
        segment = command.text[: error.end]
        if len(segment) > _LONGEST_SEGMENT:
            segment = f"...{segment[-_LONGEST_SEGMENT:]}"
        more = (f"{_INDENT}{segment}", error.hint) if error.hint else (f"{_INDENT}{segment}",)
        return _refused(number, command, refused, error.identifier, error.reason.label, more)


def conclude(
    number: int, command: SourceCommand, statement: Statement, answer: tuple[Shown, ...] | Refused, host: Host
) -> CommandAnswer:
    """Return the answer to a valid command, made from the core's result.

    Args:
        number: The command's number in its script, from 1.
        command: The command.
        statement: The command's statement.
        answer: The core's result: the objects that a DISPLAY shows, or the refusal.
        host: The queue manager's platform and level.
    """
    if isinstance(answer, Refused):
        return _refused_by_core(number, command, statement, answer)
    return _done(number, command, statement, answer, host)


def _refused(  # noqa: PLR0917  the parts of one sentence
    number: int,
    command: SourceCommand,
    refused: CommandRefused,
    identifier: str,
    label: str,
    more: tuple[str, ...] = (),
) -> CommandAnswer:
    line = f"{identifier}: {refused.text} (line {refused.at.line}, column {refused.at.column}; {label})"
    return CommandAnswer(number=number, command=command, lines=(line, *more), refused=refused)


def _refused_by_core(number: int, command: SourceCommand, statement: Statement, answer: Refused) -> CommandAnswer:
    keyword = answer.keyword if isinstance(answer, ObjectRefused) else ""
    begin, _ = statement.places.get(keyword, statement.places[""])
    reason = answer.mqrc if answer.mqrc is not None else int(Mqrccf.COMMAND_FAILED)
    label, colon, text = answer.text.partition(": ")
    if not colon or not label.startswith("MQRC"):
        label, text = Mqrccf.COMMAND_FAILED.label, answer.text
    refused = CommandRefused(at=command.position(begin), reason=reason, text=text, syntax=False, objects=answer.objects)
    return _refused(number, command, refused, REFUSED.get(reason, REFUSED_OTHERWISE), label)


def _done(
    number: int, command: SourceCommand, statement: Statement, answer: tuple[Shown, ...], host: Host
) -> CommandAnswer:
    noun = "QUEUE" if statement.noun in _QUEUES else statement.noun
    if statement.verb != "DISPLAY":
        return CommandAnswer(number=number, command=command, lines=(DONE[statement.verb, noun],))
    found = tuple(one for one in answer if _asked_for(statement, one))
    if not found:
        at = command.position(statement.places[""][0])
        what = f' "{statement.name[:48]}"' if statement.name else ""
        refused = CommandRefused(
            at=at, reason=int(Mqrc.UNKNOWN_OBJECT_NAME), text=f"No {noun}{what} is found.", syntax=False
        )
        return _refused(number, command, refused, REFUSED[Mqrc.UNKNOWN_OBJECT_NAME], Mqrc.UNKNOWN_OBJECT_NAME.label)
    lines: list[str] = []
    for one in found:
        lines.append(SHOWN[noun])
        if isinstance(one, AuthorityRecord):
            lines.extend(authority_lines(one))
        elif isinstance(one, TopicStatus):
            lines.extend(topic_lines(one, statement.showing))
        elif isinstance(one, ThreadStatus):
            lines.extend(thread_lines(one))
        else:
            lines.extend(object_lines(one, statement.showing, host, status=noun == "QSTATUS"))
    return CommandAnswer(number=number, command=command, lines=tuple(lines), shown=found)


def _asked_for(statement: Statement, one: Shown) -> bool:
    subtypes = statement.showing.subtypes
    return subtypes is None or not isinstance(one, Definition) or one.attributes.get("SUBTYPE") in subtypes
