"""Tests of a run's output about claimed profiles and declared capabilities."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Assay

from assay.exits import Exit
from assay_adapters.ports.entry import GROUP

OPTIONAL = {
    "browse",
    "delivery-delay",
    "durable-subscription",
    "local-transaction",
    "priority",
    "selector",
    "shared-subscription",
    "time-to-live",
}
BASIC = {"queue", "topic"}
ENTRIES = ("NOTHING_OF_ALL", "NOTHING_OF_NOTHING", "ALL_OF_NOTHING")


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the backends of `declaring` like another package's."""
    told = tmp_path / "site" / "declaring-1.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: declaring\nVersion: 1\n")
    points = [f"{name.lower().replace('_', '-')} = tests.cli.declaring:{name}" for name in ENTRIES]
    (told / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *points, ""]))
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "site")])


def content(out: Path) -> Any:
    return json.loads((out / "verdicts.json").read_text())


def probes(out: Path) -> dict[str, str]:
    """Return the verdict of each probe, by its capability."""
    return {probe["probe"]: probe["verdict"] for probe in content(out)["probes"]}


ALL_PROBED = ("--rule", "PD-10", "--rule", "DD-02", "--rule", "DD-27", "--rule", "DD-56")
"""Rules whose scenarios need each capability that has a probe."""


def test_a_backend_that_declares_nothing_and_has_everything_is_in_error(assay: Assay, tmp_path: Path) -> None:
    ended = assay("run", "--backend", "nothing-of-all", "--out", tmp_path / "out", *ALL_PROBED)
    assert ended.code is Exit.INCONCLUSIVE
    assert set(probes(tmp_path / "out").values()) == {"error"}
    assert "The adapter does not declare selector (Nobody has looked), and the probe found it: declare it" in ended.out
    assert "not claimed: delivery-delay, which delay requires: Nobody has looked." in ended.out
    assert {rule["verdict"] for rule in content(tmp_path / "out")["rules"]} == {"unsupported"}


def test_a_backend_that_declares_all_and_has_nothing_fails(assay: Assay, tmp_path: Path) -> None:
    ended = assay("run", "--backend", "all-of-nothing", "--out", tmp_path / "out", *ALL_PROBED)
    assert ended.code is Exit.NOT_AS_EXPECTED
    found = probes(tmp_path / "out")
    assert {name for name, verdict in found.items() if verdict == "fail"} == OPTIONAL & found.keys()
    assert {name for name, verdict in found.items() if verdict == "pass"} == BASIC & found.keys()
    assert "The adapter declares selector, and the probe did not find it: " in ended.out
    assert "not claimed" not in ended.out


def test_a_backend_that_rightly_declares_nothing_is_as_expected(assay: Assay, tmp_path: Path) -> None:
    ended = assay("run", "--backend", "nothing-of-nothing", "--out", tmp_path / "out", *ALL_PROBED)
    assert ended.code is Exit.AS_EXPECTED
    found = probes(tmp_path / "out")
    assert {name for name, verdict in found.items() if verdict == "unsupported"} == OPTIONAL & found.keys()
    assert "not claimed: delivery-delay, which delay requires: Nobody has looked." in ended.out
