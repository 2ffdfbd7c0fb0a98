"""Tests of bad input: one sentence with the remedy, the right exit code, no stack trace, and no files left."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from tests.cli.conftest import Assay, environment

from assay.commands import defects, judge
from assay.exits import Exit
from assay_adapters import packages
from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.known import outcomes
from assay_adapters.ports.backend import Available, BackendError, Unavailable
from assay_adapters.ports.capabilities import Needs
from assay_features import catalogue
from assay_pipeline.errors import SparkMissingError
from assay_steps.kill_matrix.matrix import KillMatrix
from assay_steps.kill_matrix.trials import TrialError
from assay_steps.plugin.folder import EARLIER


def sentence(err: str) -> str:
    """Return the command's error message, which must be one sentence on one line."""
    told = [line for line in err.splitlines() if line]
    assert len(told) == 1, err
    assert told[0].startswith("assay: ")
    return told[0]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--backend", "refrence"], "no backend 'refrence'; did you mean 'reference'?"),
        (["--backend", "artemsi"], "did you mean 'artemis'?"),
        (["--backend", "reference", "--backend", "atremis"], "did you mean 'artemis'?"),
        (["--rule", "DD-2"], "did you mean DD-02?"),
        (["--rule", "amqp:link:stolen"], "amqp:link:stolen"),
        (["--profile", "delya"], "did you mean delay?"),
        (["--face", "clasic"], "did you mean 'classic'?"),
        (["--variant", "delivered-at-expirey"], "did you mean 'delivered-at-expiry'?"),
        (
            ["--variant", "delivered-at-expiry", "--backend", "artemis"],
            "those with variants: reference, reference-container, reference-server, reference-server+stomp.",
        ),
        (["--variant", "delivered-at-expiry", "--defect", "early-delivery"], "exclude each other"),
        (["--store", "memry"], "did you mean 'memory'?"),
        (["--defect", "early-delivry"], "did you mean 'early-delivery'?"),
        (["--defect", "early-delivery", "--backend", "artemis"], "those with defects: reference, reference-container"),
        (["--store", "memory", "--backend", "artemis"], "brings its own store"),
        (["--sed", "3"], "--seed"),
        (["--seed", "x"], "'--seed'"),
        (["--workers", "-1"], "'--workers'"),
        (["--", "--assay-out=elsewhere"], "before --"),
        (["--", "--collect-only", "-q"], "pytest runs no scenario"),
        (["--", "-n", "3"], "give --workers NUMBER before --"),
        (["--", "-n4"], "--workers"),
        (["--", "--numprocesses=2"], "--workers"),
    ],
)
def test_a_name_or_option_that_does_not_exist_starts_nothing(
    assay: Assay, tmp_path: Path, arguments: list[str], says: str
) -> None:
    ended = assay("run", "--out", tmp_path / "out", *arguments)
    assert ended.code is Exit.USAGE
    assert says in sentence(ended.err)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--rule", "DD-42"], "DD-42 has no scenario yet"),
        (["--rule", "DD-02", "--", "-k", "nothing_of_this_name"], "No scenario was selected"),
        (["--", "--nonsense"], "unrecognized arguments: --nonsense"),
        (["--", "-k", "a b ("], "Wrong expression passed to '-k'"),
    ],
)
@pytest.mark.parametrize("workers", [(), ("--workers", "2")], ids=["few", "two"])
def test_what_pytest_refuses_is_told_in_its_words_without_its_frame(
    assay: Assay, tmp_path: Path, arguments: list[str], says: str, workers: tuple[str, ...]
) -> None:
    ended = assay("run", "--out", tmp_path / "deep" / "out", *workers, *arguments)
    assert ended.code is Exit.USAGE
    assert says in sentence(ended.err)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("backend", ["reference", "reference-server"])
@pytest.mark.parametrize("name", ["no_such_test.py", "ordres.feature", "ordres", "ordres.feature::test_bills"])
def test_a_feature_that_does_not_exist_is_named(assay: Assay, tmp_path: Path, name: str, backend: str) -> None:
    ended = assay("run", "--backend", backend, "--out", tmp_path / "out", "--", name)
    assert ended.code is Exit.USAGE
    assert f"{name} does not exist: name a feature" in sentence(ended.err)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("octets", "says"),
    [
        (b"", "holds no feature; begin it with `Feature:`."),
        (b"Feature: x\n  Scenario: b\n    Then c\n    Whn d\n", "own.feature:4: Gherkin does not expect 'Whn d' there"),
        (b"Feture: x\n", "own.feature:1: Gherkin does not expect 'Feture: x' there"),
        (b"\xff", "is not UTF-8 at byte 0; save it as UTF-8."),
        (b"\xef\xbb\xbfFeature: x\n", "begins with a byte order mark, which Gherkin cannot read"),
        (
            b"Feature: x\n  Scenario: b\n    And c\n",
            "own.feature:3: First step in a scenario or background must start",
        ),
    ],
)
@pytest.mark.parametrize("workers", [0, 2])
def test_what_is_no_feature_is_told_with_its_place(
    assay: Assay, tmp_path: Path, octets: bytes, says: str, workers: int
) -> None:
    own = tmp_path / "own.feature"
    own.write_bytes(octets)
    ended = assay("run", "--out", tmp_path / "out", "--workers", workers, "--", own)
    assert ended.code is Exit.USAGE
    assert says in sentence(ended.err)
    assert not (tmp_path / "out").exists()


def test_a_folder_without_a_feature_is_not_passed_over(assay: Assay, tmp_path: Path) -> None:
    ended = assay("run", "--out", tmp_path / "out", "--", tmp_path)
    assert ended.code is Exit.USAGE
    assert f"{tmp_path} holds no feature file: name a folder with .feature files" in sentence(ended.err)


def test_a_scenario_that_is_tagged_skip_is_left_out(assay: Assay, tmp_path: Path) -> None:
    own = tmp_path / "own.feature"
    steps = '    When message "a" is sent to the queue\n    Then the queue holds "a"\n'
    own.write_text(f"Feature: x\n  @skip\n  Scenario: left out\n{steps}\n  Scenario: tried\n{steps}")
    ended = assay("run", "--out", tmp_path / "out", "--", own)
    assert ended.code is Exit.AS_EXPECTED
    assert "1 scenario of your own (1 pass)" in ended.out
    none = tmp_path / "none.feature"
    none.write_text(f"Feature: x\n  @skip\n  Scenario: left out\n{steps}")
    ended = assay("run", "--out", tmp_path / "none", "--", none)
    assert ended.code is Exit.USAGE
    assert "No scenario was selected" in ended.err


def test_a_kill_matrix_that_has_no_place_is_refused_before_the_work(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    ended = assay("defects", "--rule", "PD-34", "--out", tmp_path)
    assert ended.code is Exit.USAGE
    assert "it holds 'mine.txt', which no run wrote" in sentence(ended.err)
    assert "tried" not in ended.err


def test_scenarios_that_cannot_be_read_are_an_error_and_no_verdict(assay: Assay, tmp_path: Path) -> None:
    module = tmp_path / "test_own.py"
    module.write_text("from pytest_bdd import scenarios\nscenarios('nowhere.feature')\n")
    ended = assay("run", "--out", tmp_path / "out", "--", module)
    assert ended.code is Exit.USAGE
    assert "The scenarios cannot be read" in ended.err
    assert "nowhere.feature" in ended.err
    assert not (tmp_path / "out").exists()


def test_tests_without_a_scenario_are_no_run(assay: Assay, tmp_path: Path) -> None:
    module = tmp_path / "test_plain.py"
    module.write_text("def test_nothing_of_ours():\n    pass\n")
    ended = assay("run", "--out", tmp_path / "out", "--", module)
    assert ended.code is Exit.USAGE
    assert "No scenario was selected: 1 test ran, but none is a scenario with steps of the kit; " in ended.err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_a_file_is_refused(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    ended = assay("run", "--out", tmp_path / "out")
    assert ended.code is Exit.USAGE
    assert "it is a file" in sentence(ended.err)
    assert (tmp_path / "out").read_text() == "mine"


def test_a_folder_inside_a_file_is_refused(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    ended = assay("run", "--out", tmp_path / "file" / "out")
    assert ended.code is Exit.USAGE
    assert "name an empty or a new folder with --out" in sentence(ended.err)


def test_a_folder_that_cannot_be_made_is_refused(assay: Assay) -> None:
    ended = assay("run", "--out", "/proc/assay/out")
    assert ended.code is Exit.USAGE
    assert "/proc/assay/out" in sentence(ended.err)


@pytest.mark.parametrize("arguments", [(), ("--backend", "reference", "--backend", "artemis")])
def test_a_folder_with_something_foreign_in_it_is_left_alone(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr(ProductBackend, "probe", lambda _: Available())
    (tmp_path / "thesis.tex").write_text("mine")
    ended = assay("run", "--out", tmp_path, *arguments)
    assert ended.code is Exit.USAGE
    assert "it holds 'thesis.tex', which no run wrote" in sentence(ended.err)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_mistake_takes_nothing_of_an_earlier_run_away(assay: Assay, tmp_path: Path) -> None:
    assert assay("run", "--out", tmp_path, "--rule", "PD-34").code is Exit.AS_EXPECTED
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert assay("run", "--out", tmp_path, "--", "--nonsense").code is Exit.USAGE
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert not (tmp_path / EARLIER).exists()


def test_a_backend_that_is_missing_here_is_an_error_with_its_remedy(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ProductBackend, "probe", lambda _: Unavailable("there is no image", "build one"))
    ended = assay("run", "--backend", "artemis", "--out", tmp_path / "out")
    assert ended.code is Exit.INCONCLUSIVE
    assert sentence(ended.err) == "assay: Backend 'artemis' cannot be started: there is no image; build one."
    assert not (tmp_path / "out").exists()


def test_ibm_mq_that_is_missing_here_is_told_where_to_get_it(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_image(images: tuple[str, ...], title: str, *, remedy: str) -> Unavailable:
        del title
        return Unavailable(f"there is no image {images[0]}", remedy)

    monkeypatch.setattr("assay_adapters.brokers.amqp.backend.probe_image", no_image)
    ended = assay("run", "--backend", "ibmmq", "--out", tmp_path / "out")
    assert ended.code is Exit.INCONCLUSIVE
    assert sentence(ended.err) == (
        "assay: Backend 'ibmmq' cannot be started: there is no image localhost/ibmmq-amqp:9.4.5.0; build an image with "
        "AMQP as docs/how-to/test-ibm-mq.md says, or name another one in ASSAY_IMAGE_IBMMQ."
    )
    shown = assay("backends").out
    assert "  Not run here by the authors of Assay: " in shown[shown.index("ibmmq  not available: there is no") :]


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # the docker package leaves its socket open
def test_without_a_docker_daemon_it_says_how_to_get_one(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("docker", reason="the Python package docker is not installed")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    ended = assay("run", "--backend", "artemis", "--out", tmp_path / "out")
    assert ended.code is Exit.INCONCLUSIVE
    gc.collect()
    assert "no Docker daemon answers" in sentence(ended.err)
    assert not (tmp_path / "out").exists()


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the broker die while it starts."""

    def die(_: ProductBackend, needs: Needs) -> None:
        del needs
        raise BackendError("Apache Artemis ended while starting (exit code 7); the last lines of its log:\n  no room")

    monkeypatch.setattr(ProductBackend, "probe", lambda _: Available())
    monkeypatch.setattr(ProductBackend, "provision", die)


@pytest.mark.usefixtures("dying")
@pytest.mark.parametrize("workers", [0, 2])
def test_of_a_broker_that_dies_while_starting_the_last_lines_are_shown(
    assay: Assay, tmp_path: Path, workers: int
) -> None:
    ended = assay("run", "--backend", "artemis", "--out", tmp_path / "out", "--workers", workers)
    assert ended.code is Exit.INCONCLUSIVE
    assert ended.err.endswith("ended while starting (exit code 7); the last lines of its log:\n  no room\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("dying")
def test_a_broker_that_dies_keeps_no_other_from_being_tried(assay: Assay, tmp_path: Path) -> None:
    ended = assay(
        "run", "--backend", "artemis", "--backend", "reference", "--rule", "PD-34", "--workers", 0, "--out", tmp_path
    )
    assert ended.code is Exit.INCONCLUSIVE
    assert "artemis: not tried: Apache Artemis ended while starting" in ended.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["reference", "report"]


def test_a_malformed_file_of_known_outcomes_is_named_with_its_line(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reference.toml").write_text('[[outcome]]\nscenario = "a"\n')
    monkeypatch.setattr(outcomes, "known_files", lambda _name: (tmp_path / "reference.toml",))
    ended = assay("run", "--out", tmp_path / "out")
    assert ended.code is Exit.USAGE
    assert f"{tmp_path / 'reference.toml'}:1: " in sentence(ended.err)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", [("rules",), ("run", "--out", "{out}")])
def test_a_malformed_catalogue_is_named_with_its_line(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    (tmp_path / "rules.toml").write_text("[[rule]]\nid = \n")
    monkeypatch.setattr(catalogue.resources, "files", lambda _: tmp_path)
    ended = assay(*(part.format(out=tmp_path / "out") for part in command))
    assert ended.code is Exit.USAGE
    assert "rules.toml, line 2: " in sentence(ended.err)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["ruun"], "Did you mean 'run'?"),
        (["rules", "--profil", "delay"], "--profile"),
        (["rules", "--profile", "dealy"], "did you mean delay?"),
        (["rules", "--rule", "dd2"], "did you mean DD-02?"),
        (["backends", "artmis"], "did you mean 'artemis'?"),
        (["backends", "url:absent.toml"], "absent.toml:1: the file cannot be read"),
        (
            ["defects", "--backend", "artemis"],
            "these backends do: reference, reference-container, reference-server, reference-server+stomp",
        ),
        (["defects", "--backend", "zzz"], "reference"),
        (["defects", "--rule", "DD-2"], "did you mean DD-02?"),
        (["report"], "'folders'"),
        (["report", "{tmp}/none"], "name an output folder of assay run"),
        (["judge", "{tmp}/none", "--out", "{tmp}/judged"], "the folder does not exist"),
        (["judge", "{tmp}"], "--out"),
        (["judge", "{tmp}", "--rule", "DD-2", "--out", "{tmp}/judged"], "did you mean DD-02?"),
        (["crash", "--kills", "x"], "--kills: How often to kill the broker: at least once; assay crash --help"),
        (["crash", "--kills", "0"], "--kills: How often to kill the broker: at least once; assay crash --help"),
        (["crash", "--seed", "1.5"], "--seed: Seed of the random load and kills: a whole number; assay crash --help"),
        (["crash", "--kill", "3"], "--kills"),
        (["crash", "--store", "sqlit"], "did you mean 'sqlite'?"),
        (["crash", "--defect", "no-flsh"], "did you mean 'no-flush'?"),
        (["crash", "here"], "assay crash --help lists options"),
        (["crash", "--out"], "'--out' requires an argument"),
    ],
)
def test_the_other_commands_refuse_in_a_sentence_too(
    assay: Assay, tmp_path: Path, arguments: list[str], says: str
) -> None:
    ended = assay(*(argument.format(tmp=tmp_path) for argument in arguments))
    assert ended.code is Exit.USAGE
    assert says in sentence(ended.err)
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - names are enough


def test_a_rule_without_scenarios_has_no_kill_matrix(assay: Assay, tmp_path: Path) -> None:
    ended = assay("defects", "--rule", "DD-42")
    assert ended.code is Exit.USAGE
    assert ended.out == ""
    assert sentence(ended.err) == sentence(assay("run", "--rule", "DD-42", "--out", tmp_path / "out").err)


def test_a_trial_that_does_not_come_about_proves_nothing_of_any_defect(
    assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> NoReturn:
        raise TrialError("with defect 'early-delivery'", "the disk is full.")

    monkeypatch.setattr(defects, "kill_matrix", stopped)
    ended = assay("defects", "--rule", "DD-02")
    assert ended.code is Exit.INCONCLUSIVE
    assert "with defect 'early-delivery' did not run to its end" in sentence(ended.err)
    assert ended.out == ""


def test_the_package_is_the_command_too() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "assay", "ruun"], env=environment(), capture_output=True, text=True, check=False
    )
    assert ended.returncode == Exit.USAGE
    assert "Did you mean 'run'?" in sentence(ended.stderr)


def test_without_a_command_the_help_is_shown(assay: Assay) -> None:
    ended = assay()
    assert ended.code is Exit.USAGE
    assert "backends" in ended.out
    assert ended.err == ""


def test_a_missing_package_is_told_with_its_extra_in_brackets_and_ends_everywhere_alike(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(name: str) -> None:
        assert name

    monkeypatch.setattr(packages, "find_spec", none)
    listed = assay("backends")
    assert "the packages proton, docker, testcontainers are not installed" in listed.out
    assert "pip install 'assay-mq[amqp,containers]'" in listed.out
    ran = assay("run", "--backend", "artemis", "--out", tmp_path / "out")
    assert "pip install 'assay-mq[amqp,containers]'" in sentence(ran.err)

    def missing(*_: object, **__: object) -> NoReturn:
        raise SparkMissingError

    monkeypatch.setattr(judge, "judge_runs", missing)
    judged = assay("judge", tmp_path, "--out", tmp_path / "judged")
    assert "pip install 'assay-mq[spark]'" in sentence(judged.err)
    assert ran.code is judged.code is Exit.INCONCLUSIVE


def test_one_missing_package_is_one(assay: Assay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "find_spec", lambda name: None if name == "docker" else object())
    assert "the package docker is not installed" in assay("backends").out


def test_a_kill_matrix_goes_into_no_foreign_folder(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(defects, "kill_matrix", lambda *_, **__: KillMatrix((), (), (), {}))
    (tmp_path / "thesis.tex").write_text("mine")
    ended = assay("defects", "--out", tmp_path)
    assert ended.code is Exit.USAGE
    assert "it holds 'thesis.tex', which no run wrote" in sentence(ended.err)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


LAME = """
from assay_adapters.brokers.base import SdkBackend
from assay_adapters.ports.backend import Available, Environment, FaultSharing
from assay_adapters.ports.entry import BackendEntry


class LameInstance:
    members = ("lame",)


class Lame(SdkBackend):
    name = "lame"
    capabilities = lacks = {}
    environment = Environment(product="Lame MQ", version="1", details={}, ours=False)
    fault_sharing = FaultSharing.NONE

    def probe(self):
        return Available()

    def provision(self, needs):
        return LameInstance()

    def close(self):
        pass


BACKEND = BackendEntry(open=lambda options: Lame())
"""


def test_the_missing_members_of_an_instance_are_named(tmp_path: Path) -> None:
    told = tmp_path / "lame-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: lame\nVersion: 1\n")
    (told / "entry_points.txt").write_text("[assay.backends]\nlame = lame_backend:BACKEND\n")
    (tmp_path / "lame_backend.py").write_text(LAME)
    env = environment()
    env["PYTHONPATH"] = os.pathsep.join((str(tmp_path), env["PYTHONPATH"]))
    command = [sys.executable, "-m", "assay", "run", "--backend", "lame", "--rule", "PD-34", "--out", tmp_path / "out"]
    ended = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603  our own command
    assert ended.returncode == Exit.INCONCLUSIVE
    assert "Backend 'lame': its LameInstance lacks `admin`, `clients`, `clock`," in sentence(ended.stderr)
