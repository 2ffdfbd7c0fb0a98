"""Helpers for tests with ``assay broker`` as a process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import Struct
from tests.cli.conftest import environment

import assay

pytest.importorskip("cproton", reason="proton's C library is not installed")

LIMIT_S = 30
ANY = ("--amqp", "127.0.0.1:0", "--stomp", "127.0.0.1:0", "--http", "127.0.0.1:0")


class Running(Struct, frozen=True):
    """A server's process."""

    process: subprocess.Popen[str]
    amqp: str
    http: str
    first_line: str
    stomp: str

    def end(self, number: signal.Signals) -> tuple[int, str, str]:
        """Send a signal, wait for the end, and return the exit code, the rest of the output, and the log."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=LIMIT_S)
        return self.process.returncode, out, err


@contextmanager
def running(folder: Path, *arguments: object, python: Path | str = sys.executable) -> Generator[Running]:
    """Provide a running server during the block."""
    ready = folder / "ready.json"
    ready.unlink(missing_ok=True)
    process = subprocess.Popen(  # noqa: S603  our own command
        [str(python), "-m", assay.__name__, "broker", *ANY, "--ready-file", str(ready), *map(str, arguments)],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate(timeout=LIMIT_S)[1]
        told = json.loads(ready.read_text())
        assert told["pid"] == process.pid
        yield Running(process, told["amqp"], told["http"], line, told["stomp"])
    finally:
        process.kill()
        process.communicate(timeout=LIMIT_S)
