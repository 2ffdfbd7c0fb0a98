"""Tests of backends by name, and of their entry points."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from assay_adapters import registry
from assay_adapters.brokers.reference.inprocess import BACKEND
from assay_adapters.ports.backend import Backend, FaultSharing
from assay_adapters.ports.client import Source
from assay_adapters.ports.entry import GROUP, BackendEntry, BackendOptions
from assay_adapters.registry import (
    NotOursError,
    UnknownBackendError,
    UnusableBackendError,
    backend_names,
    names_with_defects,
    open_backend,
)
from assay_adapters.suggestions import SHOWN, unknown
from assay_features import Profile
from assay_sdk.model.capabilities import Capability

THEIRS = BACKEND
NO_ENTRY = "no entry"
WITHOUT_FILE = tuple(name for name in backend_names() if name != "url")


class Lame:
    """A backend without `provision`."""

    name = "their-broker"
    capabilities: Mapping[Capability, Source] = {}
    lacks = capabilities
    profiles: tuple[Profile, ...] = ()
    fault_sharing = FaultSharing.NONE

    def __getattr__(self, name: str) -> object:
        """Provide the members that the registry passes on, such as `probe`."""
        if name in {"environment", "identity", "probe", "close"}:
            return None
        raise AttributeError(name)


LAME = BackendEntry(open=lambda _options: cast("Backend", Lame()))


def install(monkeypatch: pytest.MonkeyPatch, folder: Path, package: str, *points: str) -> None:
    """Install a foreign package with these entry points."""
    told = folder / f"{package}-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
    (told / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *points, ""]))
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])


def test_our_own_backends_come_by_entry_points() -> None:
    assert backend_names() == (
        "activemq",
        "activemq+stomp",
        "artemis",
        "artemis+stomp",
        "broker-j",
        "ibmmq",
        "rabbitmq",
        "rabbitmq+stomp",
        "reference",
        "reference-container",
        "reference-server",
        "reference-server+stomp",
        "url",
    )
    assert names_with_defects() == ("reference", "reference-container", "reference-server", "reference-server+stomp")


@pytest.mark.parametrize("name", [*WITHOUT_FILE, *(f"{name}+amqp" for name in WITHOUT_FILE if "+" not in name)])
def test_a_backend_opens_by_its_name_with_and_without_its_default_protocol(name: str) -> None:
    backend = open_backend(name)
    assert backend.name == name.removesuffix("+amqp")
    backend.close()


def test_another_package_adds_a_backend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch, tmp_path, "theirs", "their-broker = tests.adapters.test_registry:THEIRS")
    assert "their-broker" in backend_names()
    assert "their-broker" in names_with_defects()
    backend = open_backend("their-broker")
    assert backend.capabilities
    backend.close()


@pytest.mark.parametrize(
    ("point", "says"),
    [
        ("tests.adapters.no_such_module:BACKEND", "'their-broker' of theirs cannot be loaded .*no_such_module"),
        ("tests.adapters.test_registry:NO_SUCH_NAME", "'their-broker' of theirs cannot be loaded .*NO_SUCH_NAME"),
        ("tests.adapters.test_registry:NO_ENTRY", "'their-broker' of theirs is no BackendEntry but a str"),
    ],
)
def test_an_entry_point_that_leads_nowhere_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, point: str, says: str
) -> None:
    install(monkeypatch, tmp_path, "theirs", f"their-broker = {point}")
    with pytest.raises(UnusableBackendError, match=says):
        open_backend("their-broker")
    assert "their-broker" not in names_with_defects()
    open_backend("reference").close()


def test_a_package_whose_module_raises_spoils_no_other_backend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "their_broken_module.py").write_text("nonsense\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    install(monkeypatch, tmp_path, "theirs", "their-broker = their_broken_module:BACKEND")
    with pytest.raises(UnusableBackendError, match=r"'their-broker' of theirs cannot be loaded .*'nonsense'"):
        open_backend("their-broker")
    assert "their-broker" not in names_with_defects()
    open_backend("reference").close()


def test_a_backend_that_lacks_a_member_is_refused_and_the_member_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(monkeypatch, tmp_path, "theirs", "their-broker = tests.adapters.test_registry:LAME")
    with pytest.raises(UnusableBackendError, match=r"'their-broker': its Lame lacks `provision` of Backend \("):
        open_backend("their-broker")


def test_two_packages_that_bring_one_name_are_both_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch, tmp_path, "theirs", "artemis = tests.adapters.test_registry:THEIRS")
    with pytest.raises(UnusableBackendError, match=r"Both assay.mq and theirs bring a backend 'artemis'; uninstall"):
        open_backend("artemis")


@pytest.mark.parametrize(
    ("name", "nearest"), [("refrence", "reference"), ("Artemis", "artemis"), ("artemis+stmp", "artemis+stomp")]
)
def test_the_error_for_an_unknown_backend_names_the_closest(name: str, nearest: str) -> None:
    with pytest.raises(UnknownBackendError, match=re.escape(f"did you mean '{nearest}'")):
        open_backend(name)


def test_the_error_names_all_backends_where_none_is_close() -> None:
    with pytest.raises(
        UnknownBackendError,
        match=r"there is activemq, activemq\+stomp, artemis, artemis\+stomp, broker-j, ibmmq, .* and \d+ more",
    ):
        open_backend("zzz")


def test_without_an_installation_the_error_says_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda **_: ())
    with pytest.raises(UnknownBackendError, match="No backend is installed; run `pip install assay-mq`"):
        open_backend("reference")


def test_a_sentence_shows_a_few_of_many_names() -> None:
    names = [f"name-{number}" for number in range(SHOWN + 3)]
    assert unknown("thing", "zzz", names).endswith(f"name-{SHOWN - 1} and 3 more.")


@pytest.mark.parametrize(
    "options", [BackendOptions(defect="early-delivery"), BackendOptions(wire=lambda driver: driver)]
)
def test_a_real_broker_has_no_defects_to_switch_on(options: BackendOptions) -> None:
    with pytest.raises(NotOursError, match="those with defects: reference"):
        open_backend("artemis", options)


def test_a_real_broker_brings_its_own_store() -> None:
    with pytest.raises(NotOursError, match="brings its own store; only reference lets"):
        open_backend("artemis", BackendOptions(store="memory"))


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"store": "memry"}, "no store 'memry'; did you mean 'memory'"),
        ({"defect": "early-delivry"}, "did you mean 'early-delivery'"),
    ],
)
def test_the_reference_broker_names_the_nearest_store_and_defect(asked: dict[str, Any], says: str) -> None:
    with pytest.raises(LookupError, match=says):
        open_backend("reference", BackendOptions(**asked))


@pytest.mark.parametrize("name", WITHOUT_FILE)
def test_the_error_for_an_unknown_face_names_the_closest(name: str) -> None:
    with pytest.raises(LookupError, match="classic"):
        open_backend(name).identity("clasic")
