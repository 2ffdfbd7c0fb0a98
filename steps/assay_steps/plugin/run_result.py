"""What a run of the suite came to, or why it ended before its end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay_steps.plugin.run import PLUGIN, Concluded


class Stops:
    """A pytest plugin that keeps what its run came to, and what stopped it."""

    def __init__(self) -> None:
        self.unreadable: list[str] = []
        """What stopped the collection, a sentence each."""
        self.ended = ""
        """Why the run ended before its end, where it was not Ctrl-C."""
        self.concluded: Concluded | None = None
        """What it came to; None when it has no verdicts."""

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Keep what the run came to, so that nobody has to read it again."""
        plugin = config.pluginmanager.get_plugin(PLUGIN)
        if plugin is not None:
            self.concluded = plugin.run.concluded

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what stopped the collection."""
        if report.failed:
            text = str(report.longrepr)
            said = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
            self.unreadable.append(" ".join(said) or text)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Keep why the kit gave up."""
        if isinstance(excinfo.value, pytest.exit.Exception):
            self.ended = str(excinfo.value.msg)

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Keep what broke."""
        self.ended = f"{excinfo.typename}: {excinfo.value}"


PYTEST_SAYS = re.compile(
    r"(?:^ERROR: usage: .*?: error: |^ERROR: )(?P<text>.*?)(?:\n  inifile: .*)?\Z", re.MULTILINE | re.DOTALL
)


def last_words(log: Path) -> str:
    """Pytest's own words about what it was told and does not understand."""
    text = log.read_text(encoding="utf-8").strip()
    said = PYTEST_SAYS.search(text[max(text.rfind("ERROR: "), 0) :])
    return (
        said["text"].strip() if said else f"Pytest did not begin: {text.splitlines()[-1] if text else 'no word why'}."
    )
