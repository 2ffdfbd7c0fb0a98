"""Settings and fixtures of all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

try:
    from hypothesis import settings
except ImportError:  # a base install without hypothesis, whose pytest also reads this file
    settings = None

if settings is not None:
    # Examples have no time limit, so that a busy machine causes no failure.
    settings.register_profile("untimed", deadline=None)
    settings.load_profile("untimed")
    # More examples on demand: `--hypothesis-profile=thorough`.
    settings.register_profile("thorough", deadline=None)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background processes with SIGINT ignored, and some tests send Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)

if "PYTEST_XDIST_WORKER" in os.environ:
    # Coverage counts only this process: counting in each started process takes minutes and adds little.
    os.environ.pop("COVERAGE_PROCESS_CONFIG", None)

_TOGETHER = (
    "tests/adapters/brokers/amqp/test_running.py",
    "tests/adapters/brokers/artemis/test_driver.py",
    "tests/adapters/brokers/reference/container/test_backend.py",
    "tests/adapters/brokers/reference/container/test_container.py",
    "tests/broker/core/test_stateful_branches.py",
    "tests/contract/",
    *(f"tests/interop/test_{program}.py" for program in ("qpid_jms", "rhea", "go_amqp", "stomp_clients")),
    "tests/pipeline/",
    "tests/reports/",
    "tests/wire/",
)
"""Files and tests, each with tests that run on one worker.

These tests share a container, a server, a Spark session, a browser, or a set of reached states.
"""


@pytest.fixture(scope="session", autouse=True)
def _runs_within_tests_have_a_place_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give the pytest runs that tests start a temporary folder of their own.

    Otherwise several runs clean the folder that all of a user's pytest runs share, and remove each other's locks.  Then
    pytest warns, and a warning is an error here.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTEST_DEBUG_TEMPROOT", str(tmp_path_factory.mktemp("runs")))
        yield


_LONGEST = "tests/tools/mutation/test_sample.py::test_scenarios_convict_a_sample_of_mistakes"
"""A test of a minute or more; if it ran last, the other worker would be idle meanwhile."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest test first."""
    items.sort(key=lambda item: item.nodeid != _LONGEST)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Run tests that share a resource on one worker."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):  # type: ignore[misc]  # xdist's scheduler is untyped where it matters
        def _split_scope(self, nodeid: str) -> str:
            return next((part for part in _TOGETHER if nodeid.startswith(part)), nodeid)

    return Together(config, log)
