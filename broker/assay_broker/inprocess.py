"""The in-process driver: passes the SDK's commands directly to a queue manager in the same process."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from itertools import count
from weakref import WeakValueDictionary

from assay_broker.core.settings import Settings
from assay_broker.mqsc.defaults import default_settings, with_script
from assay_broker.shell import QueueManager
from assay_broker.stores.memory import MemoryStore
from assay_broker.wire import CAPABILITIES, PRODUCT, InProcessWire, product_version
from assay_sdk.driver import DriverEvent, Target
from assay_sdk.runners.virtual import VirtualRunner
from assay_sdk.time import Runner

__all__ = [
    "CAPABILITIES",
    "PRODUCT",
    "InProcessBroker",
    "InProcessDriver",
    "InProcessDrivers",
    "InProcessWire",
    "in_process_broker",
    "product_version",
]


class InProcessBroker:
    """A queue manager with its own virtual clock: a test double without ports and threads.

    Its clock moves only when a client waits, so a delay of hours takes no time.  If the kit is installed, the SDK's
    `connect` or `ConnectionFactory` needs only the ``url``; otherwise pass ``driver`` and ``runner``, too.
    Destinations are created at their first use.

    Args:
        settings: The queue manager's settings; None for `default_settings`.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.runner = VirtualRunner()
        """Runs the broker's jobs and moves its clock."""
        self.queue_manager = QueueManager(self.runner, MemoryStore(), settings)
        """The queue manager, which can be killed, restarted and cut off."""
        self.driver = InProcessDriver(self.queue_manager)
        """The driver that connects clients to the queue manager."""
        self.url = f"{self.driver.name}://{self.queue_manager.name}/{next(_NUMBERS)}"
        """The URL at which clients in this process reach the broker."""
        _BROKERS[self.url] = self


_NUMBERS = count(1)
_BROKERS: WeakValueDictionary[str, InProcessBroker] = WeakValueDictionary()
"""The brokers of this process that are in use, by their URLs."""


@contextmanager
def in_process_broker(settings: Settings | None = None, *, mqsc: str = "") -> Generator[InProcessBroker, None, None]:
    """Run a broker during a ``with`` block, and cut the open connections at the block's end.

    Args:
        settings: The queue manager's settings; None for `default_settings`.
        mqsc: MQSC commands that define further objects before the start.

    Raises:
        ScriptError: The queue manager would refuse one of the MQSC commands.
    """
    broker = InProcessBroker(with_script(settings or default_settings(), mqsc) if mqsc else settings)
    try:
        yield broker
    finally:
        broker.queue_manager.cut()
        del _BROKERS[broker.url]


class InProcessDriver:
    """The driver for queue managers in the same process.

    Args:
        queue_managers: The queue managers.  If there are several, the URL of a connection names one.
    """

    def __init__(self, *queue_managers: QueueManager) -> None:
        self._queue_managers = {one.name: one for one in queue_managers}
        self._epochs = count(1)

    @property
    def name(self) -> str:
        """The scheme of the URLs for this driver."""
        return "in-process"

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> InProcessWire:
        """Start a connection attempt, which ends with the event `Opened`, or with `Closed` and the reason.

        Raises:
            LookupError: The driver has several queue managers, and the URL names none of them.
        """
        name = target.url.removeprefix(f"{self.name}://")
        if len(self._queue_managers) == 1:
            (name,) = self._queue_managers
        if name not in self._queue_managers:
            raise LookupError(f"There is no queue manager {name!r}; there are {', '.join(self._queue_managers)}.")
        return InProcessWire(self._queue_managers[name], target, sink, runner, next(self._epochs))


class InProcessDrivers:
    """The driver that finds an `InProcessBroker` and its runner by the broker's URL."""

    @property
    def name(self) -> str:
        """The scheme of the URLs for this driver."""
        return "in-process"

    def runner_at(self, url: str) -> Runner | None:
        """Return the runner of the broker at a URL; None if no broker of this process has this URL."""
        broker = _BROKERS.get(url)
        return None if broker is None else broker.runner

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> InProcessWire:
        """Start a connection attempt, which ends with the event `Opened`, or with `Closed` and the reason.

        Raises:
            LookupError: No broker of this process has the target's URL.
        """
        broker = _BROKERS.get(target.url)
        if broker is None:
            raise LookupError(f"There is no broker at {target.url} in this process.")
        return broker.driver.connect(target, sink, runner)
