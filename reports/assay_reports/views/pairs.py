"""The pairs of client and broker in a report, one for each run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from msgspec import Struct, structs

from assay_evidence.concluding.clients import client_title, faces_sentence
from assay_evidence.events import LATENESS, NOT_RUN_HERE, PACE, AnyEvent, Plan
from assay_evidence.verdicts import RuleVerdict, ScenarioVerdict, Verdict, Verdicts
from assay_features import Catalogue, Judged, UnknownRuleError
from assay_reports.errors import SourceError
from assay_reports.presentation import Count, counts
from assay_reports.readable import readable
from assay_reports.sources import VERDICTS_FILE, KnownOutcome, RunEvidence
from assay_reports.text import slug
from assay_reports.views.claims import Claims, claims_of

_CIRCUMSTANCES = {
    "defect": "The pair breaks rules on purpose: the defect {} is switched on.",
    "variant": "The pair differs on purpose: the tolerated variant {} is switched on.",
    LATENESS: "A message may be late by {}.",
    NOT_RUN_HERE: "{}",
    PACE: "The pair answers slowly, so all times of the scenarios are {} times as long as written.",
}
"""The sentences about circumstances on which a run's verdicts depend, by their key in the journal's environment."""


class Pair(Struct, frozen=True, kw_only=True):
    """One run, prepared for the pages.

    Args:
        slug: The name of the pair's page, and the prefix of its anchors.
        backend: The backend's name; with the run's folder if another run has the same backend and client.
        client: The name and version of the client, and all its faces that ran a scenario.
        evidence: The run's evidence.
        rules: The verdicts on rules, by id.
        events: The events by scenario.
        planned: The number of scenarios that the run planned.
        untried: The names of planned scenarios without events, because the run was stopped or its journals are lost.
        untriaged: The ids of the failed scenarios that no known outcome expects.
        same_catalogue: Whether the run used the catalogue of this report; None if the journal does not say.
    """

    slug: str
    backend: str
    client: str
    evidence: RunEvidence
    rules: dict[str, RuleVerdict]
    events: dict[str, tuple[AnyEvent, ...]]
    planned: int
    untried: tuple[str, ...]
    untriaged: frozenset[str]
    same_catalogue: bool | None

    @property
    def href(self) -> str:
        """The link to the pair's page, relative to the root of the site."""
        return f"backends/{self.slug}.html"

    def known(self, scenario: ScenarioVerdict) -> KnownOutcome | None:
        """Return the known outcome of a scenario; None if the scenario has none.

        If several entries cover the scenario, the first one that expects the scenario's verdict counts. If none expects
        this verdict, the first entry counts.
        """
        entries = [entry for entry in self.evidence.known if entry.covers(scenario.scenario)]
        return next((entry for entry in entries if entry.verdict == scenario.verdict), next(iter(entries), None))

    @property
    def rule_counts(self) -> tuple[Count, ...]:
        """The numbers of rules, by verdict."""
        return counts(rule.verdict for rule in self.rules.values())

    @property
    def scenario_counts(self) -> tuple[Count, ...]:
        """The numbers of scenarios, by verdict."""
        return counts(scenario.verdict for scenario in scenarios_of(self.evidence.verdicts).values())

    @property
    def claims(self) -> Claims:
        """The profiles that the backend claims, and the verdicts of the probes."""
        return claims_of(self.evidence.verdicts)

    def tried(self, rule: str) -> bool:
        """Return whether the pair could run at least one scenario of a rule."""
        found = self.rules.get(rule)
        return found is not None and found.verdict is not Verdict.UNSUPPORTED

    @property
    def narrowed(self) -> int:
        """The number of rules for which the run selected only some of the scenarios."""
        return sum(rule.left_out > 0 for rule in self.rules.values())

    @property
    def own_counts(self) -> tuple[Count, ...]:
        """The numbers of foreign scenarios, by verdict."""
        return counts(scenario.verdict for scenario in self.evidence.verdicts.foreign)

    @property
    def faces(self) -> str:
        """The number of scenarios that each face of the client ran, in words; empty if one face ran all."""
        return faces_sentence(self.evidence.verdicts.clients)

    @property
    def lead(self) -> str:
        """The first sentences of the page: the numbers of passed rules, passed own scenarios and untried rules."""
        own = self.evidence.verdicts.foreign
        tried = [rule for rule in self.rules.values() if self.tried(rule.id)]
        rules = f"{_passed(tried)} tried rules were kept" if self.rules or not own else ""
        passed = f"{_passed(own)} scenarios of your own passed" if own else ""
        lead = f"{' and '.join(filter(None, (rules, passed)))}."
        lacking = len(self.rules) - len(tried)
        if lacking:
            lead += f" {lacking} more could not be tried (unsupported)."
        clients = sum(rule.judged == Judged.CLIENT for rule in tried)
        if clients:
            lead += f" {clients} of those tried judge the client alone and say nothing about the broker."
        return lead

    @property
    def product(self) -> str:
        """The name and version of the product, from the journal; empty if the journal does not hold them."""
        told = self._environment
        return " ".join(filter(None, (told.get("product"), told.get("version"))))

    @property
    def circumstances(self) -> str:
        """The sentences about defect, variant, allowed lateness, pace and an untried adapter; empty for a usual run."""
        told = self._environment
        return " ".join(sentence.format(told[name]) for name, sentence in _CIRCUMSTANCES.items() if name in told)

    @property
    def _environment(self) -> dict[str, str]:
        return self.evidence.begin.environment if self.evidence.begin else {}


def _passed(judged: Collection[RuleVerdict] | Collection[ScenarioVerdict]) -> str:
    """Return the number of passes, as ``3 of 4``."""
    return f"{sum(one.verdict is Verdict.PASS for one in judged)} of {len(judged)}"


def scenarios_of(verdicts: Verdicts) -> dict[str, ScenarioVerdict]:
    """Return the run's scenarios by id, including foreign scenarios; several rules may share a scenario."""
    return {scenario.scenario: scenario for scenario in verdicts.scenarios}


def pairs_of(runs: Sequence[RunEvidence], catalogue: Catalogue) -> tuple[Pair, ...]:
    """Prepare the runs for the pages, as pairs.

    Raises:
        SourceError: A run's verdicts name a rule that the catalogue does not have.
    """
    names = Names()
    seen = Counter((run.verdicts.backend, run.verdicts.client) for run in runs)
    return tuple(
        _pair(run, catalogue, names, alone=seen[run.verdicts.backend, run.verdicts.client] == 1) for run in runs
    )


def _pair(run: RunEvidence, catalogue: Catalogue, names: Names, *, alone: bool) -> Pair:
    run = structs.replace(run, verdicts=readable(run.verdicts))
    verdicts = run.verdicts
    for rule in verdicts.rules:
        _expect_known(rule.id, catalogue, run)
    begin = run.begin
    events = run.of_scenario()
    planned = {scenario.id for event in run.events if isinstance(event, Plan) for scenario in event.scenarios}
    return Pair(
        slug=names.unique(f"{verdicts.backend}--{verdicts.client}"),
        backend=verdicts.backend if alone else f"{verdicts.backend} ({run.folder or verdicts.run})",
        client=client_title(verdicts.client, verdicts.scenarios),
        evidence=run,
        rules={rule.id: rule for rule in verdicts.rules},
        events=events,
        planned=len(planned),
        untried=tuple(sorted(planned - events.keys())),
        untriaged=frozenset(scenario.scenario for scenario in run.untriaged),
        same_catalogue=None if begin is None else begin.catalogue_hash == catalogue.sha256,
    )


def _expect_known(rule_id: str, catalogue: Catalogue, run: RunEvidence) -> None:
    try:
        catalogue.rule(rule_id)
    except UnknownRuleError as error:
        where = (run.folder or Path(run.verdicts.run)) / VERDICTS_FILE
        raise SourceError(where, f"{error} Use the catalogue that this run was made with.") from error


class Names:
    """Makes unique names for files and anchors."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def unique(self, text: str) -> str:
        """Return a slug of a text that this object has not returned before."""
        stem = "--".join(slug(part) for part in text.split("--"))
        name, number = stem, 1
        while name in self._taken:
            number += 1
            name = f"{stem}-{number}"
        self._taken.add(name)
        return name
