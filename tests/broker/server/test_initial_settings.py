"""Tests of the objects and settings with which a server's queue manager begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay_broker.core.settings import Settings
from assay_broker.mqsc.defaults import default_settings
from assay_broker.server.errors import OptionsError
from assay_broker.server.initial_settings import settings_of
from assay_broker.server.options import FACTORY, ServerOptions


def attribute(settings: Settings, name: str, attribute: str) -> object:
    return next(one.attributes.get(attribute) for one in settings.fresh_objects() if one.name == name)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "objects.mqsc"
    path.write_text("DEFINE QLOCAL(ORDERS) MAXDEPTH(5)\nALTER TOPIC(SYSTEM.BASE.TOPIC) DEFPSIST(YES)\n")
    return path


def test_it_begins_with_the_newcomers_settings() -> None:
    assert settings_of(ServerOptions()) == default_settings()
    assert settings_of(ServerOptions(name="QM1", level="7.5")).name == "QM1"


def test_factory_settings_can_be_had() -> None:
    settings = settings_of(ServerOptions(mqsc=(FACTORY,)))
    assert attribute(settings, "SYSTEM.BASE.TOPIC", "PMSGDLV") == "ALLDUR"
    assert settings.authorities == ()


@pytest.mark.parametrize("factory", [False, True])
def test_a_script_follows_what_it_begins_with(script: Path, factory: bool) -> None:
    settings = settings_of(ServerOptions(mqsc=(FACTORY, script) if factory else (script,)))
    assert attribute(settings, "ORDERS", "MAXDEPTH") == 5
    assert attribute(settings, "SYSTEM.BASE.TOPIC", "DEFPSIST") == "YES"
    assert attribute(settings, "SYSTEM.BASE.TOPIC", "PMSGDLV") == ("ALLDUR" if factory else "ALLAVAIL")
    assert bool(settings.authorities) is not factory


def test_limits_and_opmode_are_the_queue_managers() -> None:
    settings = settings_of(ServerOptions(limits={"max_queues": 7}, opmode="COMPAT"))
    assert (settings.max_queues, settings.opmode) == (7, "COMPAT")


def test_a_mistake_in_a_script_is_said_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "wrong.mqsc"
    path.write_text("DEFINE QLOCAL(Q)\nDEFINE QLOCL(Q)\nDELETE QLOCAL(NOPE)\n")
    with pytest.raises(OptionsError, match=r"wrong\.mqsc, line 2, column \d+: .* and 1 more"):
        settings_of(ServerOptions(mqsc=(path,)))
    with pytest.raises(OptionsError, match=r"nowhere\.mqsc cannot be read"):
        settings_of(ServerOptions(mqsc=(tmp_path / "nowhere.mqsc",)))
    path.write_bytes(b"* \xff")
    with pytest.raises(OptionsError, match="not UTF-8 at byte 2"):
        settings_of(ServerOptions(mqsc=(path,)))
