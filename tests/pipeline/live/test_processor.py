"""The processor of one scenario, with Spark's state in memory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from pyspark.sql import Row
from tests.pipeline.live.test_examination import RULES, early, lines_of
from tests.pipeline.tales import Tale

from assay_pipeline.live.processor import EXAMINE_MS, ScenarioProcessor


class Stored:
    """A list state and a value state in one."""

    def __init__(self) -> None:
        self.rows: list[tuple[str]] = []

    def appendList(self, rows: Iterable[tuple[str]]) -> None:  # noqa: N802 - Spark's name
        self.rows += rows

    def get(self) -> Any:
        return self.rows if len(self.rows) != 1 else self.rows[0]

    def exists(self) -> bool:
        return bool(self.rows)

    def update(self, row: tuple[str]) -> None:
        self.rows = [row]

    def clear(self) -> None:
        self.rows = []


class ListOf(Stored):
    def get(self) -> Any:
        return iter(self.rows)


class Handle:
    """The state and the timers of one group."""

    def __init__(self) -> None:
        self.lines, self.examined = ListOf(), Stored()
        self.timers: list[int] = []

    def getListState(self, _name: str, _schema: str) -> Stored:  # noqa: N802 - Spark's name
        return self.lines

    def getValueState(self, _name: str, _schema: str) -> Stored:  # noqa: N802 - Spark's name
        return self.examined

    def listTimers(self) -> list[int]:  # noqa: N802 - Spark's name
        return self.timers

    def registerTimer(self, at_ms: int) -> None:  # noqa: N802 - Spark's name
        self.timers.append(at_ms)


class Times:
    now_ms = 0

    def getCurrentProcessingTimeInMs(self) -> int:  # noqa: N802 - Spark's name
        return self.now_ms


class Group:
    """A processor, its state and its clock."""

    def __init__(self) -> None:
        self.handle, self.times = Handle(), Times()
        self.processor = ScenarioProcessor(RULES)
        self.processor.init(cast("Any", self.handle))

    def gets(self, lines: Iterable[str]) -> None:
        rows = (Row(line=line) for line in lines)
        assert list(self.processor.handleInputRows(("run", "scenario"), rows, self.times)) == []

    def expires(self) -> list[str]:
        """Let the timer expire, and return the subjects of the alarms."""
        self.times.now_ms = self.handle.timers.pop()
        return [row.subject for row in self.processor.handleExpiredTimer((), self.times, None)]


def ended_early(tale: Tale) -> None:
    early(tale)
    tale.ends()


def test_an_alarm_comes_with_the_second_examination(tmp_path: Path) -> None:
    group = Group()
    group.gets(lines_of(tmp_path / "run", early))
    assert group.handle.timers == [EXAMINE_MS]
    assert [len(group.expires()), len(group.expires())] == [0, 1]


def test_a_scenario_without_news_has_no_timer_until_a_line_comes(tmp_path: Path) -> None:
    group = Group()
    lines = lines_of(tmp_path / "run", early)
    group.gets(lines)
    for _ in range(3):
        group.expires()
    assert group.handle.timers == []
    group.gets(lines[-1:])
    assert len(group.handle.timers) == 1


def test_lines_after_the_end_of_a_scenario_are_ignored(tmp_path: Path) -> None:
    group = Group()
    lines = lines_of(tmp_path / "run", ended_early)
    group.gets(lines)
    for _ in range(3):
        group.expires()
    assert group.handle.lines.rows == []
    group.gets(lines)
    assert (group.handle.lines.rows, group.handle.timers) == ([], [])
