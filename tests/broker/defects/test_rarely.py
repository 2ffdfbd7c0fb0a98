"""Tests of rare forms of defects."""

from __future__ import annotations

from typing import Any

from assay_broker.defects import DEFECTS, SWITCHES
from assay_broker.defects.model import rarely
from assay_broker.seams import Seams


def test_each_third_change_takes_place() -> None:
    seams = rarely(Seams(command=lambda asked, _now_ms: (asked, asked)), 3)
    asked: Any = object()
    assert [len(seams.command(asked, 0)) for _ in range(6)] == [1, 1, 2, 1, 1, 2]


def test_rare_forms_are_no_defects_of_the_kill_matrix() -> None:
    assert set(SWITCHES) - set(DEFECTS) == {"early-delivery-once-in-1000", "early-delivery-once-in-10000"}
