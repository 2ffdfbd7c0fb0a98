"""Helpers for tests of branches."""

from __future__ import annotations

from collections.abc import Callable

from tests.broker.core.harness import Bench, message
from tests.broker.core.managers import Manager

from assay_broker.core import commands

GoOn = Callable[[Manager], Manager]


def worked(bench: Bench, manager: Manager, *bodies: str) -> int:
    """Return the unit number of a branch that has put messages."""
    unit = manager.start()
    for body in bodies:
        bench.put(1, 1, message(body), unit=unit)
    return unit


def failing(bench: Bench, command: commands.Command, token: int) -> object:
    """Give a command to the core whose records the store refuses, and return the answer's refusal."""
    bench.auto = False
    bench.handle(command)
    assert token not in bench.answers, bench.answers[token]
    bench.fail()
    bench.auto = True
    bench.flush()
    return bench.answers[token].refused
