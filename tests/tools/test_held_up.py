"""Tests of ``python -m tools.held_up`` with one scenario without a defect and one with a defect."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from tools.held_up import CASES, EARLY, SOUND, Case, HeldUp, tell

from assay_evidence.verdicts import Verdict
from assay_features import feature_root

TITLE = re.compile(r"^ *Scenario(?: Outline)?: (.*)$", re.MULTILINE)


@pytest.mark.parametrize("word", sorted({word for case in CASES for word in case.select.split(" or ")}))
def test_each_word_of_a_case_chooses_a_scenario(word: str) -> None:
    titles = [title for file in feature_root().rglob("*.feature") for title in TITLE.findall(file.read_text("utf-8"))]
    assert any(word in re.sub(r"\W", "", title.replace(" ", "_")).lower() for title in titles)


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be stopped there")
@pytest.mark.xdist_group("reference-server")
@pytest.mark.parametrize("case", [SOUND, EARLY], ids=["sound", "early"])
def test_a_harness_that_is_held_up_neither_passes_nor_fails_wrongly(tmp_path: Path, case: Case) -> None:
    pytest.importorskip("cproton", reason="proton's C library is not installed")
    outcome = HeldUp(tmp_path, seed=1).run(case)
    told = tell(outcome)
    assert not outcome.wrong, told
    assert Verdict.ERROR not in outcome.verdicts.values(), told
    assert len(outcome.verdicts) == 1
