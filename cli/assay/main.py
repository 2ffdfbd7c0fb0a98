"""The command's frame: subcommands, one-sentence errors, exit codes."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

import typer
from rich.console import Console

from assay.commands.backends import backends
from assay.commands.crash import crash
from assay.commands.defects import defects
from assay.commands.judge import judge
from assay.commands.mqsc import mqsc
from assay.commands.report import report
from assay.commands.rules import rules
from assay.commands.run import run
from assay.exits import CommandError, Exit
from assay.terminal import hush
from assay_adapters.known import KnownOutcomesError
from assay_evidence import EvidenceError
from assay_features import FeaturesError
from assay_pipeline.errors import JavaMissingError, PipelineError, SparkMissingError
from assay_reports import ReportError
from assay_steps.folder import FolderError

app = typer.Typer(
    name="assay",
    help="Which delivery rules do a message broker, and the client in front of it, keep?  With proof.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (run, rules, backends, defects, judge, report, mqsc, crash):
    app.command()(command)

USERS_MISTAKES = (
    FeaturesError,
    EvidenceError,
    KnownOutcomesError,
    ReportError,
    PipelineError,
    FolderError,
)
"""Errors whose text is one sentence for the user."""

MISSING = (SparkMissingError, JavaMissingError)
"""What was asked for is right, and this machine lacks something for it: as where a backend cannot be started."""

INTERRUPTED = 128 + signal.SIGINT
"""What typer makes of Ctrl-C."""


def main() -> None:
    """Run the command; whatever goes wrong is one sentence and an exit code, never a stack trace."""
    sys.exit(ending(sys.argv[1:]))


def ending(arguments: Sequence[str]) -> Exit:
    """Run the command to its exit code.

    Args:
        arguments: What stands behind the command's name.
    """
    command = typer.main.get_command(app)
    try:
        outcome = command.main(args=list(arguments), prog_name="assay", standalone_mode=False)
        sys.stdout.flush()
    except CommandError as problem:
        return told(str(problem), problem.code)
    except USERS_MISTAKES as problem:
        return told(str(problem), Exit.INCONCLUSIVE if isinstance(problem, MISSING) else Exit.USAGE)
    except typer.TyperException as problem:
        sentence = getattr(problem, "format_message", problem.__str__)()
        return told(f"{sentence} (assay --help lists commands and options)", Exit.USAGE) if sentence else Exit.USAGE
    except BrokenPipeError:  # a reader such as `head` has seen enough
        hush()
        return Exit.AS_EXPECTED
    if outcome == INTERRUPTED:
        return told("stopped before there was anything to show.", Exit.INCONCLUSIVE)
    return Exit(outcome or Exit.AS_EXPECTED)


def told(sentence: str, code: Exit) -> Exit:
    """Say what is wrong."""
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    errors.print(f"assay: {sentence}", markup=False)
    return code
