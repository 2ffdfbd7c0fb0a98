"""The lines of growing journals as a streaming source of Spark.

An offset holds, for each writer, the index of a part and how many octets of the part were read.  Only whole lines
count, so a line that its writer has not finished is read later.  A part that is compressed, or that another part
follows, grows no more.  After its last line, the offset therefore names the begin of the next part, even if that part
does not exist yet.  So no later read decompresses the part again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader
from pyspark.sql.types import StructType

from assay_evidence.files.parts import COMPRESSED, journals_in, open_journal, writer_of
from assay_pipeline.journals import journal_folder

FORMAT = "assay-growing"
LINES = "run string, scenario string, line string"
"""The columns of the source; lines outside of scenarios are left out."""
_OCTETS_AT_ONCE = 8 << 20
"""The number of bytes of each journal after which a batch ends.

A batch still reads a longer line to its end.  It also reads a compressed part to its end, because the next batch would
decompress the part from its begin."""
_RUN = re.compile(rb'"run":"([^"\\]*)"')
_SCENARIO = re.compile(rb'"scenario":"([^"\\]*)"')
Offset = Mapping[str, Any]
_Line = tuple[str, str, str]
_Position = tuple[int, int]
"""The index of a part, and a number of octets of the part."""


class GrowingJournals(DataSource):
    """The source; its path is the output folder of a run, or a folder of journals."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return FORMAT

    def schema(self) -> str:
        """Return the columns."""
        return LINES

    def simpleStreamReader(self, schema: StructType) -> SimpleDataSourceStreamReader:  # noqa: N802 - Spark's name
        """Make the reader of the folder that ``load`` names."""
        del schema
        return GrowingReader(Path(self.options["path"]))


class GrowingReader(SimpleDataSourceStreamReader):
    """Reads the lines that were added to the journals of a folder since the last batch.

    Args:
        folder: The output folder of a run, or a folder of journals.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Return the offset before the first line."""
        return {}

    def read(self, start: Offset) -> tuple[Iterator[_Line], dict[str, Any]]:
        """Return the next lines, and the offset after them."""
        lines: list[_Line] = []
        end = dict(start)
        for writer, parts in _journals(self._folder).items():
            position, added = _next_lines(parts, _position(start, writer))
            end[writer] = list(position)
            lines += added
        return iter(lines), end

    def readBetweenOffsets(self, start: Offset, end: Offset) -> Iterator[_Line]:  # noqa: N802 - Spark's name
        """Read the lines between two offsets again, for a batch that Spark repeats."""
        for writer, parts in _journals(self._folder).items():
            last = _position(end, writer)
            for position, text in _whole_lines(parts, _position(start, writer)):
                if position > last:
                    break
                yield from _line(text)


def _journals(folder: Path) -> dict[str, list[Path]]:
    return {writer_of(paths[0]): paths for paths in journals_in(journal_folder(folder).iterdir())}


def _position(offset: Offset, writer: str) -> _Position:
    part, octets = offset.get(writer, (0, 0))
    return part, octets


def _next_lines(parts: list[Path], start: _Position) -> tuple[_Position, list[_Line]]:
    """Read the next lines of a writer.

    Returns:
        The new position, and the lines.
    """
    position, octets = start, 0
    lines: list[_Line] = []
    for position, text in _whole_lines(parts, start):
        lines += _line(text)
        octets += len(text)
        between_parts = position[1] == 0
        if octets >= _OCTETS_AT_ONCE and (between_parts or not _is_compressed(parts[position[0]])):
            break
    return position, lines


def _whole_lines(parts: list[Path], start: _Position) -> Iterator[tuple[_Position, bytes]]:
    """Yield the whole lines of a writer from a position on, without line ends, each with the position after the line.

    After a part that grows no more, yield an empty line with the position at which the next part begins.
    """
    for part, path in enumerate(parts[start[0] :], start[0]):
        octets = start[1] if part == start[0] else 0
        with open_journal(path) as file:
            file.seek(octets)
            for text in file:
                if text.endswith(b"\n"):
                    octets += len(text)
                    yield (part, octets), text.rstrip(b"\r\n")
        if _is_compressed(path) or part + 1 < len(parts):
            yield (part + 1, 0), b""


def _is_compressed(path: Path) -> bool:
    return path.name.endswith(COMPRESSED)


def _line(text: bytes) -> Iterator[_Line]:
    run, scenario = _RUN.search(text), _SCENARIO.search(text)
    if run is not None and scenario is not None:
        yield run[1].decode(errors="replace"), scenario[1].decode(errors="replace"), text.decode(errors="replace")
