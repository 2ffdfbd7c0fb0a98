from __future__ import annotations

import pytest

from assay_evidence.figures import counted, duration, seconds


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 s"),
        (999, "999 ns"),
        (1_500, "1.5 µs"),
        (763_600_000, "763.6 ms"),
        (1_000_499_000, "1 s"),
        (2_001_000_000, "2.001 s"),
        (90_000_000_000, "1.5 min"),
        (7_200_000_000_000, "2 h"),
        (-2_000_000, "-2 ms"),
        (36_000_000_000_000_000, "10000 h"),
    ],
)
def test_durations_are_written_for_people(ns: int, text: str) -> None:
    assert duration(ns) == text


def test_seconds_are_written_alike() -> None:
    assert seconds(2.4) == "2.4 s"


@pytest.mark.parametrize(
    ("number", "nouns", "text"),
    [
        (0, ("time",), "0 times"),
        (1, ("time",), "1 time"),
        (3, ("time",), "3 times"),
        (1, ("copy", "copies"), "1 copy"),
        (2, ("copy", "copies"), "2 copies"),
    ],
)
def test_a_noun_agrees_with_its_number(number: int, nouns: tuple[str, ...], text: str) -> None:
    assert counted(number, *nouns) == text
