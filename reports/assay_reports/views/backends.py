"""A pair's page: the tested product, its capabilities, its disclosed behaviour, and the damage of the journals."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from msgspec import Struct

from assay_evidence.events import AnyEvent, End, Plan, Unsupported
from assay_evidence.figures import seconds
from assay_evidence.lines import JournalDamage
from assay_evidence.verdicts import ScenarioVerdict, Verdict
from assay_reports.presentation import FACES, Face
from assay_reports.sources import KnownOutcome
from assay_reports.views.matrix import rule_href
from assay_reports.views.own import Own, OwnFeature, own_views
from assay_reports.views.pairs import Names, Pair, scenarios_of
from assay_reports.views.scenarios import ScenarioView, scenario_view, split_id, title_of

_MACHINE_FILES = (
    ("verdicts.json", "all verdicts, for machines"),
    ("junit.xml", "JUnit XML"),
    ("defects.json", "the kill matrix"),
    ("known.json", "known outcomes"),
)


class Lacking(Struct, frozen=True):
    """A capability that scenarios need and the pair lacks."""

    capability: str
    reason: str
    source: str
    scenarios: int


class Disclosed(Struct, frozen=True):
    """A behaviour of a pair that the documents leave open."""

    rules: tuple[str, ...]
    name: str
    text: str


class KnownView(Struct, frozen=True):
    """A known outcome, and the verdict of a scenario to which it applies; no verdict if no such scenario ran."""

    known: KnownOutcome
    name: str
    rule_href: str
    face: Face | None
    state: str


class JournalView(Struct, frozen=True):
    """The journal of one writer, with its number of events and its checksum."""

    writer: str
    lines: int
    complete: bool
    sha256: str


class FileView(Struct, frozen=True):
    """A link from the page to a file of the run."""

    href: str
    name: str
    what: str


class BackendPage(Struct, frozen=True, kw_only=True):
    """The content of a pair's page.

    Args:
        own: The user's own features in the pair's run, with their scenarios.
        probed: By capability, the presentation of its probe's verdict.
        ours: The parts of the pair that are the kit's own, as text.
        lacking: The capabilities that scenarios need and the pair lacks.
        took: The sum of the scenarios' durations, as text.
        waited: The sum of the times for which scenarios waited, as text.
        span: The run's duration, as text.
        overlap: The mean number of scenarios that waited at the same time; empty if it is unknown.
        files: The run's files for machines.
    """

    pair: Pair
    own: tuple[tuple[OwnFeature, tuple[ScenarioView, ...]], ...]
    probes: tuple[ScenarioView, ...]
    probed: dict[str, Face]
    environment: tuple[tuple[str, str], ...]
    ours: str
    seed: str
    catalogue_hash: str
    capabilities: tuple[tuple[str, str], ...]
    lacking: tuple[Lacking, ...]
    disclosed: tuple[Disclosed, ...]
    known: tuple[KnownView, ...]
    journals: tuple[JournalView, ...]
    damage: tuple[JournalDamage, ...]
    events: int
    took: str
    waited: str
    span: str
    overlap: str
    files: tuple[FileView, ...]


def backend_page(pair: Pair, own: Own, site: Path) -> BackendPage:
    """Collect the content of a pair's page.

    Args:
        pair: The pair.
        own: The foreign scenarios of every pair.
        site: The folder of the site, for the links to the run's files.
    """
    run = pair.evidence
    names = Names()
    begin = run.begin
    scenarios = scenarios_of(run.verdicts).values()
    waited = sum(scenario.waited_seconds for scenario in scenarios)
    span = _span_seconds(run.events)
    return BackendPage(
        pair=pair,
        own=own_views(own, pair),
        probes=tuple(scenario_view(probe, pair, {}, names) for probe in run.verdicts.probes),
        probed={probe.probe: FACES[probe.verdict] for probe in run.verdicts.probes},
        environment=tuple(sorted(begin.environment.items())) if begin else (),
        ours=" and ".join(begin.ours) if begin and begin.ours else "none",
        seed=str(begin.seed) if begin else "unknown",
        catalogue_hash=begin.catalogue_hash if begin else "unknown",
        capabilities=tuple(sorted(begin.capabilities.items())) if begin else (),
        lacking=_lacking(run.events),
        disclosed=tuple(
            Disclosed(scenario.rules, title_of(scenario), scenario.disclosed)
            for scenario in scenarios
            if scenario.disclosed
        ),
        known=tuple(_known(pair)),
        journals=tuple(_journals(run.events)),
        damage=run.damage,
        events=len(run.events),
        took=seconds(sum(scenario.seconds for scenario in scenarios)),
        waited=seconds(waited),
        span=seconds(span),
        overlap=f"{waited / span:.1f}" if span and waited else "",
        files=tuple(_files(run.folder, site)),
    )


def _lacking(events: Iterable[AnyEvent]) -> tuple[Lacking, ...]:
    found: dict[tuple[str, str, str], set[str]] = {}
    for event in events:
        if isinstance(event, Unsupported):
            found.setdefault((event.capability, event.reason, event.source), set()).add(event.scenario or "")
    return tuple(
        Lacking(capability, reason, source, len(scenarios))
        for (capability, reason, source), scenarios in sorted(found.items())
    )


def _known(pair: Pair) -> Iterable[KnownView]:
    ran = scenarios_of(pair.evidence.verdicts)
    for known in pair.evidence.known:
        covered = [scenario for name, scenario in ran.items() if known.covers(name)]
        if not covered:
            yield KnownView(known, split_id(known.scenario)[1], "", None, "stale: no such scenario ran")
        for scenario in covered:
            name = split_id(scenario.scenario)[1]
            href = rule_href(scenario.rules[0]) if scenario.rules else ""
            yield KnownView(known, name, href, FACES[scenario.verdict], _state(known, scenario, pair.evidence.day))


def _state(known: KnownOutcome, scenario: ScenarioVerdict, day: date | None) -> str:
    if day is not None and known.expires and known.expires <= day.isoformat():
        return f"expired on {known.expires}: check it again"
    if known.sometimes and scenario.verdict is Verdict.PASS:
        return f"as expected: {known.verdict} in {known.sometimes} runs, otherwise a pass"
    if known.sometimes and scenario.verdict is Verdict.UNSUPPORTED:
        return "could not run"
    if scenario.verdict == known.verdict:
        return "as expected"
    if scenario.verdict is Verdict.PASS:
        return f"stale: {known.verdict} was expected, but the scenario passes now"
    return f"not as expected: {known.verdict} was expected"


def _journals(events: Iterable[AnyEvent]) -> Iterable[JournalView]:
    writers: dict[str, list[AnyEvent]] = {}
    for event in events:
        writers.setdefault(event.writer, []).append(event)
    for writer, written in sorted(writers.items()):
        end = next((event for event in written if isinstance(event, End)), None)
        complete = end is not None and end.events == len(written) - 1
        yield JournalView(writer, len(written), complete, end.sha256 if end else "")


def _span_seconds(events: Iterable[AnyEvent]) -> float:
    """Return the run's duration: the seconds between the first and the last event of the journal with the plan."""
    events = tuple(events)
    plan = next((event for event in events if isinstance(event, Plan)), None)
    if plan is None:
        return 0.0
    # Scenarios in virtual time have another clock. In a run without workers, their events are in this journal, too.
    walls = [event.wall_ns for event in events if (event.writer, event.boot) == (plan.writer, plan.boot)]
    return (max(walls) - min(walls)) / 1_000_000_000 if walls else 0.0


def _files(folder: Path | None, site: Path) -> Iterable[FileView]:
    if folder is None:
        return
    for name, what in _MACHINE_FILES:
        if (folder / name).is_file():
            yield FileView(_relative(folder / name, site), name, what)
    for journal in sorted((folder / "journals").glob("*.jsonl*")):
        yield FileView(_relative(journal, site), f"journals/{journal.name}", "a writer's journal")


def _relative(path: Path, site: Path) -> str:
    # A pair's page is one folder below the site's root. Before Python 3.12, Path.relative_to makes no `..`.
    return Path(os.path.relpath(path.resolve(), site.resolve() / "backends")).as_posix()
