"""Programs in other languages that judge an AMQP server, and how they are built and run.

Each has a folder of its own here, with ``checks.txt``: the name of each of its checks, and what it needs of a server.
It prints one line of JSON for each check that it has tried.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
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
        name: Its name, which names its queue too.
        needs: What it needs of a server.
    """

    name: str
    needs: frozenset[str]


class Line(Struct, frozen=True):
    """What a program says of one check."""

    check: str
    ok: bool
    ms: float
    detail: str


class Program(Struct, frozen=True):
    """A program.

    Args:
        name: Its folder.
        prefix: What its queues' names begin with.
        tools: Commands that it is built and run with.
        requirement: The word of ASSAY_REQUIRE that makes a missing tool a failure.
        package: Where the tools come from on Debian.
        build: Builds it into a folder.
        command: How it is run, once it is in that folder.
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
        """Where its source is."""
        return HERE / self.name

    @property
    def checks(self) -> tuple[Check, ...]:
        """All its checks."""
        return _checks((self.folder / "checks.txt").read_text())

    def listed(self, command: list[str]) -> tuple[Check, ...]:
        """All its checks, by its own word."""
        done = subprocess.run([*command, "list"], capture_output=True, text=True, check=True)  # noqa: S603  our program
        return _checks(done.stdout)

    def checks_for(self, has: Iterable[str], but: Iterable[str] | None = None) -> tuple[str, ...]:
        """Names of the checks for a server that has these things, without those for another."""
        others = () if but is None else self.checks_for(but)
        return tuple(check.name for check in self.checks if check.needs <= set(has) and check.name not in others)

    def built(self, cache: Path) -> list[str]:
        """Build it, unless that was done for the same source; return how it is run.

        Tests of one program run on one worker (``_TOGETHER`` in tests/conftest.py), so nobody else builds it meanwhile.
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
    """Skip, or fail where ASSAY_REQUIRE names what is absent."""
    if requirement in os.environ.get("ASSAY_REQUIRE", "").split(","):
        pytest.fail(f"ASSAY_REQUIRE names {requirement}, but {reason}")
    pytest.skip(reason)


def run(command: list[str], options: Mapping[str, str], checks: Iterable[str]) -> dict[str, Line]:
    """Run checks, and return what is said of them; a check that nothing is said of has failed."""
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
    """Do one step of a build; where that fails, its output is in the error."""
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
    """Of a program's source."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _build_qpid_jms(source: Path, folder: Path) -> None:
    step("mvn", "--batch-mode", "--quiet", "--file", source, f"-Dinterop.build={folder}", "compile", folder=folder)


def _build_rhea(source: Path, folder: Path) -> None:
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
    # A short start matters more than throughput; the largest message has 100 MB, and lies in memory several times.
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
    build=_build_rhea,
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
