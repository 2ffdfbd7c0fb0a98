"""Parses feature files; each text is parsed once per process, because Gherkin's parser takes about 10 us per byte."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from gherkin.parser import Parser

KEPT = 1024
"""The number of parsed texts in the cache; a project has fewer feature files."""


@lru_cache(maxsize=KEPT)
def document_of(text: str) -> Any:
    """Parse the text of a feature file.

    Args:
        text: The text.

    Returns:
        The document in the form of Gherkin's syntax tree.  Its callers share it, so they must not change it.

    Raises:
        gherkin.errors.CompositeParserException: The text is not valid Gherkin.
    """
    return Parser().parse(text)


def feature_in(path: Path) -> Any:
    """Parse a feature file that has a feature, and return the feature's part of the syntax tree (see `document_of`)."""
    return document_of(path.read_text(encoding="utf-8"))["feature"]
