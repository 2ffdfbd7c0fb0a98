"""Tests of the check that no invariant convicts the reference broker."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from tools.own_history import main

from assay_steps.plugin.suite import SuiteOptions, run_suite


@pytest.mark.parametrize(("defect", "code"), [(None, 0), ("delay-leaves-unit", 1)])
def test_a_broken_rule_is_named(
    defect: str | None, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_suite(SuiteOptions(out=tmp_path / "out", rules=("DD-26",), defect=defect, probes=False))
    capsys.readouterr()
    with pytest.raises(typer.Exit) as ended:
        main(tmp_path / "out")
    assert ended.value.exit_code == code
    said = capsys.readouterr().out
    assert ("DD-26: " in said) is (defect is not None)
    assert (" 0 broken" in said) is (defect is None)


def test_a_damaged_journal_decides_nothing(tmp_path: Path) -> None:
    run_suite(SuiteOptions(out=tmp_path / "out", rules=("DD-26",), probes=False))
    (journal,) = (tmp_path / "out" / "journals").glob("*.jsonl")
    journal.write_bytes(journal.read_bytes()[:-10])
    with pytest.raises(SystemExit, match=r"^own_history: "):
        main(tmp_path / "out")


def test_a_folder_without_journals_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"^own_history: "):
        main(tmp_path)
