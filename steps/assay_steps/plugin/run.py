"""A run of the suite with one backend, one client and one folder of evidence; each process of the run has a `Run`.

Each process writes ``journals/<writer>.jsonl`` during the run.  At the run's end the main process writes
``verdicts.json``.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct, convert, structs, to_builtins

from assay_adapters.known import KnownOutcome, known_outcomes
from assay_adapters.ports.backend import Backend, BackendError, Environment, Instance
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.ports.client import Endpoint
from assay_evidence import events
from assay_evidence.concluding.attempts import attempt_id
from assay_evidence.errors import JournalError
from assay_evidence.interrupts import ctrl_c_deferred
from assay_evidence.judge import judge
from assay_evidence.reader import Journals, read_journals
from assay_evidence.verdicts import ScenarioVerdict, Verdicts, verdicts_json
from assay_evidence.writer import JournalWriter
from assay_features import Judged, load_catalogue
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.durations import format_duration
from assay_sdk.runners.machine_clock import MachineClock
from assay_sdk.time import Clock
from assay_steps.behaviour import Behaviour
from assay_steps.cast.claims import Evidence
from assay_steps.cast.journal import ScenarioJournal, instant
from assay_steps.cast.timing.limits import TimeLimits
from assay_steps.cast.timing.pace import measured_pace
from assay_steps.cast.world import World
from assay_steps.plugin import checks
from assay_steps.plugin.cases import Case
from assay_steps.plugin.folder import GROUPS, JOURNALS, KNOWN, MEETINGS, UNJUDGED, VERDICTS, make_room
from assay_steps.plugin.provisioning import Provided, Provisioning
from assay_steps.plugin.request import Pair, RunRequest
from assay_steps.processes.heartbeat import BEAT_S, Heartbeat
from assay_steps.processes.interrupts import Interrupts
from assay_steps.variants.model import Variant
from assay_steps.words.spans import set_pace

VIRTUAL_LIMITS = TimeLimits(expected_ms=60_000, quiet_ms=5_000, late_ms=5_000)
"""The limits in virtual time; the time of silence is long, because virtual time costs nothing."""
REAL_LIMITS = TimeLimits(expected_ms=15_000, quiet_ms=1_500, late_ms=5_000, beat_ms=round(1.2 * BEAT_S * 1_000))
"""The limits in real time: a queue counts as silent 1.5 s after its last message."""

VIRTUAL_ROUNDS, REAL_ROUNDS = 20, 2
"""The number of messages of a step that sends "several messages" and kills the broker after each.

The number is small in real time, because a kill takes seconds there.
"""

PLUGIN = "assay-run"
"""The name under which pytest registers the plugin."""
MAIN = "main"
"""The writer name of the process that controls a run."""


class RunOptions(RunRequest, frozen=True, kw_only=True):
    """The request for a run, with the run's folder and id; the controller sends it to pytest-xdist's workers.

    Args:
        run: The run's id.
        writer: This process's name, which is also the name of its journal.
        out: The folder of evidence.
        shared: The address of the broker that all processes share; None if each scenario has its own.
        environment: The tested product, with the details that the shared broker reports; None without a shared broker.
        pace: The run's pace (`assay_steps.cast.timing.pace`); None if it is not measured yet.
    """

    run: str
    writer: str
    out: str
    shared: Endpoint | None = None
    environment: Environment | None = None
    pace: int | None = None

    @classmethod
    def of(cls, config: pytest.Config, workerinput: dict[str, Any] | None) -> RunOptions:
        """Make the options from pytest's options, or in a worker from the controller's ``workerinput``."""
        if workerinput is not None:
            sent = convert(workerinput["assay"], cls)
            return structs.replace(sent, writer=workerinput["workerid"])
        return cls(
            run=config.getoption("assay_run_id") or new_run_id(),
            writer=MAIN,
            backend=config.getoption("assay_backend") or "reference",
            out=str(Path(config.getoption("assay_out") or "assay-out").resolve()),
            profile=config.getoption("assay_profile"),
            rules=tuple(config.getoption("assay_rule") or ()),
            seed=config.getoption("assay_seed") or 0,
            store=config.getoption("assay_store"),
            face=config.getoption("assay_face"),
            defect=config.getoption("assay_defect"),
            variant=config.getoption("assay_variant"),
            late_ms=config.getoption("assay_late"),
            probes=not config.getoption("assay_no_probes"),
            scenarios=tuple(config.getoption("assay_scenario") or ()),
        )


def new_run_id() -> str:
    """Make a run's id from the present time and four random characters."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}"


class Concluded(Struct, frozen=True):
    """The conclusion of a run.

    Args:
        journals: The contents of the run's journals.
        verdicts: The verdicts computed from the journals, as in `verdicts.json`.
    """

    journals: Journals
    verdicts: Verdicts


class Run:
    """A process's part of a run.

    Args:
        options: The request for the run.
        interrupts: Notes whether the user has pressed Ctrl-C.

    Raises:
        LookupError: A name in the request is unknown, or the backend cannot be started on this machine.
        FolderError: The folder of evidence cannot be written, or holds a file that is not a run's output.
        JournalError: The journal of this process exists already, or cannot be created.
        KnownOutcomesError: The file of the backend's known outcomes is invalid.
    """

    def __init__(self, options: RunOptions, interrupts: Interrupts) -> None:
        self.options = options
        self._interrupts = interrupts
        self.catalogue = load_catalogue()
        pair = self._opened()
        self.selected = {rule.id for rule in pair.rules}
        self.behaviour: Behaviour | None = pair.behaviour
        self.backend: Backend = pair.backend
        self.provisioning = self._provisioning()
        self._left: Backend | None = None
        self.clock: Clock = MachineClock()
        self.writers: list[str] = []
        self.unjudged: set[str] = set()
        """The names of failed tests that the kit does not judge."""
        if options.writer == MAIN:
            make_room(Path(options.out))
        self._journal = self._open_journal()
        self.known = known_outcomes(options.backend)
        """The known outcomes of the backend."""
        self._opening: events.Begin | None = None
        self._plan: events.Plan | None = None
        self.concluded: Concluded | None = None
        """The conclusion of the run; None in a process that does not control the run, and before the run's end."""

    def _provisioning(self) -> Provisioning:
        return Provisioning(self.backend, self.options.backend, self.options.face, self.behaviour, self.catalogue)

    def _opened(self) -> Pair:
        options = self.options
        return options.open(options.shared, Path(options.out) / MEETINGS)

    def _open_journal(self) -> JournalWriter:
        options = self.options
        path = Path(options.out) / JOURNALS / f"{options.writer}.jsonl"
        return JournalWriter(path, run=options.run, writer=options.writer)

    # for pytest ------------------------------------------------------------------------------------------------------

    @property
    def groups(self) -> Path:
        """The file in which pytest-xdist's workers write the groups of scenarios for the controller."""
        return Path(self.options.out) / GROUPS

    def for_worker(self) -> dict[str, Any]:
        """Return the options for a pytest-xdist worker, as builtin types, because xdist serialises them."""
        builtins: dict[str, Any] = to_builtins(self.options)
        return builtins

    def start_shared(self) -> None:
        """Start the broker that all processes share; do nothing in virtual time, where each scenario has its own.

        Raises:
            BackendError: The broker cannot be started.
            LookupError: The backend has no broker that scenarios can share.
        """
        if self.virtual:
            return
        provisioned = self.provisioning.instance(Needs())
        if isinstance(provisioned, Unsupported):
            raise LookupError(f"Backend {self.backend.name!r} has no broker to share: {provisioned.source.text}")
        self.options = structs.replace(
            self.options,
            shared=provisioned.endpoint(provisioned.protocol),
            environment=self.backend.environment,
        )

    # selection -------------------------------------------------------------------------------------------------------

    def selects(self, case: Case) -> bool:
        """Return whether the run tests a rule of a case; a case without rules is tested only if no rules are chosen."""
        names_rules = self.options.profile is not None or bool(self.options.rules)
        return not self.selected.isdisjoint(case.rules) or not (case.rules or names_rules)

    def can_count(self, case: Case) -> bool:
        """Return whether a case can count for its rule on this pair; True for each case if the user named scenarios."""
        ours = {
            Judged.CLIENT.value: self.backend.identity(self.options.face).ours,
            Judged.BROKER.value: self.backend.environment.ours,
        }
        return bool(self.options.scenarios) or case.can_count([part for part, is_ours in ours.items() if is_ours])

    @property
    def narrowed(self) -> bool:
        """Whether the command line names rules, a profile or scenarios."""
        return self.options.profile is not None or bool(self.options.rules or self.options.scenarios)

    def plan(self, cases: Sequence[Case], left_out: Sequence[Case] = ()) -> None:
        """Write the journal's first event, unless it is written already, and then the plan of the run.

        Args:
            cases: The scenarios that will run.
            left_out: The scenarios of the chosen rules that the command line leaves out.
        """
        self._begin()
        planned = tuple(case.planned for case in cases)
        missing = Counter(rule for case in left_out if not case.foreign for rule in case.rules)
        with ctrl_c_deferred():
            self._plan = self._journal.write(
                events.Plan,
                instant(self.clock),
                scenarios=planned,
                left_out=dict(missing),
            )

    def _begin(self) -> events.Begin:
        """Return the journal's first event; the first call writes it."""
        if self._opening is None:
            pace = self._set_pace()
            environment = self.options.environment or self.backend.environment
            client = self.backend.identity(self.options.face)
            own = {"client": client.ours, "broker": environment.ours}
            if isinstance(self.behaviour, Variant):
                own |= dict.fromkeys(self.behaviour.parts, False)  # the judge must treat a variant as a foreign part
            with ctrl_c_deferred():
                self._opening = self._journal.write(
                    events.Begin,
                    instant(self.clock),
                    backend=self.options.backend,
                    client=client.title,
                    ours=tuple(part for part, is_ours in own.items() if is_ours),
                    environment={
                        "product": environment.product,
                        "version": environment.version,
                        **environment.details,
                        **self._lateness(),
                        **({events.PACE: str(pace)} if pace > 1 else {}),
                    },
                    catalogue_hash=self.catalogue.sha256,
                    seed=self.options.seed,
                    defect=self.options.defect or "",
                    capabilities={name.value: source.text for name, source in self.backend.capabilities.items()},
                    lacks={name.value: source.text for name, source in self.backend.lacks.items()},
                    profiles=tuple(profile.value for profile in self.backend.profiles),
                    given=self.options.given,
                )
        return self._opening

    def _lateness(self) -> dict[str, str]:
        """Return the journal's entry for the allowed lateness, on which verdicts depend; empty for the default."""
        late_ms = self.options.late_ms
        return {} if late_ms is None else {events.LATENESS: format_duration(late_ms)}

    def _set_pace(self) -> int:
        """Set the pace of all steps, and return it; measure it first if this run has not measured it yet."""
        if self.options.pace is None:
            self.options = structs.replace(self.options, pace=self._measured_pace())
        pace = self.options.pace or 1
        set_pace(pace)
        return pace

    def _measured_pace(self) -> int:
        try:
            instance = self.provisioning.instance(Needs())
        except BackendError:
            return 1  # the broker has just ended; each scenario will report this
        if isinstance(instance, Unsupported):
            return 1
        try:
            client = self.provisioning.faces(instance).chosen
            return measured_pace(instance, client, f"pace.{self.options.run}.{self.options.writer}")
        finally:
            instance.close()

    # a scenario ------------------------------------------------------------------------------------------------------

    def journal(self, case: Case, clock: Clock, attempt: int = 1) -> ScenarioJournal:
        """Make the journal for an attempt at the scenario of a case."""
        self._begin()
        return ScenarioJournal(self._journal, attempt_id(case.id, attempt), clock, self._interrupts)

    def world(self, case: Case, provided: Provided, journal: ScenarioJournal) -> World:
        """Make the world for the scenario of a case."""
        limits = VIRTUAL_LIMITS if self.virtual else REAL_LIMITS
        if self.options.late_ms is not None:
            limits = limits.with_lateness(self.options.late_ms)
        limits = limits.at_pace(self.options.pace or 1)
        return World(
            provided.instance,
            journal,
            Evidence(journal, case.rules[0] if case.rules else "", limits.quiet_ms),
            limits=limits,
            faces=provided.faces,
            rounds=VIRTUAL_ROUNDS if self.virtual else REAL_ROUNDS,
            judges_client=case.judges_client,
            lacks=self.backend.lacks,
        )

    @property
    def virtual(self) -> bool:
        """Whether the backend's time is virtual."""
        return Capability.VIRTUAL_TIME in self.backend.capabilities

    def sleepless(self) -> AbstractContextManager[None]:
        """Make a real sleep an error inside the `with` block, if the backend's time is virtual."""
        return checks.forbid_sleep() if self.virtual else nullcontext()

    def heartbeat(self, journal: ScenarioJournal) -> Heartbeat:
        """Make the heartbeat that measures the harness's delays and writes long ones to the scenario's journal."""

        def tell(now_ns: int, held_ns: int, late_ns: int) -> None:
            with suppress(KeyboardInterrupt, JournalError):  # the scenario's thread raises the same exceptions
                journal.write(events.Late, at=journal.at(now_ns), held_ns=held_ns, late_ns=late_ns)

        return Heartbeat(beats=not self.virtual, tell=tell)

    def waited_ns(self, world: World) -> int:
        """Return the total time that a scenario has waited, in nanoseconds of the backend's clock."""
        return world.instance.runner.waited_ns

    def release(self, instance: Instance) -> None:
        """Close a broker instance."""
        instance.close()

    def go_on_as(self, writer: str) -> None:
        """Continue with a journal of another name, in a process that was forked after the plan was written.

        Args:
            writer: The name of the new journal.

        Raises:
            JournalError: The new writer's journal cannot be created.
        """
        self.options = structs.replace(self.options, writer=writer)
        self._left = self.backend  # a reference, so that the parent's backend lives on: only the parent closes it
        self.backend = self._opened().backend
        self.provisioning = self._provisioning()
        self._journal = self._open_journal()
        self._opening = None
        self._begin()

    def verdict(self, case: Case, journal: ScenarioJournal) -> ScenarioVerdict:
        """Judge the events of a case."""
        # A plan with this scenario only: with the whole plan, the run's cost would grow with the square of its size.
        plan = self._journal_plan(structs.replace(case.planned, id=journal.scenario))
        verdicts = judge((self._begin(), plan, *journal.events), self.catalogue)
        judged = (*verdicts.scenarios, *verdicts.probes)
        return next(scenario for scenario in judged if scenario.scenario == journal.scenario)

    def _journal_plan(self, planned: events.PlannedScenario) -> events.Plan:
        if self._plan is None:
            raise RuntimeError("A scenario ran before the run's plan was written.")
        return structs.replace(self._plan, scenarios=(planned,))

    def known_outcome(self, case: Case, verdict: ScenarioVerdict) -> KnownOutcome | None:
        """Return the known outcome that matches a case's verdict; None without one, and for a user's feature."""
        return None if case.foreign else self.known.find(case.id, verdict.verdict)

    # the end ---------------------------------------------------------------------------------------------------------

    def finish(self, *, concludes: bool) -> None:
        """Close the journal and stop the backend; with ``concludes``, compute `verdicts.json` from all journals."""
        self._begin()
        self._journal.close(instant(self.clock), writers=(*self.writers, self.options.writer) if concludes else ())
        self.backend.close()
        if concludes:
            self.groups.unlink(missing_ok=True)
            out = Path(self.options.out)
            (out / KNOWN).write_bytes(msgspec.json.format(msgspec.json.encode(self.known)))
            if self.unjudged:
                (out / UNJUDGED).write_bytes(msgspec.json.format(msgspec.json.encode(sorted(self.unjudged))))
            self.concluded = conclude(out)


def conclude(out: Path) -> Concluded:
    """Judge a folder's journals and write its `verdicts.json`."""
    journals = read_journals(out / JOURNALS)
    verdicts = judge(journals.events, load_catalogue(), journals.damage)
    (out / VERDICTS).write_bytes(verdicts_json(verdicts))
    return Concluded(journals, verdicts)
