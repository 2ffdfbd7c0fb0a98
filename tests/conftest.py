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


_LONG = (
    "tests/tools/mutation/test_sample.py::test_scenarios_convict_a_sample_of_mistakes",
    "tests/how_to/test_how_to.py::test_a_page_does_what_it_says[add-an-invariant]",
    "tests/cli/commands/test_crash.py::test_a_planted_bug_of_the_store_is_found[no-flush-16]",
    "tests/cli/commands/test_adapter.py::test_a_broker_by_a_file_is_judged_also_by_kills",
    "tests/how_to/test_how_to.py::test_a_page_does_what_it_says[add-a-defect]",
    "tests/steps/processes/test_interrupts.py::test_at_whatever_instant_it_comes",
    "tests/adapters/brokers/artemis/test_journal.py::test_a_broker_that_answers_before_the_disk_is_convicted",
    "tests/how_to/test_how_to.py::test_a_page_does_what_it_says[test-a-running-broker]",
    "tests/tools/test_held_up.py::test_a_harness_that_is_held_up_neither_passes_nor_fails_wrongly",
)
"""The beginnings of the ids of tests of 30 seconds or more, the longest first.

If one of them ran last, the other workers would be idle meanwhile.
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest tests first."""
    places = {item: place for item in items for place, long in enumerate(_LONG) if item.nodeid.startswith(long)}
    items.sort(key=lambda item: places.get(item, len(_LONG)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Run tests that share a resource on one worker."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):  # type: ignore[misc]  # xdist's scheduler is untyped where it matters
        def _split_scope(self, nodeid: str) -> str:
            return next((part for part in _TOGETHER if nodeid.startswith(part)), nodeid)

        def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
            """Forget finished scopes, because after each test xdist counts the unfinished tests of all scopes."""
            super().mark_test_complete(node, item_index, duration)
            scope = self._split_scope(self.registered_collections[node][item_index])
            if all(self.assigned_work[node][scope].values()):
                del self.assigned_work[node][scope]

    return Together(config, log)
