"""`assay judge` on a standalone cluster and on a Spark Connect server: the results are those of one machine."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
from tests.pipeline.cases import CASES
from tests.pipeline.random_tales import telling
from tests.pipeline.tales import write_run
from tests.waiting import until

from assay_pipeline import UnreachableMasterError, judge_runs
from assay_pipeline.job import Options, judge_with
from assay_pipeline.journals import find_journals
from assay_pipeline.session import address_of
from assay_pipeline.session.settings import LOOPBACK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULES = ("DD-02", "PD-13", "QS-08", "BT-07")
"""Rules of four forms: rows of a table, subscriptions, settlements, batches."""
START_S = 300.0
JUDGE_S = 900.0
"""How long a judgement on a busy machine may take."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    tellings = [case.telling for case in CASES if case.rule in RULES]
    write_run(folder, [*tellings, *map(telling, range(20))])
    return folder


@pytest.fixture(scope="module")
def on_one_machine(run: Path, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("local")
    judge_with(spark, find_journals([run]), out, out, options=Options(RULES))
    return out


def test_a_cluster_that_loses_workers_finds_what_one_machine_finds(
    run: Path, on_one_machine: Path, tmp_path: Path
) -> None:
    """One judgement loses two workers: one while lines are parsed, one after the shuffles of the first tables."""
    out = tmp_path / "out"
    with cluster(tmp_path) as (master, start_worker):
        workers = [start_worker(), start_worker()]
        with subprocess.Popen(judge_command(run, out, master)) as judging:  # noqa: S603 - this command
            for sign, worker in (("lines/_temporary", workers[0]), ("history/sends/_SUCCESS", workers[1])):
                until(lambda sign=sign: any(tmp_path.glob(f".out-*/{sign}")), f"the sign {sign} is there", JUDGE_S)
                start_worker()
                lost = executors(worker)
                for process in (*lost, worker.pid):
                    os.kill(process, signal.SIGKILL)
                assert lost, "the worker had an executor"
            assert judging.wait(JUDGE_S) == 1
    assert same(out, on_one_machine)


def test_a_spark_connect_server_finds_what_one_machine_finds(run: Path, on_one_machine: Path, tmp_path: Path) -> None:
    port = free_port()
    with connect_server(tmp_path, port):
        until(lambda: listens(port), "the server listens", START_S)
        there = judged(run, tmp_path / "out", f"sc://{LOOPBACK}:{port}", JAVA_HOME=str(tmp_path / "no java"))
    assert same(there, on_one_machine)


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_an_address_where_nothing_listens_is_an_error_at_once(scheme: str, run: Path, tmp_path: Path) -> None:
    master = f"{scheme}://{LOOPBACK}:{free_port()}"
    with pytest.raises(UnreachableMasterError, match=master):
        judge_runs([run], tmp_path / "out", master)
    assert list(tmp_path.iterdir()) == []


def test_the_token_of_a_spark_connect_server_is_no_part_of_its_address(run: Path, tmp_path: Path) -> None:
    master = f"sc://{LOOPBACK}:{free_port()}"
    with pytest.raises(UnreachableMasterError, match=f"{master}: start") as caught:
        judge_runs([run], tmp_path / "out", f"{master}/;token=sEcReT;user_id=me")
    assert "sEcReT" not in str(caught.value)
    assert [address_of(master) for master in ("local[*]", "sc://a", "sc://a/", "sc://a:1/;token=b")] == [
        "local[*]",
        "sc://a",
        "sc://a/",
        "sc://a:1",
    ]


def judged(run: Path, out: Path, master: str, **environment: str) -> Path:
    """Judge a run in a process of its own, because pyspark cannot have a local session and a remote one at once."""
    done = subprocess.run(  # noqa: S603 - this command
        judge_command(run, out, master),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 1, done.stdout + done.stderr  # breaches are among the cases
    return out


def judge_command(run: Path, out: Path, master: str) -> list[str]:
    rules = [word for rule in RULES for word in ("--rule", rule)]
    options = ["--master", master, "--conf", "spark.executor.memory=512m", "--out", str(out), *rules]
    return [sys.executable, "-m", "assay", "judge", str(run), *options]


def same(one: Path, other: Path) -> bool:
    """Return whether two judgements have the same verdicts and the same examined subjects."""
    return verdicts(one) == verdicts(other) and subjects(one) == subjects(other) != []


def verdicts(out: Path) -> str:
    return (out / "verdicts.json").read_text()


def subjects(out: Path) -> list[tuple[object, ...]]:
    columns = "rule, scenario, subject, outcome, figure, ref"
    tables = "read_parquet(?, hive_partitioning = true) JOIN read_parquet(?) USING (case_id)"
    query = f"SELECT {columns} FROM {tables} ORDER BY ALL"  # noqa: S608 - our own names
    return duckdb.execute(query, [f"{out}/examined/**/*.parquet", f"{out}/history/cases/*.parquet"]).fetchall()


def free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as taken:
        return int(taken.getsockname()[1])


def listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex((LOOPBACK, port)) == 0


@contextmanager
def cluster(place: Path) -> Generator[tuple[str, Callable[[], subprocess.Popen[bytes]]], None, None]:
    """Start a standalone master; provide its address, and a function that starts a worker of one core."""
    port = free_port()
    with ExitStack() as running_ones:

        def start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
            options = ("--host", LOOPBACK, "--webui-port", "0", *arguments)
            return running_ones.enter_context(
                running(place, "spark-class", f"org.apache.spark.deploy.{name}", *options)
            )

        def start_worker() -> subprocess.Popen[bytes]:
            work = ("--work-dir", str(place / f"worker-{next(numbers)}"))
            return start("worker.Worker", "--cores", "1", "--memory", "1g", *work, master)

        numbers = itertools.count(1)
        start("master.Master", "--port", f"{port}")
        until(lambda: listens(port), "the master listens", START_S)
        master = f"spark://{LOOPBACK}:{port}"
        yield master, start_worker


def executors(worker: subprocess.Popen[bytes]) -> list[int]:
    """Return the ids of a worker's child processes, which its threads have started."""
    threads = Path(f"/proc/{worker.pid}/task").glob("*/children")
    return [int(child) for children in threads for child in children.read_text().split()]


def connect_server(place: Path, port: int) -> AbstractContextManager[subprocess.Popen[bytes]]:
    settings = {
        "spark.connect.grpc.binding.address": LOOPBACK,
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.host": LOOPBACK,
        "spark.local.dir": str(place),
        "spark.sql.warehouse.dir": str(place / "warehouse"),
        "spark.ui.enabled": "false",
    }
    chosen = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    server = ("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[2]")
    return running(place, "spark-submit", *server, *chosen, "spark-internal")


@contextmanager
def running(place: Path, program: str, *arguments: str) -> Generator[subprocess.Popen[bytes], None, None]:
    """Start one of Spark's programs, which ends with the block."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    home = Path(spec.origin).parent
    environment: Mapping[str, str] = {**os.environ, "SPARK_LOCAL_IP": LOOPBACK, "SPARK_HOME": str(home)}
    with (place / f"{len(list(place.iterdir()))}.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - a program of pyspark
            [str(home / "bin" / program), *arguments], env=environment, stdout=log, stderr=log, cwd=place
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait()
