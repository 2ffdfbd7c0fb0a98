"""Tests that a call of the suite has the same meaning in every working folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay_steps.plugin.suite import SuiteOptions, run_suite

BROKEN = "raise RuntimeError('a conftest that is none of the suite')\n"


@pytest.mark.parametrize("workers", [0, 1])
def test_conftests_of_the_folder_in_which_it_is_started_stay_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    here = tmp_path / "project"
    (here / "tests").mkdir(parents=True)
    for folder in (tmp_path, here, here / "tests"):
        (folder / "conftest.py").write_text(BROKEN)
    monkeypatch.chdir(here)
    options = SuiteOptions(out=tmp_path / "out", rules=("PD-34",), workers=workers, probes=False)
    assert run_suite(options) is pytest.ExitCode.OK, (tmp_path / "out" / "pytest.log").read_text()


def test_a_conftest_beside_ones_own_scenarios_is_loaded(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "conftest.py").write_text(BROKEN)
    (own / "test_own.py").write_text("def test_nothing(): pass\n")
    options = SuiteOptions(out=tmp_path / "out", rules=("PD-34",), pytest_args=(str(own / "test_own.py"),))
    run_suite(options)
    assert "a conftest that is none of the suite" in (tmp_path / "out" / "pytest.log").read_text()
