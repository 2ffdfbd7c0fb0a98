"""The broker's process: a reference broker on a store that outlives it, for clients in other processes."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path

from msgspec import Struct

from assay.campaign.defects import STORE_DEFECTS
from assay.campaign.phases import Halt, Page, Progress, ToldDriver, ToldStore
from assay_broker.inprocess import InProcessDriver
from assay_broker.local import LocalServer
from assay_broker.mqsc.defaults import default_settings
from assay_broker.shell import QueueManager
from assay_broker.stores import Store, StoreError
from assay_broker.stores.memory import MemoryStore
from assay_broker.stores.sqlite import SqliteStore
from assay_sdk.runners.real import RealRunner

READY, HALTED, STOP = "ready", "halted", "stop"
"""What goes between the keeper and the process; anything else that comes from it says what is wrong."""

NAME = "CRASH"
"""The queue manager's."""

SETTINGS = default_settings(NAME)
"""Worked out once, where this module is imported ahead of every start."""

STORES: Mapping[str, Callable[[Path], Store]] = {
    "sqlite": lambda folder: SqliteStore(folder, NAME),
    "memory": lambda _: MemoryStore(),
}
"""The stores by name; one in memory has lost everything after a kill, and is there to be found out."""


class BrokerOrder(Struct, frozen=True, kw_only=True):
    """What to serve.

    Args:
        folder: Where data, socket and page are.
        store: Which store.
        defect: A planted bug of the store; None for none.
    """

    folder: Path
    store: str
    defect: str | None

    @property
    def socket(self) -> Path:
        """Where clients connect."""
        return self.folder / "socket"

    @property
    def page(self) -> Path:
        """Where the phase is told."""
        return self.folder / "page"


def serve(order: BrokerOrder, control: Connection) -> None:
    """Be the broker until told to stop, or until whoever started this is gone; to be run in a process of its own.

    Args:
        order: What to serve.
        control: The way to the keeper.
    """

    def raised(error: BaseException) -> None:
        control.send("".join(traceback.format_exception(error)))

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the campaign's, which then kills this process
    runner = RealRunner(raised)
    progress = Progress(Page(order.page), runner.clock.monotonic_ns, lambda: control.send(HALTED))
    brokers: list[QueueManager] = []

    def start() -> None:
        try:
            store: Store = ToldStore(STORES[order.store](order.folder / "data"), progress)
            planted = store if order.defect is None else STORE_DEFECTS[order.defect].plant(store, runner)
            broker = QueueManager(runner, planted, SETTINGS)
            LocalServer(order.socket, ToldDriver(InProcessDriver(broker), progress), runner)
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
        os._exit(1)  # the campaign is gone, and nobody will ever come to this broker again
    runner.call_soon(lambda: _stop(brokers, control))
    control.poll(None)  # until the keeper hangs up


def _stop(brokers: list[QueueManager], control: Connection) -> None:
    """Shut down in order."""
    for broker in brokers:
        broker.stop()
    control.send(STOP)
