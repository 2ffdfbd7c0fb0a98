from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evidence.histories import Memory
from tests.pipeline.case import Case
from tests.pipeline.cases import CASES
from tests.pipeline.judgement import random_histories
from tests.pipeline.miniatures import fault_ids
from tests.pipeline.tales import Tale, write_run

from assay_evidence.figures import counted
from assay_evidence.oracle import examine
from assay_evidence.reader import read_journals
from assay_evidence.subjects import Outcome
from assay_evidence.verdicts import Verdict
from assay_pipeline.rules import INVARIANTS

FORMS = {rule: invariant.in_python for rule, invariant in INVARIANTS.items()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}: {case.name}")
def test_the_oracle_says_what_the_miniature_was_made_for(case: Case) -> None:
    journal = Memory()
    case.telling(Tale(journal))
    found = {
        subject.subject: subject.outcome for subject in examine(journal.events, FORMS) if subject.rule == case.rule
    }
    assert found == case.subjects


def test_faults_of_two_processes_with_one_id_are_two_faults() -> None:
    journals = Memory("main"), Memory("beside")
    for journal, telling in zip(journals, (fault_ids.first, fault_ids.second), strict=True):
        telling(Tale(journal))
    events = [event for journal in journals for event in journal.events]
    assert [subject for subject in examine(events, FORMS) if subject.rule == "DD-02"] == []


def test_the_random_histories_break_and_keep_every_rule(tmp_path: Path) -> None:
    """If no rule could examine the random histories, the comparison with Spark would show nothing."""
    run = write_run(tmp_path / "run", random_histories())
    tried = {(subject.rule, subject.outcome) for subject in examine(read_journals(run).events, FORMS)}
    assert tried >= {(rule, outcome) for rule in FORMS for outcome in (Outcome.KEPT, Outcome.BROKEN)}


NUMBERS = st.integers(0, 2)
TURNS = st.lists(st.tuples(st.sampled_from(["handed", "returns"]), NUMBERS, NUMBERS), min_size=1, max_size=12)


@given(TURNS)
def test_the_claim_about_batches_says_what_the_oracle_says(turns: list[tuple[str, int, int]]) -> None:
    """The Then-step and the history must give the same verdict on empty batches, and on repeated numbers and links."""
    tale = Tale(Memory())
    tale.listens(size=2)
    for what, batch, link in turns:
        if what == "handed":
            tale.handed(batch=batch, link=link)
        else:
            tale.returns(batch=batch)
    found = [subject.outcome for subject in examine(tale.events, FORMS) if subject.rule == "BT-04"]
    claimed = tale.finds("batch-shape", {"actor": "receiver"}, max=2)
    assert claimed.verdict is (Verdict.FAIL if Outcome.BROKEN in found else Verdict.PASS)
    assert claimed.observed.startswith(counted(len(found), "batch", "batches"))
