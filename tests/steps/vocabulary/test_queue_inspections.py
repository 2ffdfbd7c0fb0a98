"""Tests of the bounds that steps compute from the times of inspections."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.evidence.histories import Story

from assay_evidence.events import Admin, Late, Step
from assay_evidence.spans import NS_PER_MS
from assay_steps.vocabulary.observations.queue_inspections import life_left

TTL_MS = 60_000


@pytest.mark.parametrize(("stall_ms", "most", "measured"), [(0, 110, 1), (900, 110, 1), (5_000, 110, 0)])
def test_a_delay_during_the_inspection_widens_the_bounds_and_a_long_one_leaves_them_unmeasured(
    stall_ms: int, most: int, measured: int
) -> None:
    story = Story()
    sent = story.send()
    story.now_ns = sent.mono_ns + 50_000 * NS_PER_MS
    waited = story.tell(Step, keyword="When", text="50 s have passed", outcome="done")
    story.now_ns += stall_ms * NS_PER_MS
    late = story.tell(Late, held_ns=stall_ms * NS_PER_MS, late_ns=stall_ms * NS_PER_MS)
    looked = story.tell(Admin, call="c", command="browse Q", answer={"Expiry": 100})
    world: Any = SimpleNamespace(
        recorder=SimpleNamespace(
            journal=SimpleNamespace(events=[sent, waited, late, looked]), returned=lambda _call: sent.ref
        ),
        messages={"m": SimpleNamespace(call=sent.ref)},
        sent_ns=lambda _label: sent.mono_ns,
    )
    least = 90 - stall_ms // 100
    assert life_left(world, "m", TTL_MS, looked.ref) == {"least": least, "most": most, "measured": measured}
