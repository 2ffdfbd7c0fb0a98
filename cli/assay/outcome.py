"""The outcome of a run on one backend: its table, summary and unexpected verdicts, and the exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from assay.exits import Exit
from assay.tables import foreign_table, rules_table
from assay.terminal import Terminal
from assay_adapters.known import Surprise
from assay_evidence.concluding.clients import faces_sentence
from assay_evidence.figures import counted
from assay_evidence.verdicts import ScenarioVerdict, Verdict, Verdicts
from assay_features import load_catalogue
from assay_reports import SourceError
from assay_steps.plugin.folder import LOG, UNJUDGED

TROUBLE = frozenset({Verdict.ERROR, Verdict.INCONCLUSIVE, Verdict.NOT_DEMONSTRATED})
SEVERITY = [Exit.AS_EXPECTED, Exit.INCONCLUSIVE, Exit.NOT_AS_EXPECTED]
"""The exit codes of a backend's run, from the mildest to the worst."""
SHOWN = 3
"""The largest number of failed tests that the command names."""
NOTHING = "the journals hold no scenario, so no rule has a verdict; repeat the run with `assay run`."


def scenarios_of(verdicts: Verdicts) -> list[ScenarioVerdict]:
    """Return every scenario of the verdicts once, including foreign scenarios and probes."""
    return [*verdicts.scenarios, *verdicts.probes]


def covers_all(verdicts: Verdicts) -> bool:
    """Return whether the run selected every scenario of every rule that scenarios can test."""
    rules = {rule.id for rule in verdicts.rules if not rule.left_out}
    return all(rule.id in rules for rule in load_catalogue().rules if rule.observable)


def show(verdicts: Verdicts, terminal: Terminal, *, seconds: float | None = None) -> None:
    """Print the table of rules and the summary below it.

    Args:
        verdicts: The verdicts.
        terminal: The terminal to print to.
        seconds: The duration of the run; None if unknown.
    """
    if not verdicts.scenarios:
        terminal.print(f"{verdicts.backend or 'unknown backend'}: {NOTHING}", markup=False, soft_wrap=True)
        return
    if verdicts.rules:
        terminal.show(rules_table(verdicts, load_catalogue()))
    if verdicts.foreign:
        terminal.show(foreign_table(verdicts))
    terminal.print(summary(verdicts, seconds), markup=False, soft_wrap=True)
    for line in not_claimed(verdicts):
        terminal.print(line, markup=False, soft_wrap=True)


def tell(surprises: Sequence[str], terminal: Terminal) -> None:
    """Print the unexpected verdicts, one on each line."""
    for surprise in surprises:
        terminal.print(f"  not as expected: {surprise}", markup=False, soft_wrap=True)


def others_failed(folder: Path) -> list[str]:
    """Return a sentence about failed tests that ran with the suite and that the kit does not judge; empty without any.

    Args:
        folder: The run's folder.

    Raises:
        SourceError: The list of these tests is malformed.
    """
    path = folder / UNJUDGED
    if not path.is_file():
        return []
    try:
        failed = msgspec.json.decode(path.read_bytes(), type=list[str])
    except msgspec.DecodeError as problem:
        raise SourceError(path, f"it is malformed ({problem}); repeat the run or move it away.") from problem
    more = f" and {len(failed) - SHOWN} more" if len(failed) > SHOWN else ""
    where = f"; {folder / LOG} shows them" if (folder / LOG).is_file() else ""
    named = f"{', '.join(failed[:SHOWN])}{more}"
    told = f"{counted(len(failed), 'test')} failed that the kit does not judge ({named}){where}"
    return [f"{told}; of a module's tests it judges only scenarios with a step of the vocabulary or a rule's tag."]


def ending(verdicts: Verdicts, surprises: Sequence[Surprise]) -> Exit:
    """Return the exit code of one backend's run; a run without scenarios never gets the code for "as expected".

    Args:
        verdicts: The run's verdicts.
        surprises: The verdicts that were not expected.
    """
    if not scenarios_of(verdicts):
        return Exit.INCONCLUSIVE
    if not surprises:
        return Exit.AS_EXPECTED
    undecided = all(surprise.verdict in TROUBLE for surprise in surprises)
    return Exit.INCONCLUSIVE if undecided else Exit.NOT_AS_EXPECTED


def summary(verdicts: Verdicts, seconds: float | None) -> str:
    """Return one line about a run.

    The line has the numbers of verdicts on rules, foreign scenarios and probes, the numbers of scenarios and of rules
    that were tested in part, the duration of the run, the time for which the steps waited, the faces that ran
    scenarios, and the defect that was switched on.
    """
    scenarios = verdicts.scenarios
    waited = sum(scenario.waited_seconds for scenario in scenarios)
    parts = [f"{counted(len(verdicts.rules), 'rule')} ({_listed(verdicts.totals) or 'none tried'})"]
    if verdicts.foreign:
        own = f"{counted(len(verdicts.foreign), 'scenario')} of your own ({_listed(verdicts.foreign_totals)})"
        parts = [*parts, own] if verdicts.rules else [own]
    if verdicts.rules:
        parts.append(f"{counted(len(scenarios), 'scenario')}{' in all' if verdicts.foreign else ''}")
    head = len(parts)
    if seconds is not None:
        parts[-1] += f", {seconds:.1f} s"
        parts.append(f"waited {waited:.0f} s on the backend's clock ({waited / max(seconds, 0.001):.1f} x)")
    narrowed = sum(rule.left_out > 0 for rule in verdicts.rules)
    if narrowed:
        parts.append(f"{counted(narrowed, 'rule')} tested only in part, as requested")
    if verdicts.probes:
        found = Counter(probe.verdict for probe in verdicts.probes)
        told = ", ".join(f"{found[verdict]} {verdict}" for verdict in Verdict if found[verdict])
        parts.append(f"{counted(len(verdicts.probes), 'probe')} of capabilities ({told})")
    if faces := faces_sentence(verdicts.clients):
        parts.append(faces)
    if verdicts.defect:
        parts.append(f"with defect {verdicts.defect} switched on")
    return f"{verdicts.backend}: {', '.join(parts[:head])}" + "".join(f"; {part}" for part in parts[head:])


def repeated(runs: Sequence[Verdicts]) -> list[str]:
    """Return a line for each scenario that several runs on one pair tried, with the number of each verdict."""
    found: dict[tuple[str, str, str], Counter[Verdict]] = {}
    for run in runs:
        for scenario in run.scenarios:
            found.setdefault((run.backend, run.client, scenario.scenario), Counter())[scenario.verdict] += 1
    return [
        f"{backend}: {scenario}: {_listed({verdict.value: tally[verdict] for verdict in reversed(Verdict)})}"
        f" in {tally.total()} runs"
        for (backend, _, scenario), tally in found.items()
        if tally.total() > 1
    ]


def not_claimed(verdicts: Verdicts) -> list[str]:
    """Return a line for each capability that a claimed profile requires and the pair lacks."""
    tried = {rule.profile for rule in verdicts.rules}
    reasons: dict[str, str] = {}
    requiring: dict[str, list[str]] = {}
    for statement in verdicts.profiles:
        if statement.profile in tried:
            for capability, reason in statement.not_claimed.items():
                reasons[capability] = reason
                requiring.setdefault(capability, []).append(statement.profile)
    return [
        f"  not claimed: {capability}, which {' and '.join(requiring[capability])} requires: {reason}"
        for capability, reason in reasons.items()
    ]


def _listed(totals: Mapping[str, int]) -> str:
    """Return the totals as ``1 fail, 2 pass``, without zeros."""
    return ", ".join(f"{count} {verdict}" for verdict, count in totals.items() if count)
