"""Programs that judge an AMQP or STOMP server, most of them in other languages, with their builds and runs.

Each program has a folder here with ``checks.txt``, which lists its checks and their needs of a server.  A program
prints one line of JSON for each check that it has run.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NoReturn

import pytest
from msgspec import Struct

HERE = Path(__file__).parent
BUILD_LIMIT_S = 900
RUN_LIMIT_S = 1_500
_SHOWN = 3_000


class Check(Struct, frozen=True):
    """One check of a program.

    Args:
        name: The check's name, which is also in its queue's name.
        needs: The features that a server must have.
    """

    name: str
    needs: frozenset[str]


class Line(Struct, frozen=True):
    """The result of one check."""

    check: str
    ok: bool
    ms: float
    detail: str


class Program(Struct, frozen=True):
    """A program that judges servers.

    Args:
        name: The name of the program's folder.
        prefix: The beginning of the names of the program's queues.
        tools: The commands that the program's build and run need.
        requirement: The word of ASSAY_REQUIRE that makes a missing tool a failure.
        package: The Debian packages of the tools.
        build: Builds the program into a folder.
        command: Returns the command that runs the program from that folder.
    """

    name: str
    prefix: str
    tools: tuple[str, ...]
    requirement: str
    package: str
    build: Callable[[Path, Path], None]
    command: Callable[[Path], list[str]]

    @property
    def folder(self) -> Path:
        """The folder of the program's source."""
        return HERE / self.name

    @property
    def checks(self) -> tuple[Check, ...]:
        """All checks in ``checks.txt``."""
        return _checks((self.folder / "checks.txt").read_text())

    def listed(self, command: list[str]) -> tuple[Check, ...]:
        """Return all checks that the program itself lists."""
        done = subprocess.run([*command, "list"], capture_output=True, text=True, check=True)  # noqa: S603  our program
        return _checks(done.stdout)

    def checks_for(self, has: Iterable[str], but: Iterable[str] | None = None) -> tuple[str, ...]:
        """Return the names of the checks for a server with the features `has`, except those for a server with `but`."""
        others = () if but is None else self.checks_for(but)
        return tuple(check.name for check in self.checks if check.needs <= set(has) and check.name not in others)

    def built(self, cache: Path) -> list[str]:
        """Build the program, unless the same source was built before, and return its command.

        Tests of one program run on one worker (``_TOGETHER`` in tests/conftest.py), so no other
        process builds it at the same time.
        """
        for tool in self.tools:
            if shutil.which(tool) is None:
                absent(self.requirement, f"there is no {tool}; install {self.package}")
        folder = cache / f"{self.name}-{_digest(self.folder)}"
        if not (folder / "built").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            self.build(self.folder, folder)
            (folder / "built").touch()
        return self.command(folder)


def absent(requirement: str, reason: str) -> NoReturn:
    """Skip the test, or fail it if ASSAY_REQUIRE names the absent tool."""
    if requirement in os.environ.get("ASSAY_REQUIRE", "").split(","):
        pytest.fail(f"ASSAY_REQUIRE names {requirement}, but {reason}")
    pytest.skip(reason)


def run(command: list[str], options: Mapping[str, str], checks: Iterable[str]) -> dict[str, Line]:
    """Run checks, and return their results; a check without a result has failed."""
    flags = [word for key, value in options.items() for word in (f"--{key}", value)]
    asked = list(checks)
    done = subprocess.run(  # noqa: S603  a program of ours
        [*command, "run", *flags, *asked], capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False
    )
    lines = [Line(**json.loads(line)) for line in done.stdout.splitlines() if line.startswith("{")]
    told = {line.check: line for line in lines}
    unsaid = f"the program ended with {done.returncode} before it said anything of it: {done.stderr[-_SHOWN:]}"
    return {name: told.get(name, Line(name, ok=False, ms=0, detail=unsaid)) for name in asked}


def step(*command: str | Path, folder: Path, environment: Mapping[str, str] | None = None) -> None:
    """Run a command of a build; if it fails, the error contains its output."""
    done = subprocess.run(  # noqa: S603  a build tool on our own files
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=BUILD_LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.stdout[-_SHOWN:]}{done.stderr[-_SHOWN:]}"


def _checks(text: str) -> tuple[Check, ...]:
    return tuple(Check(name, frozenset(needs)) for name, *needs in (line.split() for line in text.splitlines()))


def _digest(folder: Path) -> str:
    """Return the digest of a program's source."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _build_qpid_jms(source: Path, folder: Path) -> None:
    step("mvn", "--batch-mode", "--quiet", "--file", source, f"-Dinterop.build={folder}", "compile", folder=folder)


def _build_node(source: Path, folder: Path) -> None:
    shutil.copytree(source, folder, dirs_exist_ok=True)
    step("npm", "ci", "--no-audit", "--no-fund", "--silent", folder=folder)


def _build_go(source: Path, folder: Path) -> None:
    step(
        "go",
        "build",
        "-o",
        folder / "checks",
        ".",
        folder=source,
        environment={"GOFLAGS": "-mod=readonly -buildvcs=false"},
    )


def _java(folder: Path) -> list[str]:
    # A short start matters more than throughput; the largest message has 100 MB, and memory holds several copies of it.
    options = ["-XX:TieredStopAtLevel=1", "-Xmx2g", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]
    return ["java", *options, "-cp", f"{folder / 'classes'}:{folder / 'lib'}/*", "interop.Main"]


QPID_JMS = Program(
    name="qpid-jms",
    prefix="jms",
    tools=("mvn", "javac", "java"),
    requirement="java",
    package="maven and openjdk-17-jdk-headless",
    build=_build_qpid_jms,
    command=_java,
)
RHEA = Program(
    name="rhea",
    prefix="rhea",
    tools=("npm", "node"),
    requirement="node",
    package="nodejs and npm",
    build=_build_node,
    command=lambda folder: ["node", str(folder / "main.js")],
)
GO_AMQP = Program(
    name="go-amqp",
    prefix="go",
    tools=("go",),
    requirement="go",
    package="Go 1.25 or newer",
    build=_build_go,
    command=lambda folder: [str(folder / "checks")],
)


def _copy(source: Path, folder: Path) -> None:
    shutil.copytree(source, folder, dirs_exist_ok=True)


def _python(folder: Path) -> list[str]:
    return [sys.executable, str(folder / "main.py")]


STOMP_PY = Program(
    name="stomp-py",
    prefix="stomppy",
    tools=(),
    requirement="python",
    package="",
    build=_copy,
    command=_python,
)
STOMPMAN = Program(
    name="stompman",
    prefix="stompman",
    tools=(),
    requirement="python",
    package="",
    build=_copy,
    command=_python,
)
STOMPJS = Program(
    name="stompjs",
    prefix="stompjs",
    tools=("npm", "node"),
    requirement="node",
    package="nodejs and npm",
    build=_build_node,
    command=lambda folder: ["node", str(folder / "main.js")],
)
GO_STOMP = Program(
    name="go-stomp",
    prefix="gostomp",
    tools=("go",),
    requirement="go",
    package="Go 1.25 or newer",
    build=_build_go,
    command=lambda folder: [str(folder / "checks")],
)
STOMP_PROGRAMS = (STOMP_PY, STOMPMAN, STOMPJS, GO_STOMP)
"""The programs that judge a STOMP server."""
