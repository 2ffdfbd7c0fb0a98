"""Compare what a judge found with what was planted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from tests.pipeline.planting.plant import Plant
from tests.pipeline.planting.planter import Planted, by_scenario
from tests.pipeline.planting.raw import Journals

from assay_evidence.events import AnyEvent
from assay_evidence.oracle import examine
from assay_evidence.subjects import Outcome
from assay_pipeline.rules import INVARIANTS

Offence = tuple[str, str, str, str]
"""A subject that broke its rule or is undecided: the rule, the run, the scenario, and the subject's name."""
FORMS = {rule: invariant.in_python for rule, invariant in INVARIANTS.items()}
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


class Report(Struct, frozen=True):
    """The result of a judgement of planted journals.

    Args:
        found: The plants of which their rule found a subject.
        missed: The plants of which their rule found none.
        unplaced: The plants for which no scenario had a subject.
        alarms: The offences in scenarios without a plant.
        beside: The offences in scenarios with a plant, of rules that the plant does not list.
        doubled: The plants of which their rule found several subjects.
    """

    found: tuple[Planted, ...]
    missed: tuple[Planted, ...]
    unplaced: tuple[Plant, ...]
    alarms: tuple[Offence, ...]
    beside: tuple[Offence, ...]
    doubled: tuple[Planted, ...]

    @property
    def is_clean(self) -> bool:
        """Whether every plant that was placed is found, and nothing else."""
        return not (self.missed or self.alarms or self.beside)


def compare(
    runs: Sequence[Journals], plants: Sequence[Plant], planted: Sequence[Planted], offences: Iterable[Offence]
) -> Report:
    """Compare offences with plants."""
    places = by_scenario(runs, planted)
    of_plant: Mapping[tuple[str, str], list[Offence]] = defaultdict(list)
    alarms: list[Offence] = []
    for offence in sorted(offences):
        where = offence[1], offence[2]
        (of_plant[where] if where in places else alarms).append(offence)
    hits = {where: sum(offence[0] == one.plant.rule for offence in of_plant[where]) for where, one in places.items()}
    placed = {one.plant.id for one in planted}
    return Report(
        found=tuple(one for where, one in places.items() if hits[where]),
        missed=tuple(one for where, one in places.items() if not hits[where]),
        unplaced=tuple(plant for plant in plants if plant.id not in placed),
        alarms=tuple(alarms),
        beside=tuple(
            offence
            for where, own in of_plant.items()
            for offence in own
            if offence[0] not in {places[where].plant.rule, *places[where].plant.also}
        ),
        doubled=tuple(one for where, one in places.items() if hits[where] > 1),
    )


def by_oracle(runs: Sequence[Journals], planted: Sequence[Planted]) -> list[Offence]:
    """Examine the planted scenarios, and these alone, in plain Python."""
    offences: list[Offence] = []
    for one in planted:
        lines = runs[one.where[0]].edited(one.where[1], one.edit)
        offences += _offences(lines)
    return offences


def clean_by_oracle(run: Journals, scenarios: Iterable[str]) -> list[Offence]:
    """Examine scenarios without their plants in plain Python."""
    return [offence for name in scenarios for offence in _offences(run.plain(name))]


def _offences(lines: Iterable[bytes]) -> list[Offence]:
    events = [_decoder.decode(line) for line in lines]
    return [
        (subject.rule, subject.run, subject.scenario, subject.subject)
        for subject in examine(events, FORMS)
        if subject.outcome is not Outcome.KEPT
    ]


def by_spark(judged: Path, folders: Iterable[Path]) -> list[Offence]:
    """Read the offending subjects of the runs in some folders from the results of a judgement."""
    import pyarrow.dataset as ds

    columns = ["folder", "rule", "run", "scenario", "subject"]
    rows = ds.dataset(judged / "offending", format="parquet", partitioning="hive").to_table(columns).to_pylist()
    own = {str(folder) for folder in folders}
    mine = [row for row in rows if row["folder"] in own]
    return [(str(row["rule"]), str(row["run"]), str(row["scenario"]), str(row["subject"])) for row in mine]


def told(report: Report) -> str:
    """Return a report as text."""
    lines = [f"{len(report.found)} plants found under their rule, {len(report.missed)} missed"]
    lines += [f"missed: {one.plant.id}: {one.edit.subject} in {one.where}" for one in report.missed]
    lines += [f"no subject for: {plant.id}" for plant in report.unplaced]
    lines += [f"false alarm: {offence}" for offence in report.alarms]
    lines += [f"beside a plant: {offence}" for offence in report.beside]
    lines += [f"several subjects: {one.plant.id} in {one.where}" for one in report.doubled]
    by_rule: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for number, placed in enumerate((report.found, report.missed)):
        for one in placed:
            by_rule[one.plant.rule][number] += 1
    lines += [f"{rule}: {found} found, {missed} missed" for rule, (found, missed) in sorted(by_rule.items())]
    return "\n".join(lines)
