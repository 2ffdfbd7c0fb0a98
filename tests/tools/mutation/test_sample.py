"""Tests of a sample of mutants, and of the triage's entries against the code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tools.mutation.mutants import Module
from tools.mutation.score import read_results
from tools.mutation.targets import PACKAGES, modules_of
from tools.mutation.triage import load_triage

SAMPLE, SEED, MOST, EVERY = 200, 1, 10, 3
"""The number of mutants, the seed, the most scenarios for a mutant, and the n of "every n-th scenario"."""
FLOOR = 30
"""The least percentage of convicted mutants, without mutants that raise or loop.

It is well below the present score, because the sample changes with the code.
"""
IN_MEMORY = [package.name for package in PACKAGES if package.store == "memory"]

pytestmark = pytest.mark.exhaustive


def test_scenarios_convict_a_sample_of_mistakes(tmp_path: Path) -> None:
    out = tmp_path / "mutation.json"
    packages = [word for name in IN_MEMORY for word in ("--package", name)]
    numbers = {"sample": SAMPLE, "seed": SEED, "most": MOST, "every": EVERY, "floor": FLOOR}
    options = [word for name, number in numbers.items() for word in (f"--{name}", str(number))]
    call = [sys.executable, "-m", "tools.mutation", *packages, *options, "--out", str(out)]
    told = subprocess.run(call, capture_output=True, text=True, check=False)  # noqa: S603 - this Python, own arguments
    assert told.returncode == 0, told.stdout[-8000:] + told.stderr[-2000:]
    assert len(read_results(out)) > SAMPLE * 0.8  # the other changes compile to the same code


def test_each_entry_of_the_triage_fits_a_mutant() -> None:
    triage = load_triage()
    modules = {entry.partition(": ")[0] for group in triage.group for entry in group.mutants}
    files = {name: file for package in PACKAGES for name, file in modules_of(package) if name in modules}
    assert modules == files.keys()
    names = [str(mutant.key) for name, file in files.items() for mutant in Module(name, file).mutants]
    assert triage.stale(names) == [], "delete these entries, or name the mutants as they are now"
