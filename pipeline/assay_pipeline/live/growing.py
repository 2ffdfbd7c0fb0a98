"""The lines of growing journals as a streaming source of Spark.

An offset holds, for each writer, the index of a part and how many octets of the part were read.  Only whole lines
count, so a line that its writer has not finished is read later.  A compressed part grows no more.  After its last line,
the offset therefore names the begin of the next part, even if that part does not exist yet.  So no later read
decompresses the part again.
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
"""The largest number of bytes that one batch reads from each journal."""
_RUN = re.compile(rb'"run":"([^"\\]*)"')
_SCENARIO = re.compile(rb'"scenario":"([^"\\]*)"')
Offset = Mapping[str, Any]
_Line = tuple[str, str, str]


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
    """Reads what was added to the journals of a folder since the last batch.

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
            part, octets, added = _next_lines(parts, *start.get(writer, (0, 0)))
            end[writer] = [part, octets]
            lines += added
        return iter(lines), end

    def readBetweenOffsets(self, start: Offset, end: Offset) -> Iterator[_Line]:  # noqa: N802 - Spark's name
        """Read the lines between two offsets again, for a batch that Spark repeats."""
        position = start
        while position != end:
            lines, position = self.read(position)
            yield from lines


def _journals(folder: Path) -> dict[str, list[Path]]:
    return {writer_of(paths[0]): paths for paths in journals_in(journal_folder(folder).iterdir())}


def _next_lines(parts: list[Path], part: int, octets: int) -> tuple[int, int, list[_Line]]:
    """Read whole lines of a writer from a position on, in this part or, if it is over, in the next one.

    Returns:
        The new position (part and octets), and the lines.
    """
    if part == len(parts):
        return part, octets, []
    with open_journal(parts[part]) as file:
        file.seek(octets)
        added = file.read(_OCTETS_AT_ONCE)
    whole = added[: added.rfind(b"\n") + 1]
    if not whole and (part + 1 < len(parts) or parts[part].name.endswith(COMPRESSED)):
        return _next_lines(parts, part + 1, 0)
    return part, octets + len(whole), [line for text in whole.splitlines() for line in _line(text)]


def _line(text: bytes) -> Iterator[_Line]:
    run, scenario = _RUN.search(text), _SCENARIO.search(text)
    if run is not None and scenario is not None:
        yield run[1].decode(errors="replace"), scenario[1].decode(errors="replace"), text.decode(errors="replace")
