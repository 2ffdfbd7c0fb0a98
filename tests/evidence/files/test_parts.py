"""Tests of journals in parts: rotation, compression, and what is left after a kill or damage."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from assay_evidence.errors import JournalError
from assay_evidence.events import Begin, Step
from assay_evidence.files.parts import PartLimits
from assay_evidence.reader import Journals, read_journals
from assay_evidence.writer import Instant, JournalWriter
from assay_pipeline.journals import find_journals

AT = Instant("boot", 1, 1_700_000_000_000_000_000, 0)
LIMITS = PartLimits(part_bytes=2_000, buffer_bytes=600)
EVENTS = 40


def begun(folder: Path, limits: PartLimits = LIMITS) -> JournalWriter:
    """Begin a journal in parts, and write some events."""
    journal = JournalWriter(folder / "w.jsonl", run="r", writer="w", parts=limits)
    fields = {"backend": "b", "client": "c", "ours": (), "environment": {}, "catalogue_hash": "0", "seed": 1}
    journal.write(Begin, AT, **fields)
    for number in range(EVENTS):
        journal.write(Step, AT, keyword="When", text=f"step {number}", outcome="done")
    return journal


def kinds(journals: Journals) -> set[str]:
    return {damage.kind for damage in journals.damage}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_journal_in_parts_is_read_as_one_and_leaves_only_compressed_parts(tmp_path: Path) -> None:
    begun(tmp_path).close(AT, writers=("w",))
    assert len(names(tmp_path)) > 2
    assert all(name.endswith(".jsonl.gz") for name in names(tmp_path))
    journals = read_journals(tmp_path)
    assert journals.damage == ()
    assert [event.seq for event in journals.events] == list(range(EVENTS + 2))
    sizes = [len(gzip.decompress(path.read_bytes())) for path in sorted(tmp_path.iterdir())]
    assert all(LIMITS.part_bytes <= size < LIMITS.part_bytes + LIMITS.buffer_bytes for size in sizes[:-1])


def test_at_most_the_buffer_is_not_on_disk(tmp_path: Path) -> None:
    journal = begun(tmp_path)
    on_disk = {event.seq for event in read_journals(tmp_path).events}
    longest = 300
    assert len(on_disk) >= EVENTS + 1 - LIMITS.buffer_bytes // longest * 4
    assert on_disk == set(range(len(on_disk)))
    journal.close(AT)


def test_a_line_is_on_disk_when_the_one_before_is_old(tmp_path: Path) -> None:
    journal = begun(tmp_path, PartLimits(buffer_ns=0))
    assert len(read_journals(tmp_path).events) == EVENTS + 1
    journal.close(AT)


@pytest.mark.parametrize("missing", [1, 7, 100, 250])
def test_a_torn_tail_corrupts_nothing_before_it(tmp_path: Path, missing: int) -> None:
    begun(tmp_path)  # killed: the last part is not compressed, and has no end record
    whole = read_journals(tmp_path)
    last = max(path for path in tmp_path.iterdir() if path.name.endswith(".jsonl"))
    last.write_bytes(last.read_bytes()[:-missing])
    torn = read_journals(tmp_path)
    assert kinds(torn) <= {"undecodable", "no-end"}
    assert torn.events == whole.events[: len(torn.events)]
    assert len(torn.events) >= len(whole.events) - 2


def test_a_torn_compressed_part_is_damage_and_the_other_parts_count(tmp_path: Path) -> None:
    begun(tmp_path).close(AT)
    second = tmp_path / "w.0002.jsonl.gz"
    second.write_bytes(second.read_bytes()[:-40])
    journals = read_journals(tmp_path)
    assert {"undecodable", "gap"} <= kinds(journals)
    assert {journals.events[0].seq, journals.events[-1].seq} == {0, EVENTS + 1}


def test_a_missing_part_is_a_gap(tmp_path: Path) -> None:
    begun(tmp_path).close(AT)
    (tmp_path / "w.0002.jsonl.gz").unlink()
    assert kinds(read_journals(tmp_path)) == {"gap", "count", "digest"}


def test_a_part_in_both_forms_counts_once(tmp_path: Path) -> None:
    begun(tmp_path).close(AT)
    first = tmp_path / "w.0001.jsonl.gz"
    first.with_suffix("").write_bytes(gzip.decompress(first.read_bytes()))
    assert read_journals(tmp_path).damage == ()
    assert first.with_suffix("") not in {Path(file.path) for file in find_journals([tmp_path])}


def test_a_part_that_was_compressed_since_the_folder_was_listed_is_read(tmp_path: Path) -> None:
    begun(tmp_path).close(AT)
    listed = [path.with_suffix("") for path in tmp_path.iterdir()]
    assert read_journals(listed).damage == ()


def test_the_judge_finds_the_parts(tmp_path: Path) -> None:
    begun(tmp_path).close(AT)
    assert [Path(file.path).name for file in find_journals([tmp_path])] == names(tmp_path)


def test_a_compressed_part_is_never_replaced(tmp_path: Path) -> None:
    begun(tmp_path).close(AT)
    kept = (tmp_path / "w.0001.jsonl.gz").read_bytes()
    with pytest.raises(JournalError, match="name another output folder"):
        begun(tmp_path)
    assert (tmp_path / "w.0001.jsonl.gz").read_bytes() == kept


def test_a_part_that_cannot_begin_closes_the_one_before_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[int] = []
    close = os.close

    def noted(descriptor: int) -> None:
        closed.append(descriptor)
        close(descriptor)

    (tmp_path / "w.0002.jsonl").write_bytes(b"")
    monkeypatch.setattr(os, "close", noted)
    with pytest.raises(JournalError, match=r"w\.0002\.jsonl exists"):
        begun(tmp_path)
    assert len(closed) == len(set(closed)) > 0
