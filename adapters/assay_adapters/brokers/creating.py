"""Creation of queues and topics before a client uses them, for a broker that does not create them on first use.

`CreatingDriver` is a driver between the SDK's engine and the driver that connects. Before the first use of a
destination it creates the destination, on a thread of its own, and then passes the command on. While it creates the
destination that a message names, all later commands of the connection wait, so that messages stay in order.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

from assay_adapters.ports.backend import BackendError
from assay_adapters.ports.outcome import JmsErrorKind, Refused
from assay_sdk.driver import (
    Browse,
    Driver,
    DriverCommand,
    DriverEvent,
    Failed,
    OpenReceiver,
    OpenSender,
    Send,
    Target,
    Wire,
)
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address
from assay_sdk.time import Runner

_Using = OpenSender | OpenReceiver | Browse | Send


class Creator(Protocol):
    """The part of a backend that creates destinations."""

    def wants(self, address: Address) -> bool:
        """Return whether the kit must create a destination before its use."""
        ...

    def create(self, address: Address) -> Refused | None:
        """Create a destination, unless the kit has created it before; return the broker's refusal, or None.

        Raises:
            BackendError: The kit cannot create it.
        """
        ...


class CreatingDriver:
    """A driver that creates destinations before their first use.

    Args:
        behind: The driver that connects.
        destinations: Creates the destinations.
    """

    def __init__(self, behind: Driver, destinations: Creator) -> None:
        self._behind = behind
        self._destinations = destinations

    @property
    def name(self) -> str:
        """The URL scheme of the driver `behind`."""
        return self._behind.name

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> Wire:
        """Start to connect with the driver `behind`; the returned wire creates destinations."""
        return _CreatingWire(self._behind.connect(target, sink, runner), self._destinations, sink, runner)


class _CreatingWire:
    def __init__(
        self, behind: Wire, destinations: Creator, sink: Callable[[DriverEvent], None], runner: Runner
    ) -> None:
        self._behind = behind
        self._destinations = destinations
        self._sink = sink
        self._runner = runner
        self._held: deque[DriverCommand] = deque()
        """The commands that wait until the destination of an earlier message exists."""
        self._holds = False

    @property
    def epoch(self) -> int:
        return self._behind.epoch

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._behind.capabilities

    def abort(self) -> None:
        self._behind.abort()

    def submit(self, command: DriverCommand) -> None:
        if self._holds:
            self._held.append(command)
        elif isinstance(command, _Using) and (address := _used(command)) and self._destinations.wants(address):
            self._holds = isinstance(command, Send)
            creating = threading.Thread(target=self._create, args=(command, address), name="assay-create", daemon=True)
            creating.start()
        else:
            self._behind.submit(command)

    def _create(self, command: _Using, address: Address) -> None:
        try:
            refused = self._destinations.create(address)
        except BackendError as error:
            refused = Refused(JmsErrorKind.MESSAGING, f"the kit could not create {address.name}: {error}")
        self._runner.call_soon(lambda: self._created(command, refused))

    def _created(self, command: _Using, refused: Refused | None) -> None:
        if refused is None:
            self._behind.submit(command)
        else:
            self._sink(Failed(command.token, refused))
        if isinstance(command, Send):
            self._holds = False
            while self._held and not self._holds:
                self.submit(self._held.popleft())


def _used(command: _Using) -> Address | None:
    """Return the destination that a command uses; None if the broker makes it, or if the command names none."""
    if isinstance(command, Send):
        return command.message.to
    return None if isinstance(command, OpenSender) and command.dynamic else command.address
