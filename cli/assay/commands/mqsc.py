"""``assay mqsc``: a script of MQSC against a fresh queue manager."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from assay.exits import Exit, UsageProblem
from assay.terminal import hush
from assay_adapters.naming import unknown
from assay_adapters.reference_admin import AdminPeer
from assay_broker.core.administration.changes import Change
from assay_broker.core.objects.naming import check_queue_manager_name
from assay_broker.core.refusals import RefusalError
from assay_broker.core.settings import Platform, Settings
from assay_broker.mqsc.defaults import default_settings
from assay_broker.mqsc.script import Shown, run_script
from assay_broker.shell import QueueManager
from assay_broker.stores.memory import MemoryStore
from assay_sdk.model.reasons import Refused
from assay_sdk.runners.virtual import VirtualRunner

_PLATFORMS: dict[str, Platform] = {"distributed": "distributed", "zos": "zos"}
_BEGINNINGS = ("default", "none")
_LEVEL = re.compile(r"[1-9][0-9]?\.[0-9](\.[0-9]){0,2}")


def mqsc(
    file: Annotated[str, typer.Argument(help="The script; - reads standard input.")],
    platform: Annotated[str, typer.Option(help="distributed or zos.")] = "distributed",
    level: Annotated[str, typer.Option(help="The queue manager's level, such as 8.0.")] = "8.0",
    begin: Annotated[
        str, typer.Option("--mqsc", help="What it begins with: default, or none for factory settings.")
    ] = ("default"),
    name: Annotated[str | None, typer.Option(help="The queue manager's name; ASSAY, on z/OS MQ01.")] = None,
) -> Exit:
    """Try a script of MQSC on a fresh queue manager, and print its answers as runmqsc would."""
    settings = _settings(platform, level, begin, name)
    script = _script(file)
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


def _settings(platform: str, level: str, begin: str, name: str | None) -> Settings:
    if platform not in _PLATFORMS:
        raise UsageProblem(unknown("platform", platform, _PLATFORMS))
    if begin not in _BEGINNINGS:
        raise UsageProblem(unknown("beginning", begin, _BEGINNINGS))
    if _LEVEL.fullmatch(level) is None:
        raise UsageProblem(f"{level!r} is no level; give one such as 8.0 or 9.4.2.")
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
    """The script's text.

    Raises:
        UsageProblem: It cannot be read.
    """
    try:
        octets = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageProblem(f"{file} cannot be read: {error.strerror}; name a script, or - for input.") from error
    try:
        return octets.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageProblem(f"{file} is not UTF-8 at byte {error.start}; save it as UTF-8.") from error


def _write(text: str) -> None:
    """Write answers as they are, for people and for a file."""
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        hush()
