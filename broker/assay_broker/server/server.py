"""A server: a store, a queue manager and its listeners, on one asyncio loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from assay_broker.core.effects import Trace
from assay_broker.core.refusals import RefusalError
from assay_broker.seams import NO_SEAMS, Seams
from assay_broker.server.addresses import HostPort
from assay_broker.server.errors import MachineError, OptionsError
from assay_broker.server.initial_settings import settings_of
from assay_broker.server.logs import get_logger
from assay_broker.server.options import ServerOptions, check
from assay_broker.server.parts import ClientListenerPort, ListenerPort, Parts
from assay_broker.server.ports import check_addresses
from assay_broker.shell import QueueManager
from assay_broker.stores import Store, StoreError
from assay_broker.stores.errors import ForeignError, GoneError, NoDatabaseError
from assay_broker.stores.memory import MemoryStore
from assay_broker.stores.sqlite import SqliteStore
from assay_sdk.runners.asynchronous import AsyncioRunner

if TYPE_CHECKING:
    from assay_broker.http.requests.request import ConnectionView

T = TypeVar("T")

_LOG = get_logger(__name__)


def open_store(options: ServerOptions) -> Store:
    """Open a server's store, in a folder or in memory.

    Args:
        options: The server's options.

    Raises:
        StoreError: The store cannot be opened.
    """
    return MemoryStore() if options.data is None else SqliteStore(options.data, options.name)


class BrokerServer:
    """A server, which can be started once and stopped once.

    Args:
        options: The server's options.
        parts: Makes the server's listeners and its security; None for those of `Wiring`.
        store: Opens the server's store.
    """

    def __init__(
        self, options: ServerOptions, parts: Parts | None = None, store: Callable[[ServerOptions], Store] = open_store
    ) -> None:
        self.options = options
        self._open_store = store
        self._parts = parts or _real_parts()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._runner: AsyncioRunner | None = None
        self._store: Store | None = None
        self._queue_manager: QueueManager | None = None
        self._aside = ThreadPoolExecutor(1, "disk")
        """The thread that waits for the disk when many records are to be flushed."""
        self.amqp: ClientListenerPort | None = None
        """The AMQP listener; None before the start or without AMQP."""
        self.stomp: ClientListenerPort | None = None
        """The STOMP listener; None before the start or without STOMP."""
        self.http: ListenerPort | None = None
        """The HTTP listener; None before the start or without HTTP."""

    @property
    def queue_manager(self) -> QueueManager:
        """The queue manager, for use on the server's loop only.

        Raises:
            RuntimeError: The server has not been started.
        """
        if self._queue_manager is None:
            raise RuntimeError("the server has not been started")
        return self._queue_manager

    @property
    def amqp_url(self) -> str:
        """The URL for AMQP clients; empty without an AMQP listener."""
        return self._url(self.amqp, self.options.amqp, "amqp")

    @property
    def stomp_url(self) -> str:
        """The URL for STOMP clients; empty without a STOMP listener."""
        return self._url(self.stomp, self.options.stomp, "stomp")

    @property
    def http_url(self) -> str:
        """The URL for administrators; empty without an HTTP listener."""
        return self._url(self.http, self.options.http, "http")

    async def start(self) -> None:
        """Start the server, and return when clients can connect; after an error, close everything again.

        Raises:
            OptionsError: An option or a file that it names is invalid, or two options contradict each other.
            MachineError: The folder or an address is in use, the store is damaged, or the disk failed.
        """
        check(self.options)
        self._parts.secure(self.options)
        await check_addresses(self.options)
        try:
            self._begin()
            await self._open()
        except BaseException:  # also after a cancel, because the store and listeners may be open
            with suppress(MachineError):  # the first error matters more
                await self._end(drain=False)
            raise
        _LOG.info(
            "ready",
            queue_manager=self.options.name,
            amqp=self.amqp_url,
            stomp=self.stomp_url,
            http=self.http_url,
            data=None if self.options.data is None else str(self.options.data),
            defect=self.options.defect,
            variant=self.options.variant,
        )

    async def stop(self, *, drain: bool = True) -> None:
        """Stop the server normally: back out units of work, and flush the store.

        Args:
            drain: Whether the server first asks clients to disconnect, and waits for them up to ``drain_ms``.

        Raises:
            MachineError: The store could not write everything.
        """
        _LOG.info("stopping", queue_manager=self.options.name)
        await self._end(drain=drain)
        _LOG.info("stopped", queue_manager=self.options.name)

    async def ask(self, job: Callable[[QueueManager], T]) -> T:
        """Call a function with the queue manager, and return its result.  Await this on the server's loop.

        Args:
            job: The function.
        """
        return job(self.queue_manager)

    def call(self, job: Callable[[QueueManager], T]) -> T:
        """Call a function with the queue manager from another thread, and return its result.

        Args:
            job: The function; it runs on the server's loop.

        Raises:
            RuntimeError: The server has not been started.
        """
        if self._loop is None:
            raise RuntimeError("the server has not been started")
        return asyncio.run_coroutine_threadsafe(self.ask(job), self._loop).result()

    # private methods -------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        settings = settings_of(self.options)
        seams = _seams(self.options)
        self._loop = asyncio.get_running_loop()
        self._runner = AsyncioRunner(self._loop)
        try:
            # Starts the thread now, because a failure to start it could not be handled during a flush.
            self._aside.submit(int).result()
        except RuntimeError as error:
            raise MachineError(f"no thread can be started to wait for the disk: {error}") from error
        try:
            self._store = self._open_store(self.options)
            self._queue_manager = QueueManager(
                self._runner, self._store, settings, seams, flush_ns=0, aside=self._aside
            )
            self._queue_manager.traces.append(self._trace)
        except (ForeignError, NoDatabaseError, RefusalError) as error:
            raise OptionsError(str(error)) from error
        except StoreError as error:
            raise MachineError(str(error)) from error

    def _trace(self, trace: Trace) -> None:
        _LOG.warning(trace.text, queue_manager=self.options.name, objects=list(trace.objects))

    async def _open(self) -> None:
        """Start the listeners for clients, then the HTTP listener, whose status page shows the clients' connections."""
        options, queue_manager, runner = self.options, self.queue_manager, self._runner
        if runner is None:
            raise RuntimeError("the server has not been started")
        if options.amqp is not None:
            self.amqp = amqp = self._parts.amqp(options, queue_manager, runner)
            await amqp.start(options.amqp.host, options.amqp.port)
        if options.stomp is not None:
            self.stomp = stomp = self._parts.stomp(options, queue_manager, runner)
            await stomp.start(options.stomp.host, options.stomp.port)
        if options.http is not None:
            self.http = http = self._parts.http(options, queue_manager, runner, self._views)
            await http.start(options.http.host, options.http.port)

    def _views(self) -> Sequence[ConnectionView]:
        return tuple(view for one in (self.amqp, self.stomp) if one is not None for view in one.views())

    def _url(self, listener: ListenerPort | None, asked: HostPort | None, scheme: str) -> str:
        if listener is None or asked is None:
            return ""
        return HostPort(asked.host, listener.address[1]).url(scheme + ("s" if self.options.tls_certificate else ""))

    async def _end(self, *, drain: bool) -> None:
        listeners = [listener for listener in (self.amqp, self.stomp, self.http) if listener is not None]
        self.amqp = self.stomp = self.http = None
        try:
            for trouble in await asyncio.gather(
                *(self._shut(listener, drain=drain) for listener in listeners), return_exceptions=True
            ):
                if trouble is not None:
                    _LOG.error("a listener has failed to close", exc_info=trouble)
        finally:
            self._finish()

    async def _shut(self, listener: ListenerPort, *, drain: bool) -> None:
        try:
            if drain:
                async with asyncio.timeout(self.options.drain_ms / 1000):
                    await listener.drain()
        except TimeoutError:
            _LOG.warning("clients did not disconnect in time", waited_ms=self.options.drain_ms)
        finally:
            await listener.close()

    def _finish(self) -> None:
        queue_manager, store, runner = self._queue_manager, self._store, self._runner
        self._store = self._runner = None
        gone = isinstance(store, SqliteStore) and not store.is_there()
        try:
            try:
                if queue_manager is not None and queue_manager.up:
                    queue_manager.stop()
            finally:
                self._aside.shutdown()
                if isinstance(store, SqliteStore):
                    store.close()
        except StoreError as error:
            why = GoneError(store.folder) if gone and isinstance(store, SqliteStore) else error
            raise MachineError(str(why)) from error
        finally:
            if runner is not None:
                runner.close()


def _real_parts() -> Parts:
    from assay_broker.server.wiring import Wiring

    return Wiring()


def _seams(options: ServerOptions) -> Seams:
    """Return the filters of the defect or variant in the options; without either, filters that change nothing.

    The modules of defects and variants are loaded only if the options name one.
    """
    if options.defect is not None:
        from assay_broker.defects import SWITCHES

        return SWITCHES[options.defect].apply()
    if options.variant is not None:
        from assay_broker.variants import VARIANTS

        return VARIANTS[options.variant].apply()
    return NO_SEAMS
