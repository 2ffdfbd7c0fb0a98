"""The input of a report: one run on one pair, read from the run's output folder.

A kill matrix may also be in the folder above, which several runs share.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from assay_evidence.events import AnyEvent, Begin
from assay_evidence.lines import JournalDamage
from assay_evidence.names import matches
from assay_evidence.reader import Journals, read_journals
from assay_evidence.verdicts import ScenarioVerdict, Verdict, Verdicts, load_verdicts
from assay_features import Catalogue, load_catalogue
from assay_reports.errors import SourceError

VERDICTS_FILE = "verdicts.json"
JOURNALS_FOLDER = "journals"
KNOWN_FILE = "known.json"
DEFECTS_FILE = "defects.json"
_T = TypeVar("_T")


class KnownOutcome(Struct, frozen=True):
    """An expected outcome of a backend, with its reason.

    Args:
        scenario: A pattern for scenario ids, with ``*`` and ``?``; brackets have no special meaning.
        verdict: The expected verdict.
        reason: The reason in one sentence.
        reference: The document or issue with the reason.
        owner: The person or team that maintains the entry.
        expires: The ISO date from which the entry no longer counts.
        sometimes: How often the scenario has the verdict, such as ``1 of 3``; otherwise it passes. Empty if it has
            the verdict in every run.
        tracker: The URL of the issue in the product's tracker.
    """

    scenario: str
    verdict: str
    reason: str
    reference: str = ""
    owner: str = ""
    expires: str = ""
    sometimes: str = ""
    tracker: str = ""

    def covers(self, scenario: str) -> bool:
        """Return whether the entry's pattern matches a scenario's id."""
        return matches(self.scenario, scenario)

    @property
    def link(self) -> str:
        """The tracker's URL if it is safe as a link; otherwise empty."""
        return self.tracker if self.tracker.startswith(("https://", "http://")) else ""


class KnownOutcomes(Struct, frozen=True):
    """The content of `known.json`."""

    entries: tuple[KnownOutcome, ...] = ()


class KilledDefect(Struct, frozen=True):
    """A named defect and the scenarios that catch it."""

    name: str
    caught_by: tuple[str, ...] = ()


class RuleDefects(Struct, frozen=True):
    """The defects of one rule, with the scenarios that catch them."""

    id: str
    defects: tuple[KilledDefect, ...] = ()


class DefectError(Struct, frozen=True):
    """A defect whose own code raised an exception, with the exception."""

    name: str
    reason: str = ""


class KillMatrix(Struct, frozen=True):
    """The content of `defects.json`, as `assay defects --json` writes it.

    Args:
        rules: The rules with their defects.
        alarms: The scenarios that do not pass without a defect.
        unkilled: The scenarios that no defect breaks.
        too_broad: The defects with which too many scenarios fail, each with the share of failing scenarios.
        errors: The defects whose own code raised an exception.
    """

    rules: tuple[RuleDefects, ...] = ()
    alarms: tuple[str, ...] = ()
    unkilled: tuple[str, ...] = ()
    too_broad: dict[str, float] = {}
    errors: tuple[DefectError, ...] = ()


class RunEvidence(Struct, frozen=True, kw_only=True):
    """One run on one pair of client and broker.

    Args:
        verdicts: The verdicts of `judge`.
        events: The journals' events; the events of each writer are in the order of `seq`.
        catalogue: The catalogue with the rules of the verdicts.
        damage: The damage of the journals.
        known: The known outcomes of the backend.
        kills: The kill matrix; empty if no run of `assay defects` wrote one.
        folder: The run's output folder, to which the report links; None if the run has no folder.
    """

    verdicts: Verdicts
    events: tuple[AnyEvent, ...]
    catalogue: Catalogue
    damage: tuple[JournalDamage, ...] = ()
    known: tuple[KnownOutcome, ...] = ()
    kills: KillMatrix = KillMatrix()
    folder: Path | None = None

    @property
    def begin(self) -> Begin | None:
        """The first `Begin` event, with environment, seed and capabilities; None if no journal has one."""
        return next((event for event in self.events if isinstance(event, Begin)), None)

    @property
    def untriaged(self) -> tuple[ScenarioVerdict, ...]:
        """The kit's failed scenarios that no known outcome expects."""
        return tuple(
            scenario
            for scenario in (*self.verdicts.scenarios, *self.verdicts.probes)
            if scenario.verdict is Verdict.FAIL
            and not scenario.foreign
            and not any(one.covers(scenario.scenario) and one.verdict == Verdict.FAIL for one in self.known)
        )

    @property
    def day(self) -> date | None:
        """The day of the run, in UTC; None if no journal has a begin."""
        begin = self.begin
        return None if begin is None else datetime.fromtimestamp(begin.wall_ns // 10**9, UTC).date()

    def of_scenario(self) -> dict[str, tuple[AnyEvent, ...]]:
        """Return the events of each scenario, by the scenario's id."""
        found: dict[str, list[AnyEvent]] = {}
        for event in self.events:
            if event.scenario is not None:
                found.setdefault(event.scenario, []).append(event)
        return {scenario: tuple(events) for scenario, events in found.items()}


def read_run(folder: Path, journals: Journals | None = None, verdicts: Verdicts | None = None) -> RunEvidence:
    """Read a run's output folder.

    Args:
        folder: The output folder, or one backend's folder in it.
        journals: The run's journals, if the caller has read them; None to read them.
        verdicts: The run's verdicts, if the caller has them; None to read them.

    Raises:
        SourceError: The folder holds no verdicts, or `known.json` or `defects.json` cannot be read or is malformed.
        JournalError: The folder holds no journal, or a journal cannot be read.
        VerdictsError: The verdicts are malformed.
    """
    if not (folder / VERDICTS_FILE).is_file():
        raise SourceError(folder, f"it holds no {VERDICTS_FILE}; name an output folder of `assay run`.")
    if journals is None:
        journals = read_journals(folder / JOURNALS_FOLDER)
    return RunEvidence(
        verdicts=load_verdicts(folder / VERDICTS_FILE) if verdicts is None else verdicts,
        events=journals.events,
        catalogue=load_catalogue(),
        damage=journals.damage,
        known=read_known(folder),
        kills=read_kills((folder, folder.parent)),
        folder=folder,
    )


def read_known(folder: Path) -> tuple[KnownOutcome, ...]:
    """Read `known.json` of an output folder; a missing file counts as an empty file.

    Raises:
        SourceError: The file cannot be read, or is malformed.
    """
    content = _read([folder / KNOWN_FILE])
    if content is None:
        return ()
    return _decode(*content, KnownOutcomes).entries


def read_kills(folders: Iterable[Path]) -> KillMatrix:
    """Read `defects.json` from the first folder that holds it; the matrix is empty if no folder does.

    Raises:
        SourceError: The file cannot be read, or is malformed.
    """
    content = _read([folder / DEFECTS_FILE for folder in folders])
    return KillMatrix() if content is None else _decode(*content, KillMatrix)


def _read(candidates: Iterable[Path]) -> tuple[Path, bytes] | None:
    for path in candidates:
        try:
            return path, path.read_bytes()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise SourceError(
                path, f"it cannot be read ({error.strerror}); make it readable or move it away."
            ) from error
    return None


def _decode(path: Path, content: bytes, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.MsgspecError as error:
        raise SourceError(path, f"it is malformed ({error}); write it again or move it away.") from error
