"""The command's frame: subcommands, one-sentence errors, exit codes."""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from assay.commands.backends import backends
from assay.commands.defects import defects
from assay.commands.judge import judge
from assay.commands.report import report
from assay.commands.rules import rules
from assay.commands.run import run
from assay.exits import Exit, UsageProblem
from assay_adapters.known import KnownOutcomesError
from assay_evidence import EvidenceError
from assay_features import FeaturesError
from assay_pipeline.errors import PipelineError
from assay_reports import ReportError
from assay_steps.folder import FolderError

app = typer.Typer(
    name="assay",
    help="Which delivery rules do a message broker, and the client in front of it, keep?  With proof.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (run, rules, backends, defects, judge, report):
    app.command()(command)

USERS_MISTAKES = (
    UsageProblem,
    FeaturesError,
    EvidenceError,
    KnownOutcomesError,
    ReportError,
    PipelineError,
    FolderError,
)
"""Errors whose text is one sentence for the user."""

errors = Console(stderr=True, soft_wrap=True, highlight=False)
"""Where one-sentence errors go."""


def main() -> None:
    """Run the command; a user's mistake is one sentence and exit code 3, never a stack trace."""
    command = typer.main.get_command(app)
    try:
        outcome = command.main(args=sys.argv[1:], prog_name="assay", standalone_mode=False)
    except USERS_MISTAKES as problem:
        errors.print(f"assay: {problem}", markup=False)
        sys.exit(Exit.USAGE)
    except typer.TyperException as problem:
        sentence = getattr(problem, "format_message", problem.__str__)()
        errors.print(f"assay: {sentence} (assay --help lists commands and options)", markup=False)
        sys.exit(Exit.USAGE)
    except KeyboardInterrupt:
        errors.print("assay: stopped; what was done until then is in the output folder.")
        sys.exit(Exit.INCONCLUSIVE)
    sys.exit(int(outcome or Exit.AS_EXPECTED))
