"""Tests that damage to any line of a complete journal never turns another verdict into a pass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.evidence.histories import EPOCH_NS, RUN, Story, begin, plan, planned, refusal

from assay_evidence.events import Unsupported
from assay_evidence.judge import judge
from assay_evidence.reader import read_journals
from assay_evidence.verdicts import Verdict, Verdicts
from assay_evidence.writer import Instant, JournalWriter
from assay_features import load_catalogue

CATALOGUE = load_catalogue()
AT = Instant("virtual:1", 0, EPOCH_NS, 0)
Files = dict[str, list[bytes]]


def tell_delay(story: Story, seen_ms: int) -> None:
    story.starts()
    story.step()
    with story.watching():
        send = story.send(delay_ms=500)
        story.at(seen_ms).seen()
        story.at(seen_ms + 100)
    story.claim("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)
    story.claim("by", {"kid": "m", "call": send.ref}, delay_ms=500, limit_ms=50)
    story.claim("delivered-exactly", {"kids": "m"}, quiet_ms=10)
    story.ends()


def tell_restart(story: Story, *, again: bool) -> None:
    story.starts()
    send = story.send()
    with story.watching():
        story.at(5).seen()
    story.at(10).fault("begin")
    story.at(20).fault("end")
    with story.watching():
        if again:
            story.seen(redelivered=True)
        story.at(50)
    story.claim("redelivered", {"kids": "m", "call": send.ref})
    story.ends()


def make(folder: Path) -> Files:
    """Return the journals of a controller, two workers and a process that watches the disk."""
    scenarios = {
        "a": ("DD-02", "gw0"),
        "b": ("DD-03", "gw0"),
        "c": ("PD-24", "gw1"),
        "d": ("PD-20", "gw1"),
        "e": ("DD-12", "gw1"),
        "f": ("PD-11", "nobody"),
        "g": ("BT-04", "gw0"),
    }
    with JournalWriter(folder / "main.jsonl", run=RUN, writer="main") as main:
        begin(main)
        plan(main, *(planned(name, rule) for name, (rule, _) in scenarios.items()))
        main.close(AT, ("main", "gw0", "gw1", "disk"))
    with JournalWriter(folder / "gw0.jsonl", run=RUN, writer="gw0") as worker:
        begin(worker)
        tell_delay(Story(worker, "a", rule="DD-02"), 500)
        tell_delay(Story(worker, "b", rule="DD-03"), 499)
        story = Story(worker, "g", rule="BT-04")
        story.tell(Unsupported, capability="batch", reason="It has none.")
    with JournalWriter(folder / "gw1.jsonl", run=RUN, writer="gw1") as worker:
        begin(worker)
        tell_restart(Story(worker, "c", rule="PD-24"), again=True)
        story = Story(worker, "d", rule="PD-20")
        story.starts()
        send = story.send(took_ms=10)
        story.claim("flushed-before", {"kid": "m", "call": send.ref})
        with story.watching():
            story.at(30)
        story.claim("never-seen", {"kids": "m", "actors": "receiver"})
        story.ends()
        story = Story(worker, "e", rule="DD-12")
        story.starts()
        call = story.asks(refused=refusal(mqrc=2013))
        story.step("refused")
        story.claim("refused-with", {"call": call.ref}, mqrc=2013)
        story.ends()
    with JournalWriter(folder / "disk.jsonl", run=RUN, writer="disk") as disk:
        begin(disk)
        story = Story(disk, "d", rule="PD-20")
        story.at(1).disk("write", "m")
        story.at(2).disk("flush")
        story.at(25).seen()
    return {path.name: path.read_bytes().splitlines(keepends=True) for path in sorted(folder.iterdir())}


def judged(folder: Path) -> Verdicts:
    journals = read_journals(folder)
    return judge(journals.events, CATALOGUE, journals.damage)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Files, dict[str, Verdict]]:
    folder = tmp_path_factory.mktemp("whole")
    files = make(folder)
    return files, {rule.id: rule.verdict for rule in judged(folder).rules}


def test_the_whole_journal_gives_every_kind_of_verdict_that_damage_could_better(
    whole: tuple[Files, dict[str, Verdict]],
) -> None:
    assert whole[1] == {
        "DD-02": Verdict.PASS,
        "DD-03": Verdict.FAIL,
        "DD-12": Verdict.INCONCLUSIVE,
        "PD-11": Verdict.ERROR,
        "PD-20": Verdict.FAIL,
        "PD-24": Verdict.PASS,
        "BT-04": Verdict.UNSUPPORTED,
    }


def hold(folder: Path, files: Files, whole: dict[str, Verdict]) -> None:
    """Judge files, and check that they give no pass that the complete journal does not give."""
    for name, lines in files.items():
        (folder / name).write_bytes(b"".join(lines))
    verdicts = judged(folder)
    passed = {rule.id for rule in verdicts.rules if rule.verdict is Verdict.PASS}
    assert passed <= {rule for rule, verdict in whole.items() if verdict is Verdict.PASS}
    scenarios = {one.scenario: one.verdict for rule in verdicts.rules for one in rule.scenarios}
    assert {name for name, verdict in scenarios.items() if verdict is Verdict.PASS} <= {"a", "c"}


def each_line(files: Files) -> Iterator[tuple[str, int]]:
    for name, lines in files.items():
        for index in range(len(lines)):
            yield name, index


def test_no_line_deleted_or_doubled_or_moved_makes_a_pass(
    tmp_path: Path, whole: tuple[Files, dict[str, Verdict]]
) -> None:
    files, verdicts = whole
    for name, index in each_line(files):
        lines = files[name]
        for hurt in (
            lines[:index] + lines[index + 1 :],
            lines[: index + 1] + lines[index:],
            [*lines[:index], *lines[index + 1 :], lines[index]],
            lines[:index],
        ):
            hold(tmp_path, {**files, name: hurt}, verdicts)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_no_line_altered_makes_a_pass(
    tmp_path: Path, whole: tuple[Files, dict[str, Verdict]], data: st.DataObject
) -> None:
    files, verdicts = whole
    name, index = data.draw(st.sampled_from(list(each_line(files))))
    lines = list(files[name])
    line = lines[index]
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, min(len(line), start + 20)))
    lines[index] = line[:start] + data.draw(st.binary(max_size=20)) + line[end:]
    hold(tmp_path, {**files, name: lines}, verdicts)


def test_no_missing_file_makes_a_pass(tmp_path: Path, whole: tuple[Files, dict[str, Verdict]]) -> None:
    files, verdicts = whole
    for gone in files:
        folder = tmp_path / gone
        folder.mkdir()
        hold(folder, {name: lines for name, lines in files.items() if name != gone}, verdicts)
