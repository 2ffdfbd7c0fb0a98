"""The process of one client of a soak: its journal, its connections, and its reports to the controller."""

from __future__ import annotations

import logging
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from assay.campaign.connection import ClientConnection, LostError, UnreachableError
from assay.soak.loads import WORKLOADS
from assay.soak.plan import Plan
from assay.soak.workloads import Workload, scenario_id
from assay_adapters.ports.backend import BackendError, Instance
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.ports.client import AckMode, ClientObserver, Endpoint
from assay_evidence import EvidenceError, events
from assay_evidence.files.parts import PartLimits
from assay_evidence.writer import JournalWriter
from assay_sdk.time import NS_PER_MS
from assay_steps.behaviour import Behaviour
from assay_steps.cast.journal import ScenarioJournal, instant
from assay_steps.cast.recording import Recorder
from assay_steps.plugin.request import BackendUnavailableError, RunRequest
from assay_steps.processes.heartbeat import Heartbeat

READY, STOP = "ready", "stop"
"""The client's first message, and the controller's last message, at which the client closes its journal and ends."""
END_CALL = signal.SIGUSR1
"""The signal that ends a call to the client under test after the stop; it does nothing if no call waits."""
REPORT_NS = 400_000_000
"""The nanoseconds from one report of a client to the next."""


class ClientOrder(Struct, frozen=True, kw_only=True):
    """The configuration of a client.

    Args:
        name: The name of the client and of its journal.
        number: The client's number among the clients with its role, from 1.
        run: The run's id.
        journals: The folder of journals.
        begin: The fields of the journal's first event.
        request: The request that names the backend and the defect.
        endpoint: The address of the broker that the controller has started.
        plan: The plan.
    """

    name: str
    number: int
    run: str
    journals: Path
    begin: dict[str, Any]
    request: RunRequest
    endpoint: Endpoint
    plan: Plan


class Go(Struct, frozen=True):
    """The controller's first message: the soak starts at this time of the monotonic clock, in nanoseconds."""

    start_ns: int


class Disturbed(Struct, frozen=True):
    """The controller's message that a fault begins (`over` is False) or is over."""

    over: bool


class Report(Struct, frozen=True, kw_only=True):
    """A client's report to the controller.

    Args:
        sent: The number of messages that the client has sent without a refusal.
        refused: The number of messages whose send was refused, or whose unit of work was lost.
        skipped: The number of planned messages that were too late to be sent.
        seen: The number of messages that the client has received, each redelivery included.
        late_ns: The sum of the delays of the client's process on a busy machine, in nanoseconds.
        closed: The slices whose consumers have ended.
        unfinished: The number of consumers that had to end before they were silent.
        is_done: Whether the client has carried out its plan.
        sent_to: `sent` by workload.
        seen_from: `seen` by workload.
        queued: The number of messages to queues that the broker must have accepted, and that do not expire.
        taken: The number of different messages that the client has received from queues, without those that expire.
        unreachable_ns: For how long the client has not reached the broker, in nanoseconds; 0 if its last attempt
            succeeded.
        refusal: The broker's last refusal of a connection, in one sentence; empty if the last attempt succeeded.
    """

    sent: int = 0
    refused: int = 0
    skipped: int = 0
    seen: int = 0
    late_ns: int = 0
    closed: tuple[int, ...] = ()
    unfinished: int = 0
    is_done: bool = False
    sent_to: dict[str, int] = {}
    seen_from: dict[str, int] = {}
    queued: int = 0
    taken: int = 0
    unreachable_ns: int = 0
    refusal: str = ""


class StoppedError(BaseException):
    """Ends a call to the client under test that has not returned although the controller has stopped the soak.

    It derives from `BaseException`: an adapter would treat an `Exception` as an error of the client under test.
    """


class Failed(Struct, frozen=True):
    """A client's last message if it fails; `why` is the reason in one sentence."""

    why: str


class Surroundings(Struct, frozen=True, kw_only=True, eq=False):
    """The objects that a client's process works with.

    Args:
        control: The connection to the controller.
        instance: The broker's instance in this process; the controller has started the broker.
        behaviour: The defect of the client; None for a client without a defect.
        journal: The client's journal.
        heartbeat: Measures the delays of this process on a busy machine.
    """

    control: Connection
    instance: Instance
    behaviour: Behaviour | None
    journal: JournalWriter
    heartbeat: Heartbeat


class ClientProcess(ABC):
    """The parts that producers and consumers have in common.

    Args:
        order: The client's configuration.
        around: The objects of the client's process.
    """

    def __init__(self, order: ClientOrder, around: Surroundings) -> None:
        self.order = order
        self.plan = order.plan
        self.clock = around.instance.clock
        self.start_ns = 0
        self.is_stopped = False
        self._around = around
        self._control = around.control
        self._recorders: dict[str, Recorder] = {}
        self._reported_ns = 0
        self._unreachable_since_ns: int | None = None
        self._refusal = ""

    # to override ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def report(self) -> Report:
        """Return the figures of the client so far."""

    @abstractmethod
    def carry_out(self) -> None:
        """Carry out the plan, until its end or until the controller stops the client."""

    @abstractmethod
    def disturbed(self, *, over: bool) -> None:
        """Note that a fault begins or is over."""

    # for the roles ----------------------------------------------------------------------------------------------------

    @property
    def late_ns(self) -> int:
        """The sum of the delays of this process on a busy machine, in nanoseconds."""
        return self._around.heartbeat.late_ns or 0

    def reached(self) -> None:
        """Note that the broker has answered this client."""
        self._unreachable_since_ns, self._refusal = None, ""

    def missed(self, error: LostError) -> None:
        """Note a call that failed; a broker that refused the connection counts as unreachable."""
        if isinstance(error, UnreachableError):
            self._refusal = str(error)
            if self._unreachable_since_ns is None:
                self._unreachable_since_ns = self.clock.monotonic_ns()

    def with_reach(self, report: Report) -> Report:
        """Return a report that also says for how long the client has not reached the broker."""
        since_ns = self._unreachable_since_ns
        if since_ns is None:
            return report
        return replace(report, unreachable_ns=self.clock.monotonic_ns() - since_ns, refusal=self._refusal)

    def at(self, offset_ms: float) -> int:
        """Return the monotonic time in nanoseconds that is ``offset_ms`` milliseconds after the soak's start."""
        return self.start_ns + round(offset_ms * NS_PER_MS)

    def workload(self, name: str) -> Workload:
        """Return a workload of the plan."""
        return next(one for one in WORKLOADS if one.name == name)

    def connection(
        self,
        name: str,
        workload: Workload,
        number: int,
        ack: AckMode,
        *,
        light: bool,
        client_id: str | None = None,
        observer: ClientObserver | None = None,
    ) -> ClientConnection:
        """Make a connection for a workload in a slice; it connects at the first use.

        Args:
            name: The actor's name, unique in each slice of the run.
            workload: The workload.
            number: The number of the slice.
            ack: The acknowledgement mode of the session.
            light: Whether the client is an MQ Light client.
            client_id: The JMS client id; None for a connection without a client id.
            observer: Called with the client's events, after the journal has them; None for no observer.
        """
        around, scenario = self._around, scenario_id(workload, number)
        if scenario not in self._recorders:
            self._recorders[scenario] = Recorder(ScenarioJournal(around.journal, scenario, self.clock, keeps=False))
        clients = around.instance.clients()
        client = clients["mqlight"] if light else next(iter(clients.values()))
        if around.behaviour is not None and around.behaviour.port is not None:
            client = around.behaviour.port(client)
        connection = ClientConnection(
            name,
            client,
            self.order.endpoint,
            ack=ack,
            recorder=self._recorders[scenario],
            runner=around.instance.runner,
            client_id=client_id,
            brief=True,
        )
        if observer is not None:
            client.observe(observer)
        return connection

    def forget(self, number: int) -> None:
        """Forget the recorders of a slice that has ended."""
        for name in self.plan.workloads:
            self._recorders.pop(scenario_id(self.workload(name), number), None)

    def wait_until(self, due_ns: int) -> bool:
        """Wait until a time of the monotonic clock; meanwhile obey the controller and report to it.

        Returns:
            Whether the client must go on: False if the controller has stopped it.
        """
        while not self.is_stopped:
            now_ns = self.clock.monotonic_ns()
            if now_ns - self._reported_ns >= REPORT_NS:
                self._reported_ns = now_ns
                self._control.send(self.with_reach(self.report()))
            left_ns = due_ns - now_ns
            if self._control.poll(max(0, min(left_ns, REPORT_NS)) / 1e9):
                self._obey(self._control.recv())
            elif left_ns <= 0:
                return True
        return False

    def run(self) -> None:
        """Wait for the start, carry out the plan, and wait for the controller's last message."""
        self._control.send(READY)
        self._obey(self._control.recv())
        if not self.is_stopped:
            with suppress(StoppedError):
                self.carry_out()
        self._control.send(self.report())
        while not self.is_stopped:
            self._obey(self._control.recv())

    def _obey(self, word: object) -> None:
        match word:
            case Go(start_ns=start_ns):
                self.start_ns = start_ns
            case Disturbed(over=over):
                self.disturbed(over=over)
            case _:
                self.is_stopped = True


Making = Callable[[ClientOrder, Surroundings], ClientProcess]


def take_part(making: Making, order: ClientOrder, control: Connection) -> None:
    """Run a client until the controller stops it; the main function of the client's process.

    The controller handles Ctrl-C, SIGTERM and SIGHUP, and tells the user why a client failed.  If the controller dies,
    the journal gets no end event.

    Args:
        making: Makes the client.
        order: The client's configuration.
        control: The connection to the controller.
    """
    logging.getLogger("assay_sdk").addHandler(logging.NullHandler())  # lost connections are normal here
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, END_CALL):
        signal.signal(number, signal.SIG_IGN)
    try:
        with suppress(EOFError, ConnectionError):  # the controller has died
            _take_part(making, order, control)
    except (BackendError, BackendUnavailableError, EvidenceError, OSError) as error:
        with suppress(OSError):
            control.send(Failed(str(error)))
        sys.exit(1)


def _take_part(making: Making, order: ClientOrder, control: Connection) -> None:
    """Run a client.

    Raises:
        BackendError: The client cannot use the broker.
        EvidenceError: The journal cannot be written.
    """
    pair = order.request.open(order.endpoint)
    instance = pair.backend.provision(Needs())
    if isinstance(instance, Unsupported):
        raise BackendError(f"a client cannot use the broker: {instance.source.text}")
    # The runner raises the error in the waiting call, so that the signal interrupts no writing of the journal.
    signal.signal(END_CALL, lambda _number, _frame: instance.runner.call_soon(_end_call))
    with Heartbeat() as heartbeat:
        path = order.journals / f"{order.name}.jsonl"
        with JournalWriter(path, run=order.run, writer=order.name, parts=PartLimits()) as journal:
            journal.write(events.Begin, instant(instance.clock), **order.begin)
            around = Surroundings(
                control=control, instance=instance, behaviour=pair.behaviour, journal=journal, heartbeat=heartbeat
            )
            making(order, around).run()
            journal.close(instant(instance.clock))


def _end_call() -> None:
    raise StoppedError
