"""The keys under which a pytest item holds the objects of its scenario."""

from __future__ import annotations

from typing import Any

import pytest

from assay_steps.cast.background import Background
from assay_steps.cast.journal import ScenarioJournal
from assay_steps.cast.world import World
from assay_steps.plugin.steps.current_step import CURRENT_STEP

WORLD = pytest.StashKey[World]()
JOURNAL = pytest.StashKey[ScenarioJournal]()
BACKGROUND = pytest.StashKey[Background]()
SILENT = pytest.StashKey[bool]()
"""The key under which a pytest item holds True if its broker did not answer at the end of the scenario."""
FAILED_CHECK = pytest.StashKey[BaseException]()
"""The key under which a pytest item holds the failed assertion of a user's own Then-step, recorded as a claim."""

LEFT: tuple[pytest.StashKey[Any], ...] = (WORLD, BACKGROUND, JOURNAL, SILENT, FAILED_CHECK, CURRENT_STEP)
"""The stash entries to delete after each scenario, because pytest keeps its items to the end of the run."""
