"""The choice of the probes that a run needs, and the end of a run in which no message can be delivered.

A probe looks for one capability (`assay_evidence.concluding.probes`).  Pytest's ``-k`` and ``-m`` do not select probes:
a run looks for the capabilities that its scenarios need, however the user selected the scenarios.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from assay_evidence.verdicts import Verdict
from assay_sdk.model.capabilities import Capability
from assay_steps.plugin.cases import CASE

PROBED = pytest.StashKey[Verdict]()
"""The key under which a pytest item holds its scenario's verdict, unless a known outcome expects the verdict."""
TOLD = "assay_probed"
"""The attribute of a probe's report with its capability and verdict; a forked process sends it with the report."""
CARRIERS = frozenset({Capability.QUEUE, Capability.TOPIC})
"""The capabilities of which a scenario needs at least one to deliver a message."""


def is_probe(item: pytest.Item) -> bool:
    """Return whether a test is a probe."""
    case = item.stash.get(CASE, None)
    return case is not None and case.probe is not None


def wanted_probes(
    probes: Iterable[pytest.Item], selected: Sequence[pytest.Item], *, narrowed: bool
) -> list[pytest.Item]:
    """Choose the probes of a run.

    These are all probes, or in a narrowed run the probes of the capabilities that the selected scenarios need. A run
    that selects no scenario has no probes.

    Args:
        probes: The collected probes.
        selected: The selected tests.
        narrowed: Whether the command line names rules, a profile or scenarios.
    """
    cases = [case for item in selected if (case := item.stash.get(CASE, None)) is not None]
    if not cases:
        return []
    needed = {capability for case in cases for capability in case.needs.capabilities}
    return [item for item in probes if not narrowed or item.stash[CASE].probe in needed]


def probed(item: pytest.Item) -> str:
    """Return a probe's capability and verdict in two words; empty if the test is not a probe or has no verdict."""
    verdict = item.stash.get(PROBED, None)
    return "" if verdict is None or not is_probe(item) else f"{item.stash[CASE].probe} {verdict}"


class EarlyEnd:
    """A pytest plugin that ends a run if its probes show that no selected scenario can pass.

    The probes run first.  If the probe of `queue` or `topic` fails, the pair does not deliver even a single message to
    a waiting receiver.  A capability is unusable if its probe failed or was unsupported.  The run ends if one of these
    probes failed and every selected scenario needs an unusable capability.  A scenario that needs neither `queue` nor
    `topic` lets the run end only if both are unusable.  Other processes may have begun scenarios by then.  The verdict
    on a scenario that did not run is error.

    Args:
        needs: Which of `queue` and `topic` each scenario needs; the end of pytest's collection replaces this value.
    """

    def __init__(self, needs: Iterable[frozenset[Capability]] = ()) -> None:
        self._needs = list(needs)
        self._failed: set[Capability] = set()
        self._absent: set[Capability] = set()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note which of `queue` and `topic` each selected scenario needs."""
        cases = [case for item in session.items if (case := item.stash.get(CASE, None)) is not None]
        self._needs = [CARRIERS & case.needs.capabilities for case in cases if case.probe is None]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """End the run if a probe's report shows that no selected scenario can pass.

        Raises:
            pytest.exit.Exception: No selected scenario can pass.
        """
        capability, _, verdict = getattr(report, TOLD, "").partition(" ")
        if not capability or report.when != "call" or Capability(capability) not in CARRIERS:
            return
        if verdict == Verdict.FAIL:
            self._failed.add(Capability(capability))
        elif verdict == Verdict.UNSUPPORTED:
            self._absent.add(Capability(capability))
        if self._failed and all(self._is_doomed(needs) for needs in self._needs):
            names = " and ".join(sorted(self._failed))
            text = (
                f"the pair delivers no message (the probe of {names} failed), so its scenarios would only fail, too:"
                " check the broker, and the address and conventions of its adapter (`assay adapter check FILE` checks a"
                " file of your own); `--scenario` runs scenarios without probes"
            )
            pytest.exit(text, returncode=pytest.ExitCode.INTERNAL_ERROR)

    def _is_doomed(self, needs: frozenset[Capability]) -> bool:
        unusable = self._failed | self._absent
        return bool(needs & unusable) if needs else unusable >= CARRIERS
