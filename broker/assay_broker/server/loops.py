"""The server's event loop: uvloop if it is installed.

With uvloop, short connections are a seventh faster (`bench/broker.py connect`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

T = TypeVar("T")

_QUICK = import_module("uvloop" if find_spec("uvloop") is not None else "asyncio")  # some systems have no uvloop


def new_loop(*, encrypted: bool) -> asyncio.AbstractEventLoop:
    """Create an event loop.

    Args:
        encrypted: Whether the server uses TLS.  Then the loop is asyncio's own, because uvloop loses data that arrives
            before `start_tls` begins (MagicStack/uvloop issue 707).
    """
    make: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop if encrypted else _QUICK.new_event_loop
    return make()


def run(main: Coroutine[Any, Any, T], *, encrypted: bool) -> T:
    """Run a coroutine to its end, as `asyncio.run` does, on a loop of `new_loop`.

    Args:
        main: The coroutine.
        encrypted: Whether the server uses TLS.
    """
    with asyncio.Runner(loop_factory=partial(new_loop, encrypted=encrypted)) as runner:
        return runner.run(main)
