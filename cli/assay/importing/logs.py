"""Reads the lines of logs: JSON lines and CSV, plain or compressed with gzip, and Parquet.

Only one line is in memory at a time, or one batch of rows of Parquet.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TextIO, cast

import msgspec

from assay.exits import CannotRunError, UsageProblem
from assay.importing.rows import Line

JSON_LINES, CSV, PARQUET = (".jsonl", ".ndjson", ".json"), (".csv",), ".parquet"
GZIP = ".gz"
LONGEST = 1 << 20
"""The largest length of a line, in bytes of JSON or characters of CSV; a longer line is left out."""
BATCH_ROWS = 2_000
"""The number of rows of Parquet that are in memory at a time."""


def check(log: Path) -> None:
    """Refuse a file that cannot be a log.

    Raises:
        UsageProblem: The file is missing, is a folder, or has an unknown form.
    """
    if log.is_dir():
        raise UsageProblem(f"{log} is a folder: name the files of the log.")
    if not log.exists():
        raise UsageProblem(f"{log} does not exist: name the files of the log.")
    if log.suffix.lower() != PARQUET and _form(log) not in (*JSON_LINES, *CSV):
        known = ", ".join((*JSON_LINES, *CSV))
        raise UsageProblem(
            f"{log} has no known form: convert it to one of {known}, one of these with {GZIP}, or {PARQUET}."
        )


def lines(log: Path) -> Iterator[Line]:
    """Yield the lines of a log; blank lines are left out.

    If a compressed log is torn or altered, the last yielded line has the reason in place of a record.

    Raises:
        UsageProblem: The file cannot be opened or read.
        CannotRunError: The file is Parquet, and pyarrow is not installed.
    """
    last = 0
    read = _parquet if _form(log) == PARQUET else _csv if _form(log) in CSV else _json
    try:
        with _open(log) as file:
            for line in read(file):
                last = line.number
                yield line
    except (EOFError, gzip.BadGzipFile, zlib.error):
        yield Line(last + 1, None, "the compressed file is torn or altered from here on")
    except OSError as problem:
        raise UsageProblem(f"{log} cannot be read ({problem.strerror}): correct its access rights.") from problem


def _form(log: Path) -> str:
    return Path(log.name.removesuffix(GZIP)).suffix.lower()


def _open(log: Path) -> BinaryIO:
    return cast("BinaryIO", gzip.open(log)) if log.name.endswith(GZIP) else log.open("rb")


def _json(file: BinaryIO) -> Iterator[Line]:
    number = 0
    while octets := file.readline(LONGEST + 1):
        number += 1
        if len(octets) > LONGEST:
            while octets and not octets.endswith(b"\n"):
                octets = file.readline(LONGEST)
            yield Line(number, None, f"the line is longer than {LONGEST} bytes")
        elif octets.strip():
            yield _json_line(octets, number)


def _json_line(octets: bytes, number: int) -> Line:
    try:
        record = msgspec.json.decode(octets)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Line(number, None, f"the line is not JSON ({error})")
    if not isinstance(record, dict):
        return Line(number, None, "the line is not a JSON object")
    return Line(number, record)


def _csv(file: BinaryIO) -> Iterator[Line]:
    with io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        lines = _CsvLines(text)
        reader = csv.reader(lines, strict=True)
        names: list[str] | None = None
        while True:
            try:
                values = next(reader)
            except StopIteration:
                return
            except _LongLineError:
                yield Line(lines.number, None, f"the line is longer than {LONGEST} characters")
                if names is None:  # no later line says what the columns are
                    return
            except csv.Error as error:
                yield Line(lines.number, None, f"the line is not CSV ({error})")
            except UnicodeDecodeError:
                yield Line(lines.number + 1, None, "the text is not UTF-8 from here on")
                return
            else:
                if names is None:
                    names = values
                elif values:
                    yield _csv_line(lines.number, names, values)


class _LongLineError(Exception):
    """The next line of a CSV file is too long, and is skipped."""


class _CsvLines:
    """The lines of a CSV file; `csv.reader` can go on after a line that is too long.

    Args:
        text: The file.
    """

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self.number = 0
        """The number of the last line, from 1."""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._text.readline(LONGEST + 1)
        if not line:
            raise StopIteration
        self.number += 1
        if len(line) <= LONGEST:
            return line
        while line and not line.endswith(("\n", "\r")):
            line = self._text.readline(LONGEST)
        raise _LongLineError


def _csv_line(number: int, names: list[str], values: list[str]) -> Line:
    if len(values) != len(names):
        return Line(number, None, f"the line has {len(values)} values, and the first line {len(names)}")
    return Line(number, dict(zip(names, values, strict=True)))


def _parquet(file: BinaryIO) -> Iterator[Line]:
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError as problem:
        raise CannotRunError(
            "A log in the form of Parquet needs the package pyarrow, which is not installed here:"
            " pip install 'assay-mq[spark]'."
        ) from problem
    number = 0
    try:
        for batch in pyarrow.parquet.ParquetFile(file).iter_batches(batch_size=BATCH_ROWS):
            # Python's times have no nanoseconds.
            columns = [
                column.cast(pa.timestamp("us", column.type.tz), safe=False)
                if pa.types.is_timestamp(column.type)
                else column
                for column in batch.columns
            ]
            for record in pa.RecordBatch.from_arrays(columns, names=batch.schema.names).to_pylist():
                number += 1
                yield Line(number, record)
    except (pa.ArrowException, OSError) as error:
        yield Line(number + 1, None, f"the file is not Parquet, or it is altered from here on ({_first_line(error)})")


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
