from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.reports.pages import pages_of

from assay_evidence.lines import encode_line
from assay_evidence.verdicts import verdicts_json
from assay_features import load_catalogue
from assay_reports import RunEvidence, SourceError, read_kills, read_known, read_run, render_site, rules_json


def test_a_folder_without_known_outcomes_and_kill_matrix_has_none(tmp_path: Path) -> None:
    assert read_known(tmp_path) == ()
    assert read_kills([tmp_path]).rules == ()


def test_known_outcomes_are_patterns_whose_brackets_are_themselves(tmp_path: Path) -> None:
    entry = {"scenario": "a.feature::b[1 *]", "verdict": "fail", "reason": "r", "since": "ignored"}
    (tmp_path / "known.json").write_bytes(msgspec.json.encode({"entries": [entry]}))
    (known,) = read_known(tmp_path)
    assert known.covers("a.feature::b[1 s]")
    assert not known.covers("a.feature::b1 s")


@pytest.mark.parametrize("content", [b"", b"[]", b'{"entries": [{}]}', b"\xff"])
def test_a_malformed_file_is_named_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "known.json").write_bytes(content)
    with pytest.raises(SourceError, match=r"known\.json: it is malformed \("):
        read_known(tmp_path)


def test_the_kill_matrix_is_found_beside_several_backends(tmp_path: Path) -> None:
    matrix = {"rules": [{"id": "DD-02", "defects": [{"name": "early", "caught_by": ["x"]}]}], "alarms": []}
    (tmp_path / "defects.json").write_bytes(msgspec.json.encode(matrix))
    kills = read_kills([tmp_path / "artemis", tmp_path])
    assert kills.rules[0].defects[0].caught_by == ("x",)


def test_a_folder_that_no_run_wrote_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"it holds no verdicts\.json"):
        read_run(tmp_path)


def test_a_run_is_read_from_its_folder_and_the_site_links_to_its_files(
    runs: tuple[RunEvidence, RunEvidence], tmp_path: Path
) -> None:
    run, folder = runs[0], tmp_path / "out"
    (folder / "journals").mkdir(parents=True)
    (folder / "verdicts.json").write_bytes(verdicts_json(run.verdicts))
    # One line is missing, so the reader reports damage.
    lines = [encode_line(event) for event in run.events if event.seq != 7]
    (folder / "journals" / "odd name #1.jsonl").write_bytes(b"".join(lines))
    read = read_run(folder)
    assert read.verdicts == run.verdicts
    assert len(read.events) == len(run.events) - 1
    assert "gap" in {damage.kind for damage in read.damage}
    pages = pages_of(render_site([read], folder / "report").parent)
    assert [link for page in pages for link in page.broken_links()] == []
    links = [link for page in pages for link in page.links]
    assert {"../../verdicts.json", "../../journals/odd%20name%20%231.jsonl"} <= set(links)


def test_the_catalogue_as_json_holds_every_rule() -> None:
    entries = msgspec.json.decode(rules_json(load_catalogue()))
    assert [entry["id"] for entry in entries] == [rule.id for rule in load_catalogue().rules]
    assert {"title", "rule", "strength", "judged", "profile", "basis"} <= set(entries[0])
