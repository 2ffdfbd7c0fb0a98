"""A scenario on one pair: its verdict, steps with claims and findings, time line, frames and journal."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from assay_evidence.events import AnyEvent, Begin, Call, Claim, Frame, Late, ScenarioBegin, Step, Unsupported, Wire
from assay_evidence.figures import counted, duration, seconds
from assay_evidence.names import PREFIX, plain, token_of
from assay_evidence.verdicts import Finding, ScenarioVerdict, Verdict
from assay_features.titles import titles
from assay_reports.clock import ScenarioClock
from assay_reports.excerpts import Excerpt, excerpt
from assay_reports.presentation import FACES, Face
from assay_reports.sources import KnownOutcome
from assay_reports.story import Story, story
from assay_reports.timeline import Timeline, timeline
from assay_reports.views.background import BackgroundView, background
from assay_reports.views.causes import SETTLED, Cause, cause_of
from assay_reports.views.pairs import Names, Pair

FRAMES = 200
"""The largest number of a scenario's wire frames that the page shows."""
TIMES = 20
"""The number of runs in the command that runs a scenario again."""
AGAIN = "assay-again"
"""The output folder in the command that runs a scenario again; not the default folder, which holds the reported run."""
OCTETS = 64
"""The largest number of a frame's bytes that the page shows."""


class FindingView(Struct, frozen=True):
    """A claim and its finding."""

    face: Face
    rule: str
    predicate: str
    reference: str
    finding: Finding


class StepView(Struct, frozen=True):
    """A step and the claims that it made."""

    step: Step
    findings: tuple[FindingView, ...]


class FrameView(Struct, frozen=True):
    """A wire frame.

    Args:
        at: The time since the scenario's first event, as text.
        actor: The connection, or the consumer of the frame's link.
        direction: The frame's direction as the client sees it.
        text: The frame in words.
        octets: The frame's size, or its first bytes as text.
    """

    at: str
    actor: str
    direction: str
    text: str
    octets: str


class ScenarioView(Struct, frozen=True, kw_only=True):
    """A scenario on a rule's page.

    Args:
        name: The scenario's name in verdicts and known outcomes.
        title: The scenario's name for readers; in the name of an outline, the row's values replace the placeholders.
        delayed: The total delay of Assay on a busy machine, with its unit; empty if there was none.
        loose: The findings that belong to no step.
        story: The scenario's story; None if the scenario passed or was not run.
        background: The broker's objects, past and log; None if the journal has none of them.
        untriaged: Whether the scenario failed, and no known outcome expects this.
        again: The command that runs this scenario again, several times in real time; empty for a user's own scenario
            and for a probe.
        as_known: Whether a known outcome expects the verdict.
        unkilled: Whether no defect breaks the scenario.
        opened: Whether the page shows the scenario unfolded.
        prefix: The prefix of the scenario's names on the broker; empty if its events hold no such name.
    """

    anchor: str
    feature: str
    name: str
    title: str
    face: Face
    verdict: ScenarioVerdict
    took: str
    waited: str
    delayed: str
    steps: tuple[StepView, ...]
    loose: tuple[FindingView, ...]
    unsupported: tuple[Unsupported, ...]
    timeline: Timeline | None
    story: Story | None
    background: BackgroundView | None
    again: str
    frames: tuple[FrameView, ...]
    frames_left_out: int
    excerpt: Excerpt | None
    known: KnownOutcome | None
    as_known: bool
    untriaged: bool
    defects: tuple[str, ...]
    unkilled: bool
    opened: bool
    line: int
    prefix: str
    cause: Cause

    @property
    def lacking(self) -> bool:
        """Whether the scenario could not run because of a missing capability, which the page then names."""
        return self.verdict.verdict is Verdict.UNSUPPORTED and bool(self.unsupported)


def scenario_view(
    verdict: ScenarioVerdict, pair: Pair, defects: Mapping[str, tuple[str, ...]], names: Names
) -> ScenarioView:
    """Collect the content of a scenario's part of a page.

    Args:
        verdict: The scenario's verdict.
        pair: The pair on which the scenario ran.
        defects: The defects that each scenario catches.
        names: Makes the scenario's anchor on the page.
    """
    events = pair.events.get(verdict.trace, ())
    feature, name = split_id(verdict.scenario)
    known = pair.known(verdict)
    steps, loose = _steps(events, verdict.findings)
    frames = _frames(events)
    offenders = offenders_of(verdict)
    return ScenarioView(
        anchor=names.unique(f"{pair.slug}--{name}"),
        feature=feature,
        name=name,
        title=title_of(verdict),
        face=FACES[verdict.verdict],
        verdict=verdict,
        took=seconds(verdict.seconds),
        waited=seconds(verdict.waited_seconds),
        delayed=_delayed(events),
        steps=steps,
        loose=loose,
        unsupported=tuple(event for event in events if isinstance(event, Unsupported)),
        timeline=timeline(events, offenders, broken=verdict.verdict is Verdict.FAIL),
        story=None if verdict.verdict in SETTLED else story(events, offenders),
        background=background(events, offenders),
        again="" if verdict.foreign or verdict.probe else again(pair.evidence.begin, verdict.scenario),
        frames=frames[:FRAMES],
        frames_left_out=max(0, len(frames) - FRAMES),
        excerpt=excerpt(events, offenders=offenders) if events else None,
        known=known,
        as_known=known is not None and known.verdict == verdict.verdict,
        untriaged=verdict.scenario in pair.untriaged,
        defects=defects.get(verdict.scenario, ()),
        unkilled=verdict.scenario in pair.evidence.kills.unkilled,
        opened=verdict.verdict not in (Verdict.PASS, Verdict.UNSUPPORTED),
        line=next((event.line for event in events if isinstance(event, ScenarioBegin)), 0),
        prefix=_prefix(verdict.trace, events),
        cause=cause_of(verdict, events),
    )


def again(begin: Begin | None, scenario: str) -> str:
    """Return the command that runs a scenario again on the same pair.

    In virtual time all runs are alike, so the command runs the scenario once.  Without `begin`, the result is empty.

    Args:
        begin: The run's first `Begin` event; None if no journal has one.
        scenario: The scenario's id.
    """
    if begin is None:
        return ""
    defect = [f"--defect={begin.defect}"] if begin.defect else []
    given = begin.given or (f"--backend={begin.backend}", *defect)
    times = [] if "virtual-time" in begin.capabilities else ["--times", str(TIMES)]
    return shlex.join(("assay", "run", *given, "--scenario", scenario, *times, "--out", AGAIN))


def _delayed(events: Iterable[AnyEvent]) -> str:
    late_ns = sum(event.late_ns for event in events if isinstance(event, Late))
    return duration(late_ns) if late_ns else ""


def offenders_of(verdict: ScenarioVerdict) -> frozenset[str]:
    """Return the references of the events that break a scenario's rule."""
    failed = (finding for finding in verdict.findings if finding.verdict is Verdict.FAIL)
    return frozenset(ref for finding in failed for ref in finding.offenders)


def split_id(scenario: str) -> tuple[str, str]:
    """Split ``topic/file.feature::name[row]`` into feature and name."""
    feature, _, name = scenario.partition("::")
    return (feature, name) if name else ("", scenario)


def title_of(verdict: ScenarioVerdict) -> str:
    """Return a scenario's name for readers; the name of a user's own scenario does not change."""
    name = split_id(verdict.scenario)[1]
    return name if verdict.foreign else titles().get(verdict.scenario, name)


def _prefix(scenario: str, events: Sequence[AnyEvent]) -> str:
    """Return the prefix of the scenario's names on the broker; empty if its events hold no such name."""
    own = re.compile(rf"{PREFIX}\.{token_of(scenario)}[0-9a-f]*\.")
    named = (event.destination for event in events if isinstance(event, Call))
    return next((found[0] for name in named if name and (found := own.search(name))), "")


def _steps(
    events: Sequence[AnyEvent], findings: Sequence[Finding]
) -> tuple[tuple[StepView, ...], tuple[FindingView, ...]]:
    """Assign the findings of claims to their steps: in the journal, the claims of a step come before the step.

    Returns:
        The steps with their findings, and the findings without a step.
    """
    found = {finding.claim: finding for finding in findings}
    steps: list[StepView] = []
    since: list[FindingView] = []
    for event in events:
        if isinstance(event, Claim) and event.ref in found:
            finding = found.pop(event.ref)
            since.append(_finding(finding, event.rule, event.predicate))
        elif isinstance(event, Step):
            steps.append(StepView(event, tuple(since)))
            since = []
    rest = [_finding(finding, "", "") for finding in found.values()]
    return tuple(steps), tuple(since + rest)


def _finding(finding: Finding, rule: str, predicate: str) -> FindingView:
    return FindingView(FACES[finding.verdict], rule, predicate, finding.claim, finding)


def _frames(events: Sequence[AnyEvent]) -> tuple[FrameView, ...]:
    clock = ScenarioClock(events)
    return tuple(
        _frame(event, duration(clock.at_ns(event)))
        for event in sorted((event for event in events if isinstance(event, Frame | Wire)), key=clock.at_ns)
    )


def _frame(event: Frame | Wire, at: str) -> FrameView:
    text = plain(event.text, event.scenario or "")
    if isinstance(event, Frame):
        return FrameView(at, event.actor, event.direction, text, _octets(event.octets))
    where = "" if event.channel is None else f"channel {event.channel} "
    return FrameView(at, event.actor, event.direction, f"{where}{text}", counted(event.size, "octet"))


def _octets(hexadecimal: str) -> str:
    shown = hexadecimal[: 2 * OCTETS]
    pairs = " ".join(shown[start : start + 2] for start in range(0, len(shown), 2))
    more = (len(hexadecimal) - len(shown)) // 2
    return f"{pairs} … and {more} more" if more else pairs
