"""The claims of a scenario: a Then-step records them, and `assay_evidence.judge` decides them from the journal.

A step states the predicate and the evidence of a claim, but never its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assay_evidence.events import Claim, Predicate
from assay_evidence.judge import judge_claim
from assay_evidence.predicates import SHAPES
from assay_evidence.verdicts import Finding
from assay_steps.cast.journal import ScenarioJournal

LIST_SEPARATOR = "|"
QUIET = "quiet_ms"
"""The name of a claim's bound: the milliseconds without a message after which silence counts as evidence."""


def listed(names: Iterable[str]) -> str:
    """Join several references into one text, as a value of `Claim.of`."""
    return LIST_SEPARATOR.join(names)


class Evidence:
    """Records the claims of one scenario.

    Args:
        journal: The journal that holds the claims and the evidence for them.
        rule: The id of the scenario's rule; empty if the scenario tests no rule.
        quiet_ms: The time without a message after which silence counts as evidence, in milliseconds.
    """

    def __init__(self, journal: ScenarioJournal, rule: str, quiet_ms: int) -> None:
        self.findings: list[Finding] = []
        self._journal = journal
        self._rule = rule
        self._quiet = {QUIET: quiet_ms}
        self.made: list[str] = []
        """References of the claims that the running step has made."""
        self._sentence = ""

    def begin(self, sentence: str) -> None:
        """Note the sentence of the step that begins; the next claims belong to this step."""
        self._sentence = sentence
        self.made.clear()

    def claim(self, predicate: Predicate, of: Mapping[str, str], bounds: Mapping[str, int] | None = None) -> Finding:
        """Record a claim about the events so far, and judge it.

        Args:
            predicate: The predicate that decides the claim (`docs/what-a-pass-means.md`).
            of: References to events, messages and actors.
            bounds: Numbers; durations are in milliseconds. The method adds the time of silence if the predicate reads
                it.

        Returns:
            The judge's finding for the claim. At the end of the run, the judge decides the claim again from the journal
            file, with the same result.
        """
        silence = self._quiet if QUIET in SHAPES[predicate].bounds else {}
        claim = self._journal.write(
            Claim,
            rule=self._rule,
            predicate=predicate,
            of=dict(of),
            bounds=silence | dict(bounds or {}),
            text=self._sentence,
        )
        self.made.append(claim.ref)
        finding = judge_claim(claim, self._journal.events)
        self.findings.append(finding)
        return finding
