"""``assay mqsc``: runs an MQSC script on a fresh queue manager, or on the queue manager of a server."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from assay.exits import Exit, UsageProblem
from assay.remote import Authority, RemoteManager, User, login
from assay.terminal import hush
from assay_adapters.brokers.reference.inprocess.administration import AdminPeer
from assay_adapters.suggestions import unknown
from assay_broker.core.administration.changes import Change
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.names import check_queue_manager_name
from assay_broker.core.refusals import RefusalError
from assay_broker.core.settings import Platform, Settings
from assay_broker.mqsc.answers import echo, echo_remark, tail
from assay_broker.mqsc.defaults import default_settings
from assay_broker.mqsc.lines import Remark, SourceCommand, source_commands
from assay_broker.mqsc.script import Shown, run_command, run_script
from assay_broker.shell import QueueManager
from assay_broker.stores.memory import MemoryStore
from assay_sdk.model.reasons import Refused
from assay_sdk.runners.virtual import VirtualRunner

_PLATFORMS: dict[str, Platform] = {"distributed": "distributed", "zos": "zos"}
_BEGINNINGS = ("default", "none")
_LEVEL = re.compile(r"[1-9][0-9]?\.[0-9](\.[0-9]){0,2}")


def mqsc(
    file: Annotated[str, typer.Argument(help="The script; - reads standard input.")] = "-",
    url: Annotated[
        str | None,
        typer.Option(help="URL of the server, such as http://127.0.0.1:9443. Default: a fresh queue manager."),
    ] = None,
    user: User = None,
    ca: Authority = None,
    platform: Annotated[str | None, typer.Option(help="distributed (the default) or zos.")] = None,
    level: Annotated[str | None, typer.Option(help="Level of the queue manager. Default: 8.0.")] = None,
    begin: Annotated[
        str | None,
        typer.Option("--mqsc", help="Objects of the fresh queue manager: default, or none for factory settings."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the queue manager. Default: ASSAY, on z/OS MQ01.")] = None,
) -> Exit:
    """Run an MQSC script on a fresh queue manager or on a server, and print the answers as runmqsc does."""
    if url is None:
        if user is not None or ca is not None:
            raise UsageProblem("--user and --ca are for a server: name it with --url.")
        return _on_fresh(_settings(platform or "distributed", level or "8.0", begin or "default", name), _script(file))
    given = {"--platform": platform, "--level": level, "--mqsc": begin}
    for option, value in given.items():
        if value is not None:
            raise UsageProblem(f"{option} is for a fresh queue manager, not for the one at {url}: leave it out.")
    script = _script(file)
    with RemoteManager(url, name=name, login=login(user), authority=ca) as manager:
        return _on_server(manager, script)


def _on_fresh(settings: Settings, script: str) -> Exit:
    runner = VirtualRunner()
    peer = AdminPeer(runner, QueueManager(runner, MemoryStore(), settings))

    def ask(change: Change) -> tuple[Shown, ...] | Refused:
        outcome = peer.ask(change)
        if isinstance(outcome, Refused):
            return outcome
        return tuple(one for one in outcome.value or () if isinstance(one, Shown))

    answer = run_script(script, ask, settings.host)
    _write("\n".join(answer.lines))
    return Exit.NOT_AS_EXPECTED if answer.refused else Exit.AS_EXPECTED


def _on_server(manager: RemoteManager, script: str) -> Exit:
    """Execute the script's commands on a server one by one, because a request holds one command."""
    read = wrong = refused = 0
    for item in source_commands(script):
        if isinstance(item, Remark):
            _write(echo_remark(item.line))
            continue
        read += 1
        _write("\n".join(echo(read, item)))
        if item.ends:
            read -= 1
            break
        if item.fault is not None:  # the server cannot get lines that form no command
            wrong += 1
            _write("\n".join(run_command(read, item, _nobody, Host()).lines))
            continue
        answer = manager.run(item.text)
        _write("\n".join(_placed(text, one.column, item) for one in answer.command_response for text in one.text))
        if answer.overall_completion_code:
            bad = any(one.syntax_error for one in answer.command_response)
            wrong, refused = wrong + bad, refused + (not bad)
    _write("\n".join(tail(read, wrong, refused)))
    return Exit.NOT_AS_EXPECTED if wrong or refused else Exit.AS_EXPECTED


def _nobody(change: Change) -> Refused:
    raise TypeError(f"lines that form no command have led to {change}")


def _placed(text: str, column: int, command: SourceCommand) -> str:
    """Return an answer in which the positions of errors are those in the script, not in the single command."""
    if not column:
        return text
    at = command.position(column - 1)
    return text.replace(f"(line 1, column {column};", f"(line {at.line}, column {at.column};", 1)


def _settings(platform: str, level: str, begin: str, name: str | None) -> Settings:
    if platform not in _PLATFORMS:
        raise UsageProblem(unknown("platform", platform, _PLATFORMS))
    if begin not in _BEGINNINGS:
        raise UsageProblem(unknown("beginning", begin, _BEGINNINGS))
    if _LEVEL.fullmatch(level) is None:
        raise UsageProblem(f"{level!r} is not a level; give one such as 8.0 or 9.4.2.")
    chosen = _PLATFORMS[platform]
    called = name or ("MQ01" if chosen == "zos" else "ASSAY")
    try:
        check_queue_manager_name(called, zos=chosen == "zos")
    except RefusalError as error:
        raise UsageProblem(str(error).partition(": ")[2]) from error
    if begin == "default":
        return default_settings(called, platform=chosen, level=level)
    return Settings(name=called, platform=chosen, level=level)


def _script(file: str) -> str:
    """Read the script from a file, or from standard input for ``-``.

    Raises:
        UsageProblem: The script cannot be read.
    """
    try:
        octets = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageProblem(
            f"{file} cannot be read: {error.strerror}; name a script, or - for standard input."
        ) from error
    try:
        return octets.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageProblem(f"{file} is not UTF-8 at byte {error.start}; save it as UTF-8.") from error


def _write(text: str) -> None:
    """Write the answers to standard output without changes, also on a terminal."""
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        hush()
