"""The only maker of verdicts: pure functions from journal events to findings, and from findings to verdicts.

1. A claim is decided by its predicate, from the evidence of its scenario up to the claim (`judge_claim`).  A predicate
   that crashes gives `error`, never a pass.
2. A finding is weighed: a pass or a fail that rests on a damaged journal is inconclusive; a fail in a scenario that did
   not end is an error, since whatever stopped it may have brought it about; a `kit` rule fails our own parts only; a
   fail in a scenario whose harness the machine held up is inconclusive, unless no delay can have brought it about.
3. A scenario's verdict is the worst of its findings and of what its steps met; a rule's is the worst of its scenarios.
   A scenario that was not run for want of something that is no ability of the pair's (time that waits for nothing)
   stands apart: it decides its rule only where no other scenario does.

Which scenarios damage touches: those with an event of the damaged writer; all of them when a writer's file is missing,
when the damaged writer keeps no scenario of its own or writes into another's (it watches for others, so what was lost
may belong to any), and when no plan is found, since then nobody knows what else should have run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct

from assay_evidence.clients import clients_of
from assay_evidence.errors import ClaimError
from assay_evidence.events import (
    AnyEvent,
    Begin,
    Claim,
    Event,
    Plan,
    PlannedScenario,
    ScenarioBegin,
    ScenarioEnd,
    Step,
    Unsupported,
)
from assay_evidence.history import History, visible_to
from assay_evidence.lines import JournalDamage
from assay_evidence.predicates import PREDICATES
from assay_evidence.predicates.shapes import check_shape
from assay_evidence.verdicts import SCHEMA, Finding, RuleVerdict, ScenarioVerdict, Verdict, Verdicts, worst, worst_of
from assay_features import Catalogue, Rule, UnknownRuleError

NS_PER_SECOND = 1_000_000_000
HELD_UP_NS = 1_500_000_000
"""How much the harness may come late in a scenario, in all, before what it finds broken is held against nobody: the
shortest silence that a claim in real time rests on.  On a machine that has time it is nothing."""
KIT = "kit"
NO_CLAIM = "The scenario made no claim."
"""The reason for the verdict of a scenario whose steps all ran and none of which claimed anything."""
_DECIDED = frozenset({Verdict.PASS, Verdict.FAIL})
E = TypeVar("E", bound=Event)


def judge_claim(claim: Claim, events: Iterable[AnyEvent]) -> Finding:
    """Decide one claim from its scenario's events, as a Then-step does when it makes the claim.

    Args:
        claim: The claim.
        events: The events of its scenario; those behind the claim change nothing.
    """
    return _decide(claim, visible_to(claim, events), None)[0]


def judge(events: Iterable[AnyEvent], catalogue: Catalogue, damage: Sequence[JournalDamage] = ()) -> Verdicts:
    """Make all verdicts of one run, from its journals alone.

    Args:
        events: Every event of the run, in any order.
        catalogue: The rules.
        damage: What is wrong with the journals, as `assay_evidence.reader.read_journals` found it.

    Returns:
        Rules in the catalogue's order, each with its scenarios by id; only rules with a planned or a seen scenario.
        Foreign scenarios stand apart: they decide no rule.
    """
    ordered = sorted(events, key=lambda event: (event.writer, event.seq))
    bench = _Bench(ordered, catalogue, damage)
    scenarios = [bench.scenario(name) for name in bench.names()]
    rules = _rules([one for one in scenarios if not one.foreign], catalogue, bench.left_out)
    begin = bench.begin
    foreign = tuple(scenario for scenario in scenarios if scenario.foreign)
    return Verdicts(
        schema=SCHEMA,
        run=ordered[0].run if ordered else "",
        backend=begin.backend if begin else "",
        client=begin.client if begin else "",
        rules=rules,
        totals=_totals(rules),
        defect=begin.defect if begin else "",
        foreign=foreign,
        foreign_totals=_totals(foreign) if foreign else {},
        clients=clients_of(begin.client if begin else "", scenarios),
    )


def _totals(judged: Iterable[RuleVerdict] | Iterable[ScenarioVerdict]) -> dict[str, int]:
    """How many have which verdict; all six are named."""
    found = Counter(one.verdict for one in judged)
    return {verdict.value: found[verdict] for verdict in Verdict}


def _decide(
    claim: Claim, visible: list[AnyEvent], known: tuple[list[AnyEvent], History] | None
) -> tuple[Finding, tuple[list[AnyEvent], History] | None]:
    """Decide a claim; the index is used again when the evidence is the same as for the claim before."""
    try:
        check_shape(claim)
        if known is None or known[0] != visible:
            known = (visible, History(visible))
        return PREDICATES[claim.predicate](claim, known[1]), known
    except ClaimError as error:
        return _error(claim, str(error)), known
    except Exception as error:  # noqa: BLE001 - whatever a predicate does wrong is an error verdict, never a pass
        return _error(claim, f"The predicate {claim.predicate} crashed: {type(error).__name__}: {error}."), known


def _error(claim: Claim, reason: str) -> Finding:
    return Finding(claim=claim.ref, verdict=Verdict.ERROR, reason=reason, expected=claim.text, observed="not decided")


class _Facts(Struct, frozen=True):
    """What is known of a scenario besides its claims."""

    rules: tuple[str, ...]
    strength: str
    judged: str
    foreign: bool
    client: str
    tags: tuple[str, ...]


class _Bench:
    """The events of a run by scenario, and what weighs on their findings."""

    def __init__(self, events: list[AnyEvent], catalogue: Catalogue, damage: Sequence[JournalDamage]) -> None:
        self._catalogue = catalogue
        self._planned: dict[str, PlannedScenario] = {}
        self._traces: defaultdict[str, list[AnyEvent]] = defaultdict(list)
        self._begins: dict[str, Begin] = {}
        self.left_out: Counter[str] = Counter()
        plans: list[Plan] = []
        for event in events:
            if isinstance(event, Plan):
                plans.append(event)
                self._planned.update((scenario.id, scenario) for scenario in event.scenarios)
                self.left_out |= Counter(event.left_out)  # each process of a run tells the same
            elif event.scenario is not None:
                self._traces[event.scenario].append(event)
            elif isinstance(event, Begin):
                self._begins.setdefault(event.writer, event)
        self._has_plan = bool(plans)
        controllers = [plan.writer for plan in plans]
        chosen = [self._begins[name] for name in (*controllers, *sorted(self._begins)) if name in self._begins]
        self.begin: Begin | None = chosen[0] if chosen else None
        self._damage: dict[str, JournalDamage] = {}
        for harm in damage:
            self._damage.setdefault(harm.writer, harm)
        self._spoilt = self._spoils_all(damage)

    def names(self) -> list[str]:
        """Every scenario that was planned or left a trace."""
        return sorted(self._planned.keys() | self._traces.keys())

    def _spoils_all(self, damage: Sequence[JournalDamage]) -> str:
        """Why no scenario of this run can be relied on; empty when some can."""
        if not self._has_plan:
            return "No plan was found in the journals, so nobody knows what else should have run."
        begun = {
            name: {event.writer for event in trace if isinstance(event, ScenarioBegin)}
            for name, trace in self._traces.items()
        }
        own = {writer for writers in begun.values() for writer in writers}
        guests = {
            event.writer for name, trace in self._traces.items() for event in trace if event.writer not in begun[name]
        }
        for harm in damage:
            if harm.kind == "missing-writer" or harm.writer not in own or harm.writer in guests:
                return _harmed(harm)
        return ""

    def scenario(self, name: str) -> ScenarioVerdict:
        """The verdict of one scenario."""
        trace = self._traces.get(name, [])
        facts = self._facts(name, trace)
        whole = not _is_unfinished(trace)
        findings = [self._weigh(finding, claim, facts, trace, whole=whole) for claim, finding in _findings(trace)]
        met = [*findings, *self._circumstances(name, facts, trace)]
        verdict = worst(finding.verdict for finding in met)
        because = next((finding for finding in met if finding.verdict is verdict), None)
        disclosed = dict.fromkeys(finding.disclosed for finding in findings if finding.disclosed)
        ends = _of_kind(trace, ScenarioEnd)
        return ScenarioVerdict(
            scenario=name,
            rules=facts.rules,
            verdict=verdict,
            strength=facts.strength,
            judged=facts.judged,
            reason=because.reason if because else NO_CLAIM,
            expected=because.expected if because else "",
            observed=because.observed if because else "",
            disclosed="; ".join(disclosed),
            seconds=sum(end.elapsed_ns for end in ends) / NS_PER_SECOND,
            waited_seconds=sum(end.waited_ns for end in ends) / NS_PER_SECOND,
            findings=tuple(findings),
            foreign=facts.foreign,
            client=facts.client,
            tags=facts.tags,
            apart=verdict is Verdict.UNSUPPORTED and any(event.apart for event in _of_kind(trace, Unsupported)),
        )

    def _facts(self, name: str, trace: list[AnyEvent]) -> _Facts:
        planned = self._planned.get(name)
        begins = _of_kind(trace, ScenarioBegin)
        rules = dict.fromkeys(planned.rules if planned else ())
        rules.update(dict.fromkeys(rule for begin in begins for rule in begin.rules))
        rules.update(dict.fromkeys(claim.rule for claim in _of_kind(trace, Claim) if claim.rule))
        source = begins[0] if begins else planned
        foreign = any(told.foreign for told in (*begins, *([planned] if planned else ())))
        strength, judged = (source.strength, source.judged) if source else ("", "")
        client = next((begin.client for begin in begins if begin.client), "")
        return _Facts(tuple(rules), strength, judged, foreign, client, planned.tags if planned else ())

    def _circumstances(self, name: str, facts: _Facts, trace: list[AnyEvent]) -> list[Finding]:
        """What else decides: as findings without a claim."""
        if not trace:
            return [Finding(claim="", verdict=Verdict.ERROR, reason="The scenario was planned and was not run.")]
        found: list[Finding] = []
        for event in trace:
            if isinstance(event, Unsupported):
                reason = f"The pair lacks {event.capability}: {event.reason}"
                found.append(
                    Finding(claim=event.ref, verdict=Verdict.UNSUPPORTED, reason=reason, observed=event.source)
                )
            elif isinstance(event, Step) and event.outcome != "done":
                verdict = Verdict.ERROR if event.outcome == "broken" else Verdict.INCONCLUSIVE
                reason = f"{event.keyword} {event.text}: {event.detail or event.outcome}"
                found.append(Finding(claim=event.ref, verdict=verdict, reason=reason))
        for rule in facts.rules:
            if _rule(self._catalogue, rule) is None:
                reason = f"The catalogue has no rule {rule}, by which the scenario {name} is tagged."
                found.append(Finding(claim="", verdict=Verdict.ERROR, reason=reason))
        if _is_unfinished(trace):
            found.append(self._unfinished(trace))
        return found

    def _unfinished(self, trace: list[AnyEvent]) -> Finding:
        harm = self._harm(trace)
        if harm:
            return Finding(claim="", verdict=Verdict.INCONCLUSIVE, reason=harm)
        return Finding(claim="", verdict=Verdict.ERROR, reason="The scenario began and did not end.")

    def _harm(self, trace: list[AnyEvent]) -> str:
        """Why the journal of a scenario cannot be relied on; empty when it can."""
        writers = sorted({event.writer for event in trace} & self._damage.keys())
        return _harmed(self._damage[writers[0]]) if writers else self._spoilt

    def _weigh(self, finding: Finding, claim: Claim, facts: _Facts, trace: list[AnyEvent], *, whole: bool) -> Finding:
        harm = self._harm(trace)
        if harm and finding.verdict in _DECIDED:
            return msgspec.structs.replace(finding, verdict=Verdict.INCONCLUSIVE, reason=harm)
        if finding.verdict is Verdict.FAIL and not whole:
            reason = f"The scenario began and did not end; it had found: {finding.reason}"
            return msgspec.structs.replace(finding, verdict=Verdict.ERROR, reason=reason)
        if finding.verdict is Verdict.FAIL and facts.strength == KIT:
            begin = self._begins.get(claim.writer, self.begin)
            foreign = [part for part in facts.judged.split("+") if begin is None or part not in begin.ours]
            if foreign:
                return msgspec.structs.replace(
                    finding,
                    verdict=Verdict.UNSUPPORTED,
                    reason=f"No document asks this of a {' or '.join(foreign)} that is not ours: {finding.reason}",
                    disclosed=finding.disclosed or f"not kept: {finding.observed}",
                )
        if finding.verdict is Verdict.FAIL and not finding.certain and (held_up := _held_up(trace)):
            reason = f"{held_up}; it had found: {finding.reason}"
            return msgspec.structs.replace(finding, verdict=Verdict.INCONCLUSIVE, reason=reason)
        return finding


def _findings(trace: list[AnyEvent]) -> list[tuple[Claim, Finding]]:
    known: tuple[list[AnyEvent], History] | None = None
    findings: list[tuple[Claim, Finding]] = []
    for claim in _of_kind(trace, Claim):
        finding, known = _decide(claim, visible_to(claim, trace), known)
        findings.append((claim, finding))
    return findings


def _is_unfinished(trace: list[AnyEvent]) -> bool:
    """Whether it was stopped on its way, so that what it found may be the stop's doing."""
    return len(_of_kind(trace, ScenarioBegin)) > len(_of_kind(trace, ScenarioEnd))


def _held_up(trace: list[AnyEvent]) -> str:
    """What says that a busy machine held the harness up; empty when it did not."""
    ends = _of_kind(trace, ScenarioEnd)
    late_ns, elapsed_ns = sum(end.late_ns or 0 for end in ends), sum(end.elapsed_ns for end in ends)
    if late_ns <= HELD_UP_NS:
        return ""
    late, elapsed = (f"{ns / NS_PER_SECOND:.1f} s" for ns in (late_ns, elapsed_ns))
    return f"The machine was too busy: the harness came {late} late in {elapsed} (ask for fewer --workers)"


def _of_kind(trace: Iterable[AnyEvent], kind: type[E]) -> list[E]:
    return [event for event in trace if type(event) is kind]  # no kind of event is a kind of another


def _harmed(harm: JournalDamage) -> str:
    where = f", line {harm.line} of {harm.file}" if harm.line else ""
    return f"The journal of {harm.writer} is damaged ({harm.kind}{where}): {harm.text}"


def _rule(catalogue: Catalogue, rule_id: str) -> Rule | None:
    try:
        return catalogue.rule(rule_id)
    except UnknownRuleError:
        return None


def _rules(scenarios: list[ScenarioVerdict], catalogue: Catalogue, left_out: Counter[str]) -> tuple[RuleVerdict, ...]:
    tried: defaultdict[str, list[ScenarioVerdict]] = defaultdict(list)
    for scenario in scenarios:
        for rule_id in scenario.rules:
            tried[rule_id].append(scenario)
    verdicts: list[RuleVerdict] = []
    unknown = sorted(tried.keys() - {rule.id for rule in catalogue.rules})
    for rule_id in [rule.id for rule in catalogue.rules if rule.id in tried] + unknown:
        rule = _rule(catalogue, rule_id)
        verdicts.append(
            RuleVerdict(
                id=rule_id,
                verdict=worst_of(tried[rule_id]),
                strength=rule.strength.value if rule else "",
                judged="+".join(part.value for part in rule.judged) if rule else "",
                profile=rule.profile.value if rule else "",
                scenarios=tuple(tried[rule_id]),
                left_out=left_out[rule_id],
            )
        )
    return tuple(verdicts)
