"""The verdicts on the rules of a run: each with its scenarios, its levels of evidence, and a verdict on each part."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from assay_evidence.concluding.rule_verdicts import conclude
from assay_evidence.levels import Level
from assay_evidence.verdicts import RuleVerdict, ScenarioVerdict, Verdict
from assay_features import Catalogue, Role, Rule, UnknownRuleError


def rule_verdicts(
    scenarios: list[ScenarioVerdict], catalogue: Catalogue, left_out: Counter[str], ours: Collection[str]
) -> tuple[RuleVerdict, ...]:
    """Make the verdicts on all rules that a scenario tries, in the catalogue's order.

    Args:
        scenarios: The verdicts on the scenarios.
        catalogue: The rules.
        left_out: By rule, the number of further scenarios that try the rule and were not selected.
        ours: The parts of the pair that are the kit's own (`Begin.ours`).
    """
    tried: defaultdict[str, list[ScenarioVerdict]] = defaultdict(list)
    for scenario in scenarios:
        for rule_id in scenario.rules:
            tried[rule_id].append(scenario)
    unknown = sorted(tried.keys() - {rule.id for rule in catalogue.rules})
    ordered = [rule.id for rule in catalogue.rules if rule.id in tried] + unknown
    return tuple(_rule_verdict(name, tried[name], find_rule(catalogue, name), left_out[name], ours) for name in ordered)


def _rule_verdict(
    name: str, scenarios: list[ScenarioVerdict], rule: Rule | None, left_out: int, ours: Collection[str]
) -> RuleVerdict:
    concluded = conclude(scenarios, left_out, ours)
    parts = tuple(part.value for part in rule.judged) if rule else ()
    passed = [one for one in scenarios if one.verdict is Verdict.PASS and one.role != Role.KIT]
    return RuleVerdict(
        id=name,
        verdict=concluded.verdict,
        strength=rule.strength.value if rule else "",
        judged="+".join(parts),
        profile=rule.profile.value if rule else "",
        scenarios=tuple(scenarios),
        left_out=left_out,
        passed=concluded.passed,
        asked=concluded.asked,
        reason=concluded.reason,
        levels=_levels(level for one in passed for level in one.levels),
        unseen=_levels(level for one in scenarios if one.role != Role.KIT for level in one.unseen),
        parts={part: _of_part(part, scenarios, left_out, ours) for part in parts} if len(parts) > 1 else {},
    )


def _of_part(part: str, scenarios: list[ScenarioVerdict], left_out: int, ours: Collection[str]) -> Verdict:
    """Return the verdict on one part of the pair, from the scenarios that judge it alone or with the other part."""
    about = [one for one in scenarios if part in one.judged.split("+")]
    return conclude(about, left_out, ours).verdict


def _levels(found: Iterable[Level]) -> tuple[Level, ...]:
    reached = set(found)
    return tuple(level for level in Level if level in reached)


def find_rule(catalogue: Catalogue, rule_id: str) -> Rule | None:
    """Return the rule with an id; None if the catalogue has none."""
    try:
        return catalogue.rule(rule_id)
    except UnknownRuleError:
        return None
