"""Tests of a log in a file, and of a broker's past."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from assay_adapters.traces.files import READ_LIMIT, UNKNOWN, FileTrace
from assay_adapters.traces.history import STARTED, History
from assay_adapters.traces.lines import FIRST, LAST


def now() -> str:
    return datetime.now(UTC).isoformat()


def test_only_lines_from_the_scenarios_begin_on_are_returned(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(f"{now()} before\n")
    read = FileTrace("it", path).log_from_now()
    assert read() == ()
    with path.open("a") as log:
        log.write(f"{now()} within\n\n  at Some.java:1\n2001-01-01T00:00:00Z long ago\n")
    first, second, third = read()
    assert first.text.endswith("within")
    assert first.wall_ns is not None
    assert (second.text, second.wall_ns) == ("  at Some.java:1", None)
    assert third.wall_ns is None


def test_a_file_that_was_begun_anew_is_read_from_its_begin(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("a long line before\n")
    read = FileTrace("it", path).log_from_now()
    path.write_text("new\n")
    assert [line.text for line in read()] == ["new"]


def test_of_a_long_log_the_end_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    read = FileTrace("it", path).log_from_now()
    path.write_bytes(b"x\n" * READ_LIMIT + b"\xffthe end\n")
    lines = read()
    assert lines[-1].text == "\ufffdthe end"
    assert len(lines) == FIRST + LAST
    assert sum(line.omitted for line in lines) > 100_000


def test_without_a_file_the_log_says_so_and_the_past_is_known(tmp_path: Path) -> None:
    history = History(STARTED)
    history.note("killed")
    for path, lines in ((None, [UNKNOWN]), (tmp_path / "nowhere", [])):
        trace = FileTrace("it", path, history)
        assert [line.text for line in trace.log_from_now()()] == lines
        assert [deed.what for deed in trace.past()] == ["started", "killed"]
    assert FileTrace("it", None).past() == ()
