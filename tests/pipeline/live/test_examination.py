"""The examinations of a scenario: a breach becomes an alarm once, if the next examination confirms it."""

from __future__ import annotations

from pathlib import Path

import msgspec
from tests.pipeline.case import KEPT
from tests.pipeline.cases import CASES
from tests.pipeline.tales import Tale, write_run

from assay_pipeline.live.examination import Examination

RULES = ("DD-02",)


def early(tale: Tale) -> None:
    """Tell of a message that is seen 400 ms before it is due."""
    tale.starts()
    tale.listens()
    tale.sends(delay_ms=1000)
    tale.at(600).handed()


def lines_of(folder: Path, *tellings: object) -> list[str]:
    journal = write_run(folder, tellings)  # type: ignore[arg-type]  # write_run rejects other objects
    return journal.read_text().splitlines()


def test_a_breach_is_told_once_when_it_is_confirmed(tmp_path: Path) -> None:
    lines = lines_of(tmp_path / "run", early)
    first, none = Examination().next(lines, RULES)
    second, told = first.next(lines, RULES)
    third, again = second.next([*lines, *lines[-1:]], RULES)
    assert (none, [alarm.rule for alarm in told], again) == ([], ["DD-02"], [])
    assert not first.is_settled(len(lines))
    assert second.is_settled(len(lines))
    assert third.told == second.told


def test_a_breach_that_later_lines_excuse_is_never_told(tmp_path: Path) -> None:
    lines = lines_of(tmp_path / "run", early)
    call = next(line for line in lines if '"op":"send"' in line)
    suspected, _ = Examination().next(lines, RULES)
    excused, told = suspected.next([line for line in lines if line != call], RULES)
    assert (told, excused.suspected, excused.told) == ([], frozenset(), frozenset())


def test_a_kept_rule_raises_no_suspicion(tmp_path: Path) -> None:
    kept = [case for case in CASES if case.rule == "DD-02" and set(case.subjects.values()) == {KEPT}]
    assert kept
    for number, case in enumerate(kept):
        after, _ = Examination().next(lines_of(tmp_path / str(number), case.telling), RULES)
        assert after.suspected == frozenset()


def test_a_damaged_line_is_left_out(tmp_path: Path) -> None:
    lines = lines_of(tmp_path / "run", early)
    damaged = ["", "rubbish", *lines]
    assert Examination().next(damaged, RULES)[0].suspected == Examination().next(lines, RULES)[0].suspected != set()


def test_the_state_survives_its_encoding(tmp_path: Path) -> None:
    after, _ = Examination().next(lines_of(tmp_path / "run", early), RULES)
    assert msgspec.json.decode(msgspec.json.encode(after), type=Examination) == after
