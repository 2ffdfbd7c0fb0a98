"""Checks that no invariant convicts the reference broker: ``python -m tools.own_history FOLDER``.

The folder is the output of a run of the suite on the reference broker, for example of ``make demo``.  The tool uses the
oracle, which needs about a minute and no Spark.  It finds scenarios whose histories an invariant should leave out.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from assay_evidence import EvidenceError
from assay_evidence.oracle import examine
from assay_evidence.reader import read_journals
from assay_evidence.subjects import LIMITS, Outcome
from assay_pipeline.rules import INVARIANTS
from assay_steps.plugin.folder import JOURNALS


def main(
    folder: Annotated[Path, typer.Argument(help="The output folder of a run.", exists=True, file_okay=False)],
) -> None:
    """Examine the journals of a run on the reference broker; exit with 1 if a rule is broken, or none is examined."""
    try:
        journals = read_journals(folder / JOURNALS)
    except EvidenceError as error:
        sys.exit(f"own_history: {error}")
    if journals.damage:
        sys.exit(f"own_history: {journals.damage[0].text} Run the suite again.")
    forms = {rule: invariant.in_python for rule, invariant in INVARIANTS.items()}
    subjects = list(examine(journals.events, forms, LIMITS))
    broken = [one for one in subjects if one.outcome is Outcome.BROKEN]
    for one in broken:
        sys.stdout.write(f"{one.rule}: {one.subject} is broken in {one.scenario} ({one.ref}).\n")
    rules = len({one.rule for one in subjects})
    sys.stdout.write(f"{len(subjects)} subjects of {rules} rules, {len(broken)} broken\n")
    raise typer.Exit(1 if broken or not subjects else 0)


if __name__ == "__main__":
    typer.run(main)
