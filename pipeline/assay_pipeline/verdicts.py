"""Verdicts from subjects: for each run, the verdict of each rule that has an invariant.

- In each scenario with subjects, an offending subject is a fail, an undecided one is inconclusive, and a kept one is a
  pass.  A scenario of the rule that could not run, or with a step that was not done, also counts, as in the suite.
- These findings are weighed as those of claims are (`assay_evidence.concluding.weighing`).  A scenario's verdict is the
  worst of its findings, a rule's the worst of its scenarios.
- A rule without any subject is *not-demonstrated*.
- Damage anywhere in a folder makes every rule of its runs *inconclusive*: the missing or altered line may offend.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, structs

from assay_evidence.concluding.weighing import Circumstance, Kind, deciding, foreign_kit, held_up, weigh
from assay_evidence.subjects import Limits, Outcome, Subject
from assay_evidence.verdicts import SCHEMA, Finding, RuleVerdict, ScenarioVerdict, Verdict, Verdicts, worst
from assay_features import Catalogue
from assay_features.rule import Rule
from assay_pipeline.invariant import Invariant

SHOWN = 20
"""How many broken or undecided subjects of a scenario are shown as findings; the tables hold all."""
_VERDICT_OF = {
    Outcome.KEPT: Verdict.PASS,
    Outcome.UNDECIDED: Verdict.INCONCLUSIVE,
    Outcome.BROKEN: Verdict.FAIL,
}


class RunOf(Struct, frozen=True, order=True):
    """One run in one folder; it has one `Verdicts`.

    Args:
        folder: The folder.
        run: The run's id.
        backend: The backend's name.
        client: Name and version of the client.
        ours: The parts of the pair that are ours (`Begin.ours`).
    """

    folder: str
    run: str
    backend: str
    client: str
    ours: tuple[str, ...] = ()


class Remark(Struct, frozen=True):
    """What a scenario's own events record about it.

    Args:
        scenario: Its id.
        rules: The rules that it tries.
        judged: ``client``, ``broker`` or ``client+broker``.
        strength: must, may or kit.
        verdict: Unsupported, error or inconclusive if it could not run or a step was not done; otherwise pass.
        reason: Why, in one sentence; empty for a pass.
        late_ns: How late the harness was in it, in all.
        elapsed_ns: How long it took.
    """

    scenario: str
    rules: tuple[str, ...]
    judged: str
    strength: str
    verdict: Verdict = Verdict.PASS
    reason: str = ""
    late_ns: int = 0
    elapsed_ns: int = 0


class Tally(Struct, frozen=True):
    """The numbers of subjects of one rule in one scenario.

    Args:
        rule: The rule's id.
        scenario: The scenario's id.
        counts: How many subjects have each outcome.
        shown: The first few that were not kept.
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
    """Decide one run.

    Args:
        run: The run.
        invariants: The invariants that were examined.
        tallies: The numbers of subjects.
        remarks: What its scenarios record about themselves.
        damage: The damage of its journals, a sentence each.
        catalogue: The rules.
        limits: The limits in force.
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
    """One rule in one run."""

    run: RunOf
    invariant: Invariant
    rule: Rule
    limits: Limits
    damage: Sequence[str]

    @property
    def judged(self) -> str:
        """``client``, ``broker`` or ``client+broker``."""
        return "+".join(part.value for part in self.rule.judged)

    def conclude(self, tallies: Sequence[Tally], remarks: Mapping[str, Remark]) -> RuleVerdict:
        """Decide the rule.

        Args:
            tallies: Its numbers of subjects, by scenario.
            remarks: The remarks of the run's scenarios, by id.
        """
        examined = {tally.scenario: tally for tally in tallies}
        failing = {name for name, remark in remarks.items() if self._own(remark) is not None}
        plain = Remark("", (self.rule.id,), self.judged, self.rule.strength.value)
        scenarios = tuple(
            self._scenario(name, examined.get(name), remarks.get(name, plain))
            for name in sorted(examined.keys() | failing)
        )
        verdict = worst(scenario.verdict for scenario in scenarios) if examined else Verdict.NOT_DEMONSTRATED
        return RuleVerdict(
            id=self.rule.id,
            verdict=weigh(Finding(claim="", verdict=verdict), self._damaged()).verdict,
            strength=self.rule.strength.value,
            judged=self.judged,
            profile=self.rule.profile.value,
            scenarios=scenarios,
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
        )

    def _finding(self, ref: str, outcome: Outcome, reason: str) -> Finding:
        certain = self.invariant.certain and outcome is Outcome.BROKEN
        return Finding(claim=ref, verdict=_VERDICT_OF[outcome], reason=reason, certain=certain)

    def _own(self, remark: Remark) -> Finding | None:
        """The finding of a scenario of this rule that could not run, or not wholly; None for any other."""
        if self.rule.id not in remark.rules or remark.verdict is Verdict.PASS:
            return None
        return Finding(claim="", verdict=remark.verdict, reason=remark.reason)

    def _damaged(self) -> list[Circumstance]:
        return [Circumstance(Kind.DAMAGED_HISTORY, sentence) for sentence in self.damage[:1]]

    def _circumstances(self, remark: Remark) -> list[Circumstance]:
        """The circumstances of a scenario.

        The rule's own strength counts, since an invariant also examines the scenarios of other rules.
        """
        kit = foreign_kit(self.rule.strength.value, self.judged, self.run.ours)
        busy = held_up(remark.late_ns, remark.elapsed_ns)
        return [*self._damaged(), *(one for one in (kit, busy) if one is not None)]
