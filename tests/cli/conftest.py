from __future__ import annotations

import os
import sys
from collections.abc import Callable

import pytest
from msgspec import Struct

from assay.application import ending
from assay.exits import Exit


class Ended(Struct, frozen=True):
    """The result of a call of the command."""

    code: Exit
    out: str
    err: str


Assay = Callable[..., Ended]


def environment() -> dict[str, str]:
    """Return the environment of a new process that finds the same packages as this one."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


@pytest.fixture
def assay(capfd: pytest.CaptureFixture[str]) -> Assay:
    """Provide a function that calls the command in this process."""

    def call(*arguments: object) -> Ended:
        capfd.readouterr()
        code = ending([str(argument) for argument in arguments])
        told = capfd.readouterr()
        assert "Traceback" not in told.out + told.err
        return Ended(code, told.out, told.err)

    return call
