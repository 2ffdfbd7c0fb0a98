"""The lines that each scenario runs, measured by coverage.py and stored in a file.

The suite runs once, with a new broker and a context of coverage.py for each scenario.  While the sources and features
stay the same, a scenario always runs the same lines, so the file's name contains a digest of sources and features.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import coverage
import msgspec
from msgspec import Struct

from tools.mutation.targets import ROOT

SOURCES = ("sdk", "evidence", "broker", "adapters", "steps", "features")
"""The folders whose content decides what a scenario runs."""


class Tried(Struct, frozen=True):
    """The run of a scenario without a mutant.

    Args:
        name: The scenario's id.
        verdict: The scenario's verdict.
        seconds: The scenario's processor time in seconds, with coverage measured.
        rules: The ids of the scenario's rules.
        lines: The number of lines under test that the scenario runs.
    """

    name: str
    verdict: str
    seconds: float
    rules: tuple[str, ...]
    lines: int = 0


class CoverageMap(Struct, frozen=True):
    """The lines that each scenario runs.

    Args:
        scenarios: The scenarios, in the order of the collection.
        lines: By file (relative to the project's folder) and line, the set of scenarios that run the line: a
            hexadecimal number whose bit N stands for scenario number N.
    """

    scenarios: tuple[Tried, ...]
    lines: dict[str, dict[int, str]]

    def running(self, file: str, first: int, last: int) -> list[int]:
        """Return the numbers of the passing scenarios that run at least one line of a range."""
        bits = 0
        for line in self.bits(file, first, last):
            bits |= line
        return [number for number, tried in enumerate(self.scenarios) if bits >> number & 1 and tried.verdict == "pass"]

    def bits(self, file: str, first: int, last: int) -> list[int]:
        """Return a set of scenarios, as bits, for each line of a range that some scenario runs."""
        lines = self.lines.get(file, {})
        return [int(lines[line], 16) for line in range(first, last + 1) if line in lines]


def digest(store: str) -> str:
    """Return a digest of the store's name and of all files that decide which lines a scenario runs."""
    told = hashlib.sha256(store.encode())
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".feature", ".toml", ".lark", ".mqsc"}:
                told.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return told.hexdigest()[:16]


class Counter:
    """A counter of the lines that scenarios run in this process.

    Args:
        files: The files whose lines count.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self._coverage = coverage.Coverage(
            data_file=None, config_file=False, include=[str(path) for path in files], messages=False
        )

    def start(self) -> None:
        """Begin to measure."""
        self._coverage.start()

    def begin(self, number: int) -> None:
        """Count the lines that run from now on as lines of the scenario with this number."""
        self._coverage.switch_context(str(number))

    def stop(self) -> dict[str, dict[int, list[int]]]:
        """End the measurement, and return the numbers of the scenarios that ran each line, by file and line."""
        self._coverage.stop()
        data = self._coverage.get_data()
        return {
            Path(file).relative_to(ROOT).as_posix(): {
                line: [int(context) for context in contexts if context]
                for line, contexts in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }


def merged(scenarios: Sequence[Tried], parts: Iterable[Mapping[str, Mapping[int, Sequence[int]]]]) -> CoverageMap:
    """Merge the measurements of several processes into one map."""
    bits: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    counts = [0] * len(scenarios)
    for part in parts:
        for file, lines in part.items():
            for line, numbers in lines.items():
                for number in numbers:
                    bits[file][line] |= 1 << number
                    counts[number] += 1
    return CoverageMap(
        tuple(msgspec.structs.replace(one, lines=counts[number]) for number, one in enumerate(scenarios)),
        {file: {line: f"{value:x}" for line, value in lines.items()} for file, lines in bits.items()},
    )
