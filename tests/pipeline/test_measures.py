"""The measures: each figure from a scenario whose times are known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.pipeline.tales import Tale, write_run

from assay_evidence.histories.measures import Batches, Measures
from assay_pipeline.bronze import account, read_lines
from assay_pipeline.collection import runs_of
from assay_pipeline.journals import find_journals
from assay_pipeline.measures import ALL, measures
from assay_pipeline.tables.build import build_history

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
AWAY, BATCHED = "queue://AWAY", "queue://BATCHED"


def late(tale: Tale) -> None:
    """Tell of ten delayed messages that come 0 to 9 ms late, and of one that no consumer waited for."""
    tale.starts()
    watch = tale.listens()
    for number in range(10):
        tale.sends(f"m{number}", delay_ms=1000)
        tale.sends(f"away{number}", AWAY, delay_ms=1000)
    for number in range(10):
        tale.at(1000 + number).handed(f"m{number}")
    tale.at(2000).stops(watch)
    watch = tale.listens("other", AWAY)
    tale.handed("away0", "other", of=AWAY)
    tale.stops(watch, "other", AWAY)


def killed(tale: Tale) -> None:
    """Tell of a message that comes before a kill of 200 ms, and with a mark 500 ms after its begin."""
    tale.starts()
    tale.consumes("receiver")
    watch = tale.listens()
    tale.sends("twice")
    tale.handed("twice")
    tale.at(1000).suffers("kill", took_ms=200)
    tale.at(1500).handed("twice", marked=True)
    tale.stops(watch)


def drained(tale: Tale) -> None:
    """Tell of a message that comes while the broker is being killed, and once more afterwards."""
    tale.starts()
    tale.consumes("receiver")
    watch = tale.listens()
    tale.sends("twice")
    fault = tale.at(100).begins()
    tale.at(101).handed("twice")
    tale.at(300).recovers(fault)
    tale.at(500).handed("twice")
    tale.stops(watch)


def batched(tale: Tale) -> None:
    """Tell of a full batch of two and a half full one."""
    tale.starts()
    watch = tale.listens(of=BATCHED, size=2)
    for number, batch in enumerate((1, 1, 2)):
        tale.sends(f"b{number}", BATCHED)
        tale.handed(f"b{number}", batch=batch, of=BATCHED)
        if number != 0:
            tale.returns(batch=batch)
    tale.stops(watch, of=BATCHED)


@pytest.fixture(scope="module")
def measured(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Measures]:
    root = tmp_path_factory.mktemp("measured")
    for telling in (late, killed, drained, batched):
        write_run(root / telling.__name__, [telling])
    write_run(root / "empty", [])
    files = find_journals(sorted(root.iterdir()))

    def store(name: str, table: DataFrame) -> DataFrame:
        table.write.parquet(f"{root}/tables/{name}")
        return spark.read.schema(table.schema).parquet(f"{root}/tables/{name}")

    bronze = account(spark, read_lines(spark, files), files)
    runs = runs_of(bronze, {file.folder for file in files})
    found = measures(build_history(bronze.events, store), runs.values())
    return {Path(one.folder).name: one for one in found}


def test_the_lateness_counts_from_the_time_a_message_was_due(measured: dict[str, Measures]) -> None:
    groups = {lateness.group: lateness for lateness in measured["late"].lateness}
    assert list(groups) == [ALL, "delay of 1 s to 2 s", "due without a fault near"]
    assert groups[ALL].messages == 10, "a message for which nobody waited does not count"
    assert groups[ALL].ms[0] == pytest.approx(4.5, abs=0.1)
    assert groups[ALL].ms[-1] == pytest.approx(9, abs=0.1)


def test_a_fault_has_its_times_its_recovery_and_its_redeliveries(measured: dict[str, Measures]) -> None:
    (fault,) = measured["killed"].faults
    assert fault.end_s is not None
    assert (fault.kind, fault.redelivered) == ("kill", 1)
    assert fault.end_s - fault.begin_s == pytest.approx(0.2, abs=0.11)
    assert fault.recovery_s == pytest.approx(0.5, abs=0.11)
    assert measured["killed"].repeats == {"after a fault, marked as redelivered": 1}
    assert measured["drained"].repeats == {"after a fault, without a mark": 1}


def test_the_rates_add_up_to_all_messages(measured: dict[str, Measures]) -> None:
    rates = measured["late"].rates
    assert [rate.at_s for rate in rates] == [float(second) for second in range(len(rates))]
    assert sum(rate.sent for rate in rates) == 20
    assert sum(rate.received for rate in rates) == 11


def test_the_fill_of_batches(measured: dict[str, Measures]) -> None:
    assert measured["batched"].batches == Batches(batches=2, full=1, fill=0.75)
    assert measured["late"].batches is None


def test_a_run_without_messages_has_no_measures(measured: dict[str, Measures]) -> None:
    assert set(measured) == {"late", "killed", "drained", "batched"}
