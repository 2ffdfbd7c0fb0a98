"""The result of a run of the suite, or the reason why it stopped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay_steps.plugin.run import PLUGIN, Concluded


class RunResult:
    """A pytest plugin that keeps the result of the run, or the reason why it stopped."""

    def __init__(self) -> None:
        self.unreadable: list[str] = []
        """The errors of the collection, one sentence each."""
        self.ended = ""
        """The reason why the run stopped early; empty if the run ended normally or by Ctrl-C."""
        self.tried: dict[str, bool] = {}
        """Whether each test failed, by its id, for the tests that ran."""
        self.concluded: Concluded | None = None
        """The run's conclusion; None if the run has no verdicts."""

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Keep the run's conclusion, so that the caller does not read the journals again."""
        plugin = config.pluginmanager.get_plugin(PLUGIN)
        if plugin is not None:
            self.concluded = plugin.run.concluded

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the errors of the collection."""
        if report.failed:
            text = str(report.longrepr)
            said = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
            self.unreadable.append(" ".join(said) or text)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep whether a test failed, also if the kit does not judge it."""
        self.tried[report.nodeid] = report.failed or self.tried.get(report.nodeid, False)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Keep the reason if the kit stopped the run."""
        if isinstance(excinfo.value, pytest.exit.Exception):
            self.ended = str(excinfo.value.msg)

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Keep the text of pytest's internal error."""
        self.ended = f"{excinfo.typename}: {excinfo.value}"


PYTEST_SAYS = re.compile(
    r"(?:^ERROR: usage: .*?: error: |^ERROR: )(?P<text>.*?)(?:\n  inifile: .*)?\Z", re.MULTILINE | re.DOTALL
)


def usage_error(log: Path) -> str:
    """Read the usage error that pytest wrote to its log; return it as one sentence."""
    text = log.read_text(encoding="utf-8").strip()
    said = PYTEST_SAYS.search(text[max(text.rfind("ERROR: "), 0) :])
    return (
        said["text"].strip()
        if said
        else f"Pytest did not start: {text.splitlines()[-1] if text else 'it gave no reason'}."
    )
