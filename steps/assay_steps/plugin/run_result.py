"""The result of a run of the suite, or the reason why the run stopped early."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay_steps.plugin.run import PLUGIN, Concluded


class RunResult:
    """A pytest plugin that stores the run's result, or the reason why the run stopped."""

    def __init__(self) -> None:
        self.unreadable: list[str] = []
        """The errors of the collection, one sentence each."""
        self.ended = ""
        """The reason why the run stopped early; empty if the run ended normally or by Ctrl-C."""
        self.tried: dict[str, bool] = {}
        """For each test that ran, whether it failed, by the test's id."""
        self.concluded: Concluded | None = None
        """The run's conclusion; None if the run has no verdicts."""

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Store the run's conclusion, so that the caller does not read the journals again."""
        plugin = config.pluginmanager.get_plugin(PLUGIN)
        if plugin is not None:
            self.concluded = plugin.run.concluded

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Store the errors of the collection."""
        if report.failed:
            text = str(report.longrepr)
            said = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
            self.unreadable.append(with_remedy(" ".join(said) or text))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Store whether a test failed, also if the kit does not judge the test."""
        self.tried[report.nodeid] = report.failed or self.tried.get(report.nodeid, False)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Store the reason if the kit or a test stopped the run with `pytest.exit`."""
        if isinstance(excinfo.value, pytest.exit.Exception):
            self.ended = str(excinfo.value.msg)

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Store the text of pytest's internal error."""
        self.ended = f"{excinfo.typename}: {excinfo.value}"


PYTEST_SAYS = re.compile(
    r"(?:^ERROR: usage: .*?: error: |^ERROR: )(?P<text>.*?)(?:\n  inifile: .*)?\Z", re.MULTILINE | re.DOTALL
)

_PLACE = re.compile(r"(?P<file>\S+):(?P<line>\d+): in |E?\s+File \"(?P<path>.+)\", line (?P<at>\d+)$")
_MISSING = "ModuleNotFoundError"
_REMEDY = (
    "`assay run` does not read a project's own settings of pytest, such as pythonpath: set PYTHONPATH to the module's"
    " folder, or run `pytest FILE --assay-backend=NAME --assay-out=FOLDER`"
)


def usage_error(log: Path) -> str:
    """Read the usage error that pytest wrote to its log; return it as one sentence."""
    text = log.read_text(encoding="utf-8").strip()
    said = PYTEST_SAYS.search(text[max(text.rfind("ERROR: "), 0) :])
    return said["text"].strip() if said else f"Pytest did not start: {_import_error(text)}."


def _import_error(text: str) -> str:
    """Return place and text of the exception that ended pytest while it loaded a conftest file."""
    lines = text.splitlines() or ["it gave no reason"]
    said = [line[1:].strip() for line in lines if line.startswith("E  ")] or lines[-1:]
    if said[0].startswith("File "):
        said = said[-1:]  # for a SyntaxError, pytest prints the place and the code before the text
    found = (_PLACE.match(line) for line in lines)
    places = [f"{one['file'] or one['path']}:{one['line'] or one['at']}" for one in found if one]
    return with_remedy(": ".join((*places[-1:], " ".join(said))))


def with_remedy(error: str) -> str:
    """Add a remedy to an error about a missing module, because plain pytest may find the module."""
    return f"{error}; {_REMEDY}" if _MISSING in error else error
