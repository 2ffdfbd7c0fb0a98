"""The time of `assay judge` compared with the time to parse the same lines: `python bench/pipeline.py [FOLDER...]`.

The folders are outputs of runs or soaks, or histories of any size (`bench/journals/histories.py`).  Without a folder,
this program records a soak of a minute on the reference broker's server, and repeats it until it has 100,000 lines.

All measurements run in one Spark session with the settings of `assay judge`: one parse as warm-up, then
rounds of a parse (the baseline) and a whole judgement.  The parse reads every line as text and parses it with the whole
schema and the column for corrupt lines; without this column Spark would parse fewer fields.  The stages of a judgement
are its tables, in the order in which they were written.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from brokers.processes import family, memory
from journals.histories import repeat_soak
from msgspec import Struct

from assay_pipeline.bronze import read_lines
from assay_pipeline.job import judge_with
from assay_pipeline.journals import JournalFile, find_journals
from assay_pipeline.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROUNDS = 3
EVENTS = 100_000
SOAK = ("--backend", "reference-server", "--seconds", "60", "--rate", "150", "--producers", "3", "--consumers", "3")
LONGEST = 12
"""The number of stages that the table shows."""
_SAMPLE_S = 0.5


class Judgement(Struct, frozen=True):
    """The figures of one judgement.

    Args:
        seconds: The duration of the judgement in seconds.
        stages: The duration of each stage in seconds, by the stage's name.
        verdicts: The number of rules with each verdict.
    """

    seconds: float
    stages: dict[str, float]
    verdicts: dict[str, int]


class Peak:
    """The largest memory, in bytes, of this process and all its descendants; a thread samples it twice a second."""

    def __init__(self) -> None:
        self.octets = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory", daemon=True)

    def _watch(self) -> None:
        while not self._ended.wait(_SAMPLE_S):
            self.octets = max(self.octets, memory(family([os.getpid()])))

    @contextmanager
    def watched(self) -> Generator[Peak, None, None]:
        """Sample until the block ends."""
        self._thread.start()
        try:
            yield self
        finally:
            self._ended.set()
            self._thread.join()


def parse(spark: SparkSession, files: tuple[JournalFile, ...]) -> float:
    """Parse every line, discard the result, and return the duration in seconds."""
    began = time.monotonic()
    read_lines(spark, files).select("event", "reason").write.format("noop").mode("overwrite").save()
    return time.monotonic() - began


def judge(spark: SparkSession, files: tuple[JournalFile, ...], master: str) -> Judgement:
    """Judge the journals, and return the figures."""
    place = Path(tempfile.mkdtemp(prefix="assay-bench-"))
    try:
        began, wall = time.monotonic(), time.time()
        result = judge_with(spark, files, place, place, master=master)
        seconds = time.monotonic() - began
        counts: dict[str, int] = {}
        for run in result.runs:
            for rule in run.verdicts.rules:
                counts[rule.verdict] = counts.get(rule.verdict, 0) + 1
        return Judgement(seconds, stages(place, wall), counts)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def stages(place: Path, began: float) -> dict[str, float]:
    """Return the duration of each stage in seconds; a stage ends when Spark marks its table as complete.

    Args:
        place: The folder of the tables.
        began: The time at which the judgement began, in seconds since the epoch.
    """
    marks = sorted((mark.stat().st_mtime, str(mark.parent.relative_to(place))) for mark in place.rglob("_SUCCESS"))
    told: dict[str, float] = {}
    for ended, name in marks:
        told[name] = ended - began
        began = ended
    return told


def show(baseline: Iterable[float], judged: list[Judgement], peak: int) -> None:
    """Print the medians, and the longest stages of the median judgement."""
    parsed = median(baseline)
    whole = median(one.seconds for one in judged)
    typical = min(judged, key=lambda one: abs(one.seconds - whole))
    print(f"parse      {parsed:.1f} s")
    print(f"judgement  {whole:.1f} s = {whole / parsed:.2f} times the parse")
    print(f"memory     {peak / 2**30:.2f} GiB at the peak, of all processes")
    print("rules      " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(typical.verdicts.items())))
    for name, seconds in sorted(typical.stages.items(), key=lambda item: -item[1])[:LONGEST]:
        print(f"  {seconds:7.1f} s  {name}")


def recorded(place: Path, events: int) -> Path:
    """Record a soak, repeat it until it has at least ``events`` lines, and return the folder of the history."""
    subprocess.run(  # noqa: S603 - this command
        [sys.executable, "-m", "assay", "soak", *SOAK, "--out", str(place / "soak")], check=True
    )
    lines = repeat_soak(place / "soak", place / "history", events)
    print(f"history    {lines} lines")
    return place / "history"


def measure(folders: Iterable[Path], master: str, conf: Mapping[str, str], count: int) -> None:
    """Measure and print the figures.

    Args:
        folders: The folders of the journals.
        master: Spark's master URL.
        conf: Settings of Spark, which replace those of `assay judge`.
        count: The number of rounds.
    """
    files = find_journals(folders)
    octets = sum(file.plain_octets for file in files)
    with Peak().watched() as peak, spark_session(master, octets=octets, conf=conf) as spark:
        print(f"journals   {octets / 1e6:.0f} MB; warm-up {parse(spark, files):.1f} s")
        rounds = [(parse(spark, files), judge(spark, files, master)) for _ in range(count)]
    show((one for one, _ in rounds), [one for _, one in rounds], peak.octets)


def main() -> None:
    """Read the arguments, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="a run's output folder")
    parser.add_argument("--events", type=int, default=EVENTS, help="the number of lines if no folder is named")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--master", default="local[*]")
    parser.add_argument(
        "--conf", action="append", default=[], metavar="K=V", help="a setting of Spark; may be repeated"
    )
    chosen = parser.parse_args()
    conf = dict(setting.split("=", 1) for setting in chosen.conf)
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as scratch:
        measure(chosen.folders or [recorded(Path(scratch), chosen.events)], chosen.master, conf, chosen.rounds)


if __name__ == "__main__":
    main()
