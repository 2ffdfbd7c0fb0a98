"""The broker's process: a reference broker for other processes, with a store that survives kills of the process."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path

from msgspec import Struct

from assay.campaign.defects import STORE_DEFECTS
from assay.campaign.phases import Halt, ObservedDriver, ObservedStore, Page, Progress
from assay_broker.inprocess import InProcessDriver
from assay_broker.local import LocalServer
from assay_broker.mqsc.defaults import default_settings
from assay_broker.shell import QueueManager
from assay_broker.stores import Store, StoreError
from assay_broker.stores.memory import MemoryStore
from assay_broker.stores.sqlite import SqliteStore
from assay_sdk.runners.real import RealRunner

READY, HALTED, STOP = "ready", "halted", "stop"
"""The messages between supervisor and broker process; any other message from the process is an error text."""

NAME = "CRASH"
"""The queue manager's name."""

SETTINGS = default_settings(NAME)
"""The broker's settings, computed at import, which happens once in the fork server and not at every start."""

STORES: Mapping[str, Callable[[Path], Store]] = {
    "sqlite": lambda folder: SqliteStore(folder, NAME),
    "memory": lambda _: MemoryStore(),
}
"""The stores by name.  The memory store loses everything in a kill; the campaign must find this loss."""


class BrokerOrder(Struct, frozen=True, kw_only=True):
    """The configuration of the broker's process.

    Args:
        folder: The folder of data, socket and memory page.
        store: The store's name.
        defect: The defect to plant in the store; None for a store without a defect.
    """

    folder: Path
    store: str
    defect: str | None

    @property
    def socket(self) -> Path:
        """The path of the Unix socket to which clients connect."""
        return self.folder / "socket"

    @property
    def page(self) -> Path:
        """The file of the memory page with the phase."""
        return self.folder / "page"


def serve(order: BrokerOrder, control: Connection) -> None:
    """Run the broker until the supervisor stops the broker or ends; the main function of the broker's process.

    Args:
        order: The broker's configuration.
        control: The connection to the supervisor.
    """

    def raised(error: BaseException) -> None:
        control.send("".join(traceback.format_exception(error)))

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the campaign handles Ctrl-C and kills this process
    runner = RealRunner(raised)
    progress = Progress(Page(order.page), runner.clock.monotonic_ns, lambda: control.send(HALTED))
    brokers: list[QueueManager] = []

    def start() -> None:
        try:
            store: Store = ObservedStore(STORES[order.store](order.folder / "data"), progress)
            planted = store if order.defect is None else STORE_DEFECTS[order.defect].plant(store, runner)
            broker = QueueManager(runner, planted, SETTINGS)
            LocalServer(order.socket, ObservedDriver(InProcessDriver(broker), progress), runner)
        except StoreError as error:
            control.send(f"The store cannot be opened: {error}")
            return
        brokers.append(broker)
        control.send(READY)

    runner.call_soon(start)
    try:
        while isinstance(word := control.recv(), Halt):
            progress.arm(word)
    except EOFError:
        os._exit(1)  # the campaign's process has died
    runner.call_soon(lambda: _stop(brokers, control))
    control.poll(None)  # until the supervisor closes its end


def _stop(brokers: list[QueueManager], control: Connection) -> None:
    """Shut the broker down normally, and report the stop."""
    for broker in brokers:
        broker.stop()
    control.send(STOP)
