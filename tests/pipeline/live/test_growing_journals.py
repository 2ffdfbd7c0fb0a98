"""The source of growing journals: what each read adds, whichever way the files have changed."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import BinaryIO

import pytest

from assay_evidence.files.parts import compress, open_journal
from assay_pipeline.live import growing_journals
from assay_pipeline.live.growing_journals import GrowingReader


def line(number: int, scenario: str = "s") -> bytes:
    return b'{"kind":"seen","run":"r","scenario":"%s","seq":%d}\n' % (scenario.encode(), number)


def texts(reader: GrowingReader, start: dict[str, object]) -> tuple[list[str], dict[str, object]]:
    rows, end = reader.read(start)
    return [text for _, _, text in rows], end


@pytest.fixture
def reader(tmp_path: Path) -> GrowingReader:
    (tmp_path / "journals").mkdir()
    return GrowingReader(tmp_path)


@pytest.fixture
def journals(tmp_path: Path) -> Path:
    return tmp_path / "journals"


def test_each_line_is_read_once(reader: GrowingReader, journals: Path) -> None:
    journal = journals / "main.jsonl"
    journal.write_bytes(line(0) + line(1))
    first, position = texts(reader, reader.initialOffset())
    with journal.open("ab") as file:
        file.write(line(2))
    second, position = texts(reader, position)
    assert [first, second] == [[line(0).decode().strip(), line(1).decode().strip()], [line(2).decode().strip()]]
    assert texts(reader, position) == ([], position)


def test_an_unfinished_line_is_read_when_it_is_whole(reader: GrowingReader, journals: Path) -> None:
    journal = journals / "main.jsonl"
    journal.write_bytes(line(0)[:-5])
    nothing, position = texts(reader, {})
    journal.write_bytes(line(0))
    assert nothing == []
    assert len(texts(reader, position)[0]) == 1


def test_a_part_that_is_compressed_meanwhile_loses_and_repeats_no_line(reader: GrowingReader, journals: Path) -> None:
    part = journals / "client.0001.jsonl"
    part.write_bytes(line(0))
    _, position = texts(reader, {})
    with part.open("ab") as file:
        file.write(line(1))
    compress(part)
    (journals / "client.0002.jsonl").write_bytes(line(2))
    read = []
    for _ in range(3):
        added, position = texts(reader, position)
        read += added
    assert read == [line(1).decode().strip(), line(2).decode().strip()]


def test_a_compressed_part_is_not_read_again_when_it_is_over(
    reader: GrowingReader, journals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = journals / "client.0001.jsonl"
    part.write_bytes(line(0))
    compress(part)
    position: dict[str, object] = {}
    for _ in range(2):
        _, position = texts(reader, position)
    monkeypatch.setattr(growing_journals, "open_journal", None)
    assert texts(reader, position) == ([], position)
    monkeypatch.undo()
    (journals / "client.0002.jsonl").write_bytes(line(1))
    assert texts(reader, position)[0] == [line(1).decode().strip()]


def test_lines_between_two_offsets_are_read_again(reader: GrowingReader, journals: Path) -> None:
    (journals / "a.0001.jsonl").write_bytes(line(0))
    (journals / "a.0002.jsonl").write_bytes(line(1))
    (journals / "b.jsonl").write_bytes(line(0, "other"))
    end: dict[str, object] = {}
    for _ in range(3):
        _, end = reader.read(end)
    again = list(reader.readBetweenOffsets({}, end))
    assert sorted(scenario for _, scenario, _ in again) == ["other", "s", "s"]


def test_lines_outside_of_scenarios_are_left_out(reader: GrowingReader, journals: Path) -> None:
    (journals / "main.jsonl").write_bytes(b'{"kind":"begin","run":"r"}\n' + line(1))
    assert len(texts(reader, {})[0]) == 1


@pytest.mark.parametrize("suffix", ["0001.jsonl", "jsonl"])
def test_a_line_that_is_longer_than_a_batch_is_read(
    reader: GrowingReader, journals: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(growing_journals, "_OCTETS_AT_ONCE", 100)
    long, short = line(0, "s" * 200), line(1)
    (journals / f"client.{suffix}").write_bytes(long + short)
    if suffix != "jsonl":
        (journals / "client.0002.jsonl").write_bytes(line(2))
    read: list[str] = []
    position: dict[str, object] = {}
    for _ in range(3):
        added, position = texts(reader, position)
        read += added
    assert read[:2] == [long.decode().strip(), short.decode().strip()]


def test_a_compressed_part_is_decompressed_once(
    reader: GrowingReader, journals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing_journals, "_OCTETS_AT_ONCE", 100)
    opened: list[Path] = []

    def open_and_note(path: Path) -> BinaryIO:
        opened.append(path)
        return open_journal(path)

    monkeypatch.setattr(growing_journals, "open_journal", open_and_note)
    part = journals / "client.0001.jsonl"
    part.write_bytes(b"".join(line(number) for number in range(20)))
    compress(part)
    read: list[str] = []
    position: dict[str, object] = {}
    for _ in range(20):
        added, position = texts(reader, position)
        read += added
    assert len(read) == 20
    assert len(opened) == 1


def test_lines_that_came_after_an_offset_are_not_repeated_with_it(reader: GrowingReader, journals: Path) -> None:
    part = journals / "a.0001.jsonl"
    part.write_bytes(line(0))
    _, end = reader.read({})
    with part.open("ab") as file:
        file.write(line(1))
    (journals / "a.0002.jsonl").write_bytes(line(2))
    (journals / "b.jsonl").write_bytes(line(3))
    again = list(islice(reader.readBetweenOffsets({}, end), 10))
    assert [text for _, _, text in again] == [line(0).decode().strip()]
