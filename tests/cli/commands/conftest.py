"""Fixtures for tests of the commands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.application import ending as command
from assay.exits import Exit
from assay_evidence.lines import decode_line

RULES = ("--rule", "DD-02", "--rule", "PD-22", "--rule", "PD-17")
"""The options for a run with delays, restarts and both faces."""
OWN_TO_A_RUN = {"run", "seconds"}


@pytest.fixture(scope="session")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a run of some rules."""
    out = tmp_path_factory.mktemp("run") / "out"
    assert command(["run", "--out", str(out), "--seed", "7", *RULES]) is Exit.AS_EXPECTED
    return out


def content(out: Path) -> Any:
    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without(inner) for name, inner in value.items() if name not in OWN_TO_A_RUN}
        return [without(inner) for inner in value] if isinstance(value, list) else value

    return without(json.loads((out / "verdicts.json").read_text()))


def events(out: Path) -> Iterator[tuple[Path, list[Any]]]:
    for journal in sorted((out / "journals").iterdir()):
        yield journal, [decode_line(line) for line in journal.read_bytes().splitlines()]
