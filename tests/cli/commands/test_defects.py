"""Tests of ``assay defects``: the last line and the exit code show every unexpected result."""

from __future__ import annotations

import pytest
from msgspec import structs
from tests.cli.conftest import Assay, Ended

from assay.commands import defects
from assay.exits import Exit
from assay_steps.defects import all_defects
from assay_steps.kill_matrix.matrix import CaughtDefect, DefectError, KillMatrix, RuleKills
from assay_steps.kill_matrix.tolerance import TriedVariant
from assay_steps.variants import all_variants

SOUND = KillMatrix(
    rules=(RuleKills("DD-39", (CaughtDefect("header-kept", ("a",)), CaughtDefect("id-lost", ("b",)))),),
    alarms=(),
    unkilled=(),
    too_broad={},
)
ERROR = DefectError("id-lost", "b", "When a message is sent: TypeError: `Message` has no field 'nonsense'")
IN_ERROR = structs.replace(
    SOUND,
    rules=(RuleKills("DD-39", (CaughtDefect("header-kept", ("a",)), CaughtDefect("id-lost", ()))),),
    unkilled=("b",),
    errors=(ERROR,),
)


def shown(assay: Assay, monkeypatch: pytest.MonkeyPatch, matrix: KillMatrix) -> Ended:
    monkeypatch.setattr(defects, "kill_matrix", lambda *_, **__: matrix)
    return assay("defects", "--rule", "DD-39")


def test_a_sound_matrix_ends_with_what_is_proven(assay: Assay, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = shown(assay, monkeypatch, SOUND)
    assert ended.code is Exit.AS_EXPECTED
    assert ended.out.splitlines()[-1] == "1 of 1 rule proven able to fail; 2 of 2 defects caught."


def test_a_defect_whose_own_code_raises_is_an_error_with_its_exception(
    assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = shown(assay, monkeypatch, IN_ERROR)
    assert ended.code is Exit.INCONCLUSIVE
    assert f"  id-lost: {ERROR.reason} (b)" in ended.out.splitlines()
    assert "missed: none" in ended.out
    assert "1 of 2 defects caught; 1 defect in error" in ended.out.splitlines()[-1]


def test_an_alarm_outweighs_a_defect_in_error(assay: Assay, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(assay, monkeypatch, structs.replace(IN_ERROR, alarms=("a",))).code is Exit.NOT_AS_EXPECTED


@pytest.mark.parametrize(
    ("matrix", "why"),
    [
        (structs.replace(SOUND, unkilled=("c",)), "1 scenario broken by no defect"),
        (structs.replace(SOUND, alarms=("a", "c")), "2 scenarios without a pass when no defect is on"),
        (structs.replace(SOUND, too_broad={"drops-all": 0.4}), "1 defect too broad to count"),
        (structs.replace(SOUND, variants=(TriedVariant("other", ("a",)),)), "1 tolerated variant failed"),
    ],
)
def test_the_last_line_says_why_the_exit_code_is_1(
    assay: Assay, monkeypatch: pytest.MonkeyPatch, matrix: KillMatrix, why: str
) -> None:
    ended = shown(assay, monkeypatch, matrix)
    assert ended.code is Exit.NOT_AS_EXPECTED
    assert ended.out.splitlines()[-1].endswith(f"; {why}.")


def test_a_rule_without_a_defect_is_told_from_one_whose_defects_are_missed(
    assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    missed = RuleKills("DD-39", (CaughtDefect("header-kept", ()),))
    without = RuleKills("DD-50", ())
    lines = shown(assay, monkeypatch, structs.replace(SOUND, rules=(missed, without))).out.splitlines()
    assert "DD-39  NO DEFECT OF THIS RULE IS CAUGHT" in lines
    assert "DD-50  THIS RULE HAS NO DEFECT" in lines


def test_scenarios_that_real_time_cannot_break_are_no_reason(assay: Assay, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = shown(assay, monkeypatch, structs.replace(SOUND, unkilled=("c",), real_time=True))
    assert ended.code is Exit.AS_EXPECTED
    assert ended.out.splitlines()[-1] == "1 of 1 rule proven able to fail; 2 of 2 defects caught."


def test_the_list_names_each_defect_of_a_rule_with_what_it_does(assay: Assay) -> None:
    told = assay("defects", "--list", "--rule", "DD-56")
    assert told.code == 0
    assert "ttl-check-missing (DD-56" in told.out
    assert "): Messages are delivered although their time to live is over." in told.out
    assert all("DD-56" in line.partition(":")[0] for line in told.out.splitlines())


def test_the_list_of_tolerated_variants_names_what_allows_each(assay: Assay) -> None:
    told = assay("defects", "--tolerated", "--list", "--rule", "PD-16")
    assert told.code is Exit.AS_EXPECTED
    names = [line.partition(" ")[0] for line in told.out.splitlines()]
    assert set(names) == {one.name for one in all_variants().values() if "PD-16" in one.rules}
    assert "PERSIST:33 says that client id and name identify a subscription" in told.out


def test_the_list_of_all_defects_names_each_once(assay: Assay) -> None:
    names = [line.partition(" ")[0] for line in assay("defects", "--list").out.splitlines()]
    assert sorted(names) == sorted(all_defects())
