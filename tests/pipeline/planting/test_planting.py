"""Each plant is found under its rule, in histories that the reference broker makes in virtual time."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct
from tests.pipeline.planting.judging import Report, by_oracle, clean_by_oracle, compare
from tests.pipeline.planting.plant import Plant
from tests.pipeline.planting.planter import Planted, Planter, write
from tests.pipeline.planting.plants import PLANTS
from tests.pipeline.planting.raw import Edit, Journals

from assay_evidence.reader import read_journals
from assay_pipeline.rules import INVARIANTS

HERE = Path(__file__).parent
JUDGES = {"judging.py", "__main__.py", "test_planting.py"}
"""The modules that may import the judge."""
FORBIDDEN = ("assay_pipeline", "assay_evidence.oracle", "assay_evidence.predicates", "assay_evidence.judge")
RULES = (
    "BT-04", "BT-08", "BT-09", "BT-10", "BT-11", "BT-12", "BT-13", "DD-02", "DD-03", "DD-26", "DD-27", "DD-51", "DD-56",
    "DD-80", "PD-11", "PD-12", "PD-13", "PD-14", "PD-16", "PD-18", "PD-20", "PD-21", "PD-22", "PD-23", "PD-24", "PD-26",
    "PD-27", "PD-28", "PD-32", "PD-33", "PD-34", "QS-01", "QS-06", "QS-08", "QS-13", "QS-22",
)  # fmt: skip
"""The rules of the suite whose scenarios have subjects for the plants."""


class Base(Struct, frozen=True):
    """The clean runs, and each plant in a scenario; here, plants may share a scenario, because each is judged alone."""

    runs: tuple[Journals, ...]
    planted: dict[str, Planted]


def _run(out: Path, *arguments: str) -> Journals:
    command = [sys.executable, "-m", "assay", "run", "--backend", "reference", "--out", str(out), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    assert ended.returncode == 0, ended.stdout[-2_000:] + ended.stderr[-2_000:]
    return Journals(out / "journals")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    place = tmp_path_factory.mktemp("clean")
    rules = [word for rule in RULES for word in ("--rule", rule)]
    own = _run(place / "own", "--workers", "0", "--", str(HERE / "histories.feature"))
    runs = own, _run(place / "suite", *rules)
    planter = Planter(runs, seed=1)
    planted: dict[str, Planted] = {}
    for plant in PLANTS:
        tried = (Planted(plant, where, edit) for where in planter.all(plant) if (edit := planter.find(plant, where)))
        if (first := next(tried, None)) is not None:
            planted[plant.id] = first
    return Base(runs, planted)


def test_each_rule_with_an_invariant_has_three_plants() -> None:
    counts = Counter(plant.rule for plant in PLANTS)
    wrong = {
        rule: counts[rule] for rule in counts.keys() | INVARIANTS.keys() if counts[rule] != 3 * (rule in INVARIANTS)
    }
    assert wrong == {}, f"each rule with an invariant needs three plants (tests/pipeline/planting/kinds): {wrong}"
    assert len({plant.id for plant in PLANTS}) == len(PLANTS)


def test_a_plant_names_further_rules_with_a_reason_each() -> None:
    for plant in PLANTS:
        assert set(plant.also) <= set(INVARIANTS)
        assert all(plant.also.values())


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_the_planter_imports_no_judge() -> None:
    modules = [path for path in HERE.rglob("*.py") if path.name not in JUDGES]
    assert modules
    for path in modules:
        used = [name for name in _imported(path) if name.startswith(FORBIDDEN) or name.endswith("planting.judging")]
        assert not used, path


def test_every_plant_has_a_subject(base: Base) -> None:
    assert [plant.id for plant in PLANTS if plant.id not in base.planted] == []


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.id)
def test_a_plant_is_found_under_its_rule_and_no_other_rule_fails(plant: Plant, base: Base) -> None:
    one = base.planted[plant.id]
    report: Report = compare(base.runs, [plant], [one], by_oracle(base.runs, [one]))
    assert report.missed == ()
    assert report.beside == ()


def test_the_clean_scenarios_raise_no_alarm(base: Base) -> None:
    for number, run in enumerate(base.runs):
        used = {one.where[1] for one in base.planted.values() if one.where[0] == number}
        assert clean_by_oracle(run, used) == []


def test_an_edited_journal_is_undamaged(base: Base, tmp_path: Path) -> None:
    chosen = {one.where: one for one in base.planted.values()}
    folders = [tmp_path / str(number) for number, _ in enumerate(base.runs)]
    write(base.runs, folders, list(chosen.values()))
    assert [read_journals(folder).damage for folder in folders] == [(), ()]


def test_a_journal_without_edits_keeps_its_bytes(base: Base, tmp_path: Path) -> None:
    run = base.runs[0]
    run.write(tmp_path / "same", [Edit("nothing")])
    assert (tmp_path / "same" / "main.jsonl").read_bytes() == b"".join(run.every_line())
