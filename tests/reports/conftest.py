from __future__ import annotations

from pathlib import Path

import pytest
from tests.reports.sample import sample

from assay_reports import RunEvidence, render_site


@pytest.fixture(scope="session")
def runs() -> tuple[RunEvidence, RunEvidence]:
    return sample()


@pytest.fixture(scope="session")
def site(runs: tuple[RunEvidence, RunEvidence], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return render_site(runs, tmp_path_factory.mktemp("out") / "report").parent
