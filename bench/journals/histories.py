"""Write a history of any size: `python bench/journals/histories.py SOAK OUT --events 1000000`.

The history repeats the journals of a recorded soak (`assay soak`).  Each copy has later times than the copy before it.
It has its own slices, and therefore its own messages, destinations and faults.  This program numbers the lines and
computes checksums and digests again, so the history of an undamaged soak is undamaged.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from msgspec import Struct, json

from assay_evidence.files.parts import PartFiles, PartLimits, journals_in, open_journal, writer_of

TIME = rb'(?<="mono_ns":)\d+|(?<="wall_ns":)\d+|(?<="happened_ns":)\d+'
MESSAGE_TIME = rb'(?<="JMSTimestamp":)[1-9]\d*|(?<="JMSExpiration":)[1-9]\d*|(?<="JMSDeliveryTime":)[1-9]\d*'
CHANGING = re.compile(rb'(?<="seq":)\d+|' + TIME + rb"|" + MESSAGE_TIME + rb"|(?<=\[slice )\d+(?=\])")
"""Matches numbers that differ between copies: a line's number, times, and a slice's number in a scenario's name."""
WALL = re.compile(rb'"wall_ns":(\d+)')
SLICE = re.compile(rb"\[slice (\d+)\]")
SUM_OCTETS = len(b',"sum":"00000000"}\n')
NS_PER_MS = 1_000_000
PAUSE_NS = 10_000 * NS_PER_MS
"""The time between the end of a copy and the start of the next copy, in nanoseconds."""
PARTS = PartLimits(buffer_bytes=1 << 20)
ONCE = (b'{"kind":"begin"', b'{"kind":"plan"', b'{"kind":"end"')
"""The first characters of the lines that a journal has only once, however often the soak is repeated."""


class Number(Struct, frozen=True):
    """A number that differs between the copies of a line.

    Args:
        value: The value in the soak.
        step: The difference between the values in two consecutive copies; 0 for the line's own number.
    """

    value: int
    step: int


class Shape(Struct, frozen=True):
    """A line without its checksum, cut at the numbers that differ between copies.

    Args:
        texts: The texts before, between and after the numbers.
        numbers: The numbers; the first is the line's own number, which the writer counts.
    """

    texts: tuple[bytes, ...]
    numbers: tuple[Number, ...]

    def line(self, seq: int, copy: int) -> bytes:
        """Return the line of a copy, with its checksum and newline."""
        pieces = [self.texts[0], b"%d" % seq]
        for text, number in zip(self.texts[1:], self.numbers[1:], strict=False):
            pieces += (text, b"%d" % (number.value + copy * number.step))
        pieces.append(self.texts[-1])
        body = b"".join(pieces)
        return b'%b,"sum":"%08x"}\n' % (body, crc32(body))


class Soak(Struct, frozen=True):
    """The journals of a soak.

    Args:
        lines: Every writer's lines, by the writer's name.
        span_ns: The time from the start of one copy to the start of the next, in nanoseconds.
        slices: The number of slices.
    """

    lines: dict[str, list[bytes]]
    span_ns: int
    slices: int


def read_soak(folder: Path) -> Soak:
    """Read the journals of a soak.

    Args:
        folder: The soak's output folder.

    Raises:
        SystemExit: The folder holds no journal of a soak.
    """
    lines: dict[str, list[bytes]] = {}
    for paths in journals_in(sorted(folder.joinpath("journals").glob("*"))):
        told = lines.setdefault(writer_of(paths[0]), [])
        for path in paths:
            with open_journal(path) as file:
                told.extend(file)
    everything = [line for told in lines.values() for line in told]
    times = [int(match[1]) for line in everything if (match := WALL.search(line))]
    slices = {int(match[1]) for line in everything if (match := SLICE.search(line))}
    if not slices:
        sys.exit(f"{folder} holds no journal of a soak: make one with `assay soak --out {folder}`.")
    return Soak(lines, max(times) - min(times) + PAUSE_NS, max(slices))


def shape_of(body: bytes, soak: Soak) -> Shape:
    """Cut a line without its checksum at the numbers that differ between copies."""
    texts, numbers, end = [], [], 0
    for match in CHANGING.finditer(body):
        before = body[end : match.start()]
        texts.append(before)
        numbers.append(Number(int(match[0]), _step(before, soak)))
        end = match.end()
    return Shape((*texts, body[end:]), tuple(numbers))


def _step(before: bytes, soak: Soak) -> int:
    """Return `Number.step` of the number that follows a text in a line."""
    if before.endswith(b"[slice "):
        return soak.slices
    if before.endswith(b'_ns":'):
        return soak.span_ns
    return 0 if before.endswith(b'"seq":') else soak.span_ns // NS_PER_MS


def write_history(soak: Soak, out: Path, copies: int) -> int:
    """Write the journals, and return the number of their lines.

    Args:
        soak: The recorded soak.
        out: The new folder.
        copies: How often the soak is repeated.

    Raises:
        JournalError: The folder cannot be written, or holds such journals already.
    """
    return sum(
        _write_journal(soak, out / "journals" / f"{name}.jsonl", told, copies) for name, told in soak.lines.items()
    )


def _write_journal(soak: Soak, path: Path, told: list[bytes], copies: int) -> int:
    """Write a journal, whose last line has the digest of the lines before it; return the number of its lines."""
    file, digest, count = PartFiles(path, PARTS), hashlib.sha256(), 0
    for seq, line in enumerate(_lines(soak, told, copies)):
        digest.update(line)
        file.write(line)
        count = seq + 1
    file.write(_end(told[-1], soak, count, copies, digest.hexdigest()))
    file.close(whole=True)
    return count + 1


def _lines(soak: Soak, told: list[bytes], copies: int) -> Iterator[bytes]:
    """Yield the lines of a journal except the last line."""
    seq = itertools.count()
    for line in told:
        if line.startswith(ONCE[:-1]):
            yield shape_of(line[:-SUM_OCTETS], soak).line(next(seq), 0)
    repeated = [shape_of(line[:-SUM_OCTETS], soak) for line in told if not line.startswith(ONCE)]
    for copy in range(copies):
        for shape in repeated:
            yield shape.line(next(seq), copy)


def _end(line: bytes, soak: Soak, seq: int, copies: int, digest: str) -> bytes:
    fields = json.decode(line)
    del fields["sum"]
    fields |= {"events": seq, "sha256": digest}
    return shape_of(json.encode(fields)[:-1], soak).line(seq, copies - 1)


def repeat_soak(folder: Path, out: Path, events: int) -> int:
    """Write a history, and return the number of its lines.

    Args:
        folder: The output folder of a soak.
        out: The new folder.
        events: The smallest number of lines.

    Raises:
        SystemExit: The folder holds no journal of a soak.
        JournalError: The new folder cannot be written, or holds such journals already.
    """
    soak = read_soak(folder)
    copies = -(-events // sum(map(len, soak.lines.values())))
    return write_history(soak, out, copies)


def main() -> None:
    """Read the arguments and write the history."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("soak", type=Path, help="the output folder of `assay soak`")
    parser.add_argument("out", type=Path, help="a new folder")
    parser.add_argument("--events", type=int, default=1_000_000, help="the smallest number of lines; default 1000000")
    chosen = parser.parse_args()
    print(f"{repeat_soak(chosen.soak, chosen.out, chosen.events)} lines")


if __name__ == "__main__":
    main()
