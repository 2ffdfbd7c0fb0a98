"""Tests of Ctrl-C and SIGTERM during a command, and of the end of the program that reads the command's output."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from tests.cli.conftest import Assay, environment
from tests.waiting import until

from assay.commands import run
from assay.exits import Exit
from assay.main import main
from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.brokers.artemis.product import ARTEMIS
from assay_adapters.containers.container import OWNER_LABEL
from assay_adapters.owners import Owner
from assay_adapters.ports.backend import Unavailable
from assay_evidence.reader import read_journals
from assay_evidence.verdicts import Verdict, load_verdicts
from assay_steps.plugin.suite import SuiteOptions, run_suite

COMMAND = (sys.executable, "-m", "assay")


def is_gone(group: int) -> bool:
    """Check whether no process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize(
    ("backend", "workers", "strike", "number"),
    [
        ("reference", 0, os.killpg, signal.SIGINT),
        ("reference", 2, os.killpg, signal.SIGINT),
        ("reference", 2, os.kill, signal.SIGINT),
        ("reference", 2, os.kill, signal.SIGTERM),
        ("reference", 2, os.kill, signal.SIGHUP),
        ("reference", 2, os.killpg, signal.SIGHUP),
        ("reference-server", 4, os.killpg, signal.SIGINT),
        ("reference-server", 4, os.kill, signal.SIGTERM),
    ],
)
def test_a_run_that_is_stopped_in_the_middle_leaves_whole_journals_and_a_report_of_what_was_done(
    tmp_path: Path, backend: str, workers: int, strike: Callable[[int, int], None], number: int
) -> None:
    out = tmp_path / "out"
    # In real time, a tenth of a profile, after which the first line of progress comes, takes most of a minute.
    scope = {"profile": "persistence"} if backend == "reference" else {"rule": "PD-20"}
    asked = {"backend": backend, **scope, "out": str(out), "workers": str(workers)}
    arguments = [*COMMAND, "run", *(f"--{name}={value}" for name, value in asked.items())]
    with subprocess.Popen(  # noqa: S603 - our own command
        arguments, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith(f"{backend}: ")
        strike(process.pid, number)
        told, errors = process.communicate(timeout=180)
    assert process.returncode == Exit.INCONCLUSIVE
    assert "Traceback" not in told + errors
    assert "stopped: Ctrl-C, SIGTERM or SIGHUP" in told
    assert read_journals(out / "journals").damage == ()
    verdicts = load_verdicts(out / "verdicts.json")
    found = {scenario.verdict for rule in verdicts.rules for scenario in rule.scenarios}
    # In real time, a busy machine leaves scenarios undecided, and the signal comes before they are repeated.
    undecided = set() if backend == "reference" else {Verdict.INCONCLUSIVE}
    assert found - undecided == {Verdict.PASS, Verdict.ERROR}
    assert "was stopped before its end" in (out / "report" / "index.html").read_text(encoding="utf-8")
    assert (out / "junit.xml").is_file()


@pytest.mark.parametrize(
    ("words", "begun"),
    [
        (("run", "--profile", "persistence", "--workers", "2"), "reference: "),
        (("defects", "--rule", "DD-02"), "defects: "),
        (("soak", "--seconds", "69"), "6"),  # "69 s left", or some seconds less on a busy machine
    ],
    ids=["the forked processes of a run", "the trials of a kill matrix", "the clients of a soak"],
)
def test_the_processes_of_a_command_that_is_killed_end_with_it(
    tmp_path: Path, words: tuple[str, ...], begun: str
) -> None:
    with subprocess.Popen(  # noqa: S603 - our own command
        [*COMMAND, *words, "--out", str(tmp_path / "out")],
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith(begun)
        process.kill()
    until(partial(is_gone, process.pid), "the processes that it has started have ended, too")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_soak_of_which_all_processes_are_stopped_leaves_whole_journals(tmp_path: Path, number: int) -> None:
    out = tmp_path / "out"
    with subprocess.Popen(  # noqa: S603 - our own command
        [*COMMAND, "soak", "--seconds", "60", "--rate", "20", "--out", str(out)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        assert " s left: " in process.stderr.readline()
        os.killpg(process.pid, number)
        told, errors = process.communicate(timeout=300)
    assert process.returncode == Exit.INCONCLUSIVE
    assert "Traceback" not in told + errors
    assert "stopped: Ctrl-C, SIGTERM or SIGHUP" in told
    assert "did not close its journal" not in told
    assert read_journals(out / "journals").damage == ()
    until(partial(is_gone, process.pid), "the processes that it has started have ended, too")


def test_a_kill_matrix_that_is_stopped_leaves_no_process() -> None:
    """A shell starts background processes with SIGINT ignored; SIGTERM must stop them, too, and at once."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = subprocess.Popen(  # noqa: S603 - our own command
            [*COMMAND, "defects", "--rule", "DD-02"],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)

    with process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("defects: ")
        process.terminate()
        told, errors = process.communicate(timeout=300)
    assert process.returncode == Exit.INCONCLUSIVE
    assert (told, errors.splitlines()[-1]) == ("", "assay: the command was stopped before it had a result.")
    until(partial(is_gone, process.pid), "the trials' processes have ended, too")


@pytest.mark.spark
@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("begun", "number"),
    [("spark.log", signal.SIGINT), ("spark/*", signal.SIGTERM)],
    ids=["Ctrl-C while Spark starts", "SIGTERM while Spark runs"],
)
def test_a_judgement_that_is_stopped_leaves_neither_process_nor_folder(tmp_path: Path, begun: str, number: int) -> None:
    out, scratch = tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    run_suite(SuiteOptions(out=out, rules=("PD-34",), probes=False))
    with subprocess.Popen(  # noqa: S603 - our own command
        [*COMMAND, "judge", str(out), "--out", str(tmp_path / "judged")],
        env={**environment(), "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        until(lambda: any(scratch.glob(f"assay-spark-*/{begun}")), "Spark has begun", 300)
        process.send_signal(number)
        told, errors = process.communicate(timeout=300)
    assert process.returncode == Exit.INCONCLUSIVE
    assert (told, errors) == ("", "assay: the command was stopped before it had a result.\n")
    until(partial(is_gone, process.pid), "Spark's virtual machine has ended, too")
    assert list(scratch.glob("assay-spark-*")) == []
    assert not (tmp_path / "judged").exists()


@pytest.mark.spark
@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_a_watch_that_is_stopped_leaves_neither_process_nor_folder(tmp_path: Path, number: int) -> None:
    out, scratch = tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    run_suite(SuiteOptions(out=out, rules=("PD-34",), probes=False))
    with subprocess.Popen(  # noqa: S603 - our own command
        [*COMMAND, "watch", str(out), "--idle", "900"],
        env={**environment(), "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        until(lambda: any(scratch.glob("assay-watch-*/checkpoint/commits/*")), "the stream has read a batch", 300)
        process.send_signal(number)
        _, errors = process.communicate(timeout=300)
    assert process.returncode == Exit.INCONCLUSIVE
    assert errors == "assay: the command was stopped before it had a result.\n"
    until(partial(is_gone, process.pid), "Spark's virtual machine has ended, too")
    assert [path.name for path in scratch.iterdir() if path.name.startswith("assay-")] == []


def test_ctrl_c_before_anything_was_tried_leaves_nothing(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(options: SuiteOptions, plugins: object) -> pytest.ExitCode:
        del options, plugins
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "run_suite", interrupted)
    ended = assay("run", "--out", tmp_path / "out")
    assert ended.code is Exit.INCONCLUSIVE
    assert ended.err == "assay: the command was stopped before it had a result.\n"
    assert not (tmp_path / "out").exists()


def test_ctrl_c_before_the_report_is_done_keeps_the_evidence(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "write_reports", interrupted)
    ended = assay("run", "--rule", "PD-34", "--out", tmp_path / "out")
    assert ended.code is Exit.INCONCLUSIVE
    assert ended.out.endswith(
        "stopped: Ctrl-C, SIGTERM or SIGHUP, before the report was complete; `assay report` writes it.\n"
    )
    assert load_verdicts(tmp_path / "out" / "verdicts.json").rules


AT_A_MODULE = """
import signal, sys

awaited = sys.argv[1]

class Waits:
    def find_spec(self, name, path=None, target=None):
        if name == awaited:
            print("loading", flush=True)
            signal.pause()

sys.meta_path.insert(0, Waits())
from assay.main import main
sys.argv = ["assay", "rules"]
main()
"""
"""Runs `assay rules` and waits for a signal at the import of the named module."""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("module", ["typer", "assay.commands.rules"])
def test_a_signal_while_the_command_loads_ends_it_at_once_and_without_a_word(
    module: str, number: signal.Signals
) -> None:
    with subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-c", AT_A_MODULE, module],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "loading\n"
        process.send_signal(number)
        told, errors = process.communicate(timeout=60)
    assert (process.returncode, told, errors) == (-number, "", "")


def test_ctrl_c_between_the_command_and_its_end_is_told_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> Exit:
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    monkeypatch.setattr("assay.application.outcome", interrupted)
    monkeypatch.setattr(sys, "argv", ["assay", "rules"])
    try:
        with pytest.raises(SystemExit) as ended:
            main()
        assert signal.getsignal(signal.SIGINT) is before[signal.SIGINT]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert (ended.value.code, capsys.readouterr().err) == (
        Exit.INCONCLUSIVE,
        "assay: the command was stopped before it had a result.\n",
    )


@pytest.mark.docker
def test_ctrl_c_while_a_broker_starts_leaves_neither_container_nor_folder(tmp_path: Path) -> None:
    docker = pytest.importorskip("docker", reason="the Python package docker is not installed")
    if isinstance(probed := ProductBackend(ARTEMIS).probe(), Unavailable):
        pytest.skip(f"{probed.reason}; {probed.remedy}")
    arguments = [*COMMAND, "run", "--backend", "artemis", "--rule", "PD-34", "--out", str(tmp_path / "out")]
    with (
        closing(docker.from_env()) as daemon,
        subprocess.Popen(  # noqa: S603 - our own command
            arguments,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        label = f"{OWNER_LABEL}={Owner.of(process.pid).name}"

        def containers() -> list[object]:
            return list(daemon.containers.list(all=True, filters={"label": label}, ignore_removed=True))

        while process.poll() is None and not containers():
            pass
        os.killpg(process.pid, signal.SIGINT)
        told, errors = process.communicate(timeout=300)
        assert process.returncode == Exit.INCONCLUSIVE
        assert (told, errors) == ("", "assay: the command was stopped before it had a result.\n")
        assert containers() == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments", [("rules",), ("rules", "--json"), ("run", "--rule", "PD-34", "--out", "{out}")])
def test_a_reader_that_goes_away_ends_the_output_and_not_the_run(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    out = tmp_path / "out"
    with os.fdopen(writing, "wb") as gone:
        process = subprocess.run(  # noqa: S603 - our own command
            [*COMMAND, *(argument.format(out=out) for argument in arguments)],
            env=environment(),
            stdout=gone,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert process.returncode == Exit.AS_EXPECTED
    assert "Traceback" not in process.stderr
    assert "Exception" not in process.stderr
    assert out.exists() is (arguments[0] == "run")
