"""Tests of ``python -m tools.held_up`` with one scenario without a defect and one with a defect."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from tools.held_up import CASES, EARLY, SUBSCRIBER, Case, HeldUp, tell

from assay_evidence.verdicts import Verdict
from assay_features import feature_root

SOUND = Case(("DD-02",), SUBSCRIBER)
SCENARIO = re.compile(r"^ *Scenario(?: Outline)?: (.*)$")
RULE = re.compile(r"^  @([A-Z]{2}-\d+)\b")


def titles_of(rule: str) -> list[str]:
    """Return the titles of a rule's scenarios, in the form of pytest's names."""
    titles: list[str] = []
    for file in feature_root().rglob("*.feature"):
        present = ""
        for line in file.read_text("utf-8").splitlines():
            present = found[1] if (found := RULE.match(line)) else present
            if present == rule and (title := SCENARIO.match(line)):
                titles.append(re.sub(r"\W", "", title[1].replace(" ", "_")).lower())
    return titles


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rules[0]} {case.defect}")
def test_each_word_of_a_case_chooses_a_scenario_of_its_rules(case: Case) -> None:
    titles = [title for rule in case.rules for title in titles_of(rule)]
    for word in case.select.split(" or "):
        assert any(word in title for title in titles), word


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
