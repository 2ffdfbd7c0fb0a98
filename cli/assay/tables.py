"""The tables of verdicts on a terminal."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from assay_evidence.verdicts import Verdict, Verdicts
from assay_features import Catalogue

STYLES = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.ERROR: "bold magenta",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.NOT_DEMONSTRATED: "yellow",
    Verdict.PARTIAL: "cyan",
    Verdict.UNSUPPORTED: "dim",
}


def rules_table(verdicts: Verdicts, catalogue: Catalogue) -> Table:
    """Make the table of a run's rules with their verdicts, and the reason for each verdict other than pass."""
    table = Table("rule", "verdict", "judged", "scenarios", "title", box=None, pad_edge=False, title_justify="left")
    for rule in verdicts.rules:
        passed = sum(scenario.verdict is Verdict.PASS for scenario in rule.scenarios)
        title = Text(catalogue.rule(rule.id).title)
        if rule.left_out:
            whole = len(rule.scenarios) + rule.left_out
            title.append(f"\n  {len(rule.scenarios)} of {whole} run, the others left out as requested", style="yellow")
        if rule.verdict is Verdict.PARTIAL:
            title.append(f"\n  {rule.passed} of {rule.asked} passed; {rule.evidence}: {rule.reason}", style="dim")
        elif rule.verdict is not Verdict.PASS:
            for scenario in [scenario for scenario in rule.scenarios if scenario.verdict is rule.verdict][:1]:
                title.append(f"\n  {scenario.scenario}: {scenario.reason}", style="dim")
            if rule.reason and not rule.scenarios:
                title.append(f"\n  {rule.reason}", style="dim")
        table.add_row(
            rule.id,
            Text(rule.verdict.value, style=STYLES[rule.verdict]),
            rule.judged,
            f"{passed}/{len(rule.scenarios)}",
            title,
        )
    return table


def foreign_table(verdicts: Verdicts) -> Table:
    """Make the table of a run's foreign scenarios with their verdicts."""
    table = Table("feature", "verdict", "tagged", "scenario", box=None, pad_edge=False, title_justify="left")
    table.title = "scenarios of your own (they decide no rule of the kit)"
    for scenario in verdicts.foreign:
        feature, _, name = scenario.scenario.partition("::")
        told = Text(name)
        if scenario.verdict is not Verdict.PASS:
            told.append(f"\n  {scenario.reason}", style="dim")
        verdict = Text(scenario.verdict.value, style=STYLES[scenario.verdict])
        table.add_row(feature, verdict, ", ".join((*scenario.rules, *scenario.tags)), told)
    return table
