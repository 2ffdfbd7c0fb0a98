"""The collection of scenarios: compares them with the feature files, selects the run's scenarios, writes the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec import Struct

from assay_adapters.ports.backend import FaultSharing
from assay_features import Role
from assay_sdk.model.capabilities import Capability
from assay_steps.plugin import checks
from assay_steps.plugin.cases import (
    CASE,
    Case,
    case_of,
    feature_of,
    may_last_long,
    mistakes_of,
    repeated_rows,
    templates,
)
from assay_steps.plugin.narrowing import narrowed
from assay_steps.plugin.probes import wanted_probes
from assay_steps.plugin.run import MAIN, Run
from assay_steps.plugin.steps.lookup import is_ours
from assay_steps.plugin.suite import INI, SUITE
from assay_steps.processes.forking import ATTEMPT
from assay_steps.processes.scheduling import Groups, groups_of, interleaved, repeated_group, write_groups
from assay_steps.words.mistakes import SHAPED_LIKE_OURS

FIRST_WORKER = "gw0"
"""The name that pytest-xdist gives to the first worker."""


class Process(Struct, frozen=True):
    """The part of this process in the run.

    Args:
        controls: Whether the process controls the run; False in a worker of pytest-xdist.
        delegates: Whether pytest-xdist's workers run the scenarios of this process.
        forks: The number of forked processes that run the scenarios; 0 for none.
    """

    controls: bool
    delegates: bool
    forks: int

    @property
    def is_one_of_many(self) -> bool:
        """Whether this process is a worker of pytest-xdist, or forks processes that run the scenarios."""
        return not self.controls or self.forks > 0


class Collection:
    """The part of the kit's plugin that collects scenarios.

    Args:
        config: Pytest's configuration.
        run: The run.
        process: The process's part in the run.
    """

    def __init__(self, config: pytest.Config, run: Run, process: Process) -> None:
        self._config = config
        self._run = run
        self._process = process
        self._selected: dict[str, Case] = {}
        self._probes: list[pytest.Item] = []
        self._groups: Groups = {}
        self._tries_own_modules = config.inipath == INI and str(SUITE) not in config.args

    @pytest.hookimpl(tryfirst=True)
    def pytest_bdd_apply_tag(self, tag: str) -> None:
        """Register a feature's tag as a marker, because pytest's strict markers refuse unknown ones.

        A mistyped tag in the form of the kit's tags is registered, so that the selection can report it with its line.
        If `assay run` runs a user's own modules, every tag is registered, because their features may have any tag.
        """
        if SHAPED_LIKE_OURS.fullmatch(tag) or self._tries_own_modules:
            self._config.addinivalue_line("markers", f"{tag}: a tag of a feature")

    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
        """Bind only some of the kit's feature files if the run tests only some rules."""
        options = self._run.options
        if options.profile is None and not options.rules:
            return None
        return narrowed(parent, module_path, self._run.selected)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Compare the scenarios with the feature files, mark each with its profile, and select the run's scenarios.

        Raises:
            pytest.UsageError: A scenario was not collected, or a feature has a mistake.
        """
        self._guard(config, items)
        mistakes = [told for item in items for told in mistakes_of(item, self._run.catalogue, is_ours)]
        mistakes += repeated_rows(items, is_ours)
        mistakes += checks.duplicate_names(
            (template.feature.filename, feature_of(template)) for template in templates(items)
        )
        if mistakes:
            raise pytest.UsageError("\n".join(dict.fromkeys(mistakes)))
        kept: list[pytest.Item] = []
        dropped: list[pytest.Item] = []
        for item in items:
            case = case_of(item, self._run.catalogue, is_ours)
            if case is None:
                kept.append(item)
                continue
            item.stash[CASE] = case
            if case.profile:
                item.add_marker(case.profile)
            if case.probe is not None:
                self._probes.append(item)
            elif self._run.selects(case) and self._run.can_count(case) and item.get_closest_marker("skip") is None:
                self._selected[item.nodeid] = case
                (kept if self._run.options.names(case.id) else dropped).append(item)
            else:
                dropped.append(item)
        if self._run.backend.fault_sharing is FaultSharing.TOGETHER:
            tried = [item for item in kept if CASE in item.stash]
            _keep_exact_kills(tried)
            self._keep_apart(tried)
        if dropped:
            config.hook.pytest_deselected(items=dropped)
        is_spread = self._process.is_one_of_many and not self._run.virtual
        items[:] = interleaved(kept, _feature, may_last_long) if is_spread else kept

    def _keep_apart(self, items: Iterable[pytest.Item]) -> None:
        """Give a scenario a broker that no other scenario uses, if one of the backend's known outcomes asks for it."""
        for item in items:
            case = item.stash[CASE]
            if not case.foreign and self._run.known.need_own_broker(case.id):
                item.stash[CASE] = case.with_own_broker

    def _guard(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if any("::" in argument for argument in config.args):
            return  # the command line names single tests
        if self._run.options.writer not in {MAIN, FIRST_WORKER}:
            return  # one worker's check is enough; it takes half as long as a worker's start
        collected = Counter((template.feature.filename, template.name) for template in templates(items))
        expected = checks.written(Path(filename) for filename, _ in collected)
        problems = checks.missing_scenarios(expected, collected)
        if problems:
            raise pytest.UsageError("\n".join(problems))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Write the plan to the journal, so that the judge finds planned scenarios without evidence."""
        if self._process.delegates:
            return
        if self._run.options.probes:
            session.items[:0] = wanted_probes(self._probes, session.items, narrowed=self._run.narrowed)
        cases = {item.nodeid: item.stash[CASE] for item in session.items if CASE in item.stash}
        self._run.plan(list(cases.values()), [case for test, case in self._selected.items() if test not in cases])
        self._groups = groups_of({test: case.needs for test, case in cases.items()}, self._run.backend.fault_sharing)
        if not self._process.controls:
            write_groups(self._run.groups, self._groups)

    def group(self, item: pytest.Item) -> str:
        """Return the group of a test; one process runs the whole group. Empty if any process may run the test."""
        group = self._groups.get(item.nodeid, "")
        return repeated_group(group) if item.stash.get(ATTEMPT, 1) > 1 else group


def _keep_exact_kills(items: Iterable[pytest.Item]) -> None:
    """Give the first scenario with a shared kill, for each rule and kind of work, a broker of its own.

    Before a shared kill, each scenario waits until the last scenario has acted, which takes ten milliseconds or more.
    On a broker of its own, a scenario's kill follows its work at once. So only these scenarios catch a broker that
    writes its data ten milliseconds late.
    """
    met: set[tuple[tuple[str, ...], str]] = set()
    for item in sorted(items, key=lambda item: item.stash[CASE].role is not Role.CORE):
        case = item.stash[CASE]
        kind = case.rules[:1], case.work
        if case.needs.shared_fault is Capability.KILL and kind not in met:
            met.add(kind)
            item.stash[CASE] = case.alone


def _feature(item: pytest.Item) -> str:
    """Return the feature of a test, or the module of a test that the kit does not judge."""
    case = item.stash.get(CASE, None)
    return item.nodeid.partition("::")[0] if case is None else case.feature
