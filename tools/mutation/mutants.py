"""The mutants of a module, in memory: each mutant changes one node of one function's syntax tree."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import CodeType

import libcst as cst
import libcst.matchers as m
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider
from msgspec import Struct

from tools.mutation.operators import changes

SHOWN = 160
"""The largest number of characters of a statement that a `Key` contains."""
_UNTOUCHED_FUNCTIONS = frozenset({"__repr__", "__str__"})
"""Functions without mutants, because they return texts for people only."""
_UNTOUCHED_CALLS = frozenset({"isinstance", "cast", "len"})
"""Calls without mutants: without an argument they raise an exception. mutmut excludes `isinstance` and `len`, too."""


class Key(Struct, frozen=True, order=True):
    """The name of a mutant; it has no line numbers, so it stays valid when lines move.

    Args:
        module: The module's name.
        function: The function's qualified name.
        operator: The operator's name.
        was: The statement before the change, in one line; of most compound statements the head only, and of a long
            statement the part with the change.
        becomes: The statement after the change, in the same form.
        nth: The position of this mutant among the function's mutants with the same text, from 1.
    """

    module: str
    function: str
    operator: str
    was: str
    becomes: str
    nth: int = 1

    def __str__(self) -> str:
        """Return the name as one line of text."""
        again = f" (no. {self.nth})" if self.nth > 1 else ""
        return f"{self.module}: {self.function}: {self.was} -> {self.becomes}{again}"


class Mutant(Struct, frozen=True, eq=False):
    """A change of a module's text.

    Args:
        key: The mutant's name.
        first: The first line of the changed statement.
        last: The last line of the changed statement, or of its head if the statement is compound.
        body: The first and last line of the changed function; if functions are nested, of the outermost one.
        node: The replaced node.
        changed: The new node.
    """

    key: Key
    first: int
    last: int
    body: tuple[int, int]
    node: cst.CSTNode
    changed: cst.CSTNode


class Applied(Struct, frozen=True, eq=False):
    """The text and the code of a mutant.

    Args:
        text: The mutated module's source text.
        codes: The changed code objects, by qualified name and first line of their function.
    """

    text: str
    codes: Mapping[tuple[str, int], CodeType]


class Module:
    """A module under test.

    Args:
        name: The module's name.
        path: The module's file.
    """

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        self.text = path.read_text(encoding="utf-8")

    @cached_property
    def _wrapper(self) -> MetadataWrapper:
        return MetadataWrapper(cst.parse_module(self.text))

    @cached_property
    def mutants(self) -> tuple[Mutant, ...]:
        """All mutants of the module, in the order of the text."""
        visitor = _Visitor(self._wrapper.module, self._wrapper.resolve(PositionProvider))
        self._wrapper.module.visit(visitor)
        seen: Counter[tuple[str, ...]] = Counter()
        mutants: list[Mutant] = []
        for function, whole, operator, head, node, changed in visitor.found:
            was, becomes = visitor.shown(head, node, changed)
            if was == becomes:
                continue
            like = (function, operator, was, becomes)
            seen[like] += 1
            key = Key(self.name, function, operator, was, becomes, seen[like])
            mutants.append(Mutant(key, *visitor.head(head), visitor.lines(whole), node, changed))
        return tuple(mutants)

    def apply(self, mutant: Mutant) -> Applied | None:
        """Compile a mutant.

        Returns:
            The mutant's text and code.  None if the text does not compile, if it compiles to the same code, or if the
            change affects more than the code of existing functions, such as a function's free variables.
        """
        changed = self._wrapper.module.deep_replace(mutant.node, mutant.changed)
        text = changed.code if isinstance(changed, cst.Module) else self.text
        try:
            new = _codes(compile(text, str(self.path), "exec"))
        except SyntaxError:
            return None
        differing = {}
        for place, code in new.items():
            old = self._codes.get(place)
            if old is None:
                return None
            if not _alike(old, code):
                if old.co_freevars != code.co_freevars:
                    return None
                differing[place] = code
        return Applied(text, differing) if differing else None

    @cached_property
    def _codes(self) -> dict[tuple[str, int], CodeType]:
        return _codes(compile(self.text, str(self.path), "exec"))


def _codes(code: CodeType) -> dict[tuple[str, int], CodeType]:
    """Return the code objects of a module's functions and methods, without functions inside functions."""
    found: dict[tuple[str, int], CodeType] = {}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if inner.co_flags & inspect.CO_OPTIMIZED:
                found[inner.co_qualname, inner.co_firstlineno] = inner
            else:  # the body of a class
                found |= _codes(inner)
    return found


def _replaced(statement: cst.CSTNode, node: cst.CSTNode, changed: cst.CSTNode) -> cst.CSTNode:
    """Return a statement with one node replaced."""
    replaced = statement.deep_replace(node, changed)
    assert not isinstance(replaced, cst.RemovalSentinel)  # noqa: S101 - never a sentinel here
    return replaced


def _alike(one: CodeType, other: CodeType) -> bool:
    """Return whether two code objects are equal, apart from line numbers."""
    if one.co_code != other.co_code or one.co_names != other.co_names or one.co_varnames != other.co_varnames:
        return False
    if len(one.co_consts) != len(other.co_consts) or one.co_exceptiontable != other.co_exceptiontable:
        return False
    return all(
        _alike(a, b) if isinstance(a, CodeType) and isinstance(b, CodeType) else (type(a), a) == (type(b), b)
        for a, b in zip(one.co_consts, other.co_consts, strict=True)
    )


class _Visitor(cst.CSTVisitor):
    """A visitor of a module's syntax tree that collects every change that an operator can make."""

    def __init__(self, module: cst.Module, places: Mapping[cst.CSTNode, CodeRange]) -> None:
        super().__init__()
        self._module = module
        self._places = places
        self._path: list[str] = []
        self._statements: list[cst.CSTNode] = []
        self._functions: list[cst.FunctionDef] = []
        """The functions that contain the present node, from the outermost."""
        self.found: list[tuple[str, cst.CSTNode, str, cst.CSTNode, cst.CSTNode, cst.CSTNode]] = []
        """The changes found: the function's name, the node of the outermost function, the operator, the statement, the
        replaced node, and the new node."""

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Annotation | cst.Decorator | cst.Param | cst.Assert):
            return False
        if isinstance(node, cst.ClassDef | cst.FunctionDef):
            if node.name.value in _UNTOUCHED_FUNCTIONS:
                return False
            self._path.append(node.name.value)
            if isinstance(node, cst.FunctionDef):
                self._functions.append(node)
        if isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement):
            self._statements.append(node)
        if not self._functions:
            return True
        if (
            isinstance(node, cst.Call)
            and m.matches(node.func, m.Name())
            and cst.ensure_type(node.func, cst.Name).value in _UNTOUCHED_CALLS
        ):
            return False
        for operator, changed in changes(node):
            if self._is_first_value(operator, node):
                continue
            self.found.append((".".join(self._path), self._functions[0], operator, self._statements[-1], node, changed))
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if (
            isinstance(original_node, cst.ClassDef | cst.FunctionDef)
            and original_node.name.value not in _UNTOUCHED_FUNCTIONS
        ):
            self._path.pop()
            if isinstance(original_node, cst.FunctionDef):
                self._functions.pop()
        if self._statements and self._statements[-1] is original_node:
            self._statements.pop()

    def _is_first_value(self, operator: str, node: cst.CSTNode) -> bool:
        """Return whether a dropped statement is an assignment in `__init__`.

        Without the assignment, each later use of the attribute would raise an exception.
        """
        return (
            operator == "statement"
            and isinstance(node, cst.Assign | cst.AnnAssign)
            and self._functions[-1].name.value == "__init__"
        )

    def lines(self, node: cst.CSTNode) -> tuple[int, int]:
        place = self._places.get(node)
        return (place.start.line, place.end.line) if place is not None else (0, 0)

    def head(self, statement: cst.CSTNode) -> tuple[int, int]:
        """Return the first and last line of a statement, or of its head if the statement is compound."""
        first, last = self.lines(statement)
        body = getattr(statement, "body", None)
        if isinstance(statement, cst.BaseCompoundStatement) and isinstance(body, cst.CSTNode):
            last = max(first, self.lines(body)[0] - 1)
        if isinstance(statement, cst.Match):
            last = first
        return first, last

    def shown(self, statement: cst.CSTNode, node: cst.CSTNode, changed: cst.CSTNode) -> tuple[str, str]:
        """Return a statement before and after a change, each in one line; for long lines, the part with the change."""
        old = self._text(statement)
        new = self._text(changed if statement is node else _replaced(statement, node, changed))
        if len(old) <= SHOWN and len(new) <= SHOWN:
            return old, new
        same = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
        start = max(0, same - SHOWN // 2)
        return old[start : start + SHOWN], new[start : start + SHOWN]

    def _text(self, statement: cst.CSTNode) -> str:
        if isinstance(statement, cst.FunctionDef | cst.ClassDef):
            statement = statement.with_changes(body=cst.IndentedBlock([]), leading_lines=[], decorators=[])
        elif isinstance(statement, cst.If):
            statement = statement.with_changes(body=cst.IndentedBlock([]), orelse=None, leading_lines=[])
        elif isinstance(statement, cst.For | cst.While | cst.With):
            statement = statement.with_changes(body=cst.IndentedBlock([]), leading_lines=[])
        elif isinstance(statement, cst.SimpleStatementLine):
            statement = statement.with_changes(leading_lines=[])
        return " ".join(self._module.code_for_node(statement).split()).removesuffix(" pass")
