"""One judgement of many runs by the pipeline; all tests read its results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from tests.evidence.histories import refusal
from tests.pipeline.case import Case
from tests.pipeline.cases import CASES
from tests.pipeline.miniatures.perturbed import perturbed
from tests.pipeline.random_tales import telling
from tests.pipeline.tales import Tale, Telling, write_run

from assay_evidence.subjects import Outcome
from assay_evidence.verdicts import Verdict
from assay_pipeline.job import Judged, Options, Result, judge_with
from assay_pipeline.journals import find_journals
from assay_pipeline.rules import INVARIANTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RANDOM = "random"
RANDOM_SCENARIOS = 500
WHOLE = "whole"
REMARKED = "remarked"
HELD_UP = "held up"
ENDED = "ended"
REPEATED = "repeated"


def breach(rule: str) -> Telling:
    """Return a scenario that breaks an invariant."""
    for case in CASES:
        if case.rule == rule and Outcome.BROKEN in case.subjects.values():
            return case.telling
    raise LookupError(f"no case breaks {rule}: add one to tests/pipeline/cases.py")


BREACHES = [breach(rule) for rule in INVARIANTS]
"""A scenario that breaks the invariant, for each invariant."""


class Judgement(Struct, frozen=True):
    """The results of the judgement, by the names of the runs' folders."""

    result: Result
    runs: dict[str, Judged]
    spoilt: dict[str, str]
    """The damaged runs, each with the kind of damage."""
    root: Path

    def verdict(self, folder: str, rule: str) -> Verdict:
        """Return a rule's verdict in one run."""
        return next(entry.verdict for entry in self.runs[folder].verdicts.rules if entry.id == rule)


def folder_of(case: Case) -> str:
    """Return the folder of a miniature's run."""
    return f"{case.rule} {case.name}"


def random_histories() -> list[Telling]:
    """Return random scenarios, among them miniatures with random changes."""
    return [*map(telling, range(RANDOM_SCENARIOS)), *perturbed(CASES)]


def judge_everything(spark: SparkSession, root: Path, place: Path) -> Judgement:
    """Write all runs and judge them."""
    for case in CASES:
        write_run(root / folder_of(case), [case.telling])
    write_run(root / RANDOM, random_histories())
    write_run(root / REMARKED, [_unsupported, _broken, _seen_when_due])
    write_run(root / HELD_UP, map(_held_up, BREACHES))
    write_run(root / ENDED, [_ended(breach("BT-04"))], ours=("client",))
    write_run(root / REPEATED, [_refused_attempt(1), _refused_attempt(2), _last_attempt])
    spoilt = dict(_spoil(root))
    files = find_journals(sorted(path for path in root.iterdir() if path.is_dir()))
    result = judge_with(spark, files, place, place, options=Options(oracle=True))
    return Judgement(result, {Path(run.folder).name: run for run in result.runs}, spoilt, root)


def _seen_when_due(tale: Tale) -> None:
    tale.starts()
    _sees_when_due(tale)


def _sees_when_due(tale: Tale) -> None:
    watch = tale.listens()
    tale.sends(delay_ms=500)
    tale.at(500).handed()
    tale.stops(watch)


def _unsupported(tale: Tale) -> None:
    from assay_evidence.events import Unsupported

    tale.starts()
    tale.tell(Unsupported, capability="browse", reason="there is no browser.")


def _broken(tale: Tale) -> None:
    tale.starts()
    tale.step("broken", "the container died")


def _refused_attempt(number: int) -> Telling:
    def tell(tale: Tale) -> None:
        _begin_attempt(tale, number)
        tale.step("refused", "the broker was slow")

    return tell


def _last_attempt(tale: Tale) -> None:
    _begin_attempt(tale, 3)
    _sees_when_due(tale)


def _begin_attempt(tale: Tale, number: int) -> None:
    from assay_evidence.events import ScenarioBegin

    repeats = "" if number == 1 else "scenario-0"
    tale.tell(ScenarioBegin, rules=(tale.rule,), judged="broker", strength="must", attempt=number, repeats=repeats)


def _held_up(telling: Telling) -> Telling:
    def tell(tale: Tale) -> None:
        tale.starts()
        telling(tale)
        tale.ends(late_ns=1_600_000_000)

    return tell


def _ended(telling: Telling) -> Telling:
    from assay_evidence.events import SessionEnded

    def tell(tale: Tale) -> None:
        tale.starts(judged="client")
        for text in ("a bug (amqp:internal-error)", "another"):
            tale.tell(SessionEnded, actor="client", refused=refusal(text=text))
        telling(tale)
        tale.ends()

    return tell


def _spoil(root: Path) -> Iterator[tuple[str, str]]:
    """Make copies of a run that breaks every rule, each damaged in one place.

    The places are the first lines, the last ones and some between, because a copy for each line takes minutes to judge.
    """
    whole = write_run(root / WHOLE, BREACHES).read_bytes().splitlines(keepends=True)

    def write(name: str, lines: list[bytes], how: str) -> tuple[str, str]:
        (root / name).mkdir()
        (root / name / "main.jsonl").write_bytes(b"".join(lines))
        return name, how

    for number in sorted({*range(4), *range(0, len(whole), len(whole) // 4), len(whole) - 2, len(whole) - 1}):
        line = whole[number]
        before, after = whole[:number], whole[number + 1 :]
        middle = len(line) // 2
        altered = line[:middle] + bytes([line[middle] ^ 1]) + line[middle + 1 :]
        yield write(f"deleted {number}", [*before, *after], "deleted")
        yield write(f"doubled {number}", [*before, line, line, *after], "doubled")
        yield write(f"altered {number}", [*before, altered, *after], "altered")
    yield write("blank", [*whole[:3], b"\n", *whole[3:]], "blank")
    yield write("joined", [*whole[:3], whole[3].rstrip(b"\n"), *whole[4:]], "joined")
    yield write("torn", [*whole[:-1], whole[-1][:40]], "torn")
    yield write("bare", [b"{}\n", *whole], "bare")
    yield write("empty", [], "empty")
    yield write("foreign bytes", [*whole[:3], b"\xff\xfe\x00\n", *whole[3:]], "foreign")
