"""The step that a scenario has reached; pytest's output names it with a verdict or an error."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytest_bdd.parser import ScenarioTemplate, Step

from assay_evidence.verdicts import ScenarioVerdict
from assay_steps.cast.journal import ScenarioJournal


class CurrentStep:
    """Stores the steps that a scenario has begun, and which of them is running.

    Args:
        feature: The feature's name in the scenario's id.
        template: The scenario.
        journal: The scenario's journal.
    """

    def __init__(self, feature: str, template: ScenarioTemplate, journal: ScenarioJournal) -> None:
        self._feature = feature
        self._template = template
        self._journal = journal
        self._steps: list[tuple[Step, int]] = []
        self.within: Step | None = None
        """The running step; None between two steps."""
        self.function: Callable[..., object] | None = None
        """The function of the last step that was called."""

    def begin(self, step: Step) -> None:
        """Note that a step begins."""
        self._steps.append((step, len(self._journal.events)))
        self.within = step

    def end(self) -> None:
        """Note that the running step has ended."""
        self.within = None

    def where(self, verdict: ScenarioVerdict) -> str:
        """Return the feature, line and text of the step that decided a scenario's verdict.

        This is the step that was running when the scenario ended, or else the step of the first finding with the
        scenario's verdict.  Without both, return the feature and the line of the scenario.
        """
        worst = next((finding for finding in verdict.findings if finding.verdict is verdict.verdict), None)
        step = self.within or (self._behind(worst.claim) if worst else None)
        if step is None:
            return f"{self._feature}:{self._template.line_number}"
        return f"{self._feature}:{step.line_number}\nstep: {step.keyword or step.type.title()} {step.name}"

    def _behind(self, claim: str) -> Step | None:
        index = next((index for index, event in enumerate(self._journal.events) if event.ref == claim), -1)
        return next((step for step, begun in reversed(self._steps) if begun <= index), None)


CURRENT_STEP = pytest.StashKey[CurrentStep]()
