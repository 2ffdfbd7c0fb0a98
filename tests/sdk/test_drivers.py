from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from tests.sdk.scripted import FakeDriver

from assay_sdk import drivers
from assay_sdk.driver import Driver
from assay_sdk.drivers import GROUP, find_driver
from assay_sdk.engine.calls import RefusedError
from assay_sdk.model.reasons import JmsErrorKind


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        EntryPoint("fake", "tests.sdk.scripted:FakeDriver", GROUP),
        EntryPoint("amqp", "tests.sdk.no_such_module:AmqpDriver", GROUP),
    ]

    def entry_points(*, group: str) -> list[EntryPoint]:
        assert group == GROUP
        return points

    monkeypatch.setattr(drivers, "entry_points", entry_points)


@pytest.mark.usefixtures("installed")
def test_a_driver_is_found_by_the_scheme() -> None:
    driver: Driver = find_driver("fake://anywhere")
    assert isinstance(driver, FakeDriver)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("url", ["http://x", "localhost", ""])
def test_a_scheme_that_nobody_serves_names_those_that_are(url: str) -> None:
    with pytest.raises(RefusedError, match="begin the URL with an installed scheme") as caught:
        find_driver(url)
    assert caught.value.refused.text.endswith("(amqp:// after pip install 'assay-mq[amqp]', fake://)")
    assert caught.value.refused.kind is JmsErrorKind.UNSUPPORTED


@pytest.mark.usefixtures("installed")
def test_a_driver_whose_extra_is_not_installed_names_the_extra() -> None:
    with pytest.raises(RefusedError, match=r"pip install 'assay-mq\[amqp\]'"):
        find_driver("amqp://127.0.0.1")


def test_where_no_driver_is_installed_it_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drivers, "entry_points", lambda **_: ())
    with pytest.raises(RefusedError, match="no driver is installed; install one with pip install assay-mq"):
        find_driver("amqp://127.0.0.1")


def test_what_somebody_elses_driver_lacks_is_no_extra_of_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = tmp_path / "theirs-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    (told / "entry_points.txt").write_text(f"[{GROUP}]\nstomp = tests.sdk.no_such_module:Driver\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    with pytest.raises(RefusedError, match=r"the stomp driver needs \S+: install it with the instructions of theirs"):
        find_driver("stomp://127.0.0.1")
