"""The command line of the mutation score: ``python -m tools.mutation``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from tools.mutation.campaign import Plan, campaign
from tools.mutation.score import CONVICTED, STATUSES, Result, Row, again, merged, read_results, rows
from tools.mutation.triage import Triage, load_triage


def main(  # noqa: PLR0917 - typer makes options of them
    module: Annotated[list[str] | None, typer.Option(help="A module, or module:function; may be repeated.")] = None,
    mutant: Annotated[list[str] | None, typer.Option(help="A mutant, as the tool prints it; may be repeated.")] = None,
    package: Annotated[list[str] | None, typer.Option(help="A package in targets.py; may be repeated.")] = None,
    sample: Annotated[int | None, typer.Option(help="The number of mutants to try, chosen by the seed.")] = None,
    seed: Annotated[int, typer.Option(help="The seed that chooses the sample.")] = 0,
    each: Annotated[bool, typer.Option("--each", help="Take a sample of that size from each package.")] = False,
    most: Annotated[int | None, typer.Option(help="The largest number of scenarios to run for a mutant.")] = None,
    every: Annotated[int, typer.Option(min=1, help="Use every n-th scenario only, for a quick score.")] = 1,
    jobs: Annotated[int, typer.Option(help="The number of processes at a time.")] = 2,
    out: Annotated[Path, typer.Option(help="The file for all results, as JSON.")] = Path("mutation.json"),
    survivors: Annotated[
        list[Path] | None, typer.Option(help="Try the mutants of these results that were not convicted again.")
    ] = None,
    results: Annotated[
        list[Path] | None, typer.Option(help="Show these results with the current triage, and try no mutants.")
    ] = None,
    floor: Annotated[float, typer.Option(help="Exit with 1 if 'of running %' of the last row is below this.")] = 0.0,
) -> None:
    """Change the rule-enforcing code, one small change at a time, and count the changes that a scenario convicts."""
    console = Console(file=sys.stdout, soft_wrap=True, highlight=False, width=160)
    triage = load_triage()
    if results:
        found = [again(result, triage) for path in results for result in read_results(path)]
    elif survivors:
        before = [result for path in survivors for result in read_results(path)]
        left = tuple(result.mutant for result in before if result.status != CONVICTED and again(result, triage).counts)
        tried = _tried(Plan(_modules(left), names=left, jobs=jobs, most=most, every=every), triage, out, console)
        found = merged([again(result, triage) for result in before], tried)
        out.write_bytes(msgspec.json.format(msgspec.json.encode(found)))
    else:
        names = tuple(mutant or ())
        modules = (*(module or ()), *_modules(names))
        plan = Plan(modules, tuple(package or ()), sample, seed, names, jobs=jobs, most=most, every=every, each=each)
        found = _tried(plan, triage, out, console)
        for name in sorted(set(names) - {result.mutant for result in found}):
            console.print(f"No mutant is called {name}, or its code is the same as before.", markup=False)
    figures = rows(found)
    for result in found:
        if result.counts and result.status != CONVICTED:
            console.print(f"\n{result.status}: {result.mutant}\n{result.reason}\n{result.diff}", markup=False)
    console.print(table_of(figures))
    if figures[-1].running * 100 < floor:
        console.print(f"The score is below {floor:g} %.")
        raise typer.Exit(1)


def _modules(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the modules that the names of mutants contain, each once."""
    return tuple({name.partition(": ")[0] for name in names})


def _tried(plan: Plan, triage: Triage, out: Path, console: Console) -> list[Result]:
    """Try mutants, and write all results to the file after each of them."""
    done: list[Result] = []

    def told(result: Result) -> None:
        done.append(result)
        out.write_bytes(msgspec.json.format(msgspec.json.encode(done)))
        said = f"{result.status} ({result.triage})" if result.triage else result.status
        console.print(f"{len(done)} {said} {result.seconds:.1f} s  {result.mutant}", markup=False)

    return campaign(plan, triage, told)


def table_of(figures: list[Row]) -> Table:
    """Return the figures as a table for the terminal."""
    table = Table("package", "mutants", "equivalent", "outside", *STATUSES, "convicted %", "of running %", "noticed %")
    for row in figures:
        counts = [str(row.statuses[status]) for status in STATUSES]
        shares = [f"{100 * share:.0f}" for share in (row.convicted, row.running, row.noticed)]
        table.add_row(row.package, str(row.mutants), str(row.equivalent), str(row.outside), *counts, *shares)
    return table


if __name__ == "__main__":
    typer.run(main)
