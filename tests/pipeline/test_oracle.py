from __future__ import annotations

import pytest
from tests.evidence.histories import Memory
from tests.pipeline.cases import CASES, Case
from tests.pipeline.tales import Tale

from assay_evidence.oracle import examine


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}: {case.name}")
def test_the_oracle_says_what_the_miniature_was_made_for(case: Case) -> None:
    journal = Memory()
    case.telling(Tale(journal))
    found = {subject.subject: subject.outcome for subject in examine(journal.events) if subject.rule == case.rule}
    assert found == case.subjects
