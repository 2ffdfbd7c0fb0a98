"""The stream from the journals of a run to alarms."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from msgspec import Struct

from assay_evidence.interrupts import ctrl_c_deferred
from assay_features import load_catalogue
from assay_pipeline.errors import SparkFailedError
from assay_pipeline.journals import find_journals
from assay_pipeline.packages import need
from assay_pipeline.session import LOCAL, spark_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

WATCHED = ("DD-02", "DD-03", "DD-56", "PD-18", "QS-08")
"""The rules that are watched unless the user chooses others: early, missing, expired and repeated messages."""
PAUSE_S = 1.0
"""The shortest time between two reads of the journals, in seconds."""
_SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}


class Alarm(Struct, frozen=True):
    """A provisional breach.

    Args:
        rule: The rule's id.
        run: The run's id.
        scenario: The scenario's id.
        subject: The name of the message, copy or batch.
        text: The subject with its figure, in words.
        ref: The reference (``writer:seq``) of one event of the subject.
    """

    rule: str
    run: str
    scenario: str
    subject: str
    text: str
    ref: str


def watch_run(
    folder: Path,
    tell: Callable[[Alarm], None],
    *,
    rules: Collection[str] = WATCHED,
    idle_s: float = 60.0,
    stop: threading.Event | None = None,
) -> int:
    """Watch the journals of a run, until no journal has grown for some time.

    Args:
        folder: The output folder of a run, or a folder of journals.
        tell: Called once with each alarm, in the calling thread.
        rules: The ids of the rules to watch.
        idle_s: The watch ends after no journal has grown for this time, in seconds.
        stop: Ends the watch early when it is set.

    Returns:
        The number of alarms.

    Raises:
        UnknownRuleError: The catalogue lacks one of the ids.
        NoInvariantError: One of the rules has no invariant.
        NoJournalError: The folder is missing or holds no journal.
        PipelineError: Spark, a package that it needs or Java was not found, or Spark failed.
    """
    need("To watch journals, Spark needs", "spark", "pyspark", "pyarrow", "google.protobuf")
    from assay_pipeline.rules import invariants_of

    load_catalogue().select(ids=rules)
    chosen = tuple(invariants_of(rules))
    find_journals([folder])
    with spark_session(LOCAL, conf=_SETTINGS) as spark, tempfile.TemporaryDirectory(prefix="assay-watch-") as scratch:
        raised: SimpleQueue[Alarm] = SimpleQueue()

        def put(frame: DataFrame, _batch: int) -> None:
            for row in frame.collect():
                raised.put(Alarm(**row.asDict()))

        query = _start(spark, folder, chosen, Path(scratch), put)
        told = 0
        try:
            for alarm in _until_silence(query, raised, folder, idle_s, stop or threading.Event()):
                tell(alarm)
                told += 1
        finally:
            with ctrl_c_deferred():
                query.stop()
        return told


def _start(
    spark: SparkSession,
    folder: Path,
    rules: tuple[str, ...],
    scratch: Path,
    put: Callable[[DataFrame, int], None],
) -> StreamingQuery:
    from assay_pipeline.live.growing_journals import FORMAT, GrowingJournals
    from assay_pipeline.live.processor import ALARMS, ScenarioProcessor

    spark.dataSource.register(GrowingJournals)
    lines = spark.readStream.format(FORMAT).load(str(folder.resolve()))
    alarms = lines.groupBy("run", "scenario").transformWithState(
        statefulProcessor=ScenarioProcessor(rules),
        outputStructType=ALARMS,
        outputMode="Append",
        timeMode="ProcessingTime",
    )
    return (
        alarms.writeStream.outputMode("append")
        .option("checkpointLocation", str(scratch / "checkpoint"))
        .trigger(processingTime=f"{PAUSE_S} seconds")
        .foreachBatch(put)
        .start()
    )


def _until_silence(
    query: StreamingQuery, raised: SimpleQueue[Alarm], folder: Path, idle_s: float, stop: threading.Event
) -> Iterator[Alarm]:
    """Yield alarms until `stop` is set, or until no journal has grown for `idle_s` seconds.

    Raises:
        SparkFailedError: The query failed.
    """
    sizes, since = _sizes(folder), time.monotonic()
    while time.monotonic() - since < idle_s and not stop.is_set():
        with suppress(Empty):
            yield raised.get(timeout=PAUSE_S)
        error = query.exception()
        if error is not None:
            raise SparkFailedError(str(error).strip().splitlines()[0])
        now = _sizes(folder)
        if now != sizes:
            sizes, since = now, time.monotonic()


def _sizes(folder: Path) -> dict[str, int]:
    return {file.path: file.octets for file in find_journals([folder])}
