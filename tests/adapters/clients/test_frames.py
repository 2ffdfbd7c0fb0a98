"""Tests of the last frames of a failed scenario's connections, from the connection to the report's story."""

from __future__ import annotations

from pathlib import Path

from assay_evidence.events import Call, Seen, Wire
from assay_evidence.reader import read_journals
from assay_evidence.verdicts import Verdict
from assay_reports import read_run
from assay_reports.story import story
from assay_reports.views.scenarios import offenders_of
from assay_steps.plugin.folder import JOURNALS
from assay_steps.plugin.hooks import EXPLAINED
from assay_steps.plugin.suite import SuiteOptions, run_suite

SECOND = (
    "delay/early.feature::Neither of two messages of a producer with a delay of <delay> comes before its delay is over"
    "[2 s]"
)


def test_a_failed_scenario_has_the_frames_of_its_connections_around_the_breach(tmp_path: Path) -> None:
    out = tmp_path / "out"
    request = SuiteOptions(
        backend="reference-server", defect="early-delivery", scenarios=(SECOND,), probes=False, out=out
    )
    run_suite(request)
    run = read_run(out)
    (verdict,) = run.verdicts.scenarios
    assert verdict.verdict is Verdict.FAIL
    events = run.of_scenario()[SECOND]
    wires = [event for event in events if isinstance(event, Wire)]
    actors = {event.actor for event in events if isinstance(event, Call) and event.op == "connect"}
    assert {wire.actor for wire in wires} == actors
    assert not any("secret" in wire.text for wire in wires)
    breach = next(event for event in events if isinstance(event, Seen) and event.ref in verdict.findings[0].offenders)
    arrived = [wire for wire in wires if wire.direction == "in" and wire.text.startswith("transfer(")]
    assert any(wire.mono_ns <= breach.mono_ns for wire in arrived)
    assert all("message of" in wire.text and "header(" in wire.text for wire in arrived)
    lines = [line for chapter in story(events, offenders_of(verdict)).chapters for line in chapter.lines]
    at = next(index for index, line in enumerate(lines) if line.breaks)
    assert any("receives the frame, channel" in line.text for line in lines[max(0, at - 8) : at])


def test_only_a_scenario_that_the_frames_may_explain_has_them(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_suite(SuiteOptions(backend="reference-server", scenarios=(SECOND,), probes=False, out=out))
    (verdict,) = read_run(out).verdicts.scenarios
    has_frames = any(isinstance(event, Wire) for event in read_journals(out / JOURNALS).events)
    assert has_frames is (verdict.verdict in EXPLAINED)  # on a busy machine the scenario may be inconclusive
