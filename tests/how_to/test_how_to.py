"""Tests of the examples in docs/how-to: each test applies them to a copy of the packages, and compares the results."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from assay_pipeline.errors import JavaMissingError
from assay_pipeline.session.java import find_java

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).parents[2]
PAGES = sorted(page for page in (ROOT / "docs" / "how-to").glob("*.md") if page.name != "README.md")
SOURCES = ("features", "sdk", "evidence", "broker", "adapters", "steps", "pipeline", "reports", "cli")

_BEING_WRITTEN = shutil.ignore_patterns("*.pyc.*", "*.json.*")
"""Files that other processes are writing in the folders of compiled modules, under other names until they are whole."""
_PATH = {"PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))}
"""The search path on which a page's files find the command ``assay``."""
_BLOCK = re.compile(
    r"(?P<before>(?:^[ ]*\S[^\n]*\n)*)\n?^(?P<indent>[ ]*)```(?P<kind>\w+)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
"""A block of code with the paragraph before it."""
_CREATE = re.compile(r"Create `(?P<file>[^`]+)`:\s*$")
_APPEND = re.compile(r"Append to `(?P<file>[^`]+)`(?: \([^)]*\))?:\s*$")
_AFTER = re.compile(r"After `(?P<line>[^\n]+)` in\s+`(?P<file>[^`]+)`:\s*$")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Provide the copy of the packages, which the examples change.

    The copy has the compiled modules, too, because each page would otherwise compile a thousand modules again.
    """
    for name in SOURCES:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=_BEING_WRITTEN)
    return tmp_path


def test_there_are_pages() -> None:
    assert len(PAGES) >= 7


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_does_what_it_says(page: Path, copy: Path) -> None:
    if "$ assay judge" in page.read_text(encoding="utf-8"):
        _need_spark()
    ran = 0
    for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        text = dedent(block["text"]) if block["kind"] != "python" else _outdented(block["text"], block["indent"])
        if block["kind"] == "console":
            ran += _run(text, copy)
        else:
            _apply(block["before"], text, copy)
    assert ran


def _need_spark() -> None:
    """Skip without pyspark or Java; without Java, fail if ASSAY_REQUIRE names Spark."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    try:
        find_java()
    except JavaMissingError as error:
        if "spark" in os.environ.get("ASSAY_REQUIRE", ""):
            raise
        pytest.skip(str(error))


def _outdented(text: str, indent: str) -> str:
    return "".join(line.removeprefix(indent) for line in text.splitlines(keepends=True))


def _apply(before: str, text: str, copy: Path) -> None:
    """Do the action in the line above a block; a block without such a line fails, because no test would run it."""
    if created := _CREATE.search(before):
        file = copy / created["file"]
        file.parent.mkdir(parents=True, exist_ok=True)
        assert not file.exists()
        file.write_text(text, encoding="utf-8")
    elif appended := _APPEND.search(before):
        file = copy / appended["file"]
        file.write_text(f"{file.read_text(encoding='utf-8').rstrip()}\n\n\n{text}", encoding="utf-8")
    elif after := _AFTER.search(before):
        file = copy / after["file"]
        whole = file.read_text(encoding="utf-8")
        assert whole.count(f"{after['line']}\n") == 1, after["line"]
        file.write_text(whole.replace(f"{after['line']}\n", f"{after['line']}\n{text}"), encoding="utf-8")
    else:
        pytest.fail(f"no line above this block says what to do with it:\n{text}")


def _run(text: str, copy: Path) -> int:
    """Run the commands of a console block; check that a command's output contains each line below the command."""
    commands = 0
    printed = ""
    for line in text.splitlines():
        if line.startswith("$ "):
            printed = _printed(line.removeprefix("$ "), copy)
            commands += 1
        else:
            assert line in printed, f"{line!r} is not in what was printed:\n{printed}"
    return commands


def _printed(command: str, copy: Path) -> str:
    words = shlex.split(command)
    path = [str(copy / name) for name in SOURCES]
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        assert name == "PYTHONPATH"
        path.append(str(copy / value))
    if words[0] == "python":
        path.append(str(ROOT))  # the contract suite of drivers is in tests/
        words = words[2:]
    assert words[0] in {"assay", "pytest"}
    ended = subprocess.run(  # noqa: S603  the commands of this project
        [sys.executable, "-m", *words],
        cwd=copy,
        env={**os.environ, **_PATH, "PYTHONPATH": os.pathsep.join(path), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert "Traceback" not in ended.stdout + ended.stderr, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr
