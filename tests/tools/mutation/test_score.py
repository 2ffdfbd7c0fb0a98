from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from tools.mutation.score import Result, again, merged, rows
from tools.mutation.triage import Group, Kind, Triage, load_triage

RESULT = Result("m: f: a -> b", "core", "m", "f", "operator", 1, "convicted")


def results(**statuses: int) -> list[Result]:
    return [replace(RESULT, status=status) for status, count in statuses.items() for _ in range(count)]


def test_an_error_is_no_conviction_and_counts() -> None:
    (core, everything) = rows(results(convicted=6, error=1, timeout=1, survived=1, uncovered=1))
    assert core.convicted == everything.convicted == pytest.approx(0.6)
    assert core.noticed == pytest.approx(0.8)
    assert core.running == pytest.approx(6 / 8)


def test_what_is_equivalent_or_outside_does_not_count_and_a_gap_does() -> None:
    triaged = [
        replace(RESULT, status="survived", triage=Kind.EQUIVALENT.value),
        replace(RESULT, status="uncovered", triage=Kind.OUTSIDE.value),
        replace(RESULT, status="survived", triage=Kind.TO_DO.value),
        RESULT,
    ]
    core = rows(triaged)[0]
    assert (core.mutants, core.equivalent, core.outside, core.counted) == (4, 1, 1, 2)
    assert core.convicted == pytest.approx(0.5)


def test_each_package_has_a_row_and_all_have_one() -> None:
    both = [RESULT, replace(RESULT, package="store", status="survived")]
    assert [(row.package, row.convicted) for row in rows(both)] == [("core", 1.0), ("store", 0.0), ("all", 0.5)]


def test_an_exact_entry_comes_before_one_that_stands_for_many() -> None:
    many = Group(Kind.OUTSIDE, "all of it", ("m: f: *",))
    one = Group(Kind.TO_DO, "this one", ("m: f: a -> b",))
    triage = Triage((many, one))
    assert triage.of("m: f: a -> b") is one
    assert triage.of("m: f: a -> c") is many
    assert triage.of("m: g: a -> b") is None


def test_an_entry_that_fits_nothing_is_stale() -> None:
    triage = Triage((Group(Kind.OUTSIDE, "some", ("m: f: *", "m: g: a -> b", "m: h: *")),))
    assert triage.stale(["m: f: a -> b", "m: h: a -> b"]) == ["m: g: a -> b"]


def test_results_are_shown_again_with_another_triage() -> None:
    outside = Triage((Group(Kind.OUTSIDE, "some.", ("m: f: *",)),))
    survived = replace(RESULT, status="survived")
    assert again(survived, outside).triage == "outside"
    assert again(RESULT, outside).triage == ""
    assert again(again(survived, outside), Triage()).triage == ""


def test_a_later_result_of_a_mutant_replaces_an_earlier_one() -> None:
    survived, other = replace(RESULT, status="survived"), replace(RESULT, mutant="m: g: a -> b")
    assert merged([survived, other], [RESULT]) == [RESULT, other]


def test_the_table_names_each_mutant_once_and_says_why() -> None:
    groups = load_triage(Path("tools/mutation/triage.toml").resolve()).group
    entries = [entry for group in groups for entry in group.mutants]
    assert len(entries) == len(set(entries))
    assert all(group.reason.endswith(".") for group in groups)
