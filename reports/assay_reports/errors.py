"""The errors of reports.

ReportError
├── SourceError    an input file cannot be used: path, text
└── OutputError    the report cannot be written: path, text
"""

from __future__ import annotations

from pathlib import Path


class ReportError(Exception):
    """Base of all errors of this package; its text is one sentence for the user."""

    def __init__(self, path: Path, text: str) -> None:
        super().__init__(path, text)
        self.path = path
        """The file or folder at fault."""
        self.text = text
        """The problem and the remedy, in one sentence."""

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"


class SourceError(ReportError):
    """An input file cannot be used."""


class OutputError(ReportError):
    """The report cannot be written."""
