"""Loading of known outcomes, and comparison with a run's verdicts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path

from msgspec import Struct, ValidationError, convert

from assay_adapters.registry import known_files
from assay_evidence.names import matches
from assay_evidence.verdicts import ScenarioVerdict, Verdict
from assay_features.toml_positions import TomlPosition, line_of_error, toml_positions

ARRAY = "outcome"
EXPECTED_WITHOUT_ENTRY = frozenset({Verdict.PASS, Verdict.UNSUPPORTED})


class KnownOutcomesError(ValueError):
    """The error for an invalid file of known outcomes; it names the file, the line and a remedy."""

    def __init__(self, file: Path, line: int, text: str) -> None:
        super().__init__(f"{file}:{line}: {text}")
        self.file = file
        self.line = line


class KnownOutcome(Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of a file of known outcomes.

    Args:
        scenario: A pattern for scenario ids, with ``*`` and ``?``.
        verdict: The expected verdict.
        reason: The reason for this verdict, in one sentence.
        reference: The broker's documentation, source file or issue that supports the reason.
        owner: The person or team responsible for the entry.
        expires: The first day on which a run reports the entry as expired.
        sometimes: The frequency of this verdict, such as ``1 of 3``; in the other runs, the scenario passed. Empty if
            the scenario always has this verdict.
        tracker: The URL of the issue in the product's tracker; empty without an issue.
        own_broker: Whether the scenario runs on a broker of its own, because the scenario can stop the broker.
    """

    scenario: str
    verdict: Verdict
    reason: str
    reference: str
    owner: str
    expires: date
    sometimes: str = ""
    tracker: str = ""
    own_broker: bool = False

    def covers(self, scenario: str) -> bool:
        """Return whether the pattern matches a scenario's id; brackets have no special meaning in the pattern."""
        return matches(self.scenario, scenario)

    def permits(self, verdict: Verdict) -> bool:
        """Return whether the entry expects a verdict.

        Each entry also expects `unsupported`, because its pattern may match scenarios that cannot run, or not on each
        machine. An entry with `sometimes` also expects a pass.
        """
        return verdict in {self.verdict, Verdict.UNSUPPORTED} or (bool(self.sometimes) and verdict is Verdict.PASS)


class Surprise(Struct, frozen=True):
    """A difference between a run and its known outcomes.

    Args:
        text: The difference, in one sentence.
        verdict: The verdict that no entry expects; None if an entry no longer holds.
    """

    text: str
    verdict: Verdict | None = None

    @classmethod
    def of(cls, scenario: ScenarioVerdict) -> Surprise:
        """Return the surprise for a scenario whose verdict no entry expects."""
        text = f"{scenario.scenario}: {scenario.verdict.value}: {scenario.reason}"
        return cls(text, scenario.verdict)


class KnownOutcomes(Struct, frozen=True):
    """The entries of one backend."""

    entries: tuple[KnownOutcome, ...] = ()

    def find(self, scenario: str, verdict: Verdict) -> KnownOutcome | None:
        """Return the first entry for this scenario with exactly this verdict; None if there is none."""
        return next((entry for entry in self.entries if entry.covers(scenario) and entry.verdict is verdict), None)

    def need_own_broker(self, scenario: str) -> bool:
        """Return whether an entry says that this scenario needs a broker of its own."""
        return any(entry.own_broker and entry.covers(scenario) for entry in self.entries)

    def surprises(self, scenarios: Iterable[ScenarioVerdict], today: date, *, whole: bool) -> list[Surprise]:
        """Return a surprise for each verdict that is not expected, and for each entry that no longer holds.

        Args:
            scenarios: The run's scenario verdicts.
            today: The day of the run.
            whole: Whether the run covers all rules. If it does, an entry that matches no scenario is a surprise.
        """
        tried = list(scenarios)
        found: list[Surprise] = []
        for scenario in tried:
            # An entry is about the kit's scenarios only; a foreign scenario may have a matching name by chance.
            entries = [] if scenario.foreign else [one for one in self.entries if one.covers(scenario.scenario)]
            if not entries and scenario.verdict not in EXPECTED_WITHOUT_ENTRY:
                found.append(Surprise.of(scenario))
            for entry in entries:
                if not entry.permits(scenario.verdict) and not _another(entry, entries, scenario.verdict):
                    known = f"{scenario.scenario}: {scenario.verdict.value}, known as {entry.verdict.value}"
                    found.append(Surprise(f"{known}: the entry is stale, remove or correct it."))
                elif today >= entry.expires:
                    told = f"{scenario.scenario}: the known outcome expired on {entry.expires}: check it again."
                    found.append(Surprise(told))
        if whole:
            found += [
                Surprise(f"Known outcome {entry.scenario!r} matches no scenario: remove it or correct its pattern.")
                for entry in self.entries
                if not any(entry.covers(scenario.scenario) for scenario in tried if not scenario.foreign)
            ]
        return found


def _another(entry: KnownOutcome, entries: Iterable[KnownOutcome], verdict: Verdict) -> bool:
    """Return whether an entry has a frequency (`sometimes`), and one of `entries` expects the verdict."""
    return bool(entry.sometimes) and any(one.verdict is verdict for one in entries)


def known_outcomes(backend: str) -> KnownOutcomes:
    """Return the known outcomes of a backend; none if the backend has no file of known outcomes.

    Raises:
        KnownOutcomesError: A file of the backend is not valid, or does not exist.
        LookupError: The backend is unknown, or cannot be used.
    """
    return KnownOutcomes(tuple(entry for file in known_files(backend) for entry in read_outcomes(file).entries))


def read_outcomes(file: Path) -> KnownOutcomes:
    """Read a file of known outcomes.

    Raises:
        KnownOutcomesError: The file is not valid, or cannot be read.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        line = problem.object.count(b"\n", 0, problem.start) + 1
        raise KnownOutcomesError(file, line, "the text is not UTF-8; save the file as UTF-8.") from problem
    except OSError as problem:
        raise KnownOutcomesError(
            file, 1, f"the file cannot be read ({problem.strerror}); correct its name or its access rights."
        ) from problem
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise KnownOutcomesError(file, line_of_error(problem, text), f"this is no valid TOML: {problem}.") from problem
    return KnownOutcomes(tuple(_entries(file, content, toml_positions(text))))


_FREQUENCY = re.compile(r"(\d{1,6}) of (\d{1,6})")
_URL = re.compile(r"https?://\S+")
_FIELD = re.compile(r"`\$\.(\w+)`|field `(\w+)`$")


def _entries(file: Path, content: dict[str, object], lines: Mapping[TomlPosition, int]) -> Iterator[KnownOutcome]:
    for stray in sorted(content.keys() - {ARRAY}):
        line = lines.get(TomlPosition("", 0, stray), lines.get(TomlPosition(stray, 0), 1))
        raise KnownOutcomesError(file, line, f"{stray!r} is not known here; write [[{ARRAY}]].")
    tables = content.get(ARRAY, [])
    if not isinstance(tables, list):
        line = lines.get(TomlPosition("", 0, ARRAY), lines.get(TomlPosition(ARRAY, 0), 1))
        raise KnownOutcomesError(file, line, f"{ARRAY} must be an array of tables; write [[{ARRAY}]] as the header.")
    for nth, table in enumerate(tables):
        try:
            entry = convert(table, KnownOutcome)
        except ValidationError as problem:
            field = _FIELD.search(str(problem))
            raise KnownOutcomesError(
                file, _line_at(lines, nth, next(filter(None, field.groups()), "") if field else ""), f"{problem}."
            ) from problem
        for name in ("scenario", "reason", "reference", "owner"):
            if not getattr(entry, name).strip():
                raise KnownOutcomesError(file, _line_at(lines, nth, name), f"{name} is empty; fill it in.")
        for name, mistake in (("sometimes", _frequency_mistake(entry)), ("tracker", _tracker_mistake(entry))):
            if mistake:
                raise KnownOutcomesError(file, _line_at(lines, nth, name), mistake)
        yield entry


def _frequency_mistake(entry: KnownOutcome) -> str:
    if not entry.sometimes:
        return ""
    found = _FREQUENCY.fullmatch(entry.sometimes)
    if found is None or not 0 < int(found[1]) < int(found[2]):
        return f'sometimes is {entry.sometimes!r}; write how many of how many runs had the verdict, such as "1 of 3".'
    return "a pass needs no frequency; leave sometimes out." if entry.verdict is Verdict.PASS else ""


def _tracker_mistake(entry: KnownOutcome) -> str:
    if not entry.tracker or _URL.fullmatch(entry.tracker):
        return ""
    return f"tracker is {entry.tracker!r}; write the URL of the issue, which begins with https://."


def _line_at(lines: Mapping[TomlPosition, int], nth: int, key: str) -> int:
    """Return the line of a key, or of its table if the key is missing."""
    return lines.get(TomlPosition(ARRAY, nth, key), lines.get(TomlPosition(ARRAY, nth), 1))
