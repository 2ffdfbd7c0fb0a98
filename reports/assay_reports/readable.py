"""The verdicts in readable form, with messages and destinations named as in the feature instead of as on the broker."""

from __future__ import annotations

from msgspec import structs

from assay_evidence.names import plain
from assay_evidence.verdicts import Finding, RuleVerdict, ScenarioVerdict, Verdicts


def readable(verdicts: Verdicts) -> Verdicts:
    """Remove, from all texts of the verdicts, the prefixes that make names unique on the broker."""
    return structs.replace(
        verdicts,
        rules=tuple(_rule(rule) for rule in verdicts.rules),
        foreign=tuple(_scenario(scenario) for scenario in verdicts.foreign),
        probes=tuple(_scenario(scenario) for scenario in verdicts.probes),
    )


def _rule(rule: RuleVerdict) -> RuleVerdict:
    reason = rule.reason  # consists of the reasons of scenarios
    for scenario in rule.scenarios:
        reason = plain(reason, scenario.scenario)
    return structs.replace(rule, reason=reason, scenarios=tuple(_scenario(scenario) for scenario in rule.scenarios))


def _scenario(verdict: ScenarioVerdict) -> ScenarioVerdict:
    name = verdict.scenario
    return structs.replace(
        verdict,
        reason=plain(verdict.reason, name),
        expected=plain(verdict.expected, name),
        observed=plain(verdict.observed, name),
        disclosed=plain(verdict.disclosed, name),
        findings=tuple(_finding(finding, name) for finding in verdict.findings),
    )


def _finding(finding: Finding, scenario: str) -> Finding:
    return structs.replace(
        finding,
        reason=plain(finding.reason, scenario),
        expected=plain(finding.expected, scenario),
        observed=plain(finding.observed, scenario),
        disclosed=plain(finding.disclosed, scenario),
    )
