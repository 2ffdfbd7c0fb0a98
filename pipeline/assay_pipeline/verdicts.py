"""Computes verdicts from subjects: for each run, the verdict on each rule with an invariant.

- In each scenario with subjects, a broken subject is a fail, an undecided subject is inconclusive, and a kept subject
  is a pass.  As in the suite, a scenario of the rule that could not run, or whose steps were not all done, also counts.
- These findings are weighed like findings of claims (`assay_evidence.concluding.weighing`).  A scenario's verdict is
  the worst verdict of its findings, and a rule's verdict is the worst of its scenarios' verdicts.
- If a busy machine held up the harness in a scenario, a pass of the scenario becomes inconclusive.  If another scenario
  passed, such a scenario does not count for the rule, because its kept subjects are not evidence.  A scenario with a
  broken or undecided subject always counts.
- An attempt without a decision does not count if the suite then tried the scenario again
  (`assay_evidence.concluding.attempts`).
- A rule without any subject is *not-demonstrated*.
- Damage anywhere in a folder makes every rule of its runs *inconclusive*: a missing or altered line may show a breach.
- A rule that an imported log cannot decide (`Begin.decides`) is *not-demonstrated*, even if it has subjects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, structs

from assay_evidence.concluding.weighing import Circumstance, Kind, deciding, foreign_kit, held_up, session_ended, weigh
from assay_evidence.subjects import Limits, Outcome, Subject
from assay_evidence.verdicts import SCHEMA, Finding, RuleVerdict, ScenarioVerdict, Verdict, Verdicts, worst
from assay_features import Catalogue
from assay_features.rule import Rule
from assay_pipeline.invariant import Invariant

SHOWN = 20
"""The largest number of a scenario's broken or undecided subjects that become findings; the tables hold all of them."""
UNTOLD = "The import of a log does not write the events that decide this rule."
_VERDICT_OF = {
    Outcome.KEPT: Verdict.PASS,
    Outcome.UNDECIDED: Verdict.INCONCLUSIVE,
    Outcome.BROKEN: Verdict.FAIL,
}
_REPLACED = frozenset({Verdict.INCONCLUSIVE, Verdict.NOT_DEMONSTRATED, Verdict.ERROR})
"""The verdicts on an attempt that do not count if the suite tried the scenario again."""


class RunOf(Struct, frozen=True, order=True):
    """One run in one folder; for each such run, the pipeline makes one `Verdicts`.

    Args:
        folder: The folder.
        run: The run's id.
        backend: The backend's name.
        client: The name, version and face of the client.
        ours: The parts of the pair that belong to the kit (`Begin.ours`).
        decides: For an imported log, the ids of the rules that it can decide; None for a run (`Begin.decides`).
        untold: For an imported log, pairs of a rule's id and the sentence about what the log lacks (`Begin.untold`).
    """

    folder: str
    run: str
    backend: str
    client: str
    ours: tuple[str, ...] = ()
    decides: tuple[str, ...] | None = None
    untold: tuple[tuple[str, str], ...] = ()

    def can_decide(self, rule: str) -> bool:
        """Return whether the run's events can decide a rule."""
        return self.decides is None or rule in self.decides

    def lacks(self, rule: str) -> str:
        """Return one sentence about what the run's events lack to decide a rule; empty if they lack nothing."""
        if self.decides is None:
            return ""
        return dict(self.untold).get(rule, "" if rule in self.decides else UNTOLD)


class Remark(Struct, frozen=True):
    """The facts that a scenario's own events record about the scenario.

    Args:
        scenario: The scenario's id.
        rules: The ids of the rules that it tests.
        judged: ``client``, ``broker`` or ``client+broker``.
        strength: must, may or kit.
        verdict: Unsupported, error or inconclusive if the scenario or one of its steps could not run; otherwise pass.
        reason: The reason in one sentence; empty for a pass.
        late_ns: The sum of the harness's delays during the scenario, in nanoseconds.
        elapsed_ns: The scenario's duration, in nanoseconds.
        session_error: The text of the error with which the broker ended a session; None if the broker ended no session
            with an error.
        attempt: The number of the attempt at the scenario, from 1.
        repeats: The id of the scenario of which this is a later attempt; empty for a first attempt.
    """

    scenario: str
    rules: tuple[str, ...]
    judged: str
    strength: str
    verdict: Verdict = Verdict.PASS
    reason: str = ""
    late_ns: int = 0
    elapsed_ns: int = 0
    session_error: str | None = None
    attempt: int = 1
    repeats: str = ""


class Tally(Struct, frozen=True):
    """The numbers of subjects of one rule in one scenario.

    Args:
        rule: The rule's id.
        scenario: The scenario's id.
        counts: The number of subjects with each outcome.
        shown: The first subjects with another outcome than kept.
    """

    rule: str
    scenario: str
    counts: Mapping[Outcome, int]
    shown: tuple[Subject, ...] = ()


def conclude(
    run: RunOf,
    invariants: Sequence[Invariant],
    tallies: Iterable[Tally],
    remarks: Iterable[Remark],
    damage: Sequence[str],
    *,
    catalogue: Catalogue,
    limits: Limits,
) -> Verdicts:
    """Compute the verdicts of one run.

    Args:
        run: The run.
        invariants: The invariants that Spark has examined.
        tallies: The numbers of subjects, by rule and scenario.
        remarks: The remarks about the run's scenarios.
        damage: The damage of the journals, one sentence each.
        catalogue: The rules.
        limits: The values of the limits.
    """
    counted: dict[str, list[Tally]] = {invariant.rule: [] for invariant in invariants}
    for tally in tallies:
        counted[tally.rule].append(tally)
    known = {remark.scenario: remark for remark in remarks}
    decided = tuple(
        _RuleOf(run, invariant, catalogue.rule(invariant.rule), limits, damage).conclude(counted[invariant.rule], known)
        for invariant in invariants
    )
    totals = {str(verdict): sum(rule.verdict is verdict for rule in decided) for verdict in Verdict}
    return Verdicts(
        schema=SCHEMA,
        run=run.run,
        backend=run.backend,
        client=run.client,
        rules=decided,
        totals={name: count for name, count in totals.items() if count},
    )


class _RuleOf(Struct, frozen=True):
    """Computes the verdict of one rule in one run."""

    run: RunOf
    invariant: Invariant
    rule: Rule
    limits: Limits
    damage: Sequence[str]

    @property
    def judged(self) -> str:
        """The judged part: ``client``, ``broker`` or ``client+broker``."""
        return "+".join(part.value for part in self.rule.judged)

    def conclude(self, tallies: Sequence[Tally], remarks: Mapping[str, Remark]) -> RuleVerdict:
        """Compute the verdict of the rule.

        Args:
            tallies: The rule's numbers of subjects, by scenario.
            remarks: The remarks of the run's scenarios, by id.
        """
        if not self.run.can_decide(self.rule.id):
            return self._verdict(Verdict.NOT_DEMONSTRATED, ())
        examined = {tally.scenario: tally for tally in tallies}
        failing = {name for name, remark in remarks.items() if self._own(remark) is not None}
        plain = Remark("", (self.rule.id,), self.judged, self.rule.strength.value)
        repeated = _repeated(remarks.values())
        all_attempts = (
            self._scenario(name, examined.get(name), remarks.get(name, plain))
            for name in sorted(examined.keys() | failing)
        )
        scenarios = tuple(one for one in all_attempts if one.verdict not in _REPLACED or one.scenario not in repeated)
        deciding_ones = _deciding(scenarios, examined)
        verdict = worst(scenario.verdict for scenario in deciding_ones) if examined else Verdict.NOT_DEMONSTRATED
        return self._verdict(verdict, scenarios)

    def _verdict(self, verdict: Verdict, scenarios: tuple[ScenarioVerdict, ...]) -> RuleVerdict:
        return RuleVerdict(
            id=self.rule.id,
            verdict=weigh(Finding(claim="", verdict=verdict), self._damaged()).verdict,
            strength=self.rule.strength.value,
            judged=self.judged,
            profile=self.rule.profile.value,
            scenarios=scenarios,
            reason=self.run.lacks(self.rule.id) if verdict is Verdict.NOT_DEMONSTRATED else "",
        )

    def _scenario(self, name: str, tally: Tally | None, remark: Remark) -> ScenarioVerdict:
        counts = tally.counts if tally else {}
        shown = tally.shown if tally else ()
        demands = self.invariant.demands(self.limits)
        wording = self.invariant.wording
        circumstances = self._circumstances(remark)
        kinds = ", ".join(f"{counts[outcome]} {outcome}" for outcome in Outcome if counts.get(outcome))
        met = [] if (own := self._own(remark)) is None else [own]
        met += [self._finding("", outcome, f"Examined: {kinds}.") for outcome, count in counts.items() if count]
        because = deciding(weigh(finding, circumstances) for finding in met)
        findings = (
            structs.replace(
                self._finding(subject.ref, subject.outcome, f"{subject.subject} is {subject.outcome}."),
                expected=demands,
                observed=wording.of(subject),
            )
            for subject in shown
        )
        kept, total = counts.get(Outcome.KEPT, 0), sum(counts.values())
        return ScenarioVerdict(
            scenario=name,
            rules=(self.rule.id,),
            verdict=because.verdict if because else Verdict.NOT_DEMONSTRATED,
            strength=remark.strength,
            judged=remark.judged,
            reason=because.reason if because else "",
            expected=demands,
            observed="; ".join((f"{kept} of {total} examined were kept", *(wording.of(one) for one in shown[:1]))),
            findings=tuple(weigh(finding, circumstances) for finding in findings),
            delayed=because is not None and because.delayed,
        )

    def _finding(self, ref: str, outcome: Outcome, reason: str) -> Finding:
        certain = self.invariant.certain and outcome is Outcome.BROKEN
        return Finding(claim=ref, verdict=_VERDICT_OF[outcome], reason=reason, certain=certain)

    def _own(self, remark: Remark) -> Finding | None:
        """Return the finding of a scenario of this rule that could not run completely; None for other scenarios."""
        if self.rule.id not in remark.rules or remark.verdict is Verdict.PASS:
            return None
        return Finding(claim="", verdict=remark.verdict, reason=remark.reason)

    def _damaged(self) -> list[Circumstance]:
        return [Circumstance(Kind.DAMAGED_HISTORY, sentence) for sentence in self.damage[:1]]

    def _circumstances(self, remark: Remark) -> list[Circumstance]:
        """Return the circumstances of a scenario for the weighing of its findings.

        The strength and the judged part of this rule count, not those of the scenario, because an invariant also
        examines scenarios of other rules.
        """
        kit = foreign_kit(self.rule.strength.value, self.judged, self.run.ours)
        ending = session_ended(self.judged, self.run.ours, remark.session_error)
        busy = held_up(remark.late_ns, remark.elapsed_ns)
        return [*self._damaged(), *(one for one in (kit, ending, busy) if one is not None)]


def _repeated(remarks: Iterable[Remark]) -> set[str]:
    """Return the ids of all attempts after which the suite tried their scenario again."""
    attempts: dict[str, list[Remark]] = {}
    for remark in remarks:
        attempts.setdefault(remark.repeats or remark.scenario, []).append(remark)
    ordered = (sorted(group, key=lambda one: one.attempt) for group in attempts.values())
    return {one.scenario for group in ordered for one in group[:-1]}


def _deciding(scenarios: Sequence[ScenarioVerdict], examined: Mapping[str, Tally]) -> Sequence[ScenarioVerdict]:
    """Return the scenarios that decide a rule.

    If a scenario passed, scenarios with a late harness and only kept subjects are left out; otherwise none is.
    """
    if all(one.verdict is not Verdict.PASS for one in scenarios):
        return scenarios

    def is_set_aside(one: ScenarioVerdict) -> bool:
        tally = examined.get(one.scenario)
        found = set() if tally is None else {outcome for outcome, count in tally.counts.items() if count}
        return one.delayed and found == {Outcome.KEPT}

    return tuple(one for one in scenarios if not is_set_aside(one))
