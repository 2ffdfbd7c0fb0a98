"""What the suite costs: `python bench/suite.py [ROUNDS]`.

The peer is pytest-bdd itself, running as many scenarios with as many steps that do nothing: what is above it is the
price of a broker, a client, a journal and a verdict for each of them.  Everything runs in processes of its own and in
turns, so that a ratio compares what ran side by side.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from assay_adapters.reference import STORES
from assay_evidence.events import ScenarioBegin, Step
from assay_evidence.reader import read_journals
from assay_evidence.verdicts import load_verdicts

ROUNDS = 3
STEP = """\
from pytest_bdd import parsers, scenarios, step

scenarios("trivial.feature")


@step(parsers.parse("nothing happens {number:d}"))
def _(number: int) -> None:
    pass
"""


def timed(arguments: list[str], folder: Path) -> float:
    """Run Python in a process of its own; the seconds that it took.

    Raises:
        CalledProcessError: It ended with another code than 0.
    """
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    paths = [str(Path(path).resolve()) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, check=True, capture_output=True)  # noqa: S603 - this Python, on files of ours
    return time.perf_counter() - start


def suite(folder: Path, store: str) -> float:
    """The whole suite on a store."""
    return timed(["-m", "assay", "run", "--store", store, "--out", f"out-{store}"], folder)


def peer(folder: Path) -> float:
    """Pytest-bdd on scenarios that do nothing."""
    arguments = ["-m", "pytest", "-q", "-p", "pytest_bdd.plugin", "-p", "no:cacheprovider", "test_trivial.py"]
    return timed(arguments, folder)


def prepare(folder: Path, scenarios: int, steps: int) -> None:
    """Write a feature of so many scenarios, each of so many steps."""
    lines = ["Feature: Nothing"]
    for scenario in range(scenarios):
        lines.append(f"  Scenario: Number {scenario}")
        lines += [f"    Given nothing happens {step}" for step in range(steps)]
    (folder / "trivial.feature").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "test_trivial.py").write_text(STEP, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")


def main(rounds: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite(folder, STORES[0])  # compiles what is not compiled yet, and says what there is
        journals = read_journals(folder / f"out-{STORES[0]}" / "journals")
        scenarios = len(load_verdicts(folder / f"out-{STORES[0]}" / "verdicts.json").scenarios)
        steps = sum(isinstance(event, Step) for event in journals.events)
        begun = sum(isinstance(event, ScenarioBegin) for event in journals.events)
        prepare(folder, scenarios, round(steps / begun))
        runs: dict[str, Callable[[], float]] = {"pytest-bdd, nothing": lambda: peer(folder)}
        for store in STORES:
            runs[f"assay run, {store}"] = lambda store=store: suite(folder, store)
        took: dict[str, list[float]] = {title: [] for title in runs}
        for _ in range(rounds):
            for title, run in runs.items():
                took[title].append(run())
    print(f"{scenarios} scenarios of {round(steps / begun)} steps, {rounds} rounds in turns")
    print(f"{'':<22}{'median s':>10}{'best s':>8}{'ms each':>9}{'to the peer':>13}")
    base = statistics.median(next(iter(took.values())))
    for title, seconds in took.items():
        middle = statistics.median(seconds)
        each = middle / scenarios * 1_000
        print(f"{title:<22}{middle:>10.2f}{min(seconds):>8.2f}{each:>9.2f}{middle / base:>12.1f}x")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
