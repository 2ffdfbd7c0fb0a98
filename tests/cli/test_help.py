"""Tests for ``assay --help``, ``assay COMMAND --help`` and ``assay --version``."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from tests.cli.conftest import Assay

from assay.application import COMMANDS, DISTRIBUTION
from assay.exits import Exit


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_is_text_without_markup(assay: Assay, command: str) -> None:
    shown = assay(*filter(None, [command]), "--help")
    assert shown.code is Exit.AS_EXPECTED
    assert "Usage: assay" in shown.out
    assert "`" not in shown.out


def test_the_version_is_the_installed_packages(assay: Assay) -> None:
    shown = assay("--version")
    assert (shown.code, shown.out, shown.err) == (Exit.AS_EXPECTED, f"assay {version(DISTRIBUTION)}\n", "")
