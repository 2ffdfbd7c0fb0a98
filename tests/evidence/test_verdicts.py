from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_evidence.errors import VerdictsError
from assay_evidence.verdicts import (
    Finding,
    RuleVerdict,
    ScenarioVerdict,
    Verdict,
    Verdicts,
    load_verdicts,
    verdicts_json,
    worst,
)

FROM_BEST = ["pass", "partial", "unsupported", "not-demonstrated", "inconclusive", "error", "fail"]
SCENARIO = ScenarioVerdict(
    scenario="s",
    rules=("DD-02",),
    verdict=Verdict.FAIL,
    strength="must",
    judged="broker",
    findings=(Finding("w:1", Verdict.FAIL),),
)
VERDICTS = Verdicts(
    schema=2,
    run="r",
    backend="b",
    client="c",
    rules=(RuleVerdict("DD-02", Verdict.FAIL, "must", "broker", "delay", (SCENARIO,)),),
    totals={"fail": 1},
)


def test_there_are_seven_verdicts_ranked_from_pass_to_fail() -> None:
    assert [verdict.value for verdict in sorted(Verdict, key=lambda verdict: verdict.badness)] == FROM_BEST


@given(st.lists(st.sampled_from(Verdict), min_size=1))
def test_the_worst_of_several_is_one_of_them_and_none_is_worse(verdicts: list[Verdict]) -> None:
    assert worst(verdicts) in verdicts
    assert all(verdict.badness <= worst(verdicts).badness for verdict in verdicts)


def test_nothing_run_is_never_a_pass() -> None:
    assert worst([]) is Verdict.NOT_DEMONSTRATED


def test_verdicts_come_back_from_their_file(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.json"
    path.write_bytes(verdicts_json(VERDICTS))
    assert load_verdicts(path) == VERDICTS
    assert verdicts_json(load_verdicts(path)) == path.read_bytes()
    assert path.read_text().endswith("}\n")


def test_fields_of_a_later_version_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.json"
    path.write_text(json.dumps(json.loads(verdicts_json(VERDICTS)) | {"weather": "fine"}))
    assert load_verdicts(path) == VERDICTS


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff", b'{"schema": "1"}', b"[" * 100_000])
def test_a_file_that_holds_no_verdicts_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "verdicts.json"
    path.write_bytes(content)
    with pytest.raises(VerdictsError, match=r"verdicts\.json is no verdicts\.json"):
        load_verdicts(path)


def test_a_file_of_another_schema_is_named(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.json"
    path.write_bytes(verdicts_json(VERDICTS).replace(b'"schema": 2', b'"schema": 3'))
    with pytest.raises(VerdictsError, match="has schema 3, but this version reads 1 and 2"):
        load_verdicts(path)


def test_a_file_of_schema_1_is_read_as_if_every_scenario_were_core(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.json"
    path.write_bytes(verdicts_json(VERDICTS).replace(b'"schema": 2', b'"schema": 1').replace(b'"role": "core",', b""))
    assert [one.role for one in load_verdicts(path).scenarios] == ["core"]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(VerdictsError, match="cannot be read"):
        load_verdicts(tmp_path / "verdicts.json")
