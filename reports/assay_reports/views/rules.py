"""A rule's page: the rule's text and sources, and the result on each pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from assay_evidence.concluding.clients import client_title
from assay_evidence.figures import counted
from assay_evidence.verdicts import RuleVerdict, ScenarioVerdict, Verdict
from assay_features import Catalogue, CitedBy, Judged, Role, Rule, Strength
from assay_features.dimensions import State, table_of
from assay_reports.presentation import LEVELS, ROLES, STRENGTHS
from assay_reports.sources import KillMatrix
from assay_reports.views.matrix import Cell, breach_of, cell
from assay_reports.views.pairs import Names, Pair
from assay_reports.views.scenarios import ScenarioView, scenario_view

_SAID = {
    Verdict.FAIL: "failed",
    Verdict.ERROR: "in error",
    Verdict.INCONCLUSIVE: "undecided",
    Verdict.NOT_DEMONSTRATED: "showed nothing",
    Verdict.UNSUPPORTED: "could not run",
}
"""The words for the verdicts of scenarios, for use after "the scenario"."""


class BasisView(Struct, frozen=True):
    """A source of the rule: document and place, with the document's public address if it has one."""

    key: str
    title: str
    what: str
    place: str
    url: str


class DefectView(Struct, frozen=True):
    """A defect, with the rule's scenarios that catch it, or with the exception that the defect's own code raised."""

    name: str
    caught_by: tuple[str, ...]
    error: str


class AcrossView(Struct, frozen=True):
    """A trait, with the number of scenarios that test the rule under it, or the reason why none does."""

    dimension: str
    trait: str
    said: str


class RoleLine(Struct, frozen=True):
    """The results of the scenarios of one role, as text: ``4 of 5 passed, 1 could not run``."""

    role: str
    meaning: str
    outcome: str


class Lack(Struct, frozen=True):
    """A capability that scenarios of the rule need and the pair lacks."""

    capability: str
    reason: str
    source: str
    scenarios: int


class Tried(Struct, frozen=True):
    """The results of the rule on one pair.

    Args:
        client: The client, with the faces that ran the rule's scenarios.
        whose: A sentence that names the judged part of the pair.
        left_out: The number of the rule's scenarios that were not selected for the run.
        grounds: The grounds of the verdict, one sentence each: the number of core scenarios that passed, the level of
            evidence, and the verdict on each part of the pair.
        roles: The results of the scenarios, by role.
        lacks: The lacking capabilities that kept scenarios from running, the most frequent first.
    """

    pair: Pair
    client: str
    cell: Cell
    whose: str
    scenarios: tuple[ScenarioView, ...]
    left_out: int
    grounds: tuple[str, ...] = ()
    roles: tuple[RoleLine, ...] = ()
    lacks: tuple[Lack, ...] = ()


class RulePage(Struct, frozen=True, kw_only=True):
    """The content of a rule's page.

    Args:
        linked: Whether a source of the rule has a public address.
        kills_known: Whether a run has a kill matrix.
        across: The traits, each with the number of scenarios that test the rule under it, or the reason why none does.
        before: The previous rule of the catalogue; None for the first.
        after: The next rule of the catalogue; None for the last.
    """

    rule: Rule
    strength: str
    basis: tuple[BasisView, ...]
    linked: bool
    tried: tuple[Tried, ...]
    defects: tuple[DefectView, ...]
    kills_known: bool
    across: tuple[AcrossView, ...]
    before: Rule | None
    after: Rule | None


def _defects(rule: Rule, kills: KillMatrix) -> Iterator[DefectView]:
    errors = {error.name: error.reason for error in kills.errors}
    for entry in kills.rules:
        if entry.id == rule.id:
            yield from (DefectView(one.name, one.caught_by, errors.get(one.name, "")) for one in entry.defects)


def rule_page(rule: Rule, pairs: Sequence[Pair], catalogue: Catalogue) -> RulePage:
    """Collect the content of a rule's page."""
    # Every pair of one output folder has the same kill matrix, so the first one with the rule is used.
    defects = next((found for pair in pairs if (found := tuple(_defects(rule, pair.evidence.kills)))), ())
    catches: dict[str, tuple[str, ...]] = {}
    for defect in defects:
        for scenario in defect.caught_by:
            catches[scenario] = (*catches.get(scenario, ()), defect.name)
    names = Names()
    basis = tuple(_basis(rule, catalogue))
    position = catalogue.rules.index(rule)
    return RulePage(
        rule=rule,
        strength=STRENGTHS[rule.strength],
        basis=basis,
        linked=any(view.url for view in basis),
        tried=tuple(_tried(rule, pair, catches, names) for pair in pairs),
        defects=defects,
        across=tuple(_across(rule)),
        kills_known=any(pair.evidence.kills.rules for pair in pairs),
        before=catalogue.rules[position - 1] if position else None,
        after=catalogue.rules[position + 1] if position + 1 < len(catalogue.rules) else None,
    )


def _across(rule: Rule) -> Iterator[AcrossView]:
    for one in table_of(rule):
        if one.state is State.TRIED:
            said = counted(one.scenarios, "scenario")
        else:
            said = f"{'not tested yet' if one.state is State.OPEN else 'not applicable'}: {one.why}"
        yield AcrossView(one.dimension, one.trait, said)


def _basis(rule: Rule, catalogue: Catalogue) -> list[BasisView]:
    views: list[BasisView] = []
    for citation in rule.citations:
        document = catalogue.document(citation.document)
        if document is None:
            views.append(BasisView(citation.document, "", "", citation.where, ""))
            continue
        word = {CitedBy.LINE: "line", CitedBy.SECTION: "section", CitedBy.WHOLE: ""}[document.cited_by]
        plural = "s" if document.cited_by is CitedBy.LINE and "-" in citation.where else ""
        place = f"{word}{plural} {citation.where}" if word else ""
        views.append(BasisView(document.key, document.title, document.what, place, document.url or ""))
    return views


def _tried(rule: Rule, pair: Pair, catches: dict[str, tuple[str, ...]], names: Names) -> Tried:
    names.unique(pair.slug)
    found = pair.rules.get(rule.id)
    views = tuple(scenario_view(scenario, pair, catches, names) for scenario in found.scenarios) if found else ()
    client = client_title(pair.evidence.verdicts.client, found.scenarios) if found else pair.client
    whose = _whose(rule, pair, client)
    return Tried(
        pair,
        client,
        cell(rule, pair),
        whose,
        views,
        found.left_out if found else 0,
        tuple(_grounds(found)) if found else (),
        tuple(_roles(found)) if found else (),
        tuple(_lacks(views)),
    )


def _grounds(found: RuleVerdict) -> Iterator[str]:
    """Yield the grounds of a rule's verdict, one sentence each; a verdicts file of schema 1 contains no grounds."""
    if not found.asked:
        return
    if found.verdict is Verdict.UNSUPPORTED:
        yield f"None of {counted(found.asked, 'core scenario')} could run."
        return
    core = [one for one in found.scenarios if one.role == Role.CORE]
    yield f"{found.passed} of {counted(found.asked, 'core scenario')} {_tally(core)}."
    for role in (Role.CONTROL, Role.EVIDENCE):
        own = [one for one in found.scenarios if one.role == role]
        if any(one.verdict is Verdict.FAIL for one in own):
            yield f"{_passed(own)} of {counted(len(own), f'{role} scenario')} {_tally(own)}."
    breach = breach_of(found)
    if breach:
        yield f"Level of evidence of the breach: {breach}."
    if found.levels:
        strongest = found.levels[-1]
        yield f"Level of evidence{' of what passed' if breach else ''}: {found.evidence}. {LEVELS[strongest]}"
    elif found.passed:
        yield "Level of evidence: by clients alone."
    if found.parts:
        told = ", ".join(f"{part}: {verdict}" for part, verdict in found.parts.items())
        joint = any("+" in scenario.judged for scenario in found.scenarios)
        apart = " Scenarios that judge both parts count for both." if joint else ""
        yield f"By part: {told}.{apart}"


def _roles(found: RuleVerdict) -> Iterator[RoleLine]:
    """Yield one line for each role of the rule's scenarios."""
    for role, meaning in ROLES.items():
        own = [scenario for scenario in found.scenarios if scenario.role == role]
        if own:
            yield RoleLine(role, meaning, f"{_passed(own)} of {len(own)} {_tally(own)}")


def _passed(scenarios: Sequence[ScenarioVerdict]) -> int:
    return sum(scenario.verdict is Verdict.PASS for scenario in scenarios)


def _tally(scenarios: Sequence[ScenarioVerdict]) -> str:
    """Return the end of a sentence that begins with the number of passes: ``passed, 3 could not run``."""
    tally = Counter(scenario.verdict for scenario in scenarios)
    return ", ".join(["passed", *(f"{tally[verdict]} {word}" for verdict, word in _SAID.items() if tally[verdict])])


def _lacks(views: Sequence[ScenarioView]) -> list[Lack]:
    found = Counter(
        (lacking.capability, lacking.reason, lacking.source) for view in views for lacking in view.unsupported
    )
    return [Lack(*lack, count) for lack, count in found.most_common()]


def _whose(rule: Rule, pair: Pair, client: str) -> str:
    """Return a sentence that names the judged part of the pair.

    For a rule that judges the client alone, the sentence adds that the verdict says nothing about the broker.
    """
    begin = pair.evidence.begin
    ours = begin.ours if begin else ()
    if rule.judged == (Judged.CLIENT,):
        owner = "our own client" if "client" in ours else "the client"
        return f"A verdict on {owner}, {client}; it says nothing about the broker."
    if rule.judged == (Judged.BROKER,):
        owner = "our own broker" if "broker" in ours else "the broker"
        return f"A verdict on {owner}, {pair.backend}, seen through {client}."
    exempt = rule.strength is Strength.KIT and len(ours) < len(Judged)
    recorded = " The verdict on a part that is not our own is only recorded." if exempt else ""
    return f"A verdict on client and broker together: {client} on {pair.backend}.{recorded}"
