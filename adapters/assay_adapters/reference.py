"""The reference broker in this process, under a virtual clock: a world of its own for every instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import count

from assay_adapters.administration import Admin
from assay_adapters.backend import (
    NOW,
    AfterAnswer,
    At,
    Available,
    BeforeAnswer,
    Cut,
    DiskEvent,
    Environment,
    FaultRequest,
    FirstSight,
    Kill,
    Needs,
    Now,
    Restart,
    StoreError,
    Trigger,
    Unavailable,
    Unsupported,
    WireProtocol,
    WorkerDies,
)
from assay_adapters.client import Client, ClientEvent, ClientIdentity, Endpoint, Source
from assay_adapters.clients.sdk import CAPABILITIES as SDK_CAPABILITIES
from assay_adapters.clients.sdk import SdkClient, SdkFace, identity
from assay_adapters.clients.telling import KID
from assay_adapters.naming import unknown
from assay_adapters.outcome import Ok, Outcome
from assay_adapters.reference_admin import ReferenceAdmin
from assay_broker.core.records import MessageStored, Record
from assay_broker.core.settings import Settings
from assay_broker.defects import DEFECTS
from assay_broker.inprocess import CAPABILITIES as WIRE_CAPABILITIES
from assay_broker.inprocess import PRODUCT, InProcessDriver, product_version
from assay_broker.mqsc.defaults import default_settings
from assay_broker.seams import NO_SEAMS, Seams
from assay_broker.shell import AnswerHook, QueueManager
from assay_broker.stores.memory import MemoryStore, Operation
from assay_sdk.driver import Driver
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Message
from assay_sdk.runners.virtual import VirtualClock, VirtualRunner

SIMULATED_DISK = "simulated disk"
STORES = ("memory",)
_FACES: tuple[SdkFace, ...] = ("simplified", "classic")
_FAULT_LIMIT_NS = 3_600 * 10**9
"""How long a fault's trigger is waited for, on the virtual clock: longer than any scenario lasts."""

_BROKER = Source("The reference broker has it.", "broker/assay_broker")
_INSTANCE = Source("The reference broker runs in this process, on a virtual clock and a simulated disk.")

CAPABILITIES: Mapping[Capability, Source] = {
    **{capability: source for capability, source in SDK_CAPABILITIES.items() if capability not in WIRE_CAPABILITIES},
    **dict.fromkeys(sorted(WIRE_CAPABILITIES & SDK_CAPABILITIES.keys()), _BROKER),
    **dict.fromkeys(
        (
            Capability.ADMIN,
            Capability.STAGING_QUEUE,
            Capability.FLUSH_TRACE,
            Capability.DATA_FOLDER,
            Capability.RESTART,
            Capability.RESTART_AT_LEVEL,
            Capability.STORE_ERROR,
            Capability.WORKER_DIES,
            Capability.KILL,
            Capability.KILL_AT_ANSWER,
            Capability.KILL_AT_FIRST_SIGHT,
            Capability.CUT,
            Capability.VIRTUAL_TIME,
        ),
        _INSTANCE,
    ),
}
LACKS: Mapping[Capability, Source] = {
    Capability.XA: Source("The reference broker has local units of work only."),
    Capability.CANCEL: Source("The client port has no call that takes a delayed message back."),
    Capability.TEMPORARY_DESTINATION: Source("The client port has no call that makes a temporary destination."),
}


def _kid(message: Message) -> str | None:
    """The kit's id of a message; None for one that is not the kit's."""
    kid = message.properties.get(KID)
    return kid if isinstance(kid, str) else None


class ReferenceInjection:
    """A fault on its way."""

    def __init__(self, runner: VirtualRunner, act: Callable[[], None]) -> None:
        self._runner = runner
        self._act = act
        self._span: tuple[int, int] | None = None

    def fire(self) -> None:
        """Do it, once."""
        if self._span is None:
            begin = self._runner.clock.monotonic_ns()
            self._span = (begin, begin)  # a hook may come by again while it happens
            self._act()
            self._span = (begin, self._runner.clock.monotonic_ns())

    def wait(self) -> tuple[int, int] | Unsupported:
        """Wait until the broker is hurt and well again; monotonic nanoseconds of begin and end."""
        deadline_ns = self._runner.clock.monotonic_ns() + _FAULT_LIMIT_NS
        self._runner.run_until(lambda: self._span is not None, deadline_ns)
        if self._span is None:
            return Unsupported("fault", Source("What the fault waited for did not happen."))
        return self._span


class ReferenceFaults:
    """Faults of one instance.

    Args:
        runner: Its crank.
        queue_manager: What is hurt.
        store: Where it keeps what it is to remember.
        seen: Calls back with each message that a client is handed.
    """

    def __init__(
        self,
        runner: VirtualRunner,
        queue_manager: QueueManager,
        store: MemoryStore,
        seen: list[Callable[[str], None]],
    ) -> None:
        self._runner = runner
        self._queue_manager = queue_manager
        self._store = store
        self._seen = seen

    @property
    def kinds(self) -> frozenset[type[FaultRequest]]:
        """The faults it knows."""
        return frozenset({Kill, Restart, Cut, StoreError, WorkerDies})

    def inject(self, fault: FaultRequest, when: Trigger = NOW) -> ReferenceInjection | Unsupported:
        """Arm a fault."""
        injection = ReferenceInjection(self._runner, self._act(fault))
        match when:
            case Now():
                self._runner.call_soon(injection.fire)
            case At(mono_ns=mono_ns):
                self._runner.call_at(mono_ns, injection.fire)
            case BeforeAnswer(kid=kid):
                self._at_answer(self._queue_manager.before_answer, kid, injection)
            case AfterAnswer(kid=kid):
                self._at_answer(self._queue_manager.after_answer, kid, injection)
            case FirstSight(kid=kid):
                self._at_sight(kid, injection)
        return injection

    def _act(self, fault: FaultRequest) -> Callable[[], None]:
        match fault:
            case Kill():
                return self._queue_manager.kill
            case Restart(level=level, opmode=opmode):
                return partial(self._queue_manager.restart, level=level, opmode=opmode)
            case Cut():
                return self._queue_manager.cut
            case StoreError(times=times):
                return partial(self._store.fail, times)
            case WorkerDies():
                return self._queue_manager.worker_dies

    def _at_answer(self, hooks: list[AnswerHook], kid: str, injection: ReferenceInjection) -> None:
        def hook(message: Message) -> None:
            if _kid(message) == kid:
                hooks.remove(hook)
                injection.fire()

        hooks.append(hook)

    def _at_sight(self, kid: str, injection: ReferenceInjection) -> None:
        def hook(seen: str) -> None:
            if seen == kid:
                self._seen.remove(hook)
                # A job: every observer notes the sighting first, and no settlement reaches the broker before it.
                self._runner.call_soon(injection.fire)

        self._seen.append(hook)


class ReferenceInstance:
    """One queue manager in a world of its own.

    Args:
        runner: The world.
        seams: Where a defect stands.
        wire: A filter between engine and driver; None for none.
        id_prefix: What message ids begin with.
        environment: What it is.
        settings: Of its queue manager.
    """

    def __init__(  # noqa: PLR0917 - what an instance is made of, each once
        self,
        runner: VirtualRunner,
        seams: Seams,
        wire: Callable[[Driver], Driver] | None,
        id_prefix: str,
        environment: Environment,
        settings: Settings,
    ) -> None:
        self._runner = runner
        self._store = MemoryStore()
        self._queue_manager = QueueManager(runner, self._store, settings, seams)
        self._id_prefix = id_prefix
        self._sets = count(1)
        self._environment = environment
        self._seen: list[Callable[[str], None]] = []
        driver: Driver = InProcessDriver(self._queue_manager)
        self._driver = driver if wire is None else wire(driver)
        self._admin = ReferenceAdmin(runner, {self._queue_manager.name: self._queue_manager})
        self._faults = ReferenceFaults(runner, self._queue_manager, self._store, self._seen)

    @property
    def environment(self) -> Environment:
        """What it is."""
        return self._environment

    @property
    def clock(self) -> VirtualClock:
        """Its world's clock."""
        return self._runner.clock

    @property
    def runner(self) -> VirtualRunner:
        """Its world's crank."""
        return self._runner

    @property
    def members(self) -> tuple[str, ...]:
        """Its one queue manager."""
        return (self._queue_manager.name,)

    @property
    def admin(self) -> Admin:
        """Administration of its queue manager."""
        return self._admin

    @property
    def faults(self) -> ReferenceFaults:
        """Faults that can be injected."""
        return self._faults

    def endpoint(self, protocol: WireProtocol, member: str | None = None) -> Endpoint:
        """Where clients connect: in the same process, whatever the protocol of messages.

        Raises:
            LookupError: There is no such member, or the protocol is not one of messages.
        """
        if protocol == "http" or member not in {None, *self.members}:
            raise LookupError(f"The reference broker in this process has no {protocol} endpoint for {member}.")
        return Endpoint(f"in-process://{self._queue_manager.name}")

    def clients(self) -> Mapping[str, Client]:
        """Fresh clients, by face; no two clients of an instance give one message id."""
        id_prefix = f"{self._id_prefix}-{next(self._sets)}"
        clients: dict[str, SdkClient] = {
            face: SdkClient(face, self._driver, self._runner, id_prefix) for face in _FACES
        }
        for client in clients.values():
            client.observe(self._observe)
        return dict(clients)

    def watch_disk(self, observer: Callable[[DiskEvent], None]) -> None:
        """Tell this observer what the simulated disk does with messages of the kit."""

        def tell(operation: Operation, records: tuple[Record, ...]) -> None:
            stored = (record.message for record in records if isinstance(record, MessageStored))
            kids = tuple(kid for kid in map(_kid, stored) if kid is not None)
            if kids:
                observer(DiskEvent(SIMULATED_DISK, operation, kids))

        self._store.observe(tell)

    def storage_holds(self, octets: bytes) -> Outcome[bool]:
        """Whether the simulated disk holds these octets anywhere (PD-31)."""
        return Ok(self._store.holds(octets))

    def close(self) -> None:
        """Give it back: its connections are gone; the world needs no more."""
        self._queue_manager.cut()

    def _observe(self, event: ClientEvent) -> None:
        if event.what == "seen" and event.seen is not None:
            for hook in tuple(self._seen):
                hook(event.seen.kid)


class ReferenceBackend:
    """The reference broker in this process.

    Args:
        store: Which store; ``memory`` is a simulated disk, and what None means.
        seed: Part of ids and names, so that runs with the same seed are the same.
        defect: A named defect; None for the unbroken broker.
        wire: A filter between the SDK's engine and its driver; None for none.

    Raises:
        LookupError: There is no such store or defect.
    """

    def __init__(
        self,
        store: str | None = None,
        seed: int = 0,
        defect: str | None = None,
        wire: Callable[[Driver], Driver] | None = None,
    ) -> None:
        if store not in {None, *STORES}:
            raise LookupError(unknown("store", str(store), STORES))
        if defect is not None and defect not in DEFECTS:
            raise LookupError(unknown("defect", defect, DEFECTS))
        self._store = store or STORES[0]
        self._seed = seed
        self._defect = None if defect is None else DEFECTS[defect]
        self._wire = wire
        self._instances = count(1)

    @property
    def name(self) -> str:
        """Its name."""
        return "reference"

    @property
    def capabilities(self) -> Mapping[Capability, Source]:
        """What broker, client and adapter can do together."""
        return CAPABILITIES

    @property
    def lacks(self) -> Mapping[Capability, Source]:
        """Why a capability is absent."""
        return LACKS

    @property
    def environment(self) -> Environment:
        """What its instances are."""
        details = {"store": self._store, "clock": "virtual", "seed": str(self._seed)}
        if self._defect is not None:
            details["defect"] = self._defect.name
        return Environment(product=PRODUCT, version=product_version(), details=details, ours=True, simulated_disk=True)

    def identity(self, face: str | None = None) -> ClientIdentity:
        """Who the client is.

        Raises:
            LookupError: There is no such face.
        """
        for known in _FACES:
            if face in {None, known}:
                return identity(known)
        raise LookupError(unknown("face of the SDK", str(face), _FACES))

    def probe(self) -> Available | Unavailable:
        """It can always be started."""
        return Available("in this process, under a virtual clock")

    def provision(self, needs: Needs) -> ReferenceInstance | Unsupported:
        """A fresh world with a queue manager of its own."""
        for capability in sorted(needs.capabilities):
            if capability not in CAPABILITIES:
                missing = Source(f"The reference broker in this process lacks {capability.value}.")
                return Unsupported(capability.value, LACKS.get(capability, missing))
        if needs.topology != "single":
            return Unsupported(
                needs.topology, Source("The reference broker in this process is a single queue manager.")
            )
        number = next(self._instances)
        return ReferenceInstance(
            VirtualRunner(boot=f"virtual:{self._seed}:{number}"),
            NO_SEAMS if self._defect is None else self._defect.apply(),
            self._wire,
            f"reference-{self._seed}-{number}",
            self.environment,
            default_settings(platform=needs.platform, level=needs.level),
        )

    def close(self) -> None:
        """Nothing was started that has to be stopped."""
