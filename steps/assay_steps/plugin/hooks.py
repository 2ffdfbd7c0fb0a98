"""The pytest plugin: runs the collected scenarios, writes their journals and computes the verdicts.

Each process writes one journal.  The main process selects the scenarios, starts a real broker once, runs the scenarios
and computes the verdicts.  If the run uses several processes (forked processes or pytest-xdist's workers), they run
the scenarios, and the main process computes the verdicts from all journals.  Only `assay_evidence.judge` decides
verdicts; pytest's outcomes follow them.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pytest_bdd.exceptions import StepDefinitionNotFoundError

from assay_adapters.ports.backend import BackendError, BrokerOwner, Instance, SharedFaultError, Silence
from assay_adapters.ports.capabilities import Unsupported
from assay_evidence import events
from assay_evidence.interrupts import ctrl_c_deferrable
from assay_evidence.verdicts import ScenarioVerdict, Verdict
from assay_sdk.model.capabilities import SITUATIONAL
from assay_steps.cast.background import Background, Periods
from assay_steps.cast.claims import Evidence
from assay_steps.cast.faults import LostBrokerError
from assay_steps.cast.journal import ScenarioJournal
from assay_steps.cast.recording import SetupRefusedError
from assay_steps.cast.world import World
from assay_steps.plugin import checks, feature_files
from assay_steps.plugin.cases import CASE, Case, template_of
from assay_steps.plugin.collection import Collection, Process
from assay_steps.plugin.folder import FolderError
from assay_steps.plugin.markers import marker_lines
from assay_steps.plugin.probes import PROBED, TOLD, EarlyEnd, is_probe, probed
from assay_steps.plugin.provisioning import Provided
from assay_steps.plugin.run import PLUGIN, Run, RunOptions
from assay_steps.plugin.stash_keys import BACKGROUND, JOURNAL, LEFT, SILENT, WORLD
from assay_steps.plugin.steps.current_step import CURRENT_STEP, CurrentStep
from assay_steps.plugin.steps.lookup import StepLookup
from assay_steps.plugin.steps.recorder import StepRecorder, sentence
from assay_steps.processes.forking import ATTEMPT, DELAYED, Forks, Order
from assay_steps.processes.interrupts import Interrupts
from assay_steps.processes.scheduling import FaultScheduling
from assay_steps.vocabulary import VOCABULARY
from assay_steps.words.mistakes import MistakeError
from assay_steps.words.spans import set_pace

NAME_WITHOUT_VERDICT = "assay_name_without_verdict"
"""The attribute of a pytest report that holds the name of a test without a verdict."""
EXPLAINED = frozenset({Verdict.FAIL, Verdict.ERROR, Verdict.INCONCLUSIVE})
"""The verdicts after which the journal also gets the frames, the broker's log and past, and inspections."""


def register(config: pytest.Config) -> None:
    """Register the plugin and the vocabulary in a pytest run."""
    if config.pluginmanager.has_plugin(PLUGIN):
        return
    for module in VOCABULARY:
        config.pluginmanager.import_plugin(module)
    config.pluginmanager.register(StepLookup(), "assay-lookup")
    config.pluginmanager.register(feature_files, "assay-feature-file")
    plugin = AssayPlugin(config)
    config.pluginmanager.register(plugin, PLUGIN)
    config.pluginmanager.register(plugin.recorder, "assay-recorder")
    collection = Collection(config, plugin.run, plugin.process)
    config.pluginmanager.register(collection, "assay-collection")
    # A run with a defect does not end early, because a defect may break a probe but only few other scenarios. A run
    # with xdist does not, because the end would cut off the workers' journals.
    if not (plugin.process.delegates or plugin.run.options.defect) and plugin.process.controls:
        config.pluginmanager.register(EarlyEnd(), "assay-early-end")
    if forks := plugin.process.forks:
        order = Order(group=collection.group, first=is_probe)
        forking = Forks(forks, plugin.run, plugin.run.writers, plugin.interrupts, order)
        config.pluginmanager.register(forking, "assay-forks")


class AssayPlugin:
    """The kit's plugin, which does one pytest process's part of a run."""

    def __init__(self, config: pytest.Config) -> None:
        workerinput: dict[str, Any] | None = getattr(config, "workerinput", None)
        controls = workerinput is None
        self.process = Process(
            controls=controls,
            delegates=controls and bool(getattr(config.option, "tx", None) or config.getoption("numprocesses", 0)),
            forks=int(config.getoption("assay_forks") or 0),
        )
        if self.process.delegates:
            checks.check_expressions(config)
        self.recorder = StepRecorder()
        self._periods = Periods()
        self.interrupts = Interrupts.of(config)
        try:
            self.run = Run(RunOptions.of(config, workerinput), self.interrupts)
        except FolderError as problem:
            raise pytest.UsageError(problem.told("--assay-out")) from problem
        except (LookupError, ValueError, OSError) as problem:
            raise pytest.UsageError(str(problem)) from problem
        for marker in marker_lines(self.run.catalogue):
            config.addinivalue_line("markers", marker)
        config.add_cleanup(partial(set_pace, 1))  # later runs in this process begin with the factor 1
        config.add_cleanup(self.run.backend.close)  # stops brokers however the session ends
        if self.process.controls:
            try:
                self.run.start_shared()
            except BackendError as problem:
                pytest.exit(str(problem), returncode=pytest.ExitCode.INTERNAL_ERROR)

    # xdist -----------------------------------------------------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Give an xdist worker the run's options, with the address of the controller's broker."""
        node.workerinput["assay"] = self.run.for_worker()
        self.run.writers.append(node.gateway.id)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> FaultScheduling:
        """Return a scheduler that runs scenarios with faults in groups, one worker for each group."""
        return FaultScheduling(config, log, self.run.groups)

    # running ---------------------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Provide a broker and clients for the scenario.

        If the pair lacks a capability, conclude the scenario as unsupported; if the backend cannot provide a broker,
        conclude it as an error.
        """
        case = item.stash.get(CASE, None)
        if case is None:
            return
        if item.stash.get(ATTEMPT, 1) > 1:
            case = item.stash[CASE] = case.alone
        self._periods.begin(case.id)
        provided = self._provide(case)
        journal = self._begin_journal(item, case, provided)
        if isinstance(provided, Provided):
            item.stash[WORLD] = self.run.world(case, provided, journal)
            item.stash[BACKGROUND] = Background(provided.instance, journal, self._periods)
            return
        _write_reason(journal, provided)
        journal.write(events.ScenarioEnd, elapsed_ns=0, waited_ns=0)
        self._conclude(item, self.run.verdict(case, journal), None)

    def _provide(self, case: Case) -> Provided | Unsupported | BackendError:
        """Return a broker and clients for a scenario, or the reason why the scenario cannot run."""
        try:
            return self.run.provisioning.provide(case)
        except BackendError as problem:
            return problem

    def _begin_journal(
        self, item: pytest.Item, case: Case, provided: Provided | Unsupported | BackendError
    ) -> ScenarioJournal:
        """Begin the scenario's journal with its first event, and store the journal and the current step in the item."""
        attempt, template = item.stash.get(ATTEMPT, 1), template_of(item)
        clock = provided.instance.clock if isinstance(provided, Provided) else self.run.clock
        journal = item.stash[JOURNAL] = self.run.journal(case, clock, attempt)
        if template is not None:
            item.stash[CURRENT_STEP] = CurrentStep(case.feature, template, journal)
        journal.write(
            events.ScenarioBegin,
            rules=case.rules,
            judged=case.judged,
            strength=case.strength,
            role=case.role,
            foreign=case.foreign,
            client=provided.faces.title if isinstance(provided, Provided) else "",
            probe=case.probe or "",
            line=template.line_number if template else 0,
            attempt=attempt,
            repeats=case.id if attempt > 1 else "",
        )
        return journal

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Run a scenario, write its evidence, and set pytest's outcome by its verdict."""
        world = item.stash.get(WORLD, None)
        if world is None:
            return (yield)
        case, journal = item.stash[CASE], item.stash[JOURNAL]
        problem: BaseException | None = None
        started, waited = time.perf_counter_ns(), self.run.waited_ns(world)
        heartbeat = self.run.heartbeat(journal)
        try:
            with heartbeat, self.run.sleepless(), checks.require_awaits():
                yield
        except (KeyboardInterrupt, pytest.exit.Exception):
            raise
        except BaseException as caught:  # noqa: BLE001 - `pytest.fail` raises a BaseException; the journal records it, too
            self.interrupts.check()  # Ctrl-C may have caused this error
            problem = caught
        problem = problem or world.client_error
        if problem is not None:
            self.recorder.outside(item, problem)
        if not isinstance(problem, LostBrokerError) and (silence := _silence(world.instance)):
            item.stash[SILENT] = True
            journal.write(
                events.Step,
                keyword="*",
                text="the broker at the end",
                outcome="refused" if silence.owner is BrokerOwner.SCENARIO else "broken",
                detail=silence.text,
                shared_fault=silence.owner is BrokerOwner.SHARED,
                silent=silence.owner is BrokerOwner.SCENARIO,
            )
            if silence.owner is not BrokerOwner.SCENARIO:
                # The journal gets no `scenario-end`, so the scenario cannot fail: a broker that stopped answering may
                # have caused the fail.
                item.stash[BACKGROUND].write()
                self._conclude(item, self.run.verdict(case, journal), problem)
                return None
        journal.write(
            events.ScenarioEnd,
            elapsed_ns=time.perf_counter_ns() - started,
            waited_ns=self.run.waited_ns(world) - waited,
            late_ns=heartbeat.late_ns,
            longest_ns=heartbeat.longest_ns,
        )
        verdict = self.run.verdict(case, journal)
        if verdict.verdict in EXPLAINED:
            world.sightings.write_frames()
            item.stash[BACKGROUND].write()
        self._conclude(item, verdict, problem)
        return None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add a probe's verdict, or the name of a test without a verdict, to the report for the controlling process."""
        report = yield
        setattr(report, TOLD, probed(item))
        judged = CASE in item.stash and report.when != "teardown"
        setattr(report, NAME_WITHOUT_VERDICT, "" if judged else _named(item))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Store the name of a failed test without a verdict."""
        name = getattr(report, NAME_WITHOUT_VERDICT, "")
        if report.failed and name:
            self.run.unjudged.add(name)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Close the scenario's connections, release its broker instance, and free its memory."""
        world = item.stash.get(WORLD, None)
        try:
            if world is not None:
                if item.stash.get(SILENT, False):
                    world.connections.abort()  # each close would wait until its limit, because the broker is silent
                else:
                    world.connections.close()
                self.run.release(world.instance)
        finally:
            for key in LEFT:
                if key in item.stash:
                    del item.stash[key]

    def _conclude(self, item: pytest.Item, verdict: ScenarioVerdict, problem: BaseException | None) -> None:
        case, where = item.stash[CASE], item.stash[CURRENT_STEP].where(verdict)
        known = self.run.known_outcome(case, verdict)
        item.stash[DELAYED] = verdict.delayed and known is None
        if known is not None:
            pytest.xfail(f"known: {known.reason} ({known.reference})")
        item.stash[PROBED] = verdict.verdict
        if verdict.verdict is Verdict.UNSUPPORTED:
            pytest.skip(verdict.reason)
        if isinstance(problem, MistakeError | StepDefinitionNotFoundError):
            pytest.fail(f"{where}\n{sentence(problem, item.stash[CURRENT_STEP].within)}", pytrace=False)
        if problem is not None and not isinstance(problem, SetupRefusedError):
            problem.add_note(where)
            raise problem
        if verdict.verdict is not Verdict.PASS:
            seen = {"expected": verdict.expected, "observed": verdict.observed}
            lines = [f"{name}: {text}" for name, text in seen.items() if text]
            if not verdict.findings and verdict.verdict is Verdict.NOT_DEMONSTRATED:
                lines.append("Only a Then-step makes claims: add one; `assay steps claims` lists them.")
            told = "\n".join((where, f"{verdict.verdict.value}: {verdict.reason}", *lines))
            pytest.fail(told, pytrace=False)

    # the end ---------------------------------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Prepare the deferral of Ctrl-C once for the whole run, because each write of a journal line defers Ctrl-C."""
        with ctrl_c_deferrable():
            return (yield)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Close the journal; the process that controls the run also writes `verdicts.json`."""
        self.run.finish(concludes=self.process.controls)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Print the path of the folder of evidence at the end of pytest's output."""
        terminal = config.pluginmanager.get_plugin("terminalreporter")
        if self.process.controls and terminal is not None and self.run.concluded is not None:
            terminal.write_line(f"evidence: {self.run.options.out}")

    @pytest.fixture
    def world(self, request: pytest.FixtureRequest) -> World:
        """Provide the scenario's world."""
        world: World = request.node.stash[WORLD]
        return world

    @pytest.fixture
    def evidence(self, request: pytest.FixtureRequest) -> Evidence:
        """Provide the object that records the scenario's claims."""
        world: World = request.node.stash[WORLD]
        return world.evidence


def _write_reason(journal: ScenarioJournal, reason: Unsupported | BackendError) -> None:
    """Write the reason why a scenario cannot run."""
    if isinstance(reason, Unsupported):
        journal.write(
            events.Unsupported,
            capability=reason.capability,
            reason=reason.source.text,
            source=reason.source.reference,
            apart=reason.capability in SITUATIONAL,
        )
    else:
        journal.write(
            events.Step,
            keyword="*",
            text="a broker for the scenario",
            outcome="broken",
            detail=str(reason),
            shared_fault=isinstance(reason, SharedFaultError),
        )


def _silence(instance: Instance) -> Silence | None:
    """Return a report if the broker does not answer at the end of a scenario; None if it answers."""
    try:
        return instance.silence()
    except BackendError as error:
        return Silence(str(error), BrokerOwner.USER)


def _named(item: pytest.Item) -> str:
    """Return a test's module, relative to the working folder, and its name.

    The test's id is not enough: it has no module if the module is outside of pytest's root folder.
    """
    here = Path.cwd()
    module = item.path.relative_to(here) if item.path.is_relative_to(here) else item.path
    return f"{module.as_posix()}::{item.nodeid.partition('::')[2]}"
