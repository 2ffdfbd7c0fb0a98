"""Fixtures: a connection, and a transaction manager on it."""

from __future__ import annotations

import pytest
from tests.broker.core.clients.branches.work import GoOn
from tests.broker.core.harness import Bench
from tests.broker.core.managers import Manager, back_with


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.connect(1, "client")
    made.sender(1, 1)
    return made


@pytest.fixture
def manager(bench: Bench) -> Manager:
    return Manager(bench)


@pytest.fixture(params=["at once", "after a kill", "after a restart", "from another connection"])
def later(request: pytest.FixtureRequest, bench: Bench) -> GoOn:
    """Provide a function that returns the transaction manager: at once, after a restart, or on a new connection."""

    def go_on(manager: Manager) -> Manager:
        if request.param == "at once":
            return manager
        if request.param == "from another connection":
            bench.disconnect(1, clean=False)
            bench.connect(9)
            return Manager(bench, 9)
        return back_with(bench, kill=request.param == "after a kill")

    return go_on
