"""``assay judge``: checks the invariants on the history of runs, with Spark."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.exits import Exit
from assay.tables import rules_table
from assay.terminal import Terminal
from assay_features import load_catalogue
from assay_pipeline import Options, Pages, Result, judge_runs
from assay_pipeline.job import MEASURES_PAGE, OFFENCES_PAGE
from assay_reports import measures_page, offences_page


def judge(
    folders: Annotated[
        list[str], typer.Argument(help="Output folders of runs, or folders of journals: paths or URIs.")
    ],
    out: Annotated[str, typer.Option(help="Folder for verdicts, tables and manifest: a path or a URI.")],
    rule: Annotated[list[str] | None, typer.Option(help="Judge only this rule; may be repeated.")] = None,
    master: Annotated[
        str, typer.Option(help="Where Spark runs: local[*], spark://HOST:PORT (cluster) or sc://HOST:PORT (Connect).")
    ] = "local[*]",
    conf: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A setting of Spark; may be repeated.")
    ] = None,
    oracle: Annotated[
        bool, typer.Option("--oracle", help="Also judge with the oracle in plain Python, and compare.")
    ] = False,
) -> int:
    """Judge the history of runs by the catalogue's invariants, without the scenarios' claims."""
    settings = dict(map(_setting, conf or ()))
    options = Options(rules=tuple(rule or ()), oracle=oracle, pages=Pages(measures_page, offences_page))
    result = judge_runs(folders, out, master, conf=settings, options=options)
    console = Terminal(soft_wrap=True)
    show(result, console)
    if result.measures:
        console.print(f"measures: {result.out / MEASURES_PAGE}", markup=False)
    if result.offences:
        console.print(f"what broke the rules: {result.out / OFFENCES_PAGE}", markup=False)
    return Exit(result.exit_code)


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name.startswith("spark.") and equals):
        raise typer.BadParameter(
            f"{text!r} is no setting of Spark: write spark.NAME=VALUE, such as spark.driver.memory=4g.",
            param_hint="--conf",
        )
    if name == "spark.master":
        raise typer.BadParameter("name Spark's master with --master.", param_hint="--conf")
    return name, value


def show(result: Result, console: Terminal) -> None:
    """Print each run's verdicts, the damage of its journals, and the differences from the oracle."""
    for run in result.runs:
        console.print(f"{run.folder}: run {run.verdicts.run} on {run.verdicts.backend}", markup=False, style="bold")
        console.print(rules_table(run.verdicts, load_catalogue()))
        for sentence in run.damage:
            console.print(f"  damaged: {sentence}", markup=False)
    for difference in result.disagreements or ():
        console.print(f"  only {difference.by} finds: {difference.subject}", markup=False)
    if result.disagreements is not None:
        console.print(f"oracle: {len(result.disagreements)} differences")
    console.print(f"verdicts: {result.out}", markup=False)
