"""Tests of the code's structure: no import cycles, no folder with too many modules, no long module."""

from __future__ import annotations

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


def test_a_server_loads_no_defects() -> None:
    code = "import sys, assay_broker.server.server; sys.exit('assay_broker.defects' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=environment(), check=False).returncode == 0  # noqa: S603  this Python
