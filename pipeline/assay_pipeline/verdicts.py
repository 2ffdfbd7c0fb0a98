"""Verdicts from subjects: each rule that has an invariant, for each run on its backend.

- A journal that is damaged anywhere makes every rule of its runs *inconclusive*: what is missing may be what offends,
  and what is there may be altered.
- A rule of which nothing could be examined is *not-demonstrated*.
- Otherwise each scenario in which something was examined *fails* where a subject offends, is *inconclusive* where one
  is undecided and *passes* where all were kept.  A scenario of the rule's own that could not run, or whose steps did
  not do, says so as well, as it does in the suite.  The rule's verdict is the worst of its scenarios.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from assay_evidence.figures import counted, duration
from assay_evidence.oracle import Limits, Outcome, Subject
from assay_evidence.verdicts import Finding, RuleVerdict, ScenarioVerdict, Verdict, Verdicts, worst
from assay_features import Catalogue

SCHEMA = 1
SHOWN = 20
"""How many offending or undecided subjects of a scenario are shown as findings; the tables hold all."""
_VERDICT_OF = {
    Outcome.KEPT: Verdict.PASS,
    Outcome.UNDECIDED: Verdict.INCONCLUSIVE,
    Outcome.BROKEN: Verdict.FAIL,
}


class RunOf(Struct, frozen=True, order=True):
    """One run in one folder: what one `Verdicts` is about."""

    folder: str
    run: str
    backend: str
    client: str


class Remark(Struct, frozen=True):
    """What a scenario says of itself.

    Args:
        scenario: Its id.
        rules: The rules that it tries.
        judged: ``client``, ``broker`` or ``client+broker``.
        strength: must, may or kit.
        verdict: What its own events make of it, whatever was examined; pass where they say nothing.
        reason: Why, in one sentence.
    """

    scenario: str
    rules: tuple[str, ...]
    judged: str
    strength: str
    verdict: Verdict = Verdict.PASS
    reason: str = ""


class Tally(Struct, frozen=True):
    """What was examined of one rule in one scenario.

    Args:
        rule: The rule's id.
        scenario: The scenario's id.
        counts: How many subjects of each outcome.
        shown: The first few that were not kept.
    """

    rule: str
    scenario: str
    counts: Mapping[Outcome, int]
    shown: tuple[Subject, ...] = ()


class _Words(Struct, frozen=True):
    """How a rule's figure reads: what it demands, and what a subject's figure says."""

    demands: str
    observed: str
    ns: bool = True
    one: str = ""
    many: str = ""


_WORDS: Mapping[str, _Words] = {
    "DD-02": _Words("no sighting before the send call's start plus the delay", "{0} after it was due"),
    "DD-56": _Words("no first sighting later than {expiry_ms} ms after the expiry", "first seen {0} after its expiry"),
    "PD-11": _Words("a copy for every subscription open through the send", "{0}", ns=False, one="copy", many="copies"),
    "PD-20": _Words("every confirmed message seen after the restart", "seen {0} after it", ns=False, one="time"),
    "BT-04": _Words("from 1 message to the listener's size in each batch", "{0}", ns=False, one="message"),
}


def _observed(subject: Subject) -> str:
    words = _WORDS[subject.rule]
    if not words.ns:
        return f"{subject.subject}: {words.observed.format(counted(subject.figure, words.one, words.many))}"
    # A figure below zero lies before the moment that it is counted from.
    side = words.observed if subject.figure >= 0 else words.observed.replace(" after ", " before ")
    return f"{subject.subject}: {side.format(duration(abs(subject.figure)))}"


def conclude(
    run: RunOf,
    rules: Sequence[str],
    tallies: Iterable[Tally],
    remarks: Iterable[Remark],
    damage: Sequence[str],
    *,
    catalogue: Catalogue,
    limits: Limits,
) -> Verdicts:
    """Decide one run.

    Args:
        run: Which.
        rules: The rules that have an invariant.
        tallies: What was examined in the run.
        remarks: What its scenarios say of themselves.
        damage: What is wrong with its journals, a sentence each.
        catalogue: The rules.
        limits: The limits in force.
    """
    by_rule: dict[str, list[Tally]] = {rule: [] for rule in rules}
    for tally in tallies:
        by_rule[tally.rule].append(tally)
    known = {remark.scenario: remark for remark in remarks}
    decided = tuple(
        _conclude_rule(rule, found, known, damage, catalogue=catalogue, limits=limits)
        for rule, found in by_rule.items()
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


def _conclude_rule(
    rule: str,
    tallies: Sequence[Tally],
    remarks: Mapping[str, Remark],
    damage: Sequence[str],
    *,
    catalogue: Catalogue,
    limits: Limits,
) -> RuleVerdict:
    entry = catalogue.rule(rule)
    strength, judged = entry.strength.value, "+".join(part.value for part in entry.judged)
    plain = Remark("", (rule,), judged, strength)
    examined = {tally.scenario: tally for tally in tallies}
    telling = {name for name, remark in remarks.items() if rule in remark.rules and remark.verdict is not Verdict.PASS}
    scenarios = tuple(
        _conclude_scenario(rule, name, examined.get(name), remarks.get(name, plain), damage=damage, limits=limits)
        for name in sorted(examined.keys() | telling)
    )
    verdict = worst(scenario.verdict for scenario in scenarios) if examined else Verdict.NOT_DEMONSTRATED
    return RuleVerdict(
        id=rule,
        verdict=Verdict.INCONCLUSIVE if damage else verdict,
        strength=strength,
        judged=judged,
        profile=entry.profile.value,
        scenarios=scenarios,
    )


def _conclude_scenario(
    rule: str, name: str, tally: Tally | None, remark: Remark, *, damage: Sequence[str], limits: Limits
) -> ScenarioVerdict:
    counts = tally.counts if tally else {}
    own = remark.verdict if rule in remark.rules else Verdict.PASS
    merged = worst((own, *(_VERDICT_OF[outcome] for outcome, count in counts.items() if count)))
    verdict, reason = (Verdict.INCONCLUSIVE, damage[0]) if damage else (merged, _reason(counts, remark, merged))
    demands = _WORDS[rule].demands.format(expiry_ms=limits.expiry_ms)
    shown = tally.shown if tally else ()
    findings = tuple(
        Finding(
            claim=subject.ref,
            verdict=Verdict.INCONCLUSIVE if damage else _VERDICT_OF[subject.outcome],
            reason=f"{subject.subject} is {subject.outcome}.",
            expected=demands,
            observed=_observed(subject),
        )
        for subject in shown
    )
    kept, total = counts.get(Outcome.KEPT, 0), sum(counts.values())
    return ScenarioVerdict(
        scenario=name,
        rules=(rule,),
        verdict=verdict,
        strength=remark.strength,
        judged=remark.judged,
        reason=reason,
        expected=demands,
        observed="; ".join((f"{kept} of {total} examined were kept", *(_observed(subject) for subject in shown[:1]))),
        findings=findings,
    )


def _reason(counts: Mapping[Outcome, int], remark: Remark, verdict: Verdict) -> str:
    if verdict is remark.verdict and remark.reason:
        return remark.reason
    kinds = ", ".join(f"{counts[outcome]} {outcome}" for outcome in Outcome if counts.get(outcome))
    return f"Examined: {kinds}."
