"""Reads the options of ``assay explain``, finds the folders of runs, and prints the lines about the rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace
from rich.text import Text

from assay.commands.explain.lines import Choice, told_of
from assay.exits import UsageProblem
from assay.terminal import Terminal
from assay_features import load_catalogue
from assay_reports import read_run
from assay_reports.views.pairs import pairs_of
from assay_reports.views.rules import rule_page
from assay_steps.plugin.folder import VERDICTS


def explain(
    rule: Annotated[
        str | None,
        typer.Argument(
            metavar="[RULE]", help="Id of a rule, such as DD-02; not needed with --scenario or --untriaged."
        ),
    ] = None,
    run: Annotated[Path, typer.Option(help="Output folder of assay run.")] = Path("assay-out"),
    backend: Annotated[str | None, typer.Option(help="Only this backend, if the folder holds runs on several.")] = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option(help="Only scenarios with this id or name, passed ones too; * and ? match any characters."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Tell every scenario with the same cause in full, not only the first.")
    ] = False,
    frames: Annotated[bool, typer.Option("--frames", help="Also show all frames that the connections kept.")] = False,
    log: Annotated[bool, typer.Option("--log", help="Also show all kept lines of the broker's log.")] = False,
    untriaged: Annotated[bool, typer.Option(help="Only fails that no known outcome expects.")] = False,
) -> None:
    """Show the sends, answers and sightings of a rule's failed scenarios, and the event that breaks the rule."""
    if rule is None and not untriaged and not scenario:
        raise UsageProblem(
            "A rule is missing: name one, or a scenario with --scenario, or give --untriaged for the unexpected fails."
        )
    choice = Choice(
        every=every or bool(scenario), scenarios=tuple(scenario or ()), untriaged=untriaged, frames=frames, log=log
    )
    catalogue = load_catalogue()
    entries = catalogue.rules if rule is None else catalogue.select(ids=(rule,))
    pairs = pairs_of([read_run(folder) for folder in folders_of(run, backend)], catalogue)
    told = Text()
    unknown = list(scenario or ())
    for entry in entries:
        page = rule_page(entry, pairs, catalogue)
        views = [view for one in page.tried for view in one.scenarios]
        unknown = [name for name in unknown if not replace(choice, scenarios=(name,)).named(views)]
        if rule is None and not any(choice.among(one.scenarios) for one in page.tried):
            continue
        for line in told_of(page, choice, run):
            told.append_text(line).append("\n")
        told.append("\n")
    told.rstrip()
    if unknown:
        raise UsageProblem(
            f"No scenario of a rule in {run} is named {unknown[0]!r}: give its id as verdicts.json has it."
        )
    if not told and scenario:
        told.append(f"The chosen scenarios in {run} have no untriaged fail.")
    elif not told:
        told.append(f"Every fail in {run} has a known outcome.")
    Terminal().print(told, soft_wrap=True, highlight=False)


def folders_of(run: Path, backend: str | None) -> list[Path]:
    """Return the folders that hold a run, from the output folder itself and its direct subfolders.

    Args:
        run: The output folder.
        backend: The wanted backend; None for all.

    Raises:
        UsageProblem: The folder holds no run, or none on this backend.
    """
    name = backend.removesuffix("+amqp") if backend else None
    found = [path.parent for path in (run / VERDICTS, *sorted(run.glob(f"*/{VERDICTS}"))) if path.is_file()]
    if not found:
        raise UsageProblem(f"{run} holds no run: name an output folder of assay run with --run.")
    backends = {folder: read_run(folder).verdicts.backend for folder in found} if name else {}
    wanted = [folder for folder in found if name in {None, backends.get(folder)}]
    if not wanted:
        raise UsageProblem(f"{run} holds no run on {name}, but on {', '.join(sorted(set(backends.values())))}.")
    return wanted
