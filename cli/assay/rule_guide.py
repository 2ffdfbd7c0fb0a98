"""The guide to a rule: its scenarios, the code that enforces it, the defects that break it, and its invariant.

The module finds them in the installed sources: scenarios by their tags, code by the rule's id in a comment or a
docstring, defects and invariants by the rule that they name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from assay_features import feature_root
from assay_features.rule import Rule
from assay_steps.defects import all_defects
from assay_steps.plugin.checks import TaggedScenario, tagged_scenarios

ENFORCING = ("assay_broker", "assay_sdk")
"""The packages that enforce rules: the reference broker and the client."""
BREAKING = ("assay_broker.defects", "assay_steps.defects")
"""The packages of defects, which break rules."""
EXAMINING = "assay_pipeline.rules"
"""The package of invariants."""


_RULES = re.compile(r"\b(DD|PD|QS|BT)-(\d\d)(?: to \1-(\d\d))?")


class Code(Struct, frozen=True, order=True):
    """A function, class or module that names a rule.

    Args:
        file: The module's file, relative to the folder that holds its package.
        name: The function or class, with its enclosing class; empty for the module itself.
    """

    file: str
    name: str = ""


class Proof(Struct, frozen=True):
    """A defect that breaks the rule.

    Args:
        name: The defect's name.
        text: One sentence that says what the defect does wrong.
        file: The module that defines the defect.
    """

    name: str
    text: str
    file: str


class Examined(Struct, frozen=True):
    """The invariant of a rule.

    Args:
        text: One sentence that says what must hold.
        file: The module that defines the invariant.
    """

    text: str
    file: str


class Guide(Struct, frozen=True):
    """The parts of the kit that concern a rule.

    Args:
        rule: The rule.
        scenarios: The scenarios that test the rule, sorted by feature file and line.
        code: The functions, classes and modules that name the rule; they include the code that enforces it.
        defects: The defects that break it.
        invariant: The rule's invariant; None for a rule without an invariant.
    """

    rule: Rule
    scenarios: tuple[TaggedScenario, ...]
    code: tuple[Code, ...]
    defects: tuple[Proof, ...]
    invariant: Examined | None


def guide_to(rule: Rule) -> Guide:
    """Make the guide to a rule.

    Args:
        rule: A rule of the catalogue.
    """
    return Guide(
        rule=rule,
        scenarios=tuple(one for one in _scenarios() if rule.id in one.tags),
        code=tuple(sorted(code for code, named in _code() if rule.id in named)),
        defects=tuple(
            Proof(defect.name, defect.text, _defining_file(defect.name))
            for defect in all_defects().values()
            if rule.id in defect.rules
        ),
        invariant=_invariants().get(rule.id),
    )


@cache
def _scenarios() -> tuple[TaggedScenario, ...]:
    return tuple(one for path in sorted(feature_root().rglob("*.feature")) for one in tagged_scenarios(path))


@cache
def _code() -> tuple[tuple[Code, frozenset[str]], ...]:
    """Return each function, class and module of the enforcing packages that names rules, with the rules' ids."""
    return tuple(
        (code, named)
        for package in ENFORCING
        for file, text in _sources(package)
        if not file.startswith(tuple(name.replace(".", "/") for name in BREAKING))
        for code, piece in _pieces(file, text)
        if (named := _named(piece))
    )


def _named(text: str) -> frozenset[str]:
    """Return the ids of the rules that a text names; a range such as `DD-02 to DD-05` names all rules in it."""
    return frozenset(
        f"{family}-{number:02}"
        for family, first, last in _RULES.findall(text)
        for number in range(int(first), int(last or first) + 1)
    )


def _pieces(file: str, text: str) -> Iterator[tuple[Code, str]]:
    lines = text.splitlines()
    inside: set[int] = set()
    for name, first, last in _functions(ast.parse(text).body, ""):
        numbers = set(range(first, last + 1)) - inside
        inside |= numbers
        yield Code(file, name), "\n".join(lines[number - 1] for number in sorted(numbers))
    yield Code(file), "\n".join(line for number, line in enumerate(lines, 1) if number not in inside)


def _functions(nodes: Sequence[ast.stmt], within: str) -> Iterator[tuple[str, int, int]]:
    """List functions and classes with their first and last lines; the members of a class come before the class."""
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            name = f"{within}{node.name}"
            yield from _functions(node.body, f"{name}.")
            yield name, node.lineno, node.end_lineno or node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{within}{node.name}", node.lineno, node.end_lineno or node.lineno


@cache
def _defining_file(defect: str) -> str:
    quoted = f'"{defect}"'
    for package in BREAKING:
        for file, text in _sources(package):
            if quoted in text:
                return file
    raise LookupError(f"no module defines the defect {defect}")


@cache
def _invariants() -> dict[str, Examined]:
    """Find the invariants, by rule id.  Their modules are parsed, not imported, because the import needs Spark."""
    found: dict[str, Examined] = {}
    for file, text in _sources(EXAMINING):
        for node in ast.parse(text).body:
            match node:
                case ast.Assign(value=ast.Call(func=ast.Name(id="Invariant"), keywords=keywords)):
                    fields = {word.arg: word.value.value for word in keywords if isinstance(word.value, ast.Constant)}
                    found[str(fields["rule"])] = Examined(str(fields["text"]), file)
                case _:
                    pass
    return found


@cache
def _sources(package: str) -> tuple[tuple[str, str], ...]:
    """Return the path and the text of each module of a package; paths begin with the name of the top package."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return ()
    root = Path(spec.submodule_search_locations[0])
    above = root.parents[package.count(".")]
    return tuple(
        (path.relative_to(above).as_posix(), path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.py"))
    )
