"""Run the delay tests of the Jakarta Messaging TCK, and our scenarios, on our server with defects.

The command prints a table of defects, each with the tests and the scenarios that fail.  The folder ``jakarta-tck``
has our program, which runs the tests with Apache Qpid JMS.  The tests themselves come from Maven Central, or from a
jar on this machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct
from tests.interop.programs import Line, Program, run, step
from tests.interop.servers import ANY

from assay_broker.defects import DEFECTS
from assay_broker.server.options import ServerOptions
from assay_broker.server.threaded import serving
from assay_evidence.verdicts import Verdict, Verdicts, load_verdicts

TCK = "jakarta.tck:jms-tck:11.0.2"
JAR = "JMS_TCK_JAR"
"""The variable with the path of the TCK's jar, where Maven cannot get it."""
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
_HINT = f"{JAR} names a jar of the tests on this machine"

TABLE = (
    "early-delivery",
    "late-release",
    "non-persistent-early",
    "early-for-live-subscribers",
    "delay-sticks-to-sender",
    "staged-in-order",
    "early-after-restart",
    "early-in-unit",
    "ttl-ends-with-delay",
    "staged-priority-lost",
)
"""The defects of the table.

A client with one producer, one receiver and one delay can observe the first four.  The others need a second send, a
restart, a unit of work, a time to live or a priority.
"""


class Caught(Struct, frozen=True):
    """The results of both suites on one server.

    Args:
        defect: The name of the server's defect; empty for none.
        tests: The results of the TCK's tests, by their names.
        verdicts: The verdicts of our scenarios of the rules that the defect breaks.
    """

    defect: str
    tests: Mapping[str, Line]
    verdicts: Verdicts


def table(rows: Iterable[Caught]) -> str:
    """Return the table in Markdown."""
    head = ["| defect | tests of the TCK that fail | our scenarios that fail, by rule |", "|---|---|---|"]
    return "\n".join([*head, *(_row(row) for row in rows)])


def _row(row: Caught) -> str:
    failed = [name for name, line in row.tests.items() if not line.ok]
    theirs = f"{len(failed)} of {len(row.tests)}" + (f": {', '.join(f'`{name}`' for name in failed)}" if failed else "")
    return f"| {f'`{row.defect}`' if row.defect else 'none'} | {theirs} | {_ours(row.verdicts)} |"


def _ours(verdicts: Verdicts) -> str:
    """Return how many scenarios of each rule failed, of those whose needs the server has.

    On a busy machine, scenarios may be inconclusive; the text gives their number, because they might have failed.
    """
    told = []
    for rule in verdicts.rules:
        of = [scenario.verdict for scenario in rule.scenarios if scenario.verdict is not Verdict.UNSUPPORTED]
        open_ones = of.count(Verdict.INCONCLUSIVE)
        doubt = f" ({open_ones} inconclusive)" if open_ones else ""
        told.append(f"{rule.id} {of.count(Verdict.FAIL)} of {len(of)}{doubt}")
    return ", ".join(told)


def _build(source: Path, folder: Path) -> None:
    """Build our program, and put the TCK's tests beside it."""
    step("mvn", "--batch-mode", "--quiet", "--file", source, f"-Dinterop.build={folder}", "compile", folder=folder)
    if JAR not in os.environ:
        copied = (f"-Dartifact={TCK}", f"-DoutputDirectory={folder / 'lib'}")
        step("mvn", "--batch-mode", "--quiet", _COPY, *copied, folder=folder)


def _command(folder: Path) -> list[str]:
    jars = [str(folder / "classes"), f"{folder / 'lib'}/*", *filter(None, [os.environ.get(JAR)])]
    options = ["-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]
    return ["java", *options, "-cp", os.pathsep.join(jars), "interop.tck.Main"]


JAKARTA_TCK = Program(
    name="jakarta-tck",
    prefix="tck",
    tools=("mvn", "javac", "java"),
    requirement="java",
    package="maven and openjdk-17-jdk-headless",
    build=_build,
    command=_command,
)


def _theirs(command: list[str], defect: str, folder: Path) -> dict[str, Line]:
    """Run the TCK's tests on a new server."""
    options = ServerOptions(data=folder / "store", amqp=ANY, http=None, defect=defect or None)
    with serving(options) as server:
        return run(command, {"url": server.amqp_url}, [check.name for check in JAKARTA_TCK.checks])


def _scenarios(defect: str, rules: Iterable[str], folder: Path) -> Verdicts:
    """Run our scenarios of some rules on a server of their own."""
    chosen = [word for rule in rules for word in ("--rule", rule)]
    broken = ["--defect", defect] if defect else []
    command = [sys.executable, "-m", "assay", "run", "--backend", "reference-server", "--out", str(folder)]
    subprocess.run([*command, *chosen, *broken], capture_output=True, check=False)  # noqa: S603  a command of this project
    return load_verdicts(folder / "verdicts.json")


def main() -> int:
    """Try each defect, and print the table; return 2 if the tests cannot be had."""
    parser = argparse.ArgumentParser(prog="python -m tests.interop.tck", description=__doc__)
    parser.add_argument("--defect", action="append", help="a defect to try instead of the table's; may be repeated")
    chosen: tuple[str, ...] = tuple(parser.parse_args().defect or ("", *TABLE))
    rules = {name: defect.rules for name, defect in DEFECTS.items()}
    rules[""] = tuple(sorted({rule for name in chosen if name for rule in rules[name]}))
    rows: list[Caught] = []
    with tempfile.TemporaryDirectory() as temporary:
        try:
            command = JAKARTA_TCK.built(Path(temporary))
        except AssertionError as error:
            sys.stderr.write(f"{error}\n{_HINT}\n")
            return 2
        for name in chosen:
            folder = Path(temporary) / (name or "none")
            folder.mkdir()
            tests = _theirs(command, name, folder)
            rows.append(Caught(name, tests, _scenarios(name, rules[name], folder / "out")))
            for line in tests.values():
                if not line.ok:
                    sys.stderr.write(f"{name or 'no defect'}: {line.check}: {line.detail}\n")
            sys.stderr.write(_row(rows[-1]) + "\n")
    sys.stdout.write(table(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
