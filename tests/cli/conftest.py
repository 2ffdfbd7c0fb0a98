from __future__ import annotations

import os
import sys
from collections.abc import Callable

import pytest
from msgspec import Struct

from assay.application import ending
from assay.exits import Exit


class Ended(Struct, frozen=True):
    """How a call of the command ended."""

    code: Exit
    out: str
    err: str


Assay = Callable[..., Ended]


def environment() -> dict[str, str]:
    """For a call of the command in a process of its own, which finds the packages where this one does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


@pytest.fixture
def assay(capfd: pytest.CaptureFixture[str]) -> Assay:
    """Call the command in this process."""

    def call(*arguments: object) -> Ended:
        capfd.readouterr()
        code = ending([str(argument) for argument in arguments])
        told = capfd.readouterr()
        assert "Traceback" not in told.out + told.err
        return Ended(code, told.out, told.err)

    return call
