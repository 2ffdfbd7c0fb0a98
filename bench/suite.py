"""The time of the suite, compared with pytest-bdd alone: `python bench/suite.py [ROUNDS]`.

pytest-bdd alone runs the same number of scenarios and steps, which do nothing.  The difference is the cost of a broker,
a client, a journal and a verdict for each scenario.  All runs take turns, each in its own process, so a ratio compares
runs under the same conditions.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from msgspec import Struct

from assay_evidence.events import ScenarioBegin, Step
from assay_evidence.reader import read_journals
from assay_evidence.verdicts import load_verdicts

ROUNDS = 3
STORES = ("memory", "sqlite")
STEP = """\
from pytest_bdd import parsers, scenarios, step

scenarios("trivial.feature")


@step(parsers.parse("nothing happens {number:d}"))
def _(number: int) -> None:
    pass
"""


class Cost(Struct, frozen=True):
    """The cost of a run.

    Args:
        wall: Seconds on the wall clock.
        cpu: Processor seconds, which other programs on the machine disturb less.
    """

    wall: float
    cpu: float


def timed(arguments: list[str], folder: Path) -> Cost:
    """Run Python in a new process, and return the cost.

    Args:
        arguments: The arguments of Python.
        folder: The process's working folder.

    Raises:
        CalledProcessError: The process ended with another code than 0.
    """
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    paths = [str(Path(path).resolve()) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    start, before = time.perf_counter(), spent()
    subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, check=True, capture_output=True)  # noqa: S603 - this Python, with our own arguments
    return Cost(time.perf_counter() - start, spent() - before)


def spent() -> float:
    """Return the processor seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def suite(folder: Path, store: str) -> Cost:
    """Run the whole suite on a store, and return the cost."""
    return timed(["-m", "assay", "run", "--store", store, "--out", f"out-{store}"], folder)


def peer(folder: Path) -> Cost:
    """Run pytest-bdd on scenarios that do nothing, and return the cost."""
    arguments = ["-m", "pytest", "-q", "-p", "pytest_bdd.plugin", "-p", "no:cacheprovider", "test_trivial.py"]
    return timed(arguments, folder)


def prepare(folder: Path, scenarios: int, steps: int) -> None:
    """Write a feature with a number of scenarios, each with a number of steps."""
    lines = ["Feature: Nothing"]
    for scenario in range(scenarios):
        lines.append(f"  Scenario: Number {scenario}")
        lines += [f"    Given nothing happens {step}" for step in range(steps)]
    (folder / "trivial.feature").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "test_trivial.py").write_text(STEP, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")


def main(rounds: int) -> None:
    """Measure a number of rounds, and print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite(folder, STORES[0])  # the first run compiles modules, and counts scenarios and steps
        journals = read_journals(folder / f"out-{STORES[0]}" / "journals")
        scenarios = len(load_verdicts(folder / f"out-{STORES[0]}" / "verdicts.json").scenarios)
        steps = sum(isinstance(event, Step) for event in journals.events)
        begun = sum(isinstance(event, ScenarioBegin) for event in journals.events)
        prepare(folder, scenarios, round(steps / begun))
        runs: dict[str, Callable[[], Cost]] = {"pytest-bdd, nothing": partial(peer, folder)}
        for store in STORES:
            runs[f"assay run, {store}"] = partial(suite, folder, store)
        took: dict[str, list[Cost]] = {title: [] for title in runs}
        for _ in range(rounds):
            for title, run in runs.items():
                took[title].append(run())
    print(f"{scenarios} scenarios of {round(steps / begun)} steps, {rounds} rounds in turns")
    print(f"{'':<22}{'wall s':>8}{'cpu s':>8}{'cpu ms each':>13}{'wall':>8}{'cpu, to the peer':>18}")
    base: Cost | None = None
    for title, costs in took.items():
        wall = statistics.median(cost.wall for cost in costs)
        cpu = statistics.median(cost.cpu for cost in costs)
        base = base or Cost(wall, cpu)
        each = cpu / scenarios * 1_000
        print(f"{title:<22}{wall:>8.2f}{cpu:>8.2f}{each:>13.2f}{wall / base.wall:>7.1f}x{cpu / base.cpu:>17.1f}x")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
