"""The progress of a run: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import suppress
from typing import Any, Self

import pytest
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from assay_evidence.figures import counted

LINES = 10
"""About how many lines of progress a run prints without a terminal."""


class RunProgress:
    """A pytest plugin that counts and shows the finished scenarios.

    pytest captures the process's output.  So the plugin writes to a duplicate of standard error, made before pytest
    starts.

    Args:
        title: The title of the bar.
    """

    def __init__(self, title: str) -> None:
        self._stream = os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8")
        self._console = Console(file=self._stream, force_terminal=sys.stderr.isatty() or None, emoji=False)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[outcomes]}"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._title = title
        self._task = self._bar.add_task(title, total=None, outcomes="")
        self._outcomes: Counter[str] = Counter()
        self._total = 0

    def __enter__(self) -> Self:
        """Show the bar."""
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bar."""
        if self._console.is_terminal:
            self._bar.stop()
        self._stream.close()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note the number of collected scenarios."""
        self._known(len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        """Note the number of scenarios that a worker has collected."""
        del node
        self._known(len(ids))

    def _known(self, total: int) -> None:
        if total and total != self._total:
            self._total = total
            self._bar.update(self._task, total=total)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a scenario that has ended, and show the progress."""
        if report.when != "call" and report.outcome == "passed":
            return
        self._outcomes["known" if hasattr(report, "wasxfail") else report.outcome] += 1
        done = self._outcomes.total()
        text = ", ".join(f"{count} {outcome}" for outcome, count in sorted(self._outcomes.items()))
        self._bar.update(self._task, advance=1, outcomes=text)
        if not self._console.is_terminal and (done == self._total or done % max(1, self._total // LINES) == 0):
            with suppress(BrokenPipeError):
                self._console.print(
                    f"{self._title}: {done} of {counted(self._total, 'scenario')}: {text}", markup=False
                )


class DefectProgress:
    """Shows the progress of trials of defects."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, emoji=False)
        self._bar = Progress(console=self._console, transient=True)
        self._task = self._bar.add_task("defects", total=None)

    def __enter__(self) -> Self:
        """Show the bar."""
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bar."""
        if self._console.is_terminal:
            self._bar.stop()

    def told(self, name: str, done: int, total: int) -> None:
        """Show that a trial has ended.

        Args:
            name: The name of the trial's defect.
            done: The number of trials that have ended.
            total: The number of all trials.
        """
        self._bar.update(self._task, description=name, completed=done, total=total)
        if not self._console.is_terminal and (done == total or done % max(1, total // LINES) == 0):
            with suppress(BrokenPipeError):
                self._console.print(f"defects: {done} of {total} trials done, the last with {name}", markup=False)
