"""Logs written by hand for the tests of the import, and their verdicts without Spark."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from assay_evidence.events import Begin
from assay_evidence.oracle import examine
from assay_evidence.reader import Journals, read_journals
from assay_evidence.subjects import LIMITS, Subject
from assay_evidence.verdicts import RuleVerdict
from assay_features import load_catalogue
from assay_pipeline.rules import INVARIANTS
from assay_pipeline.verdicts import RunOf, Tally, conclude

BEGIN_S = 1_795_770_000
MAPPING = """
[log]
complete = ["consumers", "incidents"]
[clock]
uncertainty_ms = 1
[columns]
time = { name = "time", unit = "s" }
answered = { name = "answered", unit = "s" }
acknowledged = { name = "acknowledged", unit = "s" }
end = { name = "end", unit = "s" }
"""


class Logbook:
    """A log; times are seconds from its begin."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def add(self, event: str, at: float, **values: Any) -> None:
        """Add a row; a value None leaves its column out."""
        told = {name: value for name, value in values.items() if value is not None}
        self.rows.append({"event": event, "time": BEGIN_S + at, **told})

    def sends(self, message: str, at: float, to: str = "Q", **values: Any) -> None:
        """Add a persistent send that is answered after 1 ms."""
        known = {"mode": "persistent", "answered": BEGIN_S + at + 0.001, "body": message}
        self.add("send", at, client="sender", message=message, destination=to, **{**known, **values})

    def receives(self, message: str, at: float, of: str = "Q", by: str = "receiver", **values: Any) -> None:
        """Add a reception that is acknowledged after 1 ms, and not marked as redelivered."""
        known = {"acknowledged": BEGIN_S + at + 0.001, "redelivered": False, "body": message}
        self.add("receive", at, client=by, message=message, destination=of, **{**known, **values})

    def consumes(self, since: float, until: float, of: str = "Q", by: str = "receiver", **values: Any) -> None:
        """Add the begin and the end of a consumer."""
        self.add("open", since, client=by, destination=of, **values)
        kind = {name: value for name, value in values.items() if name == "kind"}
        self.add("close", until, client=by, destination=of, **kind)

    def write(self, folder: Path, *, without: str = "") -> Path:
        """Write the log as JSON lines, without one of the columns."""
        path = folder / "log.jsonl"
        rows = [{name: value for name, value in row.items() if name != without} for row in self.rows]
        path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
        return path


class Judged(Struct, frozen=True):
    """The verdicts on an imported log, by rule, and the subjects that decide them."""

    rules: dict[str, RuleVerdict]
    subjects: tuple[Subject, ...]

    def verdict(self, rule: str) -> str:
        """Return a rule's verdict."""
        return self.rules[rule].verdict.value

    @property
    def failed(self) -> list[str]:
        """The rules that fail."""
        return [rule for rule in self.rules if self.verdict(rule) == "fail"]


def judged(out: Path) -> Judged:
    """Judge an imported log with the oracle instead of Spark."""
    journals = read_journals(out / "journals")
    assert journals.damage == ()
    begin = begin_of(journals)
    subjects = examine(journals.events, {rule: one.in_python for rule, one in INVARIANTS.items()}, LIMITS)
    run = RunOf(
        "folder",
        begin.run,
        begin.backend,
        begin.client,
        begin.ours,
        begin.decides,
        tuple((one.rule, one.reason) for one in begin.untold),
    )
    catalogue = load_catalogue()
    verdicts = conclude(
        run, list(INVARIANTS.values()), _tallies(subjects), (), begin.unread, catalogue=catalogue, limits=LIMITS
    )
    return Judged({rule.id: rule for rule in verdicts.rules}, subjects)


def begin_of(journals: Journals) -> Begin:
    """Return the first event of the journals."""
    return next(event for event in journals.events if isinstance(event, Begin))


def _tallies(subjects: tuple[Subject, ...]) -> list[Tally]:
    cases = dict.fromkeys((one.rule, one.scenario) for one in subjects)
    return [
        Tally(rule, scenario, Counter(one.outcome for one in found), tuple(found))
        for rule, scenario in cases
        for found in [[one for one in subjects if (one.rule, one.scenario) == (rule, scenario)]]
    ]
