"""Tests of ``assay import``: bad lines, mistakes in the call, the order of events, and what stays behind."""

from __future__ import annotations

import gzip
import random
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from tests.cli.conftest import Assay
from tests.cli.importing.logbook import MAPPING, Logbook, begin_of, judged

from assay.exits import Exit
from assay.importing import importer, logs
from assay.importing.columns import COLUMNS, Kind
from assay.importing.mapping import LogMapping
from assay.importing.needs import NEEDS
from assay.importing.rows import Line, RowError, RowReader
from assay_evidence import JournalError
from assay_evidence.events import Seen, Settle
from assay_evidence.reader import read_journals

PAGE = (Path(__file__).parents[3] / "docs" / "import.md").read_text(encoding="utf-8")
SEND = '{"event": "send", "client": "c", "message": "m", "destination": "Q", "time": "2026-11-27T09:00:00Z"}'
GET = SEND.replace("send", "receive")


def block(language: str) -> str:
    """Return the first block of the documentation in a language."""
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


# the documentation ----------------------------------------------------------------------------------------------------


def test_the_example_of_the_documentation_works(assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("orders.jsonl").write_text(block("json"))
    Path("orders.toml").write_text(block("toml"))
    command = block("console").splitlines()[0]
    assert command.startswith("$ assay import ")
    ended = assay(*command.split()[2:])
    assert (ended.code, ended.err) == (Exit.AS_EXPECTED, "")
    assert "6 lines, 3 journals: 1 close, 1 open, 2 receive, 2 send" in ended.out
    found = judged(Path("orders"))
    assert found.failed == ["DD-02"]
    assert found.verdict("DD-03") == "pass"
    assert (found.verdict("PD-18"), "redelivered" in found.rules["PD-18"].reason) == ("not-demonstrated", True)
    (scenario,) = found.rules["DD-02"].scenarios
    assert any(finding.observed == "m-2: 3.5 s before it was due" for finding in scenario.findings)


def test_the_documentation_lists_the_columns_and_the_rules() -> None:
    columns = dict(re.findall(r"^\| `(\w+)` \| ([\w -]+) \| [a-z]", PAGE, re.MULTILINE))
    assert columns == {name: column.type.value for name, column in COLUMNS.items()}
    assert re.findall(r"^\| ([A-Z]{2}-\d\d) \|", PAGE, re.MULTILINE) == list(NEEDS)
    assert all(f"`{kind.value}`" in PAGE for kind in Kind)


# bad lines ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"event": "send"', "the line is not JSON"),
        ("[1]", "the line is not a JSON object"),
        ("\xff", "the line is not JSON"),
        ('{"event": "send"}', "the column time is missing"),
        ('{"evnt": "send"}', "the column event is missing"),
        (SEND.replace("send", "snd"), "no kind of row 'snd'; did you mean 'send'?"),
        (SEND.replace("T09:00:00Z", " at nine"), "time is '2026-11-27 at nine', not a time"),
        (SEND.replace('"2026-11-27T09:00:00Z"', "1795770000"), "must state the unit of a number"),
        (SEND.replace('"time"', '"delay": -1, "time"'), "delay is '-1', not a duration"),
        (SEND.replace('"time"', '"delay": "soon", "time"'), "delay is 'soon', not a duration"),
        (SEND.replace('"time"', '"delay": [1], "time"'), "delay is a JSON array"),
        (SEND.replace('"time"', '"mode": 2, "time"'), "mode is '2', not persistent or non-persistent"),
        (SEND.replace('"time"', '"answered": "2026-11-27T08:59:59Z", "time"'), "answered is earlier than time"),
        (GET.replace('"time"', '"redelivered": "perhaps", "time"'), "redelivered is 'perhaps', not true or false"),
        (SEND.replace('"m"', '""'), "the column message is missing"),
    ],
)
def test_a_bad_line_is_counted_and_named(assay: Assay, tmp_path: Path, line: str, says: str) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(f"{SEND}\n\n{line}\n".encode("latin-1"))
    ended = assay("import", log, "--out", tmp_path / "run")
    assert ended.code is Exit.INCONCLUSIVE
    assert "2 lines, 2 journals: 1 send" in ended.out
    assert "1 line left out" in ended.out
    (told,) = (text for text in ended.out.splitlines() if "log.jsonl:3: " in text)
    assert says in told
    unread = begin_of(read_journals(tmp_path / "run" / "journals")).unread
    assert len(unread) == 1
    assert unread[0].startswith("1 line of the log could not be imported: log.jsonl:3: ")


def test_many_bad_lines_and_receives_without_a_send_are_counted_and_the_first_are_named(
    assay: Assay, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join([SEND, *["{"] * 9, *(GET.replace('"m"', f'"x-{number}"') for number in range(9))]))
    told = assay("import", log, "--out", tmp_path / "run").out
    assert "9 lines left out" in told
    assert "9 receives without a send" in told
    assert "  log.jsonl:11: message x-0" in told
    assert told.count("log.jsonl:") == 2 * importer.SHOWN


def test_a_line_that_is_too_long_is_left_out(assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "LONGEST", 200)
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join([SEND, f'{{"event": "{"x" * 900}"}}', SEND.replace('"m"', '"n"')]))
    told = assay("import", log, "--out", tmp_path / "run").out
    assert "log.jsonl:2: the line is longer than 200 bytes." in told
    assert "3 lines, 2 journals: 2 send" in told


def test_a_line_of_csv_that_is_too_long_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "LONGEST", 200)
    log = tmp_path / "log.csv"
    log.write_text(f"event,text\nsend,a\nsend,{'x' * 900}\nsend,{'y' * 190}\nreceive,b\n")
    found = [(line.number, line.record and line.record["event"], line.why) for line in logs.lines(log)]
    assert found == [
        (2, "send", ""),
        (3, None, "the line is longer than 200 characters"),
        (4, "send", ""),
        (5, "receive", ""),
    ]


def test_a_log_of_csv_whose_first_line_is_too_long_has_no_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "LONGEST", 200)
    log = tmp_path / "log.csv"
    log.write_text(f"{'event,' * 90}\n1,2\n3,4\n")
    (line,) = logs.lines(log)
    assert (line.number, line.why) == (1, "the line is longer than 200 characters")


def test_a_torn_compressed_log_is_read_up_to_the_damage(assay: Assay, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl.gz"
    lines = [SEND.replace('"m"', f'"{random.Random(number).random()}"') for number in range(2000)]  # noqa: S311  no secret
    whole = gzip.compress("\n".join(lines).encode())
    log.write_bytes(whole[: len(whole) // 2])
    ended = assay("import", log, "--out", tmp_path / "run")
    assert ended.code is Exit.INCONCLUSIVE
    assert "the compressed file is torn or altered from here on" in ended.out


def test_csv_is_read_like_json_lines(assay: Assay, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(
        "event,client,message,destination,time,delay\n"
        'send,c,m,"Q, the first",2026-11-27T09:00:00Z,5000\n'
        "receive,d,m\n"
        'receive,d,m,"Q, the first",2026-11-27T09:00:01Z,\n'
    )
    ended = assay("import", log, "--out", tmp_path / "run")
    assert "log.csv:3: the line has 3 values, and the first line 6." in ended.out
    assert "3 lines, 3 journals: 1 receive, 1 send" in ended.out
    (seen,) = (event for event in read_journals(tmp_path / "run" / "journals").events if isinstance(event, Seen))
    assert (seen.destination, seen.msg.key) == ("queue://Q, the first", "m")


def test_parquet_is_read_like_json_lines(assay: Assay, tmp_path: Path) -> None:
    pa, parquet = (
        pytest.importorskip("pyarrow", reason="pyarrow is not installed"),
        pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed"),
    )
    begin = datetime(2026, 11, 27, 9, tzinfo=UTC)
    rows = {
        "event": ["send", "receive", "receive"],
        "client": ["c", "d", "d"],
        "message": [b"m", b"m", None],
        "destination": ["Q", "Q", "Q"],
        "time": pa.array([begin, begin + timedelta(seconds=1), begin], pa.timestamp("ns", "UTC")),
        "delay": [5000, None, None],
    }
    parquet.write_table(pa.table(rows), tmp_path / "log.parquet")
    ended = assay("import", tmp_path / "log.parquet", "--out", tmp_path / "run")
    assert "log.parquet:3: the column message is missing." in ended.out
    assert "3 lines, 3 journals: 1 receive, 1 send" in ended.out
    (seen,) = (event for event in read_journals(tmp_path / "run" / "journals").events if isinstance(event, Seen))
    assert (seen.msg.key, seen.wall_ns) == ("m", int(begin.timestamp() + 1) * 1_000_000_000)


def test_a_torn_parquet_file_has_no_line(assay: Assay, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    (tmp_path / "log.parquet").write_bytes(b"PAR1 and then nothing")
    ended = assay("import", tmp_path / "log.parquet", "--out", tmp_path / "run")
    assert ended.code is Exit.USAGE
    assert "log.parquet:1: the file is not Parquet" in ended.err


def test_parquet_without_pyarrow_names_the_extra(assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "log.parquet").write_bytes(b"PAR1")
    ended = assay("import", tmp_path / "log.parquet", "--out", tmp_path / "run")
    assert (ended.code, "pip install 'assay-mq[spark]'" in ended.err) == (Exit.INCONCLUSIVE, True)


# values ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        ("2026-11-27T09:00:00.123456Z", ""),
        ("2026-11-27T10:00:00.123456+01:00", "iso"),
        ("2026-11-27 09:00:00.123456", ""),
        (1795770000.123456, "s"),
        ("1795770000123.456", "ms"),
        (1795770000123456, "us"),
        (1795770000123456000, "ns"),
    ],
)
def test_a_time_has_any_of_these_forms(value: object, unit: str) -> None:
    form = {"name": "at.first", "unit": unit}
    mapping = mapping_of(columns={"time": form})
    record = {"event": "fault", "fault": "kill", "at": {"first": value}}
    assert RowReader(mapping).row(Line(1, record)).time == 1_795_770_000_123_456_000


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, -1, "1e400", 10**30])
def test_a_time_that_is_no_time_is_refused(value: object) -> None:
    mapping = mapping_of(columns={"time": {"name": "time", "unit": "s"}})
    with pytest.raises(RowError, match="not a time"):
        RowReader(mapping).row(Line(1, {"event": "fault", "fault": "kill", "time": value}))


def mapping_of(**tables: object) -> LogMapping:
    """Return a mapping with these tables."""
    return msgspec.convert(tables, LogMapping)


# the call -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mapping", "says"),
    [
        ("[log", "is not valid TOML"),
        ("[lgo]", "unknown field `lgo`"),
        ('[log]\ncomplete = ["everything"]', "Invalid enum value 'everything'"),
        ('[columns]\nmesage = "id"', "no column 'mesage'; did you mean 'message'?"),
        ('[columns]\nmessage = { name = "id", unit = "s" }', "cannot have the unit s"),
        ('[columns]\ntime = { name = "ts", unit = "hours" }', "Invalid enum value 'hours'"),
        ('[events]\nsned = "PUT"', "no event 'sned'; did you mean 'send'?"),
        ('[events]\nsend = "X"\nreceive = "X"', "have the same word"),
        ("[clock]\nuncertainty_ms = -1", "correct it"),
    ],
)
def test_a_mistake_in_the_mapping_is_told_in_one_sentence(
    assay: Assay, tmp_path: Path, mapping: str, says: str
) -> None:
    (tmp_path / "log.jsonl").write_text(SEND)
    (tmp_path / "mapping.toml").write_text(mapping)
    ended = assay("import", tmp_path / "log.jsonl", "--mapping", tmp_path / "mapping.toml", "--out", tmp_path / "run")
    assert ended.code is Exit.USAGE
    assert says in ended.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("missing.jsonl", None, "does not exist"),
        ("log.avro", "Obj", "has no known form"),
        ("empty.jsonl", "", "it has no line"),
        ("bad.jsonl", "{", "bad.jsonl:1: the line is not JSON"),
    ],
)
def test_a_log_without_a_row_leaves_nothing_behind(
    assay: Assay, tmp_path: Path, name: str, text: str | None, says: str
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    before = set(tmp_path.iterdir())
    ended = assay("import", tmp_path / name, "--out", tmp_path / "run")
    assert (ended.code, says in ended.err) == (Exit.USAGE, True)
    assert set(tmp_path.iterdir()) == before


def test_a_failed_import_leaves_the_earlier_run_as_it_was(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log.jsonl").write_text(SEND)
    call = ("import", tmp_path / "log.jsonl", "--out", tmp_path / "run")
    assert assay(*call).code is Exit.AS_EXPECTED
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def full(*_arguments: object) -> int:
        raise JournalError("The disk is full.")

    monkeypatch.setattr(importer, "write_journals", full)
    assert assay(*call).code is not Exit.AS_EXPECTED
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    monkeypatch.undo()
    assert assay(*call).code is Exit.AS_EXPECTED


def test_a_folder_with_foreign_files_is_refused(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(SEND)
    ended = assay("import", tmp_path / "log.jsonl", "--out", tmp_path)
    assert ended.code is Exit.USAGE
    assert "log.jsonl" in ended.err


# the order ------------------------------------------------------------------------------------------------------------


def test_lines_may_be_in_any_order_and_in_several_files(assay: Assay, tmp_path: Path) -> None:
    log = Logbook()
    log.consumes(1, 30)
    for number in range(50):
        log.sends(f"m-{number}", 2 + number / 10)
        log.receives(f"m-{number}", 2.05 + number / 10)
    random.Random(1).shuffle(log.rows)  # noqa: S311 - any order
    whole = log.write(tmp_path).read_text().splitlines()
    (tmp_path / "first.jsonl").write_text("\n".join(whole[:40]))
    (tmp_path / "second.jsonl").write_text("\n".join(whole[40:]))
    (tmp_path / "mapping.toml").write_text(MAPPING)
    files = (tmp_path / "first.jsonl", tmp_path / "second.jsonl", tmp_path / "second.jsonl")
    ended = assay("import", *files, "--mapping", tmp_path / "mapping.toml", "--out", tmp_path / "run")
    assert "102 lines, 3 journals" in ended.out
    journals = read_journals(tmp_path / "run" / "journals")
    mine = [event for event in journals.events if event.writer == "receiver"]
    assert [event.wall_ns for event in mine] == sorted(event.wall_ns for event in mine)
    settled = [event.msg.key for event in mine if isinstance(event, Settle)]
    assert settled == [f"m-{number}" for number in range(50)]


def test_clients_with_odd_names_have_journals_of_their_own(assay: Assay, tmp_path: Path) -> None:
    names = ["import", "a/b", "a_b", "..", "ü" * 200]
    lines = [SEND.replace('"c"', f'"{name}"').replace('"m"', f'"m-{number}"') for number, name in enumerate(names)]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    assert assay("import", tmp_path / "log.jsonl", "--out", tmp_path / "run").code is Exit.AS_EXPECTED
    journals = read_journals(tmp_path / "run" / "journals")
    assert journals.damage == ()
    assert len({event.writer for event in journals.events}) == len(names) + 1
