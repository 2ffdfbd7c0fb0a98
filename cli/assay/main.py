"""The command: its subcommands, one-sentence errors, exit codes.

It loads only the modules of the called subcommand, which halves the start time of a server in a container.
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
from assay.terminal import hush, is_output_closed, is_output_full, open_missing_streams, told, unwritten
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
"""The subcommands; each is a function in the module of the same name (`assay.commands`)."""

DISTRIBUTION = "assay-mq"
"""The name of the installed package."""

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""Error numbers of the system for a full disk."""

INTERRUPTED = 128 + signal.SIGINT
"""The exit code that typer gives for Ctrl-C."""


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
    """Build the command with these subcommands; loads their modules."""
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
    """Take the options before the subcommand; also keeps typer from dropping the name of a single subcommand."""
    del version


def users_mistakes() -> tuple[type[Exception], ...]:
    """The errors whose text is one sentence for the user; called only after an error, because it loads modules."""
    from assay_adapters.known import KnownOutcomesError
    from assay_evidence import EvidenceError
    from assay_features import FeaturesError
    from assay_pipeline.errors import PipelineError
    from assay_reports import ReportError
    from assay_steps.plugin.folder import FolderError

    return (FeaturesError, EvidenceError, KnownOutcomesError, ReportError, PipelineError, FolderError)


def is_missing(problem: Exception) -> bool:
    """Whether an error means that this machine lacks something, and not that the call was wrong."""
    from assay_pipeline.errors import JavaMissingError, SparkMissingError

    return isinstance(problem, SparkMissingError | JavaMissingError)


def main() -> None:
    """Run the command; every error is one sentence and an exit code, never a stack trace."""
    open_missing_streams()
    signal.signal(signal.SIGTERM, _stopped)
    sys.exit(ending(sys.argv[1:]))


def _stopped(_number: int, frame: FrameType | None) -> None:
    """Stop the command on SIGTERM as on Ctrl-C, so that its processes end with it."""
    on_ctrl_c = signal.getsignal(signal.SIGINT)
    (on_ctrl_c if callable(on_ctrl_c) else as_ctrl_c(signal.default_int_handler))(signal.SIGINT, frame)


def ending(arguments: Sequence[str]) -> Exit:
    """Run the command and return its exit code.

    Args:
        arguments: The arguments after the command's name.
    """
    wanted = [name for name in COMMANDS if [name] == list(arguments[:1])]
    command = typer.main.get_command(application(wanted or COMMANDS))
    try:
        outcome = command.main(args=list(arguments), prog_name="assay", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:  # a reader such as `head` ended the pipe
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
    """Print an error of the user or the machine and return its exit code; None for an error of the program."""
    if isinstance(problem, CommandError):
        return told(str(problem), problem.code)
    if isinstance(problem, typer.TyperException):
        sentence = getattr(problem, "format_message", problem.__str__)()
        return told(f"{sentence} ({hint(problem)})", Exit.USAGE) if sentence else Exit.USAGE
    if isinstance(problem, OSError) and problem.errno in _FULL:
        where = "standard output" if is_output_full() else problem.filename or "a file"
        return told(f"{where} takes nothing more ({problem.strerror}): make room, and try again.", Exit.INCONCLUSIVE)
    if isinstance(problem, OSError) and problem.errno == errno.EBADF and is_output_closed():
        return told(f"{unwritten(problem)}.", Exit.INCONCLUSIVE)
    if isinstance(problem, users_mistakes()):
        return told(str(problem), Exit.INCONCLUSIVE if is_missing(problem) else Exit.USAGE)
    return None


def hint(problem: typer.TyperException) -> str:
    """The hint for a wrong call: the values of the option or argument, and the command whose help says more."""
    parameter, context = getattr(problem, "param", None), getattr(problem, "ctx", None)
    takes = getattr(parameter, "help", None)
    path = context.command_path if context else "assay"
    more = f"{path} --help lists {'options' if ' ' in path else 'commands and options'}"
    return f"{'/'.join(parameter.opts)}: {takes.rstrip('.')}; {more}" if parameter and takes else more
