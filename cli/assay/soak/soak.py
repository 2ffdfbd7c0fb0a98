"""The controller of a soak: the broker, the clients, the faults, and the journal of the plan and the faults."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from assay.campaign.clients import ClientDownError
from assay.soak.client import ClientOrder, Disturbed, Go
from assay.soak.consumer import consume
from assay.soak.ending import Ending, How, State
from assay.soak.faults import KINDS, Coming, Striking
from assay.soak.lateness import Lateness
from assay.soak.loads import WORKLOADS
from assay.soak.plan import LeftOut, Plan, PlannedFault, plan_json, producer_name
from assay.soak.processes import ClientProcesses, prepare
from assay.soak.producer import produce
from assay.soak.slice_consumer import DRAIN_LIMIT_MS, EARLY_MS
from assay.soak.workloads import Workload, scenario_id
from assay_adapters.ports.backend import BackendError, Instance, NoReturnError
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.ports.faults import fault_name
from assay_evidence import JournalError, events
from assay_evidence.events import Event, PlannedScenario
from assay_evidence.interrupts import ctrl_c_deferred
from assay_evidence.writer import Instant, JournalWriter
from assay_features import load_catalogue
from assay_sdk.runners.machine_clock import MachineClock
from assay_sdk.time import NS_PER_MS
from assay_steps.cast.journal import instant
from assay_steps.plugin.folder import JOURNALS, PLAN
from assay_steps.plugin.request import Pair, RunRequest
from assay_steps.plugin.run import MAIN, new_run_id

E = TypeVar("E", bound=Event)

LEAD_MS = EARLY_MS + 500
"""The time from the readiness of the last client to the start of the load, in milliseconds."""
LISTEN_S = 0.1
UNREACHABLE_MS = 10_000
"""If a client cannot connect for this many milliseconds and no fault explains it, the soak ends as `How.LOST`."""
PATIENCE_MS = 30_000
"""How long after the drain's limit the controller still waits for the clients, in milliseconds."""


class _Slice(Struct):
    """An open slice."""

    number: int
    begun_ns: int


class Soak:
    """A soak, as a context manager that ends the broker and all processes.

    Args:
        plan: The plan.
        pair: The backend, not started yet, and the defect.
        request: The request that names the backend and the defect.
        out: The folder of evidence, with an empty folder for journals.
        told: Called with the state after each report of a client, and at least about ten times a second.
    """

    def __init__(
        self, plan: Plan, pair: Pair, request: RunRequest, out: Path, told: Callable[[State], None] = lambda _: None
    ) -> None:
        self._plan = plan
        self._pair = pair
        self._request = request
        self._out = out
        self._told = told
        self._run = new_run_id()
        self._clock = MachineClock()
        (out / PLAN).write_bytes(plan_json(plan))
        self._journal = JournalWriter(out / JOURNALS / f"{MAIN}.jsonl", run=self._run, writer=MAIN)
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["__main__", "assay.soak.producer", "assay.soak.consumer"])
        self._clients = ClientProcesses(context)
        self._instance: Instance | None = None
        self._start_ns = 0
        self._open: list[_Slice] = []
        self._opened = 0
        self._striking: Striking | None = None
        self._coming = Coming(plan.faults, plan.options.seconds * 1_000)
        self._faults = 0
        self._lateness = Lateness()
        self._calm_ns = 0
        """The end of the last fault, or the soak's start if no fault has ended yet; by the monotonic clock."""
        self._left_out: tuple[LeftOut, ...] = ()
        self.unclosed = ""
        """Why the broker could not be removed at the end, in one sentence; empty if the broker was removed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clients.abandon()
        if self._striking is not None:
            self._striking.await_end()
        if self._instance is not None:
            self._close_broker(self._instance.close)
        self._close_broker(self._pair.backend.close)

    def _close_broker(self, close: Callable[[], None]) -> None:
        """Close the instance or the backend; store an error as text, so that the soak still completes its journals."""
        try:
            close()
        except (BackendError, NoReturnError, OSError) as error:
            self.unclosed = f"the broker was not removed in order, so call `assay clean`: {error}"

    def run(self) -> Ending:
        """Run the plan, and close the journals; Ctrl-C ends the run early, with complete journals.

        Raises:
            BackendError: The broker cannot be started.
            LookupError: The backend has no instance for a soak.
            ClientDownError: A client did not start.
        """
        begin = self._begin()
        self._write(events.Begin, **begin)
        scenarios = tuple(
            PlannedScenario(scenario_id(one, number), one.rules, "must", "broker")
            for number in range(1, self._plan.slices + 1)
            for one in self._workloads()
        )
        self._write(events.Plan, scenarios=scenarios)
        try:
            self._start(begin)
            how, why = self._go_on_to_an_end()
        except KeyboardInterrupt:
            how, why = How.STOPPED, "Ctrl-C, SIGTERM or SIGHUP ended it early."
        return self._finish(how, why)

    # the start and the end --------------------------------------------------------------------------------------------

    def _start(self, begin: dict[str, Any]) -> None:
        faults = frozenset(KINDS[fault.kind].needs for fault in self._plan.faults)
        instance = self._pair.backend.provision(Needs(capabilities=faults, own_instance=True))
        if isinstance(instance, Unsupported):
            raise LookupError(f"Backend {self._request.backend!r} has no broker for a soak: {instance.source.text}")
        self._instance = instance
        self._drop_impossible(instance)
        options = self._plan.options
        endpoint = instance.endpoint(instance.protocol)
        prepare()
        for main, count, name in ((produce, options.producers, producer_name), (consume, options.consumers, _consumer)):
            orders = (
                ClientOrder(
                    name=name(number),
                    number=number,
                    run=self._run,
                    journals=self._out / JOURNALS,
                    begin=begin,
                    request=self._request,
                    endpoint=endpoint,
                    plan=self._plan,
                )
                for number in range(1, count + 1)
            )
            self._clients.start(main, orders)
        self._clients.await_ready()
        self._start_ns = self._calm_ns = self._clock.monotonic_ns() + LEAD_MS * NS_PER_MS
        self._clients.tell(Go(self._start_ns))

    def _drop_impossible(self, instance: Instance) -> None:
        """Leave out the planned faults that prove impossible on the started broker, and write the plan again."""
        able = frozenset() if instance.faults is None else instance.faults.kinds
        kinds = {fault.kind for fault in self._plan.faults}
        impossible = sorted(kind for kind in kinds if type(KINDS[kind].request()) not in able)
        if not impossible:
            return
        why = "The kit cannot cause this fault for the way in which it has started the broker."
        self._left_out = tuple(LeftOut(kind, why) for kind in impossible)
        faults = tuple(fault for fault in self._plan.faults if fault.kind not in impossible)
        self._plan = replace(self._plan, faults=faults, left_out=(*self._plan.left_out, *self._left_out))
        self._coming = Coming(faults, self._plan.options.seconds * 1_000)
        (self._out / PLAN).write_bytes(plan_json(self._plan))

    def _go_on_to_an_end(self) -> tuple[How, str]:
        try:
            self._go_on()
        except NoReturnError as error:
            return How.LOST, str(error)
        except (ClientDownError, BackendError, LookupError, JournalError) as error:
            return How.BROKEN, str(error)
        return How.WHOLE, ""

    def _go_on(self) -> None:
        """Open and close slices, cause faults and read reports, until every client has carried out its plan.

        Raises:
            ClientDownError: A client has ended too early, or does not end.
            BackendError: A fault has failed, or does not end.
            NoReturnError: The broker is lost.
            JournalError: The journal cannot be written.
        """
        limit_ms = self._plan.options.seconds * 1_000 + DRAIN_LIMIT_MS + PATIENCE_MS
        while not all(report.is_done for report in self._clients.reports) or self._striking is not None:
            if self._elapsed_ms() > limit_ms:
                raise self._unending()
            self._open_slices()
            self._strike()
            self._clients.listen(LISTEN_S)
            now_ns = self._clock.monotonic_ns()
            self._lateness.note(now_ns, [report.late_ns for report in self._clients.reports])
            self._check_reach(now_ns)
            self._close_slices()
            self._told(self._state())

    def _check_reach(self, now_ns: int) -> None:
        """Check that the broker still answers.

        Raises:
            NoReturnError: A client has reached no broker for `UNREACHABLE_MS`, although no fault explains it.
        """
        if self._striking is not None:
            return
        report = max(self._clients.reports, key=lambda one: one.unreachable_ns)
        if min(report.unreachable_ns, now_ns - self._calm_ns) > UNREACHABLE_MS * NS_PER_MS:
            raise NoReturnError(
                f"The broker ended, or became unreachable, without a fault of the plan: for {UNREACHABLE_MS // 1_000} s"
                f" a client could not connect ({report.refusal})."
            )

    def _unending(self) -> Exception:
        """Return the error of a soak that lasts too long; it names the fault or the clients that have not ended."""
        if self._striking is not None:
            return BackendError(f"The fault {self._striking.fault.kind} did not end.")
        clients = zip(self._clients.names, self._clients.reports, strict=True)
        names = ", ".join(name for name, report in clients if not report.is_done)
        return ClientDownError(f"These clients did not end: {names}.")

    def _finish(self, how: How, why: str) -> Ending:
        """Stop the clients, and close the journal; Ctrl-C during the stop kills the clients that have not ended."""
        try:
            cut_off = self._clients.stop()
        except KeyboardInterrupt:
            cut_off = self._clients.kill()
        reports, names = self._clients.reports, self._clients.names
        try:
            for one in tuple(self._open):
                self._close(one)
            self._journal.close(instant(self._clock), writers=(*names, MAIN))
        except JournalError as error:
            how, why, cut_off = How.BROKEN, why or str(error), (*cut_off, MAIN)
        self._clients.abandon()
        return Ending(
            how=how,
            why=why,
            sent=sum(report.sent for report in reports),
            refused=sum(report.refused for report in reports),
            skipped=sum(report.skipped for report in reports),
            seen=sum(report.seen for report in reports),
            faults=self._faults,
            unfinished=sum(report.unfinished for report in reports),
            missed=self._coming.count,
            cut_off=cut_off,
            sent_to=_summed(report.sent_to for report in reports),
            seen_from=_summed(report.seen_from for report in reports),
            left_out=self._left_out,
        )

    # slices -----------------------------------------------------------------------------------------------------------

    def _open_slices(self) -> None:
        while self._opened < self._plan.slices and self._elapsed_ms() >= self._opened * self._plan.slice_ms - LEAD_MS:
            self._opened += 1
            for one in self._workloads():
                scenario = scenario_id(one, self._opened)
                self._write(events.ScenarioBegin, scenario=scenario, rules=one.rules, judged="broker", strength="must")
            self._open.append(_Slice(self._opened, self._clock.monotonic_ns()))
            if self._striking is not None:
                self._write_fault(self._striking.fault, "begin", instant(self._clock), (self._open[-1],))

    def _close_slices(self) -> None:
        consumers = self._clients.reports[self._plan.options.producers :]
        for one in tuple(self._open):
            if all(one.number in report.closed for report in consumers):
                self._close(one)

    def _close(self, one: _Slice) -> None:
        """Write the end of a slice's scenarios, with the largest delay of the harness in one window (`Lateness`)."""
        self._open.remove(one)
        late_ns = self._lateness.since(one.begun_ns)
        self._lateness.forget(min((other.begun_ns for other in self._open), default=one.begun_ns))
        elapsed_ns = self._clock.monotonic_ns() - one.begun_ns
        for workload in self._workloads():
            self._write(
                events.ScenarioEnd,
                scenario=scenario_id(workload, one.number),
                elapsed_ns=elapsed_ns,
                waited_ns=0,
                late_ns=late_ns,
            )

    # faults -----------------------------------------------------------------------------------------------------------

    def _strike(self) -> None:
        """Begin the next fault if it is due, and end the present one if it is over.

        Raises:
            NoReturnError: The broker failed to shut down properly, or failed to start again.
            BackendError: The kit or the machine failed.
        """
        if self._striking is not None:
            if self._striking.is_over:
                self._over(self._striking)
        elif (
            self._instance is not None and (fault := self._coming.take(self._elapsed_ms(), len(self._open))) is not None
        ):
            self._clients.tell(Disturbed(over=False))
            self._write_fault(fault, "begin", instant(self._clock), self._open)
            self._striking = Striking(self._instance, fault)
            self._faults += 1

    def _over(self, struck: Striking) -> None:
        self._striking = None
        self._coming.calm(self._elapsed_ms())
        self._calm_ns = self._clock.monotonic_ns()
        if struck.span is None:
            if isinstance(struck.error, NoReturnError | BackendError):
                raise struck.error
            raise BackendError(f"The fault {struck.fault.kind} failed: {struck.error}") from struck.error
        now = instant(self._clock)
        behind_ns = now.mono_ns - struck.span[1]
        ended = Instant(now.boot, now.mono_ns - behind_ns, now.wall_ns - behind_ns, now.unc_ns)
        self._write_fault(struck.fault, "end", ended, self._open)
        self._clients.tell(Disturbed(over=True))

    def _write_fault(self, fault: PlannedFault, phase: str, at: Instant, slices: Sequence[_Slice]) -> None:
        """Write a fault's event for each scenario of the given slices."""
        what = fault_name(KINDS[fault.kind].request())
        fields = {"id": fault.id, "what": what, "target": "broker", "phase": phase}
        with ctrl_c_deferred():
            for one in slices:
                for workload in self._workloads():
                    self._journal.write(events.Fault, at, scenario=scenario_id(workload, one.number), **fields)

    # ------------------------------------------------------------------------------------------------------------------

    def _workloads(self) -> list[Workload]:
        return [one for one in WORKLOADS if one.name in self._plan.workloads]

    def _elapsed_ms(self) -> float:
        return (self._clock.monotonic_ns() - self._start_ns) / NS_PER_MS

    def _state(self) -> State:
        reports = self._clients.reports
        return State(
            elapsed_s=self._elapsed_ms() / 1_000,
            sent=sum(report.sent for report in reports),
            seen=sum(report.seen for report in reports),
            faults=self._faults,
            fault="" if self._striking is None else self._striking.fault.kind,
            open_slices=len(self._open),
            waiting=max(0, sum(report.queued - report.taken for report in reports)),
        )

    def _begin(self) -> dict[str, Any]:
        """Return the fields of the first event of every journal of the soak."""
        backend, options = self._pair.backend, self._plan.options
        client, environment = backend.identity(None), backend.environment
        own = {"client": client.ours, "broker": environment.ours}
        faults = ", ".join(f"{fault.at_ms / 1_000:.1f} s {fault.kind}" for fault in self._plan.faults)
        return {
            "backend": options.backend,
            "client": client.title,
            "ours": tuple(part for part, is_ours in own.items() if is_ours),
            "environment": {
                "product": environment.product,
                "version": environment.version,
                **environment.details,
                "soak": f"{options.seconds:g} s, {options.rate} messages a second",
                "planned faults": faults or "none",
            },
            "catalogue_hash": load_catalogue().sha256,
            "seed": options.seed,
            "defect": options.defect or "",
            "capabilities": {name.value: source.text for name, source in backend.capabilities.items()},
            "lacks": {name.value: source.text for name, source in backend.lacks.items()},
            "profiles": tuple(profile.value for profile in backend.profiles),
        }

    def _write(self, kind: type[E], *, scenario: str | None = None, **fields: Any) -> E:
        with ctrl_c_deferred():
            return self._journal.write(kind, instant(self._clock), scenario=scenario, **fields)


def _summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def _consumer(number: int) -> str:
    return f"consumer-{number}"
