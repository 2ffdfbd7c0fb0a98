"""The command ``assay``: its subcommands, one-sentence errors and exit codes.

The command imports only the modules of the called subcommand; this halves the start time of a server in a container.
"""

from __future__ import annotations

import errno
import signal
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated

import typer

from assay.exits import CommandError, Exit
from assay.terminal import hush, is_output_closed, is_output_full, told, unwritten

COMMANDS = (
    "run",
    "rules",
    "steps",
    "backends",
    "adapter",
    "defects",
    "judge",
    "watch",
    "report",
    "explain",
    "expect",
    "broker",
    "mqsc",
    "send",
    "receive",
    "cancel",
    "crash",
    "soak",
    "import",
    "liveness",
    "clean",
)
"""The subcommands.

Each is a function, or a group of functions, in the module of `assay.commands` with the same name, or in the module that
`_PLACES` names.
"""
_PLACES = {
    "cancel": "messages.cancel",
    "import": "importing",  # because "import" is a keyword of Python
    "receive": "messages.receive",
    "send": "messages.send",
}
"""The modules of subcommands whose module has another name or is in a package; the function has the module's name."""

DISTRIBUTION = "assay-mq"
"""The name of the installed package."""

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""The operating system's error numbers for a full disk."""

INTERRUPTED = 128 + signal.SIGINT
"""The exit code that typer returns after Ctrl-C."""


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version(DISTRIBUTION)
        except PackageNotFoundError:
            number = f"unknown: the package {DISTRIBUTION} is not installed"
        sys.stdout.write(f"assay {number}\n")
        raise typer.Exit


def application(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """Build the command with the named subcommands, and import their modules."""
    app = typer.Typer(
        name="assay",
        help="Test which delivery rules a message broker and its client keep, and record the proof.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_group)
    for name in names:
        place = _PLACES.get(name, name)
        found = getattr(import_module(f"assay.commands.{place}"), place.rpartition(".")[2])
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name)(found)
    return app


def _group(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Print the version and stop.", callback=_print_version)
    ] = False,
) -> None:
    """Handle the options before the subcommand.

    Without this callback, typer would reject the subcommand's name if `application` has loaded only one subcommand.
    """
    del version


def users_mistakes() -> tuple[type[Exception], ...]:
    """Return the types of exceptions whose text is one sentence for the user.

    Call this only after an error, because it imports many modules.
    """
    from assay_adapters.known import KnownOutcomesError
    from assay_evidence import EvidenceError
    from assay_features import FeaturesError
    from assay_pipeline.errors import PipelineError
    from assay_reports import ReportError
    from assay_steps.plugin.folder import FolderError

    return (FeaturesError, EvidenceError, KnownOutcomesError, ReportError, PipelineError, FolderError)


def is_missing(problem: Exception) -> bool:
    """Return whether an error is caused by software that is missing on this machine."""
    from assay_pipeline.errors import JavaMissingError, PackageMissingError, SparkMissingError

    return isinstance(problem, SparkMissingError | PackageMissingError | JavaMissingError)


def load(arguments: Sequence[str]) -> typer.Typer:
    """Build the command with the called subcommand only, or with all if the first argument is not a subcommand.

    Args:
        arguments: The arguments after the command's name.
    """
    wanted = [name for name in COMMANDS if [name] == list(arguments[:1])]
    return application(wanted or COMMANDS)


def ending(arguments: Sequence[str]) -> Exit:
    """Load the command, run it, and return its exit code."""
    return outcome(load(arguments), arguments)


def outcome(loaded: typer.Typer, arguments: Sequence[str]) -> Exit:
    """Run the command and return its exit code; an exception that shows a bug of the kit is not caught.

    Args:
        loaded: The command, from `load`.
        arguments: The arguments after the command's name.
    """
    command = typer.main.get_command(loaded)
    try:
        code = command.main(args=list(arguments), prog_name="assay", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:  # a reader such as `head` closed the pipe
        hush()
        return Exit.AS_EXPECTED
    except Exception as problem:  # `_told_of` knows the types that are the user's mistakes
        told_as = _told_of(problem)
        if told_as is None:
            raise
        return told_as
    return stopped_early() if code == INTERRUPTED else Exit(code or Exit.AS_EXPECTED)


def stopped_early() -> Exit:
    """Print that Ctrl-C, SIGTERM or SIGHUP has ended the command before it had a result; return the exit code."""
    return told("the command was stopped before it had a result.", Exit.INCONCLUSIVE)


def _told_of(problem: Exception) -> Exit | None:
    """Print an error that the user or the machine caused, and return the exit code; None if the error is a bug."""
    if isinstance(problem, CommandError):
        return told(str(problem), problem.code)
    if isinstance(problem, typer.TyperException):
        sentence = getattr(problem, "format_message", problem.__str__)()
        return told(f"{sentence} ({hint(problem)})", Exit.USAGE) if sentence else Exit.USAGE
    if isinstance(problem, OSError) and problem.errno in _FULL:
        where = "standard output" if is_output_full() else problem.filename or "a file"
        return told(f"{where} cannot be written ({problem.strerror}): free some space, and retry.", Exit.INCONCLUSIVE)
    if isinstance(problem, OSError) and problem.errno == errno.EBADF and is_output_closed():
        return told(f"{unwritten(problem)}.", Exit.INCONCLUSIVE)
    if isinstance(problem, users_mistakes()):
        return told(str(problem), Exit.INCONCLUSIVE if is_missing(problem) else Exit.USAGE)
    return None


def hint(problem: typer.TyperException) -> str:
    """Return the hint for a wrong call: the help of the option or argument, and the command that lists all options."""
    parameter, context = getattr(problem, "param", None), getattr(problem, "ctx", None)
    takes = getattr(parameter, "help", None)
    path = context.command_path if context else "assay"
    more = f"{path} --help lists {'options' if ' ' in path else 'commands and options'}"
    if not parameter or not takes:
        return more
    return f"{parameter.metavar or '/'.join(parameter.opts)}: {takes.rstrip('.')}; {more}"
