"""Journals as raw lines: read them, edit them, and close them again.

The planter must not share code with the judge.  So this module finds the fields of a line's head by their text, and
decodes a line as a plain JSON object.  An edited journal counts as undamaged: its lines are numbered without gaps, each
has its checksum, and the ``end`` record has the right count and digest.  A line that no edit touches keeps its bytes,
except for its number and its checksum.

An edited journal is for the invariants only: the references of claims (``writer:seq``) keep their old numbers.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
from msgspec import Struct

Raw = dict[str, Any]
"""A line's JSON object, without its checksum."""
Position = tuple[str, int]
"""The writer and the number of a line."""

_HEAD = re.compile(
    rb'\{"kind":"(?P<kind>[^"]*)","v":\d+,"run":"(?P<run>[^"]*)","writer":"(?P<writer>[^"]*)","seq":(?P<seq>\d+),'
    rb'"boot":"(?P<boot>[^"]*)","mono_ns":(?P<mono>-?\d+),"wall_ns":-?\d+,"unc_ns":\d+'
    rb'(?:,"scenario":(?P<scenario>"(?:[^"\\]|\\.)*"))?'
)
_TAIL = len(b',"sum":"00000000"}\n')
_LEVEL = 1


class Edit(Struct, frozen=True):
    """Changes to the lines of one scenario.

    Args:
        subject: The message, copy or batch that is changed.
        removed: The lines that are left out.
        changed: The lines that are replaced.
        added: The new lines, each with the line after which it comes.
    """

    subject: str
    removed: frozenset[Position] = frozenset()
    changed: tuple[tuple[Position, Raw], ...] = ()
    added: tuple[tuple[Position, Raw], ...] = ()


class _Writer:
    """The lines of one writer; the number of a line is its index in the list."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.files: list[tuple[str, int]] = []
        self.clocks: dict[bytes, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))


class Journals:
    """The journals of one run.

    Args:
        folder: The folder with the files.
    """

    def __init__(self, folder: Path) -> None:
        self.run = ""
        """The run's id."""
        self.rules: dict[str, frozenset[str]] = {}
        """The rules that each scenario names."""
        self.late_ns: dict[str, int] = {}
        """The total delay of the harness in each scenario, in nanoseconds."""
        self._writers: dict[str, _Writer] = {}
        self._scenes: dict[str, list[Position]] = defaultdict(list)
        for path in sorted(folder.iterdir()):
            if path.name.endswith((".jsonl", ".jsonl.gz")) and not path.name.startswith("."):
                self._read(path)

    def _read(self, path: Path) -> None:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            for line in file:
                head = _HEAD.match(line)
                if head is None:
                    raise ValueError(f"{path}: a line has another head than this module knows: {line[:200]!r}")
                name, number = head["writer"].decode(), int(head["seq"])
                writer = self._writers.setdefault(name, _Writer())
                if number != len(writer.lines):
                    raise ValueError(f"{path}: line {number} of {name} comes as number {len(writer.lines)}.")
                if not writer.files or writer.files[-1][0] != path.name:
                    writer.files.append((path.name, number))
                times, numbers = writer.clocks[head["boot"]]
                times.append(max(int(head["mono"]), times[-1] if times else 0))
                numbers.append(number)
                writer.lines.append(line)
                if head["scenario"] is not None:
                    scenario = msgspec.json.decode(head["scenario"], type=str)
                    self._scenes[scenario].append((name, number))
                    if head["kind"] == b"scenario":
                        self.run = head["run"].decode()
                        self.rules[scenario] = frozenset(_decode(line)["rules"])
                    elif head["kind"] == b"scenario-end":
                        self.late_ns[scenario] = _decode(line).get("late_ns") or 0

    @property
    def scenarios(self) -> Sequence[str]:
        """The ids of all scenarios."""
        return tuple(self._scenes)

    @property
    def size(self) -> int:
        """The number of lines."""
        return sum(len(writer.lines) for writer in self._writers.values())

    def lines(self, scenario: str) -> list[tuple[Position, Raw]]:
        """Decode the lines of a scenario, sorted by writer and number."""
        return [
            (position, _decode(self._writers[position[0]].lines[position[1]]))
            for position in sorted(self._scenes[scenario])
        ]

    def position_at(self, writer: str, boot: str, mono_ns: int) -> Position:
        """Return the writer's last line, of any scenario, that is not later than a time."""
        times, numbers = self._writers[writer].clocks[boot.encode()]
        return writer, numbers[max(bisect_right(times, mono_ns) - 1, 0)]

    def every_line(self) -> Iterator[bytes]:
        """Return all lines as they are, writer by writer."""
        return (line for writer in self._writers.values() for line in writer.lines)

    def plain(self, scenario: str) -> list[bytes]:
        """Return the lines of one scenario as they are."""
        return [self._writers[name].lines[number] for name, number in sorted(self._scenes[scenario])]

    def edited(self, scenario: str, edit: Edit) -> list[bytes]:
        """Return the lines of one edited scenario alone, with their old order and new numbers."""
        by_writer = _by_writer([edit])
        lines: list[bytes] = []
        positions: dict[str, list[int]] = defaultdict(list)
        for name, number in sorted(self._scenes[scenario]):
            positions[name].append(number)
        for name, numbers in positions.items():
            changes = by_writer.get(name, _Changes())
            wanted = sorted({*numbers, *changes.added})
            own = set(numbers)
            count = 0
            for number in wanted:
                fresh = changes.of(number, self._writers[name].lines[number] if number in own else None)
                for line in fresh:
                    lines.append(_numbered(line, count))
                    count += 1
        return lines

    def write(self, folder: Path, edits: Iterable[Edit]) -> None:
        """Write the run with the edits, each of which is of a scenario of its own."""
        folder.mkdir(parents=True)
        by_writer = _by_writer(edits)
        for name, writer in self._writers.items():
            _write(folder, writer, by_writer.get(name, _Changes()))


class _Changes:
    """The changes to one writer's lines, by the lines' old numbers."""

    def __init__(self) -> None:
        self.removed: set[int] = set()
        self.changed: dict[int, Raw] = {}
        self.added: dict[int, list[Raw]] = defaultdict(list)

    def of(self, number: int, line: bytes | None) -> list[bytes]:
        """Return the lines that take the place of a line, which is None if it belongs to another scenario."""
        lines = [] if number in self.removed or line is None else [line]
        if number in self.changed:
            lines = [_encode(self.changed[number])]
        return [*lines, *(_encode(raw) for raw in self.added.get(number, ()))]


def _by_writer(edits: Iterable[Edit]) -> Mapping[str, _Changes]:
    changes: dict[str, _Changes] = defaultdict(_Changes)
    for edit in edits:
        for name, number in edit.removed:
            changes[name].removed.add(number)
        for (name, number), raw in edit.changed:
            changes[name].changed[number] = raw
        for (name, number), raw in edit.added:
            changes[name].added[number].append(raw)
    for one in changes.values():
        for added in one.added.values():
            added.sort(key=lambda raw: int(raw["mono_ns"]))
    return changes


def _write(folder: Path, writer: _Writer, changes: _Changes) -> None:
    digest, count = hashlib.sha256(), 0
    starts = [start for _, start in writer.files]
    for (name, start), end in zip(writer.files, [*starts[1:], len(writer.lines)], strict=True):
        path = folder / name
        with gzip.open(path, "wb", _LEVEL) if name.endswith(".gz") else path.open("wb") as file:
            for number in range(start, end):
                for line in changes.of(number, writer.lines[number]):
                    fresh = _numbered(line, count)
                    if fresh.startswith(b'{"kind":"end"'):
                        closed = _decode(fresh) | {"events": count, "sha256": digest.hexdigest()}
                        fresh = _numbered(_encode(closed), count)
                    file.write(fresh)
                    digest.update(fresh)
                    count += 1


def _decode(line: bytes) -> Raw:
    raw = msgspec.json.decode(line, type=dict[str, Any])
    raw.pop("sum")
    return raw


def _encode(raw: Raw) -> bytes:
    return msgspec.json.encode(raw)[:-1] + b',"sum":"00000000"}\n'


def _numbered(line: bytes, number: int) -> bytes:
    """Give a line its number and its checksum."""
    head = _HEAD.match(line)
    if head is None:
        raise ValueError(f"a line lost its head: {line[:200]!r}")
    body = line[: head.start("seq")] + str(number).encode() + line[head.end("seq") : -_TAIL]
    return b'%b,"sum":"%08x"}\n' % (body, crc32(body))
