from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.evidence.histories import EPOCH_NS, RUN, Story, begin, plan, planned

from assay_evidence.errors import JournalError
from assay_evidence.lines import encode_line
from assay_evidence.reader import read_journals
from assay_evidence.writer import Instant, JournalWriter

AT = Instant("virtual:1", 0, EPOCH_NS, 0)
Lines = list[bytes]


def write(folder: Path, writer: str, *, run: str = RUN, writers: tuple[str, ...] = (), with_plan: bool = False) -> Path:
    """Return a journal of six lines: begin, (plan or step), three steps, end."""
    with JournalWriter(folder / f"{writer}.jsonl", run=run, writer=writer) as journal:
        begin(journal)
        story = Story(journal)
        if with_plan:
            plan(journal, planned(story.scenario))
        for _ in range(3 if with_plan else 4):
            story.step()
        journal.close(AT, writers)
    return journal.path


def damage(source: Path) -> list[tuple[str, str, int]]:
    return [(harm.kind, harm.writer, harm.line) for harm in read_journals(source).damage]


def test_events_come_by_writer_and_number_whatever_the_order_of_files(tmp_path: Path) -> None:
    paths = [write(tmp_path, name) for name in ("b", "a", "c")]
    journals = read_journals(paths)
    assert [event.ref for event in journals.events] == [f"{name}:{seq}" for name in "abc" for seq in range(6)]
    assert journals.damage == ()
    assert journals == read_journals(tmp_path)


def test_one_file_can_be_read_by_itself(tmp_path: Path) -> None:
    assert len(read_journals(write(tmp_path, "a")).events) == 6


def altered(lines: Lines) -> Lines:
    return [*lines[:2], lines[2].replace(b"something", b"nothing"), *lines[3:]]


def reordered(lines: Lines) -> Lines:
    return [*lines[:2], lines[3], lines[2], *lines[4:]]


@pytest.mark.parametrize(
    ("hurt", "expected"),
    [
        (lambda lines: lines[1:], [("gap", 1), ("count", 5), ("digest", 5), ("no-begin", 0)]),
        (lambda lines: lines[:2] + lines[3:], [("gap", 3), ("count", 5), ("digest", 5)]),
        (lambda lines: lines[:-1], [("no-end", 5)]),
        (lambda lines: lines[:3] + lines[2:], [("duplicate", 4), ("count", 7), ("digest", 7)]),
        (lambda lines: [*lines, lines[-1]], [("count", 7)]),
        (lambda lines: [*lines, b"\n"], [("count", 7)]),
        (lambda lines: [*lines[:2], b"\n", *lines[2:]], [("undecodable", 3), ("count", 7), ("digest", 7)]),
        (
            lambda lines: [*lines[:2], lines[2][:-1] + lines[3], *lines[4:]],
            [("checksum", 3), ("gap", 4), ("count", 5), ("digest", 5)],
        ),
        (altered, [("checksum", 3), ("gap", 4), ("digest", 6)]),
        (reordered, [("gap", 3), ("gap", 4), ("digest", 6)]),
        (lambda lines: [*lines[:3], lines[3][:20]], [("undecodable", 4), ("no-end", 4)]),
        (lambda lines: [*lines[:-1], lines[-1][:-1]], [("undecodable", 6), ("no-end", 6)]),
        (
            lambda lines: [lines[0][:30] + b"\n", *lines[1:]],
            [("gap", 2), ("digest", 6), ("undecodable", 1), ("no-begin", 0)],
        ),
        (lambda _lines: [], [("no-begin", 0), ("no-end", 0)]),
        (lambda _lines: [b"no journal\n"], [("undecodable", 1), ("no-begin", 0), ("no-end", 1)]),
    ],
    ids=[
        "first line deleted",
        "middle line deleted",
        "end deleted",
        "line doubled",
        "end doubled",
        "blank line at the end",
        "blank line inside",
        "two objects in a line",
        "line altered",
        "lines in another order",
        "torn tail",
        "torn newline",
        "torn head",
        "empty",
        "something else",
    ],
)
def test_every_line_is_accounted_for(
    tmp_path: Path, hurt: Callable[[Lines], Lines], expected: list[tuple[str, int]]
) -> None:
    path = write(tmp_path, "a")
    path.write_bytes(b"".join(hurt(path.read_bytes().splitlines(keepends=True))))
    assert damage(tmp_path) == [(kind, "a", line) for kind, line in expected]


def test_a_line_of_another_run_or_writer_is_foreign_and_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, "a")
    lines = path.read_bytes().splitlines(keepends=True)
    (tmp_path / "other").mkdir()
    foreign = [write(tmp_path / "other", "x"), write(tmp_path / "other", "a", run="run-2")]
    for index, other in enumerate(foreign):
        lines[index + 2] = other.read_bytes().splitlines(keepends=True)[index + 2]
    path.write_bytes(b"".join(lines))
    kinds = [harm.kind for harm in read_journals(tmp_path).damage]
    assert kinds == ["foreign", "foreign", "gap", "digest"]
    assert {event.ref for event in read_journals(tmp_path).events} == {"a:0", "a:1", "a:4", "a:5"}


def test_a_file_of_another_run_is_foreign_and_left_out(tmp_path: Path) -> None:
    write(tmp_path, "a", run="run-0")
    write(tmp_path, "b", with_plan=True)
    assert damage(tmp_path) == [("foreign", "a", 0)]
    assert {event.writer for event in read_journals(tmp_path).events} == {"b"}


def test_two_files_of_one_writer_are_told_and_the_second_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, "a")
    (tmp_path / "b.jsonl").write_bytes(path.read_bytes())
    assert damage(tmp_path) == [("duplicate", "a", 0)]
    assert len(read_journals(tmp_path).events) == 6


def test_a_writer_that_the_controller_names_must_have_a_file(tmp_path: Path) -> None:
    write(tmp_path, "main", writers=("main", "gw0", "gw1"))
    write(tmp_path, "gw1")
    assert damage(tmp_path) == [("missing-writer", "gw0", 0)]


def test_a_line_with_the_right_checksum_and_the_wrong_content_breaks_the_digest(tmp_path: Path) -> None:
    path = write(tmp_path, "a")
    lines = path.read_bytes().splitlines(keepends=True)
    other = read_journals(path).events[3]
    lines[3] = encode_line(
        type(other)(**{name: getattr(other, name) for name in other.__struct_fields__} | {"mono_ns": 9})
    )
    path.write_bytes(b"".join(lines))
    assert damage(tmp_path) == [("digest", "a", 6)]


def test_a_folder_without_journals_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="There is no journal"):
        read_journals(tmp_path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"x\.jsonl cannot be read"):
        read_journals(tmp_path / "x.jsonl")
