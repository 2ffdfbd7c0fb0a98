"""Tests of the fixture ``reference_broker``, in pytest runs of its own."""

from __future__ import annotations

import os
import sys
from importlib.metadata import EntryPoint

import pytest

import assay_broker.server.wiring
import assay_sdk.drivers.amqp  # proton's modules can be imported only once, and pytester removes a run's imports
import assay_steps
from assay_sdk import drivers
from assay_sdk.drivers import GROUP
from assay_steps import entry

pytest_plugins = ["pytester"]

_ = (assay_broker.server.wiring, assay_sdk.drivers.amqp)
PLUGINS = ("-p", "assay_steps.entry", "-p", "no:cacheprovider", "--assert=plain")

TEST = """\
from datetime import timedelta
from assay_sdk import Queue, connect

def test_a_late_order_comes_after_its_delay(reference_broker):
    with connect(reference_broker.url, login=reference_broker.login) as context:
        orders = Queue("ORDERS", str)
        context.create_producer(orders, delivery_delay=timedelta(milliseconds=200)).send("nails")
        with context.create_consumer(orders) as consumer:
            assert consumer.receive(timeout=10_000).body == "nails"

def test_each_test_has_a_broker_of_its_own(reference_broker):
    with connect(reference_broker.url, login=reference_broker.login) as context:
        with context.create_consumer(Queue("ORDERS", str)) as consumer:
            assert consumer.receive(timeout=1) is None
"""


@pytest.fixture(autouse=True)
def _as_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    places = {"amqp": "assay_sdk.drivers.amqp:AmqpDriver", "in-process": "assay_broker.inprocess:InProcessDrivers"}
    points = [EntryPoint(scheme, place, GROUP) for scheme, place in places.items()]

    def entry_points(*, group: str) -> list[EntryPoint]:
        assert group == GROUP
        return points

    monkeypatch.setattr(drivers, "entry_points", entry_points)


def test_a_broker_in_this_process_is_there_for_whoever_asks(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TEST)
    pytester.runpytest_inprocess(*PLUGINS).assert_outcomes(passed=2)


def test_hours_of_delay_pass_at_once_in_this_process(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TEST.replace("milliseconds=200", "hours=2").replace("10_000", "timedelta(hours=3)"))
    pytester.runpytest_inprocess(*PLUGINS).assert_outcomes(passed=2)


@pytest.mark.parametrize("asked", ["option", "ini"])
def test_a_server_is_there_for_whoever_asks_for_one(pytester: pytest.Pytester, asked: str) -> None:
    pytester.makepyfile(TEST)
    if asked == "ini":
        pytester.makeini("[pytest]\nassay_reference_broker = server\n")
    options = ["--assay-reference-broker=server"] if asked == "option" else []
    pytester.runpytest_inprocess(*PLUGINS, *options).assert_outcomes(passed=2)


@pytest.mark.docker
def test_a_container_is_there_for_whoever_asks_for_one(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TEST)
    pytester.runpytest_inprocess(*PLUGINS, "--assay-reference-broker=container").assert_outcomes(passed=2)


def test_a_place_that_there_is_not_is_said(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TEST)
    result = pytester.runpytest_inprocess(*PLUGINS, "--assay-reference-broker=cloud")
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    said = "ERROR: assay_reference_broker: 'cloud' is unknown; choose one of in-process, server, container."
    assert [line for line in result.errlines if line] == [said]


@pytest.mark.parametrize(
    ("place", "lacks", "said"),
    [
        ("server", ["structlog"], "a server needs structlog: install it with pip install 'assay-mq[server]'"),
        (
            "container",
            ["docker", "testcontainers"],
            "a container needs docker and testcontainers: install them with pip install 'assay-mq[amqp,containers]'",
        ),
    ],
)
def test_a_missing_package_is_one_sentence_before_any_test(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, place: str, lacks: list[str], said: str
) -> None:
    monkeypatch.setattr(entry, "find_spec", lambda name: None if name in lacks else object())
    pytester.makepyfile(TEST)
    result = pytester.runpytest_inprocess(*PLUGINS, f"--assay-reference-broker={place}")
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    assert [line for line in result.errlines if line] == [f"ERROR: assay_reference_broker: {said}"]


def test_a_missing_package_keeps_no_test_that_needs_no_broker(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry, "find_spec", lambda _name: None)
    pytester.makepyfile("def test_it(): pass")
    pytester.runpytest_inprocess(*PLUGINS, "--assay-reference-broker=server").assert_outcomes(passed=1)


def test_a_test_that_asks_for_its_broker_later_fails_in_one_sentence(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry, "find_spec", lambda _name: None)
    pytester.makepyfile("def test_it(request): request.getfixturevalue('reference_broker')")
    result = pytester.runpytest_inprocess(*PLUGINS, "--assay-reference-broker=server")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["assay_reference_broker: a server needs *"])
    result.stdout.no_fnmatch_line("*Error*")


def test_a_test_annotates_the_fixture_with_its_public_type(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import typing\n"
        "from assay_steps import ReferenceBroker\n\n"
        "def test_it(reference_broker: ReferenceBroker) -> None:\n"
        "    assert isinstance(reference_broker, typing.get_type_hints(test_it)['reference_broker'])\n"
    )
    pytester.runpytest_inprocess(*PLUGINS).assert_outcomes(passed=1)


def test_the_package_of_the_fixture_has_no_other_public_name() -> None:
    assert assay_steps.__all__ == ["ReferenceBroker"]
    with pytest.raises(AttributeError, match="module 'assay_steps' has no attribute 'RefBroker'"):
        getattr(assay_steps, "RefBroker")  # noqa: B009  the type checker knows that there is none


def test_nothing_of_the_kit_is_imported_before_a_test_asks(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(
        "import sys\n\ndef test_it():\n"
        "    assert not [name for name in sys.modules if name.startswith(('assay_sdk', 'assay_broker'))]\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    result = pytester.runpytest_subprocess(*PLUGINS)
    result.assert_outcomes(passed=1)
