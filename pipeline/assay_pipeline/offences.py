"""Collects the journals' events of the first subjects that broke each rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct
from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import AnyEvent, Call
from assay_evidence.histories.offences import Offence
from assay_evidence.lines import decode_line
from assay_evidence.subjects import Limits, Outcome, Subject
from assay_pipeline.history import NAMES
from assay_pipeline.invariant import Invariant
from assay_pipeline.verdicts import RunOf

TOLD = 3
"""For each rule and run, the largest number of offending subjects whose events are collected."""
_ASKED = "array<struct<number: bigint, folder: string, run: string, scenario: string, writer: string, seq: bigint>>"
_AROUND = ("fault", "watch")
"""The kinds of events that concern every message of their scenario."""


class _Asked(Struct, frozen=True):
    """A subject whose events the query looks for; the fields are columns of the query."""

    number: int
    folder: str
    run: str
    scenario: str
    writer: str
    seq: int


def offences(
    lines: DataFrame,
    offending: DataFrame,
    invariants: Mapping[str, Invariant],
    runs: Mapping[tuple[str, str], RunOf],
    limits: Limits,
) -> tuple[Offence, ...]:
    """Collect the events of the first offending subjects of each rule and run.

    Args:
        lines: The stored lines (`assay_pipeline.bronze.read_lines`).
        offending: The stored table of offending subjects.
        invariants: The invariants, by rule.
        runs: The runs, by folder and id.
        limits: The values of the invariants' limits.
    """
    order = Window.partitionBy("folder", "run", "rule").orderBy("scenario", "subject", "ref")
    rows = offending.withColumn("rank", F.row_number().over(order)).where(F.col("rank") <= TOLD).collect()
    if not rows:
        return ()
    rows = sorted(rows, key=lambda row: (row.folder, row.run, row.rule, row["rank"]))
    told = _events(lines, [_asked(number, row) for number, row in enumerate(rows)])
    return tuple(_offence(row, told.get(number, ()), invariants, runs, limits) for number, row in enumerate(rows))


def _asked(number: int, row: Row) -> _Asked:
    writer, _, seq = row.ref.rpartition(":")
    return _Asked(number, row.folder, row.run, row.scenario, writer, int(seq))


def _events(lines: DataFrame, asked: Iterable[_Asked]) -> dict[int, list[AnyEvent]]:
    """Find the events about each subject's message, its scenario's faults and watches, and the answers to the calls."""
    rows = msgspec.json.encode(list(asked)).decode()
    wanted = lines.sparkSession.sql(f"SELECT inline(from_json(:rows, '{_ASKED}'))", args={"rows": rows})
    scenario = F.coalesce(F.col("event.scenario"), F.lit(""))
    told = lines.where(F.col("reason").isNull()).select(
        "folder", F.col("event.run").alias("run"), scenario.alias("scenario"), F.col("event.writer").alias("writer"),
        F.col("event.seq").alias("seq"), F.col("event.kind").alias("kind"), F.col("event.msg.kid").alias("key"),
        F.col("event.kids").alias("keys"), F.col("event.call").alias("call"), "line",
    )  # fmt: skip
    of_subject = told.select("folder", "run", "writer", "seq", F.col("key").alias("of_key"))
    keyed = of_subject.join(F.broadcast(wanted), ["folder", "run", "writer", "seq"])
    about = F.col("key") == F.col("of_key")
    itself = (F.col("writer") == F.col("of_writer")) & (F.col("seq") == F.col("of_seq"))
    keyed = keyed.withColumnsRenamed({"writer": "of_writer", "seq": "of_seq"})
    near = told.join(F.broadcast(keyed), list(NAMES))
    found: dict[int, list[AnyEvent]] = {}
    calls: dict[tuple[str, str, str, str], set[int]] = {}
    mine = about | itself | F.array_contains("keys", F.col("of_key")) | F.col("kind").isin(*_AROUND)
    for row in near.where(mine).select("number", "folder", "line").collect():
        event = decode_line(row.line.encode())
        found.setdefault(row.number, []).append(event)
        if isinstance(event, Call):
            calls.setdefault((row.folder, event.run, event.writer, event.id), set()).add(row.number)
    # A call's id is unique in its writer only.
    answers = told.where((F.col("kind") == "return") & F.col("call").isin(list({call for *_, call in calls})))
    for row in answers.select("folder", "call", "line").collect():
        event = decode_line(row.line.encode())
        for number in calls.get((row.folder, event.run, event.writer, row.call), ()):
            if all(event.ref != other.ref for other in found[number]):
                found[number].append(event)
    return found


def _offence(
    row: Row,
    events: Iterable[AnyEvent],
    invariants: Mapping[str, Invariant],
    runs: Mapping[tuple[str, str], RunOf],
    limits: Limits,
) -> Offence:
    invariant = invariants[row.rule]
    subject = Subject(row.rule, row.run, row.scenario, row.subject, Outcome(row.outcome), row.figure, row.ref)
    return Offence(
        folder=row.folder,
        run=row.run,
        backend=runs[row.folder, row.run].backend,
        rule=row.rule,
        scenario=row.scenario,
        subject=row.subject,
        expected=invariant.demands(limits),
        observed=invariant.wording.of(subject),
        ref=row.ref,
        events=tuple(sorted(events, key=lambda event: (event.wall_ns, event.writer, event.seq))),
    )
