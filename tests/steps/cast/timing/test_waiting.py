"""Tests of the waits for a silence, while a busy machine delays the harness."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.evidence.histories import Story

from assay_evidence.events import Late
from assay_evidence.watching import CATCHING_UP_NS
from assay_sdk.runners.virtual import VirtualRunner
from assay_sdk.time import NS_PER_MS
from assay_steps.cast.timing.limits import TimeLimits
from assay_steps.cast.timing.waiting import Waiting

QUIET_MS, BEAT_MS, HELD_MS = 1_500, 60, 200


def waiting(runner: VirtualRunner, story: Story, beat_ms: int) -> Waiting:
    limits = TimeLimits(expected_ms=15_000, quiet_ms=QUIET_MS, late_ms=5_000, beat_ms=beat_ms)
    instance = SimpleNamespace(runner=runner, clock=runner.clock)
    recorder = SimpleNamespace(journal=story)
    sightings = SimpleNamespace(last_ns=lambda _actors: 0)
    return Waiting(cast("Any", instance), limits, cast("Any", recorder), cast("Any", sightings))


@pytest.mark.parametrize(
    ("beat_ms", "noted_ms", "waited_ms"),
    [
        (0, QUIET_MS + 30, QUIET_MS),
        (BEAT_MS, None, QUIET_MS + BEAT_MS),
        (BEAT_MS, QUIET_MS + 30, QUIET_MS + 30 + HELD_MS + CATCHING_UP_NS // NS_PER_MS),
    ],
)
def test_a_silence_is_prolonged_by_a_delay_that_the_harness_notes_just_after_its_end(
    beat_ms: int, noted_ms: int | None, waited_ms: int
) -> None:
    runner, story = VirtualRunner(), Story()
    begun_ns = runner.clock.monotonic_ns()

    def late() -> None:
        story.now_ns = runner.clock.monotonic_ns()
        story.tell(Late, held_ns=HELD_MS * NS_PER_MS, late_ns=(HELD_MS - 50) * NS_PER_MS)

    if noted_ms is not None:
        runner.call_at(begun_ns + noted_ms * NS_PER_MS, late)
    waiting(runner, story, beat_ms).listen_for(QUIET_MS)
    passed_ms = (runner.clock.monotonic_ns() - begun_ns) // NS_PER_MS
    assert passed_ms >= waited_ms
    assert passed_ms <= waited_ms + 2 * BEAT_MS
