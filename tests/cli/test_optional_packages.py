"""The command without the packages of its extras: what needs none works, and what needs one names the extra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from assay.exits import Exit

OPTIONAL = ("google", "grpc", "matplotlib", "pandas", "pyarrow", "pyspark")
WITHOUT = f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL!r})); from assay.main import main; main()"
"""A program that runs the command as if none of the packages were installed."""


def ended(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - this command
        [sys.executable, "-c", WITHOUT, *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("arguments", [("--help",), ("judge", "--help"), ("watch", "--help"), ("rules", "DD-02")])
def test_what_needs_no_package_works_without_them(arguments: tuple[str, ...]) -> None:
    told = ended(*arguments)
    assert (told.returncode, told.stderr) == (Exit.AS_EXPECTED, "")
    assert told.stdout


@pytest.mark.parametrize("command", ["judge", "watch"])
def test_what_needs_spark_names_the_extra(command: str, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "main.jsonl").write_text("{}")
    more = ("--out", str(tmp_path / "out")) if command == "judge" else ()
    told = ended(command, str(tmp_path / "run"), *more)
    assert told.returncode == Exit.INCONCLUSIVE
    assert "pip install 'assay-mq[spark]'" in told.stderr
    assert "Traceback" not in told.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
