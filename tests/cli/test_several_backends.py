"""Tests of ``assay run`` on several backends: which ones run, in which folders, and the matrix of their verdicts."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Assay
from tests.cli.test_machine_forms import validator
from tests.cli.test_mistakes import sentence

from assay import selection
from assay.application import ending as command
from assay.commands import run
from assay.exits import CannotRunError, Exit
from assay.selection import chosen, faces_of, folders
from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.ports.backend import Unavailable
from assay_adapters.ports.entry import GROUP
from assay_adapters.registry import backend_names, names_without_file
from assay_steps.plugin.run import Concluded, conclude
from assay_steps.plugin.suite import SuiteOptions

RULES = ("--rule", "PD-34", "--rule", "DD-48", "--workers", "0")
LAME = "lame = tests.cli.no_such_module:BACKEND"


@pytest.fixture(scope="module", autouse=True)
def _installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Install a backend with few capabilities and a backend that cannot be loaded; no test starts a container."""
    site = tmp_path_factory.mktemp("site")
    told = site / "declaring-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: declaring\nVersion: 1\n")
    points = [f"[{GROUP}]", "plain = tests.cli.declaring:NOTHING_OF_NOTHING", LAME, ""]
    (told / "entry_points.txt").write_text("\n".join(points))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "path", [*sys.path, str(site)])
        patched.setattr(ProductBackend, "probe", lambda _: Unavailable("there is no image", "build one"))
        patched.setattr(selection, "names_without_file", lambda: ("artemis", "lame", "plain", "reference"))
        yield


def matrix(out: Path) -> Any:
    told = json.loads((out / "report" / "matrix.json").read_text())
    validator("matrix-1.json").validate(told)
    return told


def cells(told: Any, rule: str) -> dict[str, Any]:
    """Return the cells of a rule, by backend."""
    row = next(row for row in told["rules"] if row["id"] == rule)
    return {column["backend"]: row["cells"][column["key"]] for column in told["columns"]}


@pytest.fixture(scope="module")
def told_all(_installed: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Provide the folder and the output of a run on all backends."""
    out = tmp_path_factory.mktemp("all") / "out"
    with redirect_stdout(StringIO()) as told:
        assert command(["run", "--backend", "all", "--out", str(out), *RULES]) is Exit.AS_EXPECTED
    return out, told.getvalue()


@pytest.fixture
def all_run(told_all: tuple[Path, str], tmp_path: Path) -> Path:
    """Provide a copy of the folder of a run on all backends."""
    return Path(shutil.copytree(told_all[0], tmp_path / "out"))


def test_the_command_names_the_matrix_and_what_was_left_out(told_all: tuple[Path, str]) -> None:
    out, told = told_all
    assert "artemis: not tried: Backend 'artemis' cannot be started: there is no image; build one." in told
    assert "lame: not tried: Backend 'lame' of declaring cannot be loaded" in told
    assert told.splitlines()[-1] == f"matrix: {out / 'report' / 'matrix.html'}"


def test_all_runs_what_is_here_and_names_the_rest(assay: Assay, all_run: Path) -> None:
    assert sorted(path.name for path in all_run.iterdir()) == ["plain", "reference", "report"]
    told = matrix(all_run)
    assert [column["backend"] for column in told["columns"]] == ["plain", "reference"]
    assert [(one["backend"], one["state"]) for one in told["absent"]] == [("artemis", "left-out"), ("lame", "left-out")]
    delay = cells(told, "DD-48")
    assert delay["reference"]["state"] == "pass"
    assert delay["reference"]["passed"] == delay["reference"]["asked"] > 1
    assert delay["reference"]["evidence"].startswith("by ")
    assert (delay["plain"]["state"], delay["plain"]["passed"]) == ("unsupported", 0)
    assert "delivery-delay" in delay["plain"]["lacks"]
    page, _, anchor = delay["plain"]["page"].partition("#")
    assert f'id="{anchor}"' in (all_run / "report" / page).read_text()
    plain = told["columns"][0]
    assert plain["totals"]["unsupported"] >= 1
    assert plain["of_no_product"]["rules"] == plain["totals"]["rules"] == 2
    assert {lack["capability"]: lack["rules"] for lack in plain["lacks"]}["delivery-delay"] == 1
    again = assay("report", all_run)
    assert again.code is Exit.AS_EXPECTED
    assert matrix(all_run) == told
    text = (all_run / "report" / "matrix.html").read_text()
    assert "there is no image; build one" in text
    assert "Not available here" in text


def test_a_report_of_one_run_has_no_matrix(assay: Assay, all_run: Path) -> None:
    assert assay("report", all_run / "reference").code is Exit.AS_EXPECTED
    assert not (all_run / "reference" / "report" / "matrix.html").exists()
    assert "matrix" not in (all_run / "reference" / "report" / "index.html").read_text().lower().partition("<main")[0]


def test_a_report_without_the_earlier_matrix_still_has_the_columns(assay: Assay, all_run: Path) -> None:
    shutil.rmtree(all_run / "report")
    assert assay("report", all_run).code is Exit.AS_EXPECTED
    assert len(matrix(all_run)["columns"]) == 2
    (all_run / "report" / "matrix.json").write_text("{")
    ended = assay("report", all_run)
    assert ended.code is Exit.USAGE
    assert "matrix.json: it cannot be read" in ended.err


@pytest.fixture
def quick(told_all: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> list[SuiteOptions]:
    """Replace each run by a copy of the journals of the run on all backends; provide the options of these runs."""
    asked: list[SuiteOptions] = []

    def attempt(options: SuiteOptions) -> Concluded:
        asked.append(options)
        shutil.copytree(told_all[0] / options.backend, options.out)
        return conclude(options.out)

    monkeypatch.setattr(run, "attempt", attempt)
    return asked


@pytest.mark.usefixtures("quick")
def test_a_backend_that_was_named_and_is_not_here_makes_the_result_incomplete(assay: Assay, tmp_path: Path) -> None:
    ended = assay("run", "--backend", "artemis,reference", *RULES, "--out", tmp_path / "out")
    assert ended.code is Exit.INCONCLUSIVE
    assert [one["state"] for one in matrix(tmp_path / "out")["absent"]] == ["missing"]
    assert assay("report", tmp_path / "out").code is Exit.INCONCLUSIVE


def test_of_backends_that_are_all_missing_each_reason_is_told(assay: Assay, tmp_path: Path) -> None:
    ended = assay("run", "--backend", "artemis,activemq", "--out", tmp_path / "out")
    assert ended.code is Exit.INCONCLUSIVE
    assert "Backend 'activemq' cannot be started" in sentence(ended.err)
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("verdicts", [True, False], ids=["some verdicts", "no verdict"])
def test_after_a_run_that_breaks_off_the_next_backend_runs(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, verdicts: bool
) -> None:
    attempt = run.attempt

    def breaking(options: SuiteOptions) -> Concluded:
        concluded = attempt(options)
        if options.backend != "plain":
            return concluded
        if verdicts:
            raise run.StoppedError("a process of the run has ended", concluded)
        raise CannotRunError("Plain MQ ended while starting")

    monkeypatch.setattr(run, "attempt", breaking)
    ended = assay("run", "--backend", "plain,reference", *RULES, "--out", tmp_path / "out")
    assert ended.code is Exit.INCONCLUSIVE
    told = matrix(tmp_path / "out")
    if verdicts:
        assert "plain: stopped: a process of the run has ended" in ended.out
        assert [column["backend"] for column in told["columns"]] == ["plain", "reference"]
    else:
        assert "plain: not tried: Plain MQ ended while starting" in ended.out
        assert [(one["backend"], one["state"]) for one in told["absent"]] == [("plain", "broken")]
    assert cells(told, "PD-34")["reference"]["state"] == "pass"


@pytest.mark.usefixtures("quick")
def test_a_stop_by_the_user_ends_the_whole_command(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = run.attempt

    def stopping(options: SuiteOptions) -> Concluded:
        raise run.StoppedError(run.STOPPED, attempt(options), by_user=True)

    monkeypatch.setattr(run, "attempt", stopping)
    ended = assay("run", "--backend", "reference,plain", *RULES, "--out", tmp_path / "out")
    assert ended.code is Exit.INCONCLUSIVE
    assert "stopped: Ctrl-C" in ended.out
    assert [(one["backend"], one["state"]) for one in matrix(tmp_path / "out")["absent"]] == [("plain", "stopped")]


def test_each_face_has_a_run_and_a_column(assay: Assay, tmp_path: Path, quick: list[SuiteOptions]) -> None:
    ended = assay("run", "--face", "simplified,mqlight", *RULES, "--out", tmp_path / "out")
    assert ended.code is Exit.AS_EXPECTED
    assert [(options.face, options.out.name) for options in quick] == [
        ("simplified", "reference-simplified"),
        ("mqlight", "reference-mqlight"),
    ]
    assert len(matrix(tmp_path / "out")["columns"]) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--backend", "reference,atremis"], "did you mean 'artemis'?"),
        (["--backend", "reference,reference+amqp"], "--backend names 'reference' twice; name it once"),
        (["--backend", "reference", "--backend", "reference"], "--backend names 'reference' twice"),
        (["--backend", "all,plain"], "--backend names 'plain' twice; all already contains it"),
        (["--backend", "plain", "--backend", "all"], "all already contains it"),
        (["--backend", "reference,"], "has a comma without a name beside it"),
        (["--backend", "reference,url:acme.toml"], "lists a backend with a file; give each of these its own option"),
        (["--backend", "url:acme.toml,reference"], "lists a backend with a file"),
        (["--backend", "reference,url"], "needs a file: write url:FILE"),
        (["--backend", "reference", "--store", "memory", "--backend", "plain"], "brings its own store"),
        (["--face", "simplified,mqlite"], "did you mean 'mqlight'?"),
        (["--face", "mqlight,mqlight"], "names a face twice"),
        (["--face", "mqlight,"], "has a comma without a name beside it"),
    ],
)
def test_a_mistake_in_a_list_is_told_in_a_sentence(
    assay: Assay, tmp_path: Path, arguments: list[str], says: str
) -> None:
    ended = assay("run", "--out", tmp_path / "out", *arguments)
    assert ended.code is Exit.USAGE
    assert says in sentence(ended.err)
    assert not (tmp_path / "out").exists()


def test_the_name_of_a_file_may_have_a_comma(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("acme,7.toml").touch()
    names = chosen(["url:acme,7.toml", "plain"])
    assert names.names == ("url:acme,7.toml", "plain")
    assert [folder.name for _, _, folder in folders(names, faces_of(None), 1, tmp_path)] == ["url-acme-7.toml", "plain"]


def test_all_means_every_backend_but_those_that_need_a_file() -> None:
    assert set(backend_names()) - set(names_without_file()) == {"url"}


def test_folders_of_faces_and_repetitions_have_names_of_their_own(tmp_path: Path) -> None:
    names = [folder.name for _, _, folder in folders(chosen(["a,b"]), faces_of("x,y"), 2, tmp_path)]
    assert names == ["a-x-1", "a-x-2", "a-y-1", "a-y-2", "b-x-1", "b-x-2", "b-y-1", "b-y-2"]
    assert folders(chosen(["a"]), faces_of("x"), 1, tmp_path) == [("a", "x", tmp_path)]
