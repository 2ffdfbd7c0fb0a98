"""The journals of runs as a data source of Spark: ``spark.read.format("assay").load(RUN)``.

Each journal file is one partition.  A Python process reads its lines, checks each as `assay_evidence.reader` does
(`read_line`), and returns Arrow batches.  A damaged line does not end a query: it becomes a row with its damage,
without an event.

The data source examines each line by itself, so it does not find missing lines.  `assay_pipeline.bronze` finds them,
and parses with Spark's own expressions, which are faster than a Python process for each core.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import ArrayType, DataType, LongType, MapType, StringType, StructField, StructType

from assay_evidence.errors import LineError
from assay_evidence.lines import read_line
from assay_pipeline.journals import JournalFile, find_journals, open_lines
from assay_pipeline.places.naming import place_of
from assay_pipeline.places.remote import reason_of
from assay_pipeline.schema import event_schema

if TYPE_CHECKING:
    from pyarrow import RecordBatch

FORMAT = "assay"
"""The name of the format."""
BATCH_ROWS = 2_000
"""The largest number of rows in an Arrow batch."""
_LARGEST = 1 << 63
_EVENTS = event_schema()

_OF_LINES = (
    StructField("folder", StringType()),
    StructField("file", StringType()),
    StructField("file_line", LongType()),
    StructField("damage", StringType()),
    StructField("damage_text", StringType()),
    StructField("damaged_line", StringType()),
)
Row = Mapping[str, Any]


def source_schema() -> StructType:
    """Make the schema of the source.

    The first columns describe the line: ``folder``, ``file``, ``file_line`` (the line's number in its file, from 1),
    ``damage`` (null for a valid line; its values are those of `assay_evidence.lines.JournalDamage`, or ``unreadable``
    for a file that cannot be read), ``damage_text`` (one sentence) and ``damaged_line`` (the text of the damaged line).
    Every field of every kind of event follows.
    """
    return StructType([*_OF_LINES, *_EVENTS.fields])


class JournalSource(DataSource):
    """The data source ``assay``; its path or URI is that of a run's output folder, or of a folder of journals."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return FORMAT

    def schema(self) -> StructType:
        """Return all columns."""
        return source_schema()

    def reader(self, schema: StructType) -> DataSourceReader:
        """Make the reader of the folders that ``load`` names."""
        several = self.options.get("paths")
        folders = msgspec.json.decode(several, type=list[str]) if several else [self.options.get("path", ".")]
        return JournalSourceReader(tuple(folders), schema)


class JournalSourceReader(DataSourceReader):
    """Lists the journal files, and reads each of them.

    Args:
        folders: The folders that the user named.
        schema: The columns to return.
    """

    def __init__(self, folders: tuple[str, ...], schema: StructType) -> None:
        self._folders = folders
        self._schema = schema

    def partitions(self) -> list[InputPartition]:
        """Make a partition of each journal file.

        Raises:
            NoJournalError: A folder is missing or holds no journal.
            PlaceError: A URI names no place that can be used.
        """
        return [InputPartition(file) for file in find_journals(map(place_of, self._folders))]

    def read(self, partition: InputPartition) -> Iterator[RecordBatch]:  # pyright: ignore[reportUnknownParameterType] - pyarrow has no types
        """Read a journal file as Arrow batches."""
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_schema

        columns = to_arrow_schema(self._schema)
        rows = read_rows(partition.value)
        while batch := list(islice(rows, BATCH_ROWS)):
            yield pa.RecordBatch.from_pylist(batch, schema=columns)


def read_rows(file: JournalFile) -> Iterator[Row]:
    """Read the lines of a journal file, each as a row of `source_schema`; absent columns are null.

    If the file is torn, altered or missing, the last row has this damage; the rows before it have the lines before it.
    """
    number = 0
    damage: Row | None = None
    try:
        with open_lines(file) as lines:
            for number, line in enumerate(lines, start=1):
                yield {"folder": file.folder, "file": file.path, "file_line": number, **_line_cells(line)}
    except (EOFError, gzip.BadGzipFile, zlib.error):
        damage = {"damage": "undecodable", "damage_text": "The compressed file is torn or altered from here on."}
    except OSError as error:
        damage = {"damage": "unreadable", "damage_text": f"The file cannot be read ({reason_of(error)})."}
    if damage is not None:
        yield {"folder": file.folder, "file": file.path, "file_line": number + 1, **damage}


def _line_cells(line: bytes) -> Row:
    """Return the columns of a line's event, or of its damage."""
    try:
        fields = msgspec.to_builtins(read_line(line))
        return _cells(_EVENTS, fields)
    except LineError as error:
        text = line.removesuffix(b"\n").decode(errors="replace")
        return {"damage": error.kind, "damage_text": error.text, "damaged_line": text}


def _cells(columns: StructType, fields: Mapping[str, object]) -> dict[str, object]:
    return {
        column.name: _cell(column.dataType, fields[column.name]) for column in columns.fields if column.name in fields
    }


def _cell(column: DataType, value: Any) -> object:
    """Convert a decoded value to a column's type; values of mixed types become text as in JSON.

    Raises:
        LineError: A number has more than 64 bits.
    """
    if value is None:
        return None
    if isinstance(column, StringType):
        return value if isinstance(value, str) else msgspec.json.encode(value).decode()
    if isinstance(column, LongType) and not -_LARGEST <= value < _LARGEST:
        raise LineError("undecodable", f"The number {value} has more than 64 bits.")
    if isinstance(column, ArrayType):
        return [_cell(column.elementType, item) for item in value]
    if isinstance(column, MapType):
        return [(key, _cell(column.valueType, item)) for key, item in value.items()]
    return _cells(column, value) if isinstance(column, StructType) else value
