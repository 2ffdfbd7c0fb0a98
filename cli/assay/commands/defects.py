"""``assay defects``: the proof that every rule can fail."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from assay.exits import CannotRunError, Exit, NothingSelected, UsageProblem
from assay.terminal import Terminal, write_json
from assay_adapters.registry import BREAKABLE
from assay_features import load_catalogue
from assay_steps.killing import KillMatrix, TrialError, UntriedError, kill_matrix


def defects(
    backend: Annotated[str, typer.Option(help="A backend that knows defects.")] = "reference",
    rule: Annotated[list[str] | None, typer.Option(help="Only defects of this rule; may be repeated.")] = None,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Run each defect on all scenarios, to measure how broad it is.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The matrix as JSON.")] = False,
) -> int:
    """Run the scenarios against named defects: which scenario catches which."""
    if backend not in BREAKABLE:
        raise UsageProblem(
            f"Backend {backend!r} has no defects to switch on; those with defects: {', '.join(BREAKABLE)}."
        )
    load_catalogue().select(ids=tuple(rule or ()))
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("defects", total=None)
        try:
            matrix = kill_matrix(
                backend,
                tuple(rule or ()),
                everywhere=everywhere,
                told=lambda name, done, total: progress.update(task, description=name, completed=done, total=total),
            )
        except UntriedError as problem:
            raise NothingSelected from problem
        except TrialError as problem:
            raise CannotRunError(str(problem)) from problem
    if as_json:
        write_json(matrix)
    else:
        show(matrix, Terminal(soft_wrap=True))
    return Exit.AS_EXPECTED if matrix.sound else Exit.NOT_AS_EXPECTED


def show(matrix: KillMatrix, console: Console) -> None:
    """Print the matrix, rule by rule, and then whatever is wrong with it."""
    for rule in matrix.rules:
        console.print(f"{rule.id}{'' if rule.proven else '  NO DEFECT OF THIS RULE IS CAUGHT'}", style="bold")
        for defect in rule.defects:
            console.print(f"  {defect.name}: caught by {len(defect.caught_by)}", markup=False)
            for scenario in defect.caught_by:
                console.print(f"    {scenario}", markup=False, style="dim")
    for title, names in (
        ("Scenarios that do not pass without a defect", matrix.alarms),
        ("Scenarios that no defect breaks", matrix.unkilled),
        ("Defects that fail too many scenarios", [f"{name} ({share:.0%})" for name, share in matrix.too_broad.items()]),
    ):
        if names:
            console.print(title, style="bold red")
            for name in names:
                console.print(f"  {name}", markup=False)
    caught = sum(bool(defect.caught_by) for rule in matrix.rules for defect in rule.defects)
    total = sum(len(rule.defects) for rule in matrix.rules)
    proven = sum(rule.proven for rule in matrix.rules)
    console.print(f"{proven} of {len(matrix.rules)} rules proven able to fail; {caught} of {total} defects caught.")
