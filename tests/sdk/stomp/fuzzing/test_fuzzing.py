"""A small fixed part of the fuzzing; `make fuzz` tries many more inputs."""

from __future__ import annotations

from tests.sdk.stomp.fuzzing.hunt import hunt


def test_the_reader_keeps_its_promises_for_changed_frames() -> None:
    assert hunt(1, lambda tally: tally.cases < 3000).reached > 100
