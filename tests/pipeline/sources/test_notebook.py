"""The examples of docs/notebook.md, run in one Spark session and compared with figures from plain Python."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest
from tests.pipeline.judgement import WHOLE, Judgement

from assay_evidence.events import AnyEvent, Call, Fault, Seen
from assay_evidence.reader import read_journals

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("duckdb", reason="duckdb is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = pytest.mark.spark
PAGE = (Path(__file__).parents[3] / "docs" / "notebook.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def run(judgement: Judgement) -> Path:
    """Return the folder of the run in which every rule is broken."""
    return (judgement.root / WHOLE).resolve()


@pytest.fixture(scope="module")
def page(judgement: Judgement, spark: SparkSession, run: Path) -> dict[str, Any]:
    """Run all examples of the page, and return their names and values."""
    names: dict[str, Any] = {"spark": spark}
    for block in BLOCKS:
        code = block.replace("soak-out", str(run)).replace("judged/", f"{judgement.result.out}/")
        exec(compile(code, "docs/notebook.md", "exec"), names)  # noqa: S102 - the page's own examples
    return names


@pytest.fixture(scope="module")
def events(run: Path) -> tuple[AnyEvent, ...]:
    journals = read_journals(run)
    assert not journals.damage
    return journals.events


def test_an_undamaged_run_shows_no_damage(page: dict[str, Any]) -> None:
    assert page["damage"].collect() == []


def test_the_lateness_is_that_of_the_events(page: dict[str, Any], events: tuple[AnyEvent, ...]) -> None:
    expected: dict[str, list[float]] = defaultdict(list)
    for call in events:
        delay = call.args.get("delay_ms") if isinstance(call, Call) and call.op == "send" else None
        if not (isinstance(call, Call) and isinstance(delay, int) and delay > 0 and call.msg and call.destination):
            continue
        for seen in events:
            if not isinstance(seen, Seen) or seen.redelivered:
                continue
            if (seen.scenario, seen.msg.key) == (call.scenario, call.msg.key):
                expected[call.destination].append((seen.mono_ns - call.mono_ns) / 1e6 - delay)
    found = {
        row.destination: (row.receptions, row.least_ms, row.median_ms, row.most_ms)
        for row in page["lateness"].collect()
    }
    assert found.keys() == expected.keys()
    assert found
    for destination, late in expected.items():
        assert found[destination] == pytest.approx((len(late), min(late), median(late), max(late)))


def test_each_kill_has_its_redeliveries(page: dict[str, Any], events: tuple[AnyEvent, ...]) -> None:
    kills = [e for e in events if isinstance(e, Fault) and e.what == "kill" and e.phase == "begin"]
    expected = {}
    for kill in kills:
        later = (k.wall_ns for k in kills if k.scenario == kill.scenario and k.wall_ns > kill.wall_ns)
        until = min(later, default=None)
        again = [
            e.msg.key
            for e in events
            if isinstance(e, Seen)
            and e.redelivered
            and e.scenario == kill.scenario
            and kill.wall_ns <= e.wall_ns
            and (until is None or e.wall_ns < until)
        ]
        expected[kill.scenario, kill.id] = (len(again), len(set(again)))
    found = {(row.scenario, row.kill): (row.receptions, row.messages) for row in page["redelivered"].collect()}
    assert found == expected
    assert any(receptions for receptions, _ in found.values())


def test_the_story_holds_every_reception_of_an_offending_message(
    page: dict[str, Any], events: tuple[AnyEvent, ...], judgement: Judgement, spark: SparkSession, run: Path
) -> None:
    offending = spark.read.parquet(str(judgement.result.out / "offending"))
    refs = {row.ref for row in offending.where((offending.rule == "DD-02") & (offending.folder == str(run))).collect()}
    early = {(e.scenario, e.msg.key) for e in events if isinstance(e, Call) and e.msg and e.ref in refs}
    expected = sorted(
        (e.scenario or "", e.msg.key, e.wall_ns)
        for e in events
        if isinstance(e, Seen) and (e.scenario, e.msg.key) in early
    )
    assert sorted((row.scenario, row.kid, row.wall_ns) for row in page["story"].collect()) == expected
    assert expected


def test_duckdb_counts_the_subjects_as_spark_does(
    page: dict[str, Any], judgement: Judgement, spark: SparkSession
) -> None:
    examined = spark.read.parquet(str(judgement.result.out / "examined"))
    counts = examined.groupBy("rule", "outcome").count().collect()
    assert page["subjects"] == sorted((row.rule, row.outcome, row["count"]) for row in counts)
    assert page["subjects"]
