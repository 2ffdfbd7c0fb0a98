from __future__ import annotations

import errno
import hashlib
import os
import threading
from pathlib import Path

import pytest
from tests.evidence.histories import Story, begin

from assay_evidence.errors import JournalError
from assay_evidence.events import Begin, End, ScenarioBegin, Step
from assay_evidence.reader import read_journals
from assay_evidence.writer import Instant, JournalWriter

NOW = Instant("boot", 5, 7, 1)


def journal(folder: Path, writer: str = "w") -> JournalWriter:
    return JournalWriter(folder / f"{writer}.jsonl", run="r", writer=writer)


def test_events_come_back_as_they_were_written_with_clock_writer_and_number(tmp_path: Path) -> None:
    with journal(tmp_path) as writer:
        first = begin(writer)
        step = writer.write(Step, NOW, scenario="s", keyword="When", text="x", outcome="done")
    read = read_journals(tmp_path)
    assert read.damage == ()
    assert read.events[:2] == (first, step)
    assert (step.ref, step.run, step.boot, step.mono_ns, step.wall_ns, step.unc_ns) == ("w:1", "r", "boot", 5, 7, 1)


def test_the_end_record_counts_and_digests_what_stands_before_it(tmp_path: Path) -> None:
    with journal(tmp_path) as writer:
        begin(writer)
        writer.close(NOW, writers=("w", "gw0"))
    *lines, _ = writer.path.read_bytes().splitlines(keepends=True)
    end = read_journals(tmp_path).events[-1]
    assert isinstance(end, End)
    assert (end.events, end.sha256, end.writers) == (1, hashlib.sha256(b"".join(lines)).hexdigest(), ("w", "gw0"))


def test_closing_twice_writes_one_end(tmp_path: Path) -> None:
    writer = journal(tmp_path)
    begin(writer)
    writer.close(NOW)
    writer.close(NOW)
    assert [type(event) for event in read_journals(tmp_path).events] == [Begin, End]


def test_a_block_that_raises_leaves_a_journal_without_an_end(tmp_path: Path) -> None:
    def interrupted() -> None:
        with journal(tmp_path) as writer:
            begin(writer)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [harm.kind for harm in read_journals(tmp_path).damage] == ["no-end"]


def test_an_existing_file_is_never_appended_to(tmp_path: Path) -> None:
    (tmp_path / "w.jsonl").write_bytes(b'{"torn')
    with pytest.raises(JournalError, match="never adds to evidence"):
        journal(tmp_path)
    assert (tmp_path / "w.jsonl").read_bytes() == b'{"torn'


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JournalError, match=r"w\.jsonl cannot be created .*: name a folder"):
        journal(tmp_path / "file")


def test_a_journal_starts_with_begin_and_ends_by_close(tmp_path: Path) -> None:
    with journal(tmp_path) as writer:
        with pytest.raises(JournalError, match="start with a begin"):
            writer.write(ScenarioBegin, NOW, rules=(), judged="broker", strength="must")
        begin(writer)
        with pytest.raises(JournalError, match="by close"):
            writer.write(End, NOW, events=0, sha256="")


def test_nothing_is_written_to_a_closed_journal(tmp_path: Path) -> None:
    writer = journal(tmp_path)
    begin(writer)
    writer.close(NOW)
    with pytest.raises(JournalError, match="closed or broken"):
        begin(writer)


def test_a_full_disk_breaks_the_journal_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int, _line: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    writer = journal(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(JournalError, match=r"cannot be written .*free disk space"):
            begin(writer)
    with pytest.raises(JournalError, match="closed or broken"):
        begin(writer)


def test_nothing_is_written_behind_a_line_cut_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = journal(tmp_path)
    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, line: write(descriptor, line[:10]))
        with pytest.raises(JournalError, match="Only 10 of"):
            begin(writer)
    with pytest.raises(JournalError, match="closed or broken"):
        begin(writer)


def test_a_line_that_cannot_be_encoded_leaves_the_journal_intact(tmp_path: Path) -> None:
    with journal(tmp_path) as writer:
        begin(writer)
        with pytest.raises(UnicodeEncodeError):
            Story(writer).step(detail="\ud800")
        Story(writer).step()
    assert read_journals(tmp_path).damage == ()


def test_threads_share_a_journal_without_a_gap(tmp_path: Path) -> None:
    with journal(tmp_path) as writer:
        begin(writer)
        story = Story(writer)
        threads = [threading.Thread(target=lambda: [story.step() for _ in range(200)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    read = read_journals(tmp_path)
    assert read.damage == ()
    assert len(read.events) == 802


def test_a_journal_can_be_read_by_others_but_written_by_its_owner_only(tmp_path: Path) -> None:
    with journal(tmp_path) as writer:
        begin(writer)
    assert writer.path.stat().st_mode & 0o133 == 0
    assert writer.path.stat().st_mode & 0o600 == 0o600
