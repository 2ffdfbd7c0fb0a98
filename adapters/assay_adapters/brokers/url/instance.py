"""The instance of a broker that a file describes, for one scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay_adapters.brokers.base import ALL_FACES, SdkInstance
from assay_adapters.brokers.url.broker_lock import BrokerLock
from assay_adapters.brokers.url.creating import Destinations
from assay_adapters.brokers.url.programs import ProgramAdmin
from assay_adapters.containers.files import folder_holds
from assay_adapters.faults.proxied import ProxiedFaults
from assay_adapters.ports.backend import BackendError, BrokerOwner, Environment, Silence, WireProtocol
from assay_adapters.ports.client import Client, Endpoint
from assay_adapters.ports.faults import DiskEvent
from assay_adapters.ports.outcome import JmsErrorKind, Outcome, Refused
from assay_adapters.ports.traces import Trace
from assay_sdk.driver import Driver, Opened
from assay_sdk.time import Runner

_RETURN_NS = 10 * 10**9
"""How long a broker may take to answer again after the last fault of a scenario, in nanoseconds."""
_POLL_NS = 100_000_000


class UrlInstance(SdkInstance[Runner, ProxiedFaults | None]):
    """The instance that one scenario uses.

    Args:
        name: The name of the instance's only member.
        endpoint: The URL and login with which clients connect.
        runner: The I/O loop.
        driver: The AMQP driver, with the filter that a run may give (`BackendOptions.wire`).
        environment: The tested product.
        faults: The faults that the scenario can cause; None for a scenario without faults.
        lock: The scenario's lock on a broker that a fault may end; None if no fault can end the broker.
        admin: The administrator; None if the file names no administration program.
        destinations: The destinations that the kit creates; None if the broker creates them on first use.
        connect: Connects to the broker without the proxy, to see whether it answers.
        data: The port and the data folders of the broker's container; None if the kit cannot read the broker's files.
        trace: The broker's log and past; None if the kit can read neither.
    """

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        runner: Runner,
        driver: Driver,
        environment: Environment,
        *,
        connect: Callable[[], Opened | Refused],
        faults: ProxiedFaults | None = None,
        lock: BrokerLock | None = None,
        admin: ProgramAdmin | None = None,
        destinations: Destinations | None = None,
        data: tuple[int, tuple[str, ...]] | None = None,
        trace: Trace | None = None,
    ) -> None:
        super().__init__(ALL_FACES, runner, driver, environment, faults)
        self.members = (name,)
        self.admin = admin
        self._endpoint = endpoint
        self._lock = lock
        self._destinations = destinations
        self._data = data
        self._connect = connect
        self.trace = trace

    def endpoint(self, protocol: WireProtocol, member: str | None = None) -> Endpoint:
        """Return the URL and login with which clients connect.

        Raises:
            LookupError: The instance has no such member, or the protocol is not AMQP.
        """
        if protocol != "amqp" or member not in {None, *self.members}:
            title = self.environment.product
            raise LookupError(f"{title} has no {protocol} endpoint for {member or title} here; it has amqp.")
        return self._endpoint

    def clients(self) -> Mapping[str, Client]:
        """Wait for the scenario's lock on the broker, and return new clients, by face."""
        if self._lock is not None:
            self._lock.acquire()
        return super().clients()

    def watch_disk(self, observer: Callable[[DiskEvent], None]) -> None:
        """Do nothing: the kit cannot observe the broker's disk."""

    def silence(self) -> Silence | None:
        """Return the reason why the broker does not answer; None if it answers.

        In a scenario with faults, wait up to `_RETURN_NS` for an answer, because the last fault may not be over.
        """
        clock, found = self.runner.clock, self._connect()
        deadline_ns = clock.monotonic_ns() + (_RETURN_NS if self.faults is not None else 0)
        while isinstance(found, Refused) and (now_ns := clock.monotonic_ns()) < deadline_ns:
            self.runner.run_until(lambda: False, now_ns + _POLL_NS)
            found = self._connect()
        return Silence(found.text, BrokerOwner.USER) if isinstance(found, Refused) else None

    def storage_holds(self, octets: bytes) -> Outcome[bool]:
        """Return whether a file in the broker's data folders contains these octets (PD-31)."""
        if self._data is None:
            return Refused(JmsErrorKind.UNSUPPORTED, f"the kit does not see the files of {self.environment.product}")
        return folder_holds(*self._data, octets)

    def close(self) -> None:
        """Delete the destinations that the kit has created, and let the next scenario use the shared broker."""
        try:
            if self._destinations is not None:
                self._destinations.delete()
        except BackendError:
            pass  # the scenario is over; if the program always fails, the next creation of a destination reports this
        finally:
            if self._lock is not None:
                self._lock.release()
