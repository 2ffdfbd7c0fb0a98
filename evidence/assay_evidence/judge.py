"""The judge: pure functions that make findings from a run's journals, and verdicts from findings.

1. A claim's predicate decides the claim from the scenario's evidence up to the claim (`judge_claim`).  A predicate that
   raises an unexpected exception gives `error`, never a pass.
2. The circumstances of the scenario may change a finding's verdict (`assay_evidence.concluding.weighing`).
3. A scenario's verdict is the worst verdict of its findings; a failed step or a missing capability also gives a
   finding.  A scenario stands *apart* if it could not run because something other than an ability of the pair was
   missing, such as virtual time.  If a busy machine, a slow restart or a failed shared fault left an attempt at the
   scenario without a decision, a later attempt decides (`assay_evidence.concluding.attempts`).
4. A rule's verdict depends on the roles of its scenarios (`assay_evidence.concluding.rule_verdicts`).

Damage to a writer's journal affects the scenarios that have an event of this writer.  All scenarios are affected in
these cases:

- A writer's file is missing.
- The writer of the damaged journal began no scenario, or wrote events into a scenario that another writer began.  So
  the lost lines may belong to any scenario.
- No journal has the plan, so scenarios may be missing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

from msgspec import Struct

from assay_evidence.concluding.attempts import decided, grouped, is_open
from assay_evidence.concluding.clients import clients_of
from assay_evidence.concluding.probes import of_probe
from assay_evidence.concluding.profiles import statements
from assay_evidence.concluding.rules import find_rule, rule_verdicts
from assay_evidence.concluding.slow_pairs import short_periods
from assay_evidence.concluding.weighing import (
    HELD_UP_NS,
    NS_PER_SECOND,
    RESTS_ON_WHOLE_JOURNAL,
    STEP_VERDICTS,
    Circumstance,
    Kind,
    broker_lost,
    client_raised,
    deciding,
    foreign_kit,
    held_up,
    session_ended,
    slow_pair,
    unfinished,
    weigh,
)
from assay_evidence.errors import ClaimError
from assay_evidence.events import (
    AnyEvent,
    Begin,
    Claim,
    Event,
    Plan,
    PlannedScenario,
    RefusedInfo,
    Return,
    ScenarioBegin,
    ScenarioEnd,
    SessionEnded,
    Step,
    Unsupported,
)
from assay_evidence.history import History, visible_to
from assay_evidence.levels import levels_of, unreached
from assay_evidence.lines import JournalDamage
from assay_evidence.predicates import PREDICATES
from assay_evidence.predicates.lost_messages import lost_by_broker
from assay_evidence.predicates.shapes import check_shape
from assay_evidence.verdicts import SCHEMA, Finding, RuleVerdict, ScenarioVerdict, Verdict, Verdicts
from assay_features import Catalogue, Role

NO_CLAIM = "The scenario made no claim."
"""The reason for the verdict on a scenario in which all steps ran and no step made a claim."""
THEN = "then"
NO_CLAIM_OF_STEP = "the step is done and made no claim, so nothing was checked."
"""The end of the reason for the verdict on a scenario whose Then-step made no claim."""
_UNCLAIMED = Finding(claim="", verdict=Verdict.NOT_DEMONSTRATED, reason=NO_CLAIM)
E = TypeVar("E", bound=Event)


def judge_claim(claim: Claim, events: Iterable[AnyEvent]) -> Finding:
    """Decide one claim from its scenario's events, as a Then-step does when it makes the claim.

    Args:
        claim: The claim.
        events: The events of the claim's scenario; events after the claim are ignored.
    """
    return _decide(claim, visible_to(claim, events), None, delays_placed=True)[0]


def judge(events: Iterable[AnyEvent], catalogue: Catalogue, damage: Sequence[JournalDamage] = ()) -> Verdicts:
    """Make all verdicts of one run, from its journals alone.

    Args:
        events: All events of the run, in any order.
        catalogue: The rules.
        damage: The damage that `assay_evidence.reader.read_journals` found.

    Returns:
        The verdicts on the rules with at least one scenario that was planned or has events, in the catalogue's order.
        Each has the verdicts on its scenarios, sorted by id.  Foreign scenarios and probes decide no rule and have
        their own lists.
    """
    ordered = sorted(events, key=lambda event: (event.writer, event.seq))
    run = _Run(ordered, catalogue, damage)
    scenarios = [decided([run.scenario(name) for name in attempts]) for attempts in run.attempts()]
    begin = run.begin
    own = [one for one in scenarios if not one.foreign and not one.probe]
    rules = rule_verdicts(own, catalogue, run.left_out, begin.ours if begin else ())
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
        clients=clients_of(begin.client if begin else "", (*own, *foreign)),
        profiles=statements(begin, catalogue),
        probes=tuple(one for one in scenarios if one.probe),
    )


def _totals(judged: Iterable[RuleVerdict] | Iterable[ScenarioVerdict]) -> dict[str, int]:
    """Return how often each of the seven verdicts occurs."""
    found = Counter(one.verdict for one in judged)
    return {verdict.value: found[verdict] for verdict in Verdict}


def _decide(
    claim: Claim, visible: list[AnyEvent], known: tuple[list[AnyEvent], History] | None, *, delays_placed: bool
) -> tuple[Finding, tuple[list[AnyEvent], History] | None]:
    """Decide a claim.

    Args:
        claim: The claim.
        visible: The evidence for the claim.
        known: The evidence and index of the scenario's previous claim, None for the first claim; the function uses this
            index again if the evidence is equal.
        delays_placed: Whether the journal says when the harness was late.

    Returns:
        The finding, and the evidence with its index for the next claim.
    """
    try:
        check_shape(claim)
        if known is None or known[0] != visible:
            known = (visible, History(visible, delays_placed=delays_placed))
        return PREDICATES[claim.predicate](claim, known[1]), known
    except ClaimError as error:
        return _error(claim, str(error)), known
    except Exception as error:  # noqa: BLE001 - a crash of a predicate is the verdict error, never a pass
        return _error(claim, f"The predicate {claim.predicate} crashed: {type(error).__name__}: {error}."), known


def _error(claim: Claim, reason: str) -> Finding:
    return Finding(claim=claim.ref, verdict=Verdict.ERROR, reason=reason, expected=claim.text, observed="not decided")


class _Facts(Struct, frozen=True):
    """The properties of a scenario, from the plan, the scenario's begin and the rules that its claims name."""

    rules: tuple[str, ...]
    strength: str
    judged: str
    foreign: bool
    client: str
    tags: tuple[str, ...]
    role: str
    probe: str


class _Run:
    """The events of a run by scenario, and the circumstances of each scenario."""

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
                self.left_out |= Counter(event.left_out)  # all processes of a run write the same numbers
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
        self._common_harm = self._damage_to_all(damage)

    def attempts(self) -> list[list[str]]:
        """Return the id of each scenario that was planned or has events, with the ids of its later attempts."""
        begins = (begin for trace in self._traces.values() for begin in _of_kind(trace, ScenarioBegin))
        return grouped(self._planned.keys() | self._traces.keys(), begins)

    def _damage_to_all(self, damage: Sequence[JournalDamage]) -> str:
        """Return the damage that affects all scenarios of the run, as a reason; empty if no damage does."""
        if not self._has_plan:
            return "The journals have no plan, so other planned scenarios may be missing."
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
        """Return the verdict on one scenario."""
        trace = self._traces.get(name, [])
        facts = self._facts(name, trace)
        circumstances = self._circumstances(facts, trace)
        findings = [weigh(finding, circumstances(claim)) for claim, finding in _findings(trace)]
        harm = self._harm(trace)
        because = deciding((*findings, *self._unclaimed(name, facts, trace))) or _UNCLAIMED
        if harm and because.verdict in RESTS_ON_WHOLE_JOURNAL:
            because = Finding(claim="", verdict=Verdict.INCONCLUSIVE, reason=harm)
        verdict = because.verdict
        disclosed = dict.fromkeys(finding.disclosed for finding in findings if finding.disclosed)
        ends = _of_kind(trace, ScenarioEnd)
        unseen = unreached(trace)
        found = ScenarioVerdict(
            scenario=name,
            rules=facts.rules,
            verdict=verdict,
            strength=facts.strength,
            judged=facts.judged,
            reason=because.reason,
            expected=because.expected,
            observed=because.observed,
            disclosed="; ".join(disclosed),
            seconds=sum(end.elapsed_ns for end in ends) / NS_PER_SECOND,
            waited_seconds=sum(end.waited_ns for end in ends) / NS_PER_SECOND,
            findings=tuple(findings),
            foreign=facts.foreign,
            client=facts.client,
            tags=facts.tags,
            apart=verdict is Verdict.UNSUPPORTED and any(event.apart for event in _of_kind(trace, Unsupported)),
            role=facts.role,
            levels=() if verdict is Verdict.UNSUPPORTED else levels_of(trace),
            unseen=unseen,
            probe=facts.probe,
            # Lost lines may have shown a fail, so a later attempt never replaces an attempt with a damaged journal.
            delayed=not harm and is_open(verdict, trace, held_up=because.delayed or _late_ns(trace) > HELD_UP_NS),
        )
        return of_probe(found, trace, self.begin, harm) if facts.probe else found

    def _facts(self, name: str, trace: list[AnyEvent]) -> _Facts:
        planned = self._planned.get(name)
        begins = _of_kind(trace, ScenarioBegin)
        rules = dict.fromkeys(planned.rules if planned else ())
        rules.update(dict.fromkeys(rule for begin in begins for rule in begin.rules))
        rules.update(dict.fromkeys(claim.rule for claim in _of_kind(trace, Claim) if claim.rule))
        source = begins[0] if begins else planned
        foreign = any(one.foreign for one in (*begins, *([planned] if planned else ())))
        strength, judged, role = (source.strength, source.judged, source.role) if source else ("", "", Role.CORE.value)
        probe = next((one.probe for one in (*begins, *([planned] if planned else ())) if one.probe), "")
        client = next((begin.client for begin in begins if begin.client), "")
        return _Facts(tuple(rules), strength, judged, foreign, client, planned.tags if planned else (), role, probe)

    def _unclaimed(self, name: str, facts: _Facts, trace: list[AnyEvent]) -> list[Finding]:
        """Return the findings that come from no claim, such as those about a missing capability or a failed step."""
        if not trace and self._damage:
            reason = f"No line of the scenario is left. {_harmed(next(iter(self._damage.values())))}"
            return [Finding(claim="", verdict=Verdict.INCONCLUSIVE, reason=reason)]
        if not trace:
            return [Finding(claim="", verdict=Verdict.ERROR, reason="The scenario was planned and was not run.")]
        found: list[Finding] = []
        made = {claim.ref for claim in _of_kind(trace, Claim)}
        harmed = bool(self._harm(trace))
        found += [finding for event in trace if (finding := self._of_event(event, made, harmed=harmed)) is not None]
        for rule in facts.rules:
            if find_rule(self._catalogue, rule) is None:
                reason = f"The catalogue has no rule {rule}, which is a tag of the scenario {name}."
                found.append(Finding(claim="", verdict=Verdict.ERROR, reason=reason))
        if _is_unfinished(trace):
            found.append(self._unfinished(trace))
        return found

    @staticmethod
    def _of_event(event: AnyEvent, made: Collection[str], *, harmed: bool) -> Finding | None:
        """Return the finding that an event itself gives, without a claim; None for most events.

        Args:
            event: An event of the scenario.
            made: The references of all claims in the journal.
            harmed: Whether the scenario's journal is damaged, so that a step's claims may be lost.
        """
        match event:
            case Unsupported():
                reason = f"The pair lacks {event.capability}: {event.reason}"
                return Finding(claim=event.ref, verdict=Verdict.UNSUPPORTED, reason=reason, observed=event.source)
            case Step() if event.outcome in STEP_VERDICTS:
                reason = f"{event.keyword} {event.text}: {event.detail or event.outcome}"
                return Finding(claim=event.ref, verdict=STEP_VERDICTS[event.outcome], reason=reason)
            case Step() if not harmed and (lack := _lack(event, made)):
                return Finding(claim=event.ref, verdict=Verdict.ERROR, reason=f"{event.keyword} {event.text}: {lack}")
            case Return(refused=RefusedInfo(failure="raised" | "stalled", text=text)):
                # Claims about other calls and messages may pass, although the scenario did not do what its steps say.
                reason = f"A call of the client failed: {text}"
                return Finding(claim=event.ref, verdict=Verdict.INCONCLUSIVE, reason=reason)
            case _:
                return None

    def _unfinished(self, trace: list[AnyEvent]) -> Finding:
        harm = self._harm(trace)
        if harm:
            return Finding(claim="", verdict=Verdict.INCONCLUSIVE, reason=harm)
        return Finding(claim="", verdict=Verdict.ERROR, reason="The scenario began and did not end.")

    def _harm(self, trace: list[AnyEvent]) -> str:
        """Return a sentence about the damage to a scenario's events; empty without damage."""
        writers = sorted({event.writer for event in trace} & self._damage.keys())
        return _harmed(self._damage[writers[0]]) if writers else self._common_harm

    def _circumstances(self, facts: _Facts, trace: list[AnyEvent]) -> Callable[[Claim], list[Circumstance]]:
        """Return a function that lists the circumstances of a claim in this scenario."""
        ends = _of_kind(trace, ScenarioEnd)
        ended = _of_kind(trace, SessionEnded)
        harm = self._harm(trace)
        common = [
            Circumstance(Kind.DAMAGED_CLAIM, harm) if harm else None,
            unfinished() if _is_unfinished(trace) else None,
            held_up(_late_ns(trace), sum(end.elapsed_ns for end in ends)),
        ]
        periods = short_periods(trace)

        def of_claim(claim: Claim) -> list[Circumstance]:
            begin = self._begins.get(claim.writer, self.begin)
            kit = foreign_kit(facts.strength, facts.judged, begin.ours if begin else ())
            error = next((event.refused.text for event in _of_kind(visible_to(claim, ended), SessionEnded)), None)
            ending = session_ended(facts.judged, begin.ours if begin else (), error)
            lost = broker_lost(
                facts.judged, begin.ours if begin else (), lambda: lost_by_broker(claim, visible_to(claim, trace))
            )
            raising = client_raised(
                facts.judged, begin.ours if begin else (), lambda: _raised(visible_to(claim, trace))
            )
            return [one for one in (*common, kit, ending, lost, raising, slow_pair(periods, claim)) if one is not None]

        return of_claim


def _findings(trace: list[AnyEvent]) -> list[tuple[Claim, Finding]]:
    known: tuple[list[AnyEvent], History] | None = None
    findings: list[tuple[Claim, Finding]] = []
    placed = _are_placed(trace)
    for claim in _of_kind(trace, Claim):
        finding, known = _decide(claim, visible_to(claim, trace), known, delays_placed=placed)
        findings.append((claim, finding))
    return findings


def _lack(step: Step, made: Collection[str]) -> str:
    """Return a sentence if a Then-step made no claim or the journal lacks its claim; otherwise an empty text.

    Args:
        step: A step that is done.
        made: The references of all claims in the journal.
    """
    if step.type != THEN:
        return ""
    if not step.claims:
        return NO_CLAIM_OF_STEP
    lost = [ref for ref in step.claims if ref not in made]
    return f"the journal lacks the step's claim {', '.join(lost)}." if lost else ""


def _raised(trace: Iterable[AnyEvent]) -> str | None:
    """Return the text of the first unexpected exception of the client; None without one."""
    refusals = (answer.refused for answer in _of_kind(trace, Return) if answer.refused is not None)
    return next((refusal.text for refusal in refusals if refusal.failure == "raised"), None)


def _late_ns(trace: list[AnyEvent]) -> int:
    """Return the total delay of the harness in a scenario, in nanoseconds."""
    return sum(end.late_ns or 0 for end in _of_kind(trace, ScenarioEnd))


def _are_placed(trace: list[AnyEvent]) -> bool:
    """Return whether the journal says when each long delay of the harness happened."""
    return all(end.longest_ns is not None or not end.late_ns for end in _of_kind(trace, ScenarioEnd))


def _is_unfinished(trace: list[AnyEvent]) -> bool:
    """Return whether the scenario began and did not end."""
    return len(_of_kind(trace, ScenarioBegin)) > len(_of_kind(trace, ScenarioEnd))


def _of_kind(trace: Iterable[AnyEvent], kind: type[E]) -> list[E]:
    return [event for event in trace if type(event) is kind]  # no kind of event is a subclass of another


def _harmed(harm: JournalDamage) -> str:
    where = f", line {harm.line} of {harm.file}" if harm.line else ""
    return f"The journal of {harm.writer} is damaged ({harm.kind}{where}): {harm.text}"
