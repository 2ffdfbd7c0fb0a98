"""Readable names for the rows of scenario outlines: the outline's name with the row's values in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from assay_features.cache import beside, cached, package_features
from assay_features.folder import feature_root


@cache
def titles(root: Path | None = None) -> Mapping[str, str]:
    """Return readable names for the rows of all outlines below a folder, or below this package's folder.

    Args:
        root: The folder; None for this package's folder.

    Returns:
        The readable names by id, such as ``A persistent message is there after a restart (7)`` for
        ``topic/file.feature::A <mode> message is there after a restart[persistent, 7]``. Values that the outline's name
        does not use follow in brackets.
    """
    if root is not None:
        return MappingProxyType(_titles(root))
    sources = [Path(__file__), *package_features()]
    return MappingProxyType(
        cached(dict[str, str], lambda: _titles(feature_root()), sources, beside(__file__, "titles.json"))
    )


def _titles(folder: Path) -> dict[str, str]:
    return dict(row for file in sorted(folder.rglob("*.feature")) for row in _rows(file, folder))


def _rows(file: Path, folder: Path) -> Iterator[tuple[str, str]]:
    from assay_features.gherkin import feature_in  # not needed if the cache file has the titles

    for outline in _scenarios(feature_in(file)):
        for examples in outline["examples"]:
            columns = [cell["value"] for cell in examples["tableHeader"]["cells"]] if "tableHeader" in examples else []
            for line in examples["tableBody"]:
                values = [cell["value"] for cell in line["cells"]]
                row = f"{file.relative_to(folder).as_posix()}::{outline['name']}[{', '.join(values)}]"
                yield row, _filled(outline["name"], dict(zip(columns, values, strict=True)))


def _scenarios(parent: Any) -> Iterator[Any]:
    for child in parent["children"]:
        if "scenario" in child:
            yield child["scenario"]
        elif "rule" in child:
            yield from _scenarios(child["rule"])


def _filled(name: str, row: Mapping[str, str]) -> str:
    rest = [value for column, value in row.items() if f"<{column}>" not in name]
    for column, value in row.items():
        name = name.replace(f"<{column}>", value)
    return f"{name} ({', '.join(rest)})" if rest else name
