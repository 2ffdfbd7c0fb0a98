"""Tests of rare forms of defects."""

from __future__ import annotations

from typing import Any

from assay_broker.defects import DEFECTS, SWITCHES
from assay_broker.defects.model import rarely
from assay_broker.seams import Seams
from assay_steps.defects import all_defects, find_defect


def test_each_third_change_takes_place() -> None:
    seams = rarely(Seams(command=lambda asked, _now_ms: (asked, asked)), 3)
    asked: Any = object()
    assert [len(seams.command(asked, 0)) for _ in range(6)] == [1, 1, 2, 1, 1, 2]


def test_rare_forms_are_no_defects_of_the_kill_matrix() -> None:
    assert set(SWITCHES) - set(DEFECTS) == {"early-delivery-once-in-1000", "early-delivery-once-in-10000"}


def test_a_run_can_name_a_rare_form_although_the_kill_matrix_has_none() -> None:
    name = "early-delivery-once-in-10000"
    assert find_defect(name).broker == name
    assert name not in all_defects()
