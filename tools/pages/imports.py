"""The diagrams of packages in `docs/architecture.md`, drawn from the imports of the code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from pathlib import Path

import grimp

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
PACKAGES = (
    "assay_features",
    "assay_sdk",
    "assay_evidence",
    "assay_broker",
    "assay_adapters",
    "assay_steps",
    "assay_pipeline",
    "assay_reports",
    "assay",
)
_MARK = "<!-- drawn from imports: {name} -->\n"
"""The line before a diagram on the page."""
_END = "```\n"


def architecture_page() -> str:
    """Return the present page with new diagrams; people write the text between the diagrams."""
    page = PAGE.read_text(encoding="utf-8")
    page = with_picture(page, "packages", diagram(_imports(_package_of)))
    for package in ("assay_broker", "assay_steps"):
        page = with_picture(page, package, diagram(_imports(partial(part_of, package))))
    return page


def part_of(package: str, module: str) -> str:
    """Return the folder or module of a package that contains a module.

    The result is empty for the package itself, and for modules of other packages.
    """
    names = module.split(".")
    return names[1] if names[0] == package and len(names) > 1 else ""


def diagram(imports: Mapping[str, set[str]]) -> str:
    """Return a Mermaid flow chart of the imports, without those that `reduced` leaves out.

    Args:
        imports: The parts that each part imports, without cycles.
    """
    arrows = sorted((part, other) for part, others in reduced(imports).items() for other in others)
    alone = sorted(set(imports).difference(*arrows))
    lines = [*(f"    {part} --> {other}" for part, other in arrows), *(f"    {part}" for part in alone)]
    return "\n".join(["```mermaid", "flowchart TD", *lines, "```"]) + "\n"


def reduced(imports: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Leave out each import that follows from others: A to C, if A imports B, and B imports C itself or through others.

    Args:
        imports: The parts that each part imports, without cycles.
    """

    @cache
    def below(part: str) -> frozenset[str]:
        direct = imports.get(part, set())
        return frozenset(direct).union(*(below(other) for other in direct))

    return {
        part: {one for one in others if not any(one in below(other) for other in others)}
        for part, others in imports.items()
    }


def with_picture(page: str, name: str, picture: str) -> str:
    """Replace the named diagram of a page.

    Args:
        page: The page.
        name: The diagram's name.
        picture: The new diagram, a Mermaid block.

    Raises:
        ValueError: The page lacks the mark, or no block follows the mark.
    """
    before, mark, after = page.partition(_MARK.format(name=name))
    old, end, rest = after.partition(_END + "\n")
    if not mark or not end or not old.startswith("```mermaid\n"):
        raise ValueError(f"{PAGE.name} has no picture with the mark {name}")
    return f"{before}{mark}{picture}\n{rest}"


def _package_of(module: str) -> str:
    return module.partition(".")[0]


def _imports(part: Callable[[str], str]) -> dict[str, set[str]]:
    """Return the other parts that each part imports.

    Args:
        part: Returns the name of the part that contains a module; an empty name leaves the module out.
    """
    imports: dict[str, set[str]] = {}
    for module, imported in _modules():
        if here := part(module):
            imports.setdefault(here, set()).update(there for other in imported if (there := part(other)))
    return {here: others - {here} for here, others in imports.items()}


@cache
def _modules() -> tuple[tuple[str, frozenset[str]], ...]:
    """Return every module of the distribution with the modules that it imports, also those only for type checking."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    found: Iterable[str] = sorted(graph.modules)
    return tuple((module, frozenset(graph.find_modules_directly_imported_by(module))) for module in found)
