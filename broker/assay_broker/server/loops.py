"""The server's event loop: uvloop if it is installed, which makes short connections a seventh faster."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

T = TypeVar("T")

_QUICK = import_module("uvloop" if find_spec("uvloop") is not None else "asyncio")  # it is not on every system


def new_loop(*, encrypted: bool) -> asyncio.AbstractEventLoop:
    """Create a loop.

    Args:
        encrypted: Whether TLS is spoken on it: uvloop begins to read before a handshake can, and what has come by then
            is lost to `start_tls` (MagicStack/uvloop issue 707).
    """
    make: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop if encrypted else _QUICK.new_event_loop
    return make()


def run(main: Coroutine[Any, Any, T], *, encrypted: bool) -> T:
    """Do the same as `asyncio.run`, on such a loop.

    Args:
        main: What to run to its end.
        encrypted: See `new_loop`.
    """
    with asyncio.Runner(loop_factory=partial(new_loop, encrypted=encrypted)) as runner:
        return runner.run(main)
