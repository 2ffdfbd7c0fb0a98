"""`assay judge` on a standalone cluster and on a Spark Connect server: the results are those of one machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import duckdb
import pytest
from tests.pipeline.cases import CASES
from tests.pipeline.random_tales import telling
from tests.pipeline.tales import write_run
from tests.waiting import until

from assay_pipeline import UnreachableMasterError, judge_runs
from assay_pipeline.session.settings import LOOPBACK

RULES = ("DD-02", "PD-13", "QS-08", "BT-07")
"""Rules of four forms: rows of a table, subscriptions, settlements, batches."""
START_S = 60.0


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    tellings = [case.telling for case in CASES if case.rule in RULES]
    write_run(folder, [*tellings, *map(telling, range(20))])
    return folder


@pytest.fixture(scope="module")
def on_one_machine(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged(run, tmp_path_factory.mktemp("local") / "out", "local[2]")


def test_a_cluster_of_two_workers_finds_what_one_machine_finds(run: Path, on_one_machine: Path, tmp_path: Path) -> None:
    with ExitStack() as cluster:
        port = free_port()
        cluster.enter_context(
            spark_class(tmp_path, "master.Master", "--host", LOOPBACK, "--port", f"{port}", "--webui-port", "0")
        )
        until(lambda: listens(port), "the master listens", START_S)
        master = f"spark://{LOOPBACK}:{port}"
        for name in ("first", "second"):
            options = ("--host", LOOPBACK, "--cores", "1", "--memory", "1g", "--webui-port", "0")
            place = ("--work-dir", str(tmp_path / name))
            cluster.enter_context(spark_class(tmp_path, "worker.Worker", *options, *place, master))
        there = judged(run, tmp_path / "out", master)
    assert same(there, on_one_machine)


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


def judged(run: Path, out: Path, master: str, **environment: str) -> Path:
    """Judge a run in a process of its own, because pyspark cannot have a local session and a remote one at once."""
    rules = [word for rule in RULES for word in ("--rule", rule)]
    options = ["--master", master, "--conf", "spark.executor.memory=512m", "--out", str(out), *rules]
    done = subprocess.run(  # noqa: S603 - this command
        [sys.executable, "-m", "assay", "judge", str(run), *options],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 1, done.stdout + done.stderr  # breaches are among the cases
    return out


def same(one: Path, other: Path) -> bool:
    """Return whether two judgements have the same verdicts and the same examined subjects."""
    return verdicts(one) == verdicts(other) and subjects(one) == subjects(other) != []


def verdicts(out: Path) -> str:
    return (out / "verdicts.json").read_text()


def subjects(out: Path) -> list[tuple[object, ...]]:
    columns = "rule, scenario, subject, outcome, figure, ref"
    query = f"SELECT {columns} FROM read_parquet(?, hive_partitioning = true) ORDER BY ALL"  # noqa: S608 - our own names
    return duckdb.execute(query, [f"{out}/examined/**/*.parquet"]).fetchall()


def free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as taken:
        return int(taken.getsockname()[1])


def listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex((LOOPBACK, port)) == 0


def spark_class(place: Path, name: str, *arguments: str) -> ExitStack:
    return running(place, "spark-class", f"org.apache.spark.deploy.{name}", *arguments)


def connect_server(place: Path, port: int) -> ExitStack:
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


def running(place: Path, program: str, *arguments: str) -> ExitStack:
    """Start one of Spark's programs, which ends with the block."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    home = Path(spec.origin).parent
    environment: Mapping[str, str] = {**os.environ, "SPARK_LOCAL_IP": LOOPBACK, "SPARK_HOME": str(home)}
    stack = ExitStack()
    log = stack.enter_context((place / f"{len(list(place.iterdir()))}.log").open("wb"))
    process = subprocess.Popen(  # noqa: S603 - a program of pyspark
        [str(home / "bin" / program), *arguments], env=environment, stdout=log, stderr=log, cwd=place
    )
    stack.callback(process.wait)
    stack.callback(process.terminate)
    return stack
