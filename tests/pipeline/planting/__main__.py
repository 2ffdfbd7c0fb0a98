"""Plant breaches in clean journals, and check that the invariants find each under the right rule, and nothing else.

``python -m tests.pipeline.planting JOURNALS... --out DIR`` reads the journals of clean runs as raw lines, plants three
breaches for each rule that has an invariant, each in a scenario of its own, and judges all of them at once.

- `raw` reads, edits and closes journals as raw lines;
- `scene` shows the lines of one scenario as sends, receptions, watches and faults;
- `edits` makes the changes that several plants need;
- `plants` is the table of plants; the modules of `kinds` fill it;
- `planter` gives each plant a scenario of its own;
- `judging` compares what the judge found with what was planted.

Only `judging` and this module import an invariant, the oracle or the pipeline (`test_planting`).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from tests.pipeline.planting.judging import Offence, by_oracle, by_spark, compare, told
from tests.pipeline.planting.planter import Planted, Planter, write
from tests.pipeline.planting.plants import PLANTS
from tests.pipeline.planting.raw import Journals

from assay_pipeline.job import Options, judge_runs
from assay_pipeline.journals import journal_folder


def main(arguments: Sequence[str] | None = None) -> int:
    """Plant, judge and report; return 0 if every placed plant is found, and nothing else."""
    parser = argparse.ArgumentParser(prog="python -m tests.pipeline.planting")
    parser.add_argument("journals", nargs="+", type=Path, help="folders of clean runs; the first is preferred")
    parser.add_argument("--out", required=True, type=Path, help="the folder for the planted runs and the results")
    parser.add_argument("--seed", nargs="+", type=int, default=[1], help="one planted copy of the runs for each seed")
    parser.add_argument("--oracle", action="store_true", help="examine the planted scenarios in plain Python only")
    parser.add_argument("--compare", action="store_true", help="compare Spark's subjects with those of the oracle")
    chosen = parser.parse_args(arguments)
    begun = time.monotonic()
    runs = [Journals(journal_folder(folder)) for folder in chosen.journals]
    _say(f"{sum(run.size for run in runs)} lines of {len(runs)} clean runs read, {time.monotonic() - begun:.0f} s")
    copies = [_plant(runs, seed, chosen.out / f"seed-{seed}") for seed in chosen.seed]
    if not chosen.oracle:
        offences, agrees = _judge(runs, copies, chosen)
    else:
        offences, agrees = [by_oracle(runs, copy.planted) for copy in copies], True
    reports = [compare(runs, PLANTS, copy.planted, own) for copy, own in zip(copies, offences, strict=True)]
    for copy, report in zip(copies, reports, strict=True):
        _say(f"seed {copy.seed}: {told(report)}")
    _say(f"{time.monotonic() - begun:.0f} s")
    return 0 if agrees and all(report.is_clean for report in reports) else 1


class Copy(Struct, frozen=True):
    """A planted copy of the runs, with the folder of each run."""

    seed: int
    planted: tuple[Planted, ...]
    folders: list[Path]


def _plant(runs: Sequence[Journals], seed: int, out: Path) -> Copy:
    begun = time.monotonic()
    planted = Planter(runs, seed).plant(PLANTS)
    _say(f"seed {seed}: {len(planted)} of {len(PLANTS)} plants have a scenario, {time.monotonic() - begun:.0f} s")
    return Copy(seed, planted, [(out / f"run-{number}").resolve() for number, _ in enumerate(runs)])


def _judge(
    runs: Sequence[Journals], copies: Sequence[Copy], chosen: argparse.Namespace
) -> tuple[list[list[Offence]], bool]:
    """Write all copies, and judge them at once with Spark."""
    for copy in copies:
        write(runs, [folder / "journals" for folder in copy.folders], copy.planted)
    judged: Path = chosen.out / "judged"
    folders = [folder for copy in copies for folder in copy.folders]
    result = judge_runs(folders, judged, options=Options(oracle=chosen.compare))
    damage = [f"damaged: {run.folder}: {each}" for run in result.runs for each in run.damage]
    differences = [f"only {each.by} found: {each.subject}" for each in result.disagreements or ()]
    for line in (*damage, *differences):
        _say(line)
    if chosen.compare:
        _say(f"{len(differences)} disagreements between Spark and the oracle")
    return [by_spark(judged, copy.folders) for copy in copies], not (damage or differences)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
