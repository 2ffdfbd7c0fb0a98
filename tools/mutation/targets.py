"""The modules that enforce rules, by package: the code that mutants change.

Modules without a rule of the four documents are left out: administrators' commands and displays, the parsing of
selectors, the conversion of bodies, the connection between client and broker in one process, and the store's file
formats and damage.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parents[2]
_CORE = "broker/assay_broker/core"
_ENGINE = "sdk/assay_sdk/engine"


class Package(Struct, frozen=True):
    """A part of the code with a score of its own.

    Args:
        name: The package's name in tables.
        paths: The package's folders and modules, relative to the project's folder.
        store: The store of the reference broker with which the package's scenarios run.
    """

    name: str
    paths: tuple[str, ...]
    store: str = "memory"


PACKAGES = (
    Package(
        "core",
        (
            *(f"{_CORE}/{name}" for name in ("clients", "delay", "messages", "networks", "queues", "states", "topics")),
            *(f"{_CORE}/{name}.py" for name in ("core", "handlers", "recovery", "schedule", "settings", "turn")),
            *(f"{_CORE}/administration/{name}.py" for name in ("authority", "authority_checks", "native")),
            f"{_CORE}/objects/factory.py",
        ),
    ),
    Package(
        "log", tuple(f"broker/assay_broker/{name}.py" for name in ("shell", "effect_executor", "log", "stores/memory"))
    ),
    Package(
        "store",
        tuple(f"broker/assay_broker/stores/{name}.py" for name in ("sqlite", "tables", "slots", "chunks")),
        store="sqlite",
    ),
    Package(
        "engine",
        (
            *(f"{_ENGINE}/{name}.py" for name in ("calls", "checks", "connection", "identity", "operations")),
            *(f"{_ENGINE}/{name}.py" for name in ("settings", "states", "temporaries")),
            f"{_ENGINE}/sessions",
        ),
    ),
    Package(
        "listener", (f"{_ENGINE}/deliveries", f"{_ENGINE}/sessions/consumer.py", f"{_ENGINE}/sessions/dispatch.py")
    ),
    Package("light", (f"{_ENGINE}/light", "sdk/assay_sdk/faces/mqlight")),
    Package(
        "faces",
        (
            *(
                f"sdk/assay_sdk/faces/{name}.py"
                for name in ("classic", "consumer", "message", "producer", "session", "xa")
            ),
            "sdk/assay_sdk/faces/simplified",
        ),
    ),
)
"""The packages with scores.  `log` holds back answers until their records are on disk; `store` writes the records."""


def modules_of(package: Package) -> Iterator[tuple[str, Path]]:
    """Yield the module name and the file of each module under a package's paths.

    A file that is itself a path of another package is left out.
    """
    others = {ROOT / path for other in PACKAGES if other is not package for path in other.paths}
    for place in package.paths:
        path = ROOT / place
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            if file == path or file not in others:
                yield module_name(file), file


def module_name(file: Path) -> str:
    """Return the module name under which a file of the project is imported."""
    parts = file.relative_to(ROOT).with_suffix("").parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
