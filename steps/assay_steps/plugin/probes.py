"""The choice of the probes that a run needs.

A probe looks for one capability (`assay_evidence.concluding.probes`).  Pytest's ``-k`` and ``-m`` do not select probes:
a run looks for the capabilities that its scenarios need, however the user selected the scenarios.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from assay_steps.plugin.cases import CASE


def is_probe(item: pytest.Item) -> bool:
    """Return whether a test is a probe."""
    case = item.stash.get(CASE, None)
    return case is not None and case.probe is not None


def wanted_probes(
    probes: Iterable[pytest.Item], selected: Sequence[pytest.Item], *, narrowed: bool
) -> list[pytest.Item]:
    """Choose the probes: all, or in a narrowed run the probes of capabilities that the selected scenarios need.

    Args:
        probes: The collected probes.
        selected: The selected tests.
        narrowed: Whether the call names rules or a profile.
    """
    cases = [case for item in selected if (case := item.stash.get(CASE, None)) is not None]
    if not cases:
        return []
    needed = {capability for case in cases for capability in case.needs.capabilities}
    return [item for item in probes if not narrowed or item.stash[CASE].probe in needed]
