from __future__ import annotations

from tests.evidence.histories import Memory, Story

from assay_evidence.events import Fault
from assay_evidence.events.pairs import paired


def test_an_end_belongs_to_the_begin_of_its_own_writer() -> None:
    one, other = Story(Memory("one")), Story(Memory("other"))
    begins = [one.fault("begin"), other.fault("begin")]
    end = other.fault("end")
    assert paired([*begins, end]) == [(begins[0], None), (begins[1], end)]


def test_an_id_may_be_used_again_after_its_end() -> None:
    story = Story()
    faults: list[Fault] = [story.fault(phase) for phase in ("begin", "end", "begin", "end")]
    assert paired(faults) == [(faults[0], faults[1]), (faults[2], faults[3])]


def test_an_end_without_a_begin_is_left_out() -> None:
    assert paired([Story().fault("end")]) == []
