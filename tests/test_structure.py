"""Tests of the code's structure: no import cycles, no crowded folder, no long module, no unread constant."""

from __future__ import annotations

import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest
from tests.cli.conftest import environment
from tools.pages.imports import PACKAGES

MOST_MODULES = 16
"""The largest number of modules in a folder, without its ``__init__``."""
MOST_LINES = 480
"""The largest number of lines in a module; the aim is 400."""
ROOT = Path(__file__).parents[1]
CONSTANT = re.compile(r"^(_?[A-Z][A-Z0-9_]*)(?:: [^=\n]+)? = (?!Invariant\()", re.MULTILINE)
"""The declaration of a constant; a package finds its invariants by their type."""
IMPORT = re.compile(r"^ *from ([\w.]+) import (\([^)]*\)|.*)", re.MULTILINE)
ATTRIBUTE = re.compile(r"\w\.(_?[A-Z][A-Z0-9_]*)\b")
ENTRY_POINT = re.compile(r"[:\"](_?[A-Z][A-Z0-9_]*)\"")
LONG_STRING = re.compile(r'^(?: *"""(?=[^\s),])|[\w: ]+ = """)(?s:.*?)"""', re.MULTILINE)
"""A docstring, or the value of a constant; a name in it is not a reading."""
TOPS = (
    *(top.parent for name in PACKAGES for top in ROOT.glob(f"*/{name}/__init__.py")),
    ROOT / "tests",
    ROOT / "tools",
)


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """Return the imports of each module, type-checking imports included."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    return {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}


def test_no_module_needs_itself(imports: dict[str, set[str]]) -> None:
    sorter = TopologicalSorter(imports)
    try:
        sorter.prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")


def test_imports_for_types_alone_count(imports: dict[str, set[str]]) -> None:
    assert "assay_broker.http.requests.request" in imports["assay_broker.server.parts"]  # under TYPE_CHECKING


def test_no_folder_is_a_heap() -> None:
    crowded = {}
    for folder in {path.parent for top in TOPS for path in top.rglob("*.py")}:
        modules = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
        if len(modules) > MOST_MODULES:
            crowded[folder.relative_to(ROOT).as_posix()] = len(modules)
    assert crowded == {}


def test_no_module_is_long() -> None:
    long = {
        path.relative_to(ROOT).as_posix(): lines
        for top in TOPS
        for path in top.rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES
    }
    assert long == {}


def unread(modules: dict[str, str], elsewhere: str = "") -> set[str]:
    """Return the constants that no module reads.

    Args:
        modules: The text of each module, by the module's name.
        elsewhere: Another text that may name constants of entry points.
    """
    codes = {name: LONG_STRING.sub("", text) for name, text in modules.items()}
    read = set(ENTRY_POINT.findall(elsewhere))
    for code in codes.values():
        read.update(ATTRIBUTE.findall(code), ENTRY_POINT.findall(code))
        read.update(f"{source}.{name}" for source, names in IMPORT.findall(code) for name in re.findall(r"\w+", names))
    return {
        f"{name}.{constant}"
        for name, code in codes.items()
        for constant in CONSTANT.findall(code)
        if read.isdisjoint({constant, f"{name}.{constant}"}) and not re.search(rf"(?m)(?<!^)\b{constant}\b", code)
    }


def test_an_unread_constant_is_found() -> None:
    modules = {
        "a": 'A = 1\nB: int = 2\nC = 3\n"""Not `C` alone."""\n_E, F = 4, 5\nG = Invariant()\nH = 6\nI = A\nJ = "I"\n',
        "b": "from a import (\n    B,\n)\nA = 'x:H'\nE = \"x:H\"\n_F = E\n",
    }
    assert unread(modules, 'entry = "a:J"') == {"a.C", "b.A", "b._F"}


def test_every_constant_is_read() -> None:
    sources = (*((top.parent, top) for top in TOPS), (ROOT / "bench", ROOT / "bench"))
    modules = {
        ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__"): path.read_text("utf-8")
        for base, top in sources
        for path in top.rglob("*.py")
    }
    assert unread(modules, (ROOT / "pyproject.toml").read_text("utf-8")) == set()


def test_a_server_loads_no_defects() -> None:
    code = "import sys, assay_broker.server.server; sys.exit('assay_broker.defects' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=environment(), check=False).returncode == 0  # noqa: S603  this Python
