"""How far a scenario has come: which step a verdict or a breakage belongs to, for whoever reads pytest's output."""

from __future__ import annotations

import pytest
from pytest_bdd.parser import ScenarioTemplate, Step

from assay_evidence.verdicts import ScenarioVerdict
from assay_steps.cast.journal import ScenarioJournal


class Trail:
    """The steps that one scenario has come to.

    Args:
        feature: The feature's name, as the scenario's id has it.
        template: The scenario.
        journal: Its journal.
    """

    def __init__(self, feature: str, template: ScenarioTemplate, journal: ScenarioJournal) -> None:
        self._feature = feature
        self._template = template
        self._journal = journal
        self._steps: list[tuple[Step, int]] = []
        self.within: Step | None = None
        """The step that was come to and is not done."""

    def come_to(self, step: Step) -> None:
        """The scenario has come to this step."""
        self._steps.append((step, len(self._journal.events)))
        self.within = step

    def done(self) -> None:
        """The step is over."""
        self.within = None

    def where(self, verdict: ScenarioVerdict) -> str:
        """Feature, line and step behind a verdict: that of its first worst finding, else the last one reached."""
        worst = next((finding for finding in verdict.findings if finding.verdict is verdict.verdict), None)
        step = self.within or (self._behind(worst.claim) if worst else None)
        if step is None:
            return f"{self._feature}:{self._template.line_number}"
        return f"{self._feature}:{step.line_number}\nstep: {step.keyword or step.type.title()} {step.name}"

    def _behind(self, claim: str) -> Step | None:
        index = next((index for index, event in enumerate(self._journal.events) if event.ref == claim), -1)
        return next((step for step, begun in reversed(self._steps) if begun <= index), None)


TRAIL = pytest.StashKey[Trail]()
