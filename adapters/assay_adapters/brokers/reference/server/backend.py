"""The reference broker as a server process of this machine: AMQP 1.0 for clients, HTTP for administrators.

Scenarios without faults share a server, and each has its own destinations. A scenario has its own server behind the
kit's proxy if it causes faults, or if it searches or observes the server's disk.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assay_adapters.brokers.base import AmqpBackend
from assay_adapters.brokers.reference.inprocess.backend import CAPABILITIES as IN_PROCESS
from assay_adapters.brokers.reference.inprocess.backend import LACKS as LACKS_IN_PROCESS
from assay_adapters.brokers.reference.server.fork_server.hosts import Host, LocalHost
from assay_adapters.brokers.reference.server.instance import (
    ADMINISTRATOR_LOGIN,
    KIT,
    OwnBroker,
    ServerInstance,
    endpoint_at,
)
from assay_adapters.clients.sdk import NAMED_BY_CONTAINER
from assay_adapters.owners import folder_prefix
from assay_adapters.packages import missing_packages
from assay_adapters.ports.backend import Available, BackendError, Environment, FaultSharing, Unavailable, WireProtocol
from assay_adapters.ports.capabilities import Needs, Unsupported, missing
from assay_adapters.ports.client import Endpoint, Source
from assay_adapters.ports.traces import Trace
from assay_adapters.suggestions import unknown
from assay_adapters.traces.files import FileTrace
from assay_broker.defects import SWITCHES
from assay_broker.inprocess import PRODUCT, product_version
from assay_broker.variants import VARIANTS
from assay_features import Profile, feature_root
from assay_sdk.driver import Driver
from assay_sdk.model.capabilities import ADMINISTRATION, Capability
from assay_sdk.time import Runner

if TYPE_CHECKING:
    from assay_adapters.brokers.reference.server.fork_server.client import ForkServer

PACKAGES = ("prometheus_client", "proton", "scramp", "starlette", "structlog", "uvicorn")
"""The packages that the server and the AMQP driver need."""
NAMES: Mapping[str, str] = {"distributed": "ASSAY", "zos": "MQ01"}
"""The queue manager's name, by platform."""

_SERVER = Source("The reference server has this capability over AMQP or HTTP.", "broker/assay_broker/server")
_PROCESS = Source(
    "The server is a process that the kit has started.", "adapters/assay_adapters/brokers/reference/server/process.py"
)
_PROXY = Source("Its clients connect through the kit's proxy.", "adapters/assay_adapters/faults/proxy.py")
_CONTROL = Source(
    "The kit controls the server from inside its process.",
    "adapters/assay_adapters/brokers/reference/server/fork_server/control.py",
)

LACKS: Mapping[Capability, Source] = {
    **LACKS_IN_PROCESS,
    Capability.XA: Source(
        "AMQP 1.0 has no form for branches of global units of work: its coordinators offer local transactions.",
        "OASIS AMQP 1.0, 4.1",
    ),
    Capability.NAMELESS_CONNECTION: NAMED_BY_CONTAINER,
    Capability.FACTORY_SETTINGS: Source("The kit starts the server with the objects of default.mqsc."),
    Capability.VIRTUAL_TIME: Source("A server uses the machine's clock."),
}
"""The capabilities that the pair lacks, each with the reason."""

_CLAIMED: Mapping[Capability, Source] = {
    **{name: _SERVER if source.reference.startswith("broker") else source for name, source in IN_PROCESS.items()},
    **dict.fromkeys(
        (
            *sorted(ADMINISTRATION),
            Capability.STAGING_QUEUE,
            Capability.RETAINED_PUBLICATION,
            Capability.OWN_UNCOMMITTED,
            Capability.ANSWERED_ACKNOWLEDGEMENT,
            Capability.RETURN_TO_OTHERS,
        ),
        _SERVER,
    ),
    **dict.fromkeys(
        (Capability.DATA_FOLDER, Capability.RESTART, Capability.RESTART_AT_LEVEL, Capability.KILL), _PROCESS
    ),
    **dict.fromkeys((Capability.KILL_AT_ANSWER, Capability.KILL_AT_FIRST_SIGHT, Capability.CUT), _PROXY),
    **dict.fromkeys(
        (
            Capability.FLUSH_TRACE,
            Capability.STORE_ERROR,
            Capability.WORKER_DIES,
            Capability.BLOCK_WRITE,
            Capability.POWER_LOSS,
        ),
        _CONTROL,
    ),
}

CAPABILITIES: Mapping[Capability, Source] = {name: source for name, source in _CLAIMED.items() if name not in LACKS}
"""The capabilities of broker, client and adapter together."""

ONE_SERVER = Source("A server is one queue manager, and belongs to no cluster, queue-sharing group or hierarchy.")

_PRIVATE = frozenset({Capability.DATA_FOLDER, Capability.FLUSH_TRACE})
"""Capabilities for which a scenario needs its own server, even without faults."""

SLOW_DISK_MS = 30
"""The time from a first write to the flush, in milliseconds; it exposes a server that answers before the flush."""
_SEEN_IF_EARLY = frozenset({Capability.FLUSH_TRACE, Capability.KILL_AT_ANSWER, Capability.KILL_AT_FIRST_SIGHT})
"""Capabilities of scenarios that detect an answer before the flush; their servers get the slow disk."""


_NAMED = re.compile(r'\buser "(\w+)"')


def logins() -> dict[str, str]:
    """Return the password of each user: the kit's client, its administrator, and all users that scenarios name."""
    named = {name for path in feature_root().rglob("*.feature") for name in _NAMED.findall(path.read_text("utf-8"))}
    own = {login.user: login.password for login in (KIT, ADMINISTRATOR_LOGIN)}
    return own | {name: name for name in sorted(named)}


class ReferenceServerBackend(AmqpBackend):
    """The reference broker in processes of this machine.

    Args:
        shared: The endpoint of a shared server that another process has started; None to start a new one.
        defect: The name of a defect; None for the broker without defects.
        wire: A filter between the SDK's engine and its driver; None for no filter.
        runner: The I/O loop; None for the loop that this process's connections share.
        variant: The name of a tolerated variant; None for the broker without a variant.

    Raises:
        LookupError: The reference broker has no such defect or variant.
    """

    name = "reference-server"
    capabilities = CAPABILITIES
    lacks = LACKS
    profiles = tuple(Profile)
    fault_sharing = FaultSharing.NONE
    protocol: WireProtocol = "amqp"
    """The protocol of the clients."""

    def __init__(
        self,
        shared: Endpoint | None = None,
        defect: str | None = None,
        wire: Callable[[Driver], Driver] | None = None,
        runner: Runner | None = None,
        variant: str | None = None,
    ) -> None:
        if defect is not None and defect not in SWITCHES:
            raise LookupError(unknown("defect", defect, SWITCHES))
        if variant is not None and variant not in VARIANTS:
            raise LookupError(unknown("variant", variant, VARIANTS))
        super().__init__(shared, wire, runner)
        self._behaviour = {kind: name for kind, name in (("defect", defect), ("variant", variant)) if name is not None}
        self._fork_server: ForkServer | None = None
        self._shared: dict[tuple[str, str], OwnBroker] = {}
        self._own: list[ServerInstance] = []
        self._home: tempfile.TemporaryDirectory[str] | None = None

    @property
    def environment(self) -> Environment:
        """The tested product, with its version, protocols, store, and defect or variant."""
        details = {"protocol": "AMQP 1.0", "administration": "HTTP", "store": "SQLite files"}
        details |= self._behaviour
        return Environment(product=PRODUCT, version=product_version(), details=details, ours=True)

    def probe(self) -> Available | Unavailable:
        """Return whether this machine has the packages for a server, without starting one."""
        if (absent := missing_packages(PACKAGES, extra="server")) is not None:
            return absent
        return Available("a process of this machine, over AMQP 1.0 and HTTP")

    def provision(self, needs: Needs) -> ServerInstance | Unsupported:
        """Return an instance of a shared server that meets the needs, or of a new server for one scenario.

        Raises:
            BackendError: The server cannot be started.
        """
        if (unmet := missing(needs, self.capabilities, self.lacks, "The reference broker as a server")) is not None:
            return unmet
        if needs.topology != "single":
            return Unsupported(needs.topology, ONE_SERVER)
        if isinstance(probed := self.probe(), Unavailable):
            raise BackendError(f"{PRODUCT} cannot be started: {probed.reason}; {probed.remedy}.")
        with self._lock:
            if needs.own_instance or needs.capabilities & _PRIVATE:
                return self._own_instance(needs)
            return self._shared_instance(needs)

    def close(self) -> None:
        """End all servers that this process has started."""
        with self._lock:
            for instance in self._own:
                instance.close()
            for process in self._shared.values():
                process.remove()
            if self._fork_server is not None:
                self._fork_server.close()
            if self._home is not None:
                self._home.cleanup()
            self._own, self._shared, self._fork_server, self._home = [], {}, None, None

    # --- instances

    def _shared_instance(self, needs: Needs) -> ServerInstance:
        name = NAMES[needs.platform]
        usual = Needs()
        if self._attached is not None and (needs.platform, needs.level) == (usual.platform, usual.level):
            return self._sharing(self._attached, name)
        kind = (needs.platform, needs.level)
        if kind not in self._shared:
            process = self._process(needs, controlled=False)
            self._shared[kind] = process
            try:
                process.start()
            except BaseException:  # Ctrl-C, too: the process may be running already
                del self._shared[kind]
                process.remove()
                raise
        process = self._shared[kind]
        endpoint = endpoint_at(process.client_port, process.http_port, process.log, self.protocol)
        return self._sharing(endpoint, name)

    def _sharing(self, endpoint: Endpoint, name: str) -> ServerInstance:
        """Return an instance that shares a server with other scenarios."""
        trace = self._shared_trace(endpoint)
        return ServerInstance(
            endpoint, name, self._runner, self._driver(), self.environment, trace=trace, protocol=self.protocol
        )

    def _shared_trace(self, endpoint: Endpoint) -> Trace | None:
        """Return the log of a shared server, which another process of the run may have started; None without a log."""
        return None if endpoint.log is None else FileTrace("a server process that scenarios share", Path(endpoint.log))

    def _own_instance(self, needs: Needs) -> ServerInstance:
        from assay_adapters.faults.proxy import Proxy

        process = self._process(needs, controlled=True)
        try:
            process.start()
            proxy = Proxy(process.client_port)
            proxy.start()
        except BaseException:  # Ctrl-C, too: the process may be running already
            process.remove()
            raise
        name = NAMES[needs.platform]
        endpoint = endpoint_at(proxy.port, process.http_port, protocol=self.protocol)
        instance = ServerInstance(
            endpoint,
            name,
            self._runner,
            self._driver(),
            self.environment,
            own=(process, proxy),
            protocol=self.protocol,
        )
        self._own = [*(one for one in self._own if one.open), instance]
        return instance

    def _process(self, needs: Needs, *, controlled: bool) -> OwnBroker:
        from assay_adapters.brokers.reference.server.fork_server.client import ForkServer
        from assay_adapters.brokers.reference.server.process import ServerProcess

        if self._fork_server is None:
            self._fork_server = ForkServer(self._host())
        asked: dict[str, object] = {
            "name": NAMES[needs.platform],
            "platform": needs.platform,
            "level": needs.level,
            "users": str(self._users_seen()),
        }
        asked |= self._behaviour
        slow_disk_ms = SLOW_DISK_MS if needs.capabilities & _SEEN_IF_EARLY else 0
        return ServerProcess(
            self._fork_server,
            asked,
            controlled=controlled,
            slow_disk_ms=slow_disk_ms,
            can_lose_power=Capability.POWER_LOSS in needs.capabilities,
            stomp=self.protocol == "stomp",
        )

    def _host(self) -> Host:
        """Return the host on which the fork server runs: this machine."""
        return LocalHost()

    def _users_seen(self) -> Path:
        """Return the path at which the servers read the users file."""
        return self._users()

    def _users(self) -> Path:
        """Return the path of the users file of all servers of this process; the first call writes the file."""
        from assay_broker.security.users import LEAST_ITERATIONS
        from assay_broker.server.accounts import users_text

        if self._home is None:
            self._home = tempfile.TemporaryDirectory(prefix=folder_prefix("users"))
            file = Path(self._home.name) / "users.toml"
            file.touch(mode=0o600)
            # These passwords are public, so more iterations would protect nothing, and would slow each of the
            # thousands of connections of a run.
            file.write_text(users_text(logins(), LEAST_ITERATIONS), encoding="utf-8")
        return Path(self._home.name) / "users.toml"
