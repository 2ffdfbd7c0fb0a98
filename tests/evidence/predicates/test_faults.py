"""Tests of `comes-back`: only the end of a fault in the journal shows that the broker came back."""

from __future__ import annotations

from tests.evidence.histories import Story

from assay_evidence.verdicts import Verdict


def test_a_fault_with_an_end_is_one_from_which_the_broker_came_back() -> None:
    story = Story()
    story.fault("begin")
    story.fault("end")
    assert story.finds("comes-back", {"fault": "kill", "said": "late"}).verdict is Verdict.PASS


def test_a_fault_without_an_end_breaks_the_rule_and_the_fail_names_the_brokers_error() -> None:
    story = Story()
    begin = story.fault("begin")
    found = story.finds("comes-back", {"fault": "kill", "said": "KeyError: 7"})
    assert (found.verdict, found.offenders) == (Verdict.FAIL, (begin.ref,))
    assert found.reason == "The broker did not come back: KeyError: 7"


def test_a_fault_that_the_journal_lacks_is_an_error() -> None:
    assert Story().finds("comes-back", {"fault": "kill", "said": ""}).verdict is Verdict.ERROR
