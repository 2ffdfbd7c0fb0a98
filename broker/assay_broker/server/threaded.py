"""A server in its own thread, for tests and for programs without an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import contextmanager

from assay_broker.server.loops import run
from assay_broker.server.options import ServerOptions
from assay_broker.server.parts import Parts
from assay_broker.server.server import BrokerServer


@contextmanager
def serving(options: ServerOptions, parts: Parts | None = None) -> Generator[BrokerServer]:
    """Run a server during a ``with`` block, and stop it normally at the block's end.

    Args:
        options: The server's options; port 0 stands for any free port.
        parts: The factory of the server's parts; None for the real parts.

    Raises:
        ServerError: The server cannot start, or its store could not write everything at the end.
    """
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
    ended: Future[None] = Future()
    server = BrokerServer(options, parts)

    async def serve() -> None:
        leave = asyncio.Event()
        await server.start()
        started.set_result((asyncio.get_running_loop(), leave))
        await leave.wait()
        await server.stop()

    def live() -> None:
        try:
            run(serve(), encrypted=options.tls_key is not None)
        except BaseException as error:  # noqa: BLE001  also SystemExit; raised again in the caller's thread
            (ended if started.done() else started).set_exception(error)
        else:
            ended.set_result(None)

    thread = threading.Thread(target=live, name=f"assay-broker-{options.name}", daemon=True)
    thread.start()
    try:
        loop, leave = started.result()
        try:
            yield server
        finally:
            loop.call_soon_threadsafe(leave.set)
            ended.result()
    finally:
        thread.join()
