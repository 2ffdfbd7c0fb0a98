"""The command's frame: subcommands, one-sentence errors, exit codes.

Only what the call asks for is loaded: a server in a container is there in half the time.
"""

from __future__ import annotations

import errno
import signal
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from types import FrameType
from typing import Annotated

import typer

from assay.exits import CommandError, Exit
from assay.terminal import hush, is_output_full, told
from assay_adapters.interrupts import as_ctrl_c

COMMANDS = (
    "run",
    "rules",
    "steps",
    "backends",
    "defects",
    "judge",
    "report",
    "broker",
    "mqsc",
    "send",
    "receive",
    "cancel",
    "crash",
)
"""Each is the function of that name in the module of that name (`assay.commands`)."""

DISTRIBUTION = "assay-mq"
"""The name under which the kit is installed."""

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""What the system says when there is no room left."""

INTERRUPTED = 128 + signal.SIGINT
"""What typer makes of Ctrl-C."""


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version(DISTRIBUTION)
        except PackageNotFoundError:
            number = f"not known: {DISTRIBUTION} is not installed"
        sys.stdout.write(f"assay {number}\n")
        raise typer.Exit


def application(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The command with these subcommands, whose modules are loaded."""
    app = typer.Typer(
        name="assay",
        help="Which delivery rules do a message broker, and the client in front of it, keep?  With proof.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_group)
    for name in names:
        app.command()(getattr(import_module(f"assay.commands.{name}"), name))
    return app


def _group(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Print the version and stop.", callback=_print_version)
    ] = False,
) -> None:
    """Make a single subcommand stay a subcommand, and take the options that stand before it."""
    del version


def users_mistakes() -> tuple[type[Exception], ...]:
    """Errors whose text is one sentence for the user; asked for only when there is an error."""
    from assay_adapters.known import KnownOutcomesError
    from assay_evidence import EvidenceError
    from assay_features import FeaturesError
    from assay_pipeline.errors import PipelineError
    from assay_reports import ReportError
    from assay_steps.plugin.folder import FolderError

    return (FeaturesError, EvidenceError, KnownOutcomesError, ReportError, PipelineError, FolderError)


def is_missing(problem: Exception) -> bool:
    """Whether what was asked for is right, and this machine lacks something for it."""
    from assay_pipeline.errors import JavaMissingError, SparkMissingError

    return isinstance(problem, SparkMissingError | JavaMissingError)


def main() -> None:
    """Run the command; whatever goes wrong is one sentence and an exit code, never a stack trace."""
    signal.signal(signal.SIGTERM, _stopped)
    sys.exit(ending(sys.argv[1:]))


def _stopped(_number: int, frame: FrameType | None) -> None:
    """SIGTERM stops the command as Ctrl-C does: what it has started must not go on without it."""
    on_ctrl_c = signal.getsignal(signal.SIGINT)
    (on_ctrl_c if callable(on_ctrl_c) else as_ctrl_c(signal.default_int_handler))(signal.SIGINT, frame)


def ending(arguments: Sequence[str]) -> Exit:
    """Run the command to its exit code.

    Args:
        arguments: What stands behind the command's name.
    """
    wanted = [name for name in COMMANDS if [name] == list(arguments[:1])]
    command = typer.main.get_command(application(wanted or COMMANDS))
    try:
        outcome = command.main(args=list(arguments), prog_name="assay", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:  # a reader such as `head` has seen enough
        hush()
        return Exit.AS_EXPECTED
    except Exception as problem:
        code = _told_of(problem)
        if code is None:
            raise
        return code
    if outcome == INTERRUPTED:
        return told("stopped before there was anything to show.", Exit.INCONCLUSIVE)
    return Exit(outcome or Exit.AS_EXPECTED)


def _told_of(problem: Exception) -> Exit | None:
    """Say what is wrong where that is the user's, or the machine's; None where it is a mistake of ours."""
    if isinstance(problem, CommandError):
        return told(str(problem), problem.code)
    if isinstance(problem, typer.TyperException):
        sentence = getattr(problem, "format_message", problem.__str__)()
        return told(f"{sentence} ({hint(problem)})", Exit.USAGE) if sentence else Exit.USAGE
    if isinstance(problem, OSError) and problem.errno in _FULL:
        where = "standard output" if is_output_full() else problem.filename or "a file"
        return told(f"{where} takes nothing more ({problem.strerror}): make room, and try again.", Exit.INCONCLUSIVE)
    if isinstance(problem, users_mistakes()):
        return told(str(problem), Exit.INCONCLUSIVE if is_missing(problem) else Exit.USAGE)
    return None


def hint(problem: typer.TyperException) -> str:
    """What to read about a call that makes no sense: what the option or argument takes, and whose help tells more."""
    parameter, context = getattr(problem, "param", None), getattr(problem, "ctx", None)
    takes = getattr(parameter, "help", None)
    path = context.command_path if context else "assay"
    more = f"{path} --help lists {'options' if ' ' in path else 'commands and options'}"
    return f"{'/'.join(parameter.opts)}: {takes.rstrip('.')}; {more}" if parameter and takes else more
