"""Tests of ``assay report``: its table, its folder, and verdicts from the journals alone."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import msgspec
import pytest
from tests.cli.commands.conftest import content, events
from tests.cli.conftest import Assay

from assay.exits import Exit
from assay_evidence.events import Step
from assay_evidence.lines import encode_line
from assay_evidence.verdicts import Verdict, load_verdicts


def test_a_report_shows_the_table_and_ends_as_its_run(assay: Assay, tmp_path: Path) -> None:
    ran = assay("run", "--out", tmp_path, "--rule", "PD-34", "--defect", "unclaimed-publication-kept")
    told = assay("report", tmp_path)
    assert ran.code is told.code is Exit.NOT_AS_EXPECTED
    assert [line for line in ran.out.splitlines() if "not as expected" in line or line.startswith("PD-34")] == [
        line for line in told.out.splitlines() if "not as expected" in line or line.startswith("PD-34")
    ]


@pytest.mark.parametrize("order", ["{a} {b} --out {out}", "--out {out} {a} {b}", "{a} --out {out} {b}"])
def test_a_report_on_two_runs_goes_where_out_says_wherever_that_stands(
    assay: Assay, done: Path, tmp_path: Path, order: str
) -> None:
    runs = [Path(shutil.copytree(done, tmp_path / name)) for name in ("a", "b")]
    for run in runs:
        shutil.rmtree(run / "report")
    ended = assay("report", *order.format(a=runs[0], b=runs[1], out=tmp_path / "out").split())
    assert ended.code is Exit.AS_EXPECTED
    assert len(list((tmp_path / "out" / "report" / "backends").iterdir())) == 2
    assert not any((run / "report").exists() for run in runs)


def test_a_report_on_journals_without_scenarios_says_that_they_tell_nothing(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "journals").mkdir()
    (tmp_path / "journals" / "main.jsonl").touch()
    ended = assay("report", tmp_path)
    assert ended.code is Exit.INCONCLUSIVE
    assert "unknown backend: the journals hold no scenario" in ended.out
    assert "0 rules" not in ended.out


def test_a_report_on_damaged_journals_is_inconclusive(assay: Assay, done: Path, tmp_path: Path) -> None:
    shutil.copytree(done / "journals", tmp_path / "journals")
    for journal in (tmp_path / "journals").iterdir():
        journal.write_bytes(journal.read_bytes().rpartition(b"\n")[0].rpartition(b"\n")[0] + b"\n")
    ended = assay("report", tmp_path)
    assert ended.code is Exit.INCONCLUSIVE
    assert "not as expected: " in ended.out


def test_what_a_run_knew_is_known_to_its_report(assay: Assay, tmp_path: Path) -> None:
    assay("run", "--out", tmp_path, "--rule", "PD-34", "--defect", "unclaimed-publication-kept")
    entry = {
        "scenario": "*",
        "verdict": "fail",
        "reason": "It drops.",
        "reference": "manual",
        "owner": "kit",
        "expires": "9999-12-31",
    }
    failed = [
        scenario.scenario
        for rule in load_verdicts(tmp_path / "verdicts.json").rules
        for scenario in rule.scenarios
        if scenario.verdict is Verdict.FAIL
    ]
    entries = [entry | {"scenario": name} for name in failed]
    (tmp_path / "known.json").write_text(json.dumps({"entries": entries}))
    assert assay("report", tmp_path).code is Exit.AS_EXPECTED
    (tmp_path / "known.json").write_text(json.dumps({"entries": [entry | {"expires": "soon"}]}))
    ended = assay("report", tmp_path)
    assert ended.code is Exit.USAGE
    assert "known.json: it is malformed" in ended.err


def test_a_kill_matrix_goes_into_a_runs_folder_and_its_report(assay: Assay, tmp_path: Path) -> None:
    assert assay("run", "--out", tmp_path, "--rule", "PD-34").code is Exit.AS_EXPECTED
    ended = assay("defects", "--rule", "PD-34", "--out", tmp_path)
    assert ended.code is Exit.AS_EXPECTED
    assert "unclaimed-publication-kept" in next(line for line in ended.out.splitlines() if line.startswith("caught: "))
    assert "missed: none" in ended.out
    assert "defects: " in ended.err
    assert f"`assay report {tmp_path}`" in ended.out
    assert assay("report", tmp_path).code is Exit.AS_EXPECTED
    assert "<code>unclaimed-publication-kept</code>" in (tmp_path / "report" / "rules" / "PD-34.html").read_text()


def test_the_journal_alone_decides(assay: Assay, done: Path, tmp_path: Path) -> None:
    shutil.copytree(done / "journals", tmp_path / "journals")
    ended = assay("report", tmp_path)
    assert ended.code is Exit.AS_EXPECTED
    assert (tmp_path / "verdicts.json").read_bytes() == (done / "verdicts.json").read_bytes()
    assert (tmp_path / "junit.xml").read_bytes() == (done / "junit.xml").read_bytes()


def test_what_a_step_said_of_its_own_outcome_makes_no_pass(assay: Assay, done: Path, tmp_path: Path) -> None:
    shutil.copytree(done / "journals", tmp_path / "journals")
    for journal, lines in events(tmp_path):
        told = [
            msgspec.structs.replace(event, detail="", text="any") if isinstance(event, Step) else event
            for event in lines[:-1]
        ]
        octets = b"".join(map(encode_line, told))
        end = msgspec.structs.replace(lines[-1], sha256=hashlib.sha256(octets).hexdigest())
        journal.write_bytes(octets + encode_line(end))
    assert assay("report", tmp_path).code is Exit.AS_EXPECTED
    assert content(tmp_path) == content(done)
