"""The mutants of a module: each is one changed node in one function, applied to the source text in memory."""

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
"""Characters of a statement that a key holds."""
_UNTOUCHED_FUNCTIONS = frozenset({"__repr__", "__str__"})
"""They make texts for people."""
_UNTOUCHED_CALLS = frozenset({"isinstance", "cast", "len"})
"""As mutmut, which leaves `len` and `isinstance` alone: without their arguments they raise."""


class Key(Struct, frozen=True, order=True):
    """The name of a mutant, which stays when lines move.

    Args:
        module: The module.
        function: The function, with its classes.
        operator: The operator's name.
        was: The first line of the statement, as it is.
        becomes: The same, as the mutant has it.
        nth: Which one, if the function has several like it; 1 is the first.
    """

    module: str
    function: str
    operator: str
    was: str
    becomes: str
    nth: int = 1

    def __str__(self) -> str:
        """One line for a person."""
        again = f" (no. {self.nth})" if self.nth > 1 else ""
        return f"{self.module}: {self.function}: {self.was} -> {self.becomes}{again}"


class Mutant(Struct, frozen=True, eq=False):
    """A change of a module's text.

    Args:
        key: Its name.
        first: The first line of its statement.
        last: The last line of its statement; of a compound one, of its head.
        body: The first and last line of its function.
        node: The node that is replaced.
        changed: What replaces it.
    """

    key: Key
    first: int
    last: int
    body: tuple[int, int]
    node: cst.CSTNode
    changed: cst.CSTNode


class Applied(Struct, frozen=True, eq=False):
    """A mutant's code.

    Args:
        text: The module's text.
        codes: Changed code objects, by qualified name and first line of the function.
    """

    text: str
    codes: Mapping[tuple[str, int], CodeType]


class Module:
    """A module under test.

    Args:
        name: Its name.
        path: Its file.
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
        """All mutants, in the order of the text."""
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
        """Make the mutant's code; None if it is no program, or the same program.

        A function keeps its names from enclosing functions (free variables), because only its code is replaced.
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
    """The code objects of functions that live as long as the module: not of functions inside functions."""
    found: dict[tuple[str, int], CodeType] = {}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if inner.co_flags & inspect.CO_OPTIMIZED:
                found[inner.co_qualname, inner.co_firstlineno] = inner
            else:  # a class
                found |= _codes(inner)
    return found


def _replaced(statement: cst.CSTNode, node: cst.CSTNode, changed: cst.CSTNode) -> cst.CSTNode:
    """The statement with one node replaced."""
    replaced = statement.deep_replace(node, changed)
    assert not isinstance(replaced, cst.RemovalSentinel)  # noqa: S101 - libcst's way to say that it never is here
    return replaced


def _alike(one: CodeType, other: CodeType) -> bool:
    """Whether two code objects are the same program, whatever their lines are."""
    if one.co_code != other.co_code or one.co_names != other.co_names or one.co_varnames != other.co_varnames:
        return False
    if len(one.co_consts) != len(other.co_consts) or one.co_exceptiontable != other.co_exceptiontable:
        return False
    return all(
        _alike(a, b) if isinstance(a, CodeType) and isinstance(b, CodeType) else (type(a), a) == (type(b), b)
        for a, b in zip(one.co_consts, other.co_consts, strict=True)
    )


class _Visitor(cst.CSTVisitor):
    """Finds every change of every node of a function's body."""

    def __init__(self, module: cst.Module, places: Mapping[cst.CSTNode, CodeRange]) -> None:
        super().__init__()
        self._module = module
        self._places = places
        self._path: list[str] = []
        self._statements: list[cst.CSTNode] = []
        self._functions: list[cst.FunctionDef] = []
        """The functions that hold the present node, from the outermost."""
        self.found: list[tuple[str, cst.CSTNode, str, cst.CSTNode, cst.CSTNode, cst.CSTNode]] = []
        """Function with its node, operator, statement, node, and what replaces it."""

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
        """Whether an attribute gets its first value here: without it, each use raises."""
        return (
            operator == "statement"
            and isinstance(node, cst.Assign | cst.AnnAssign)
            and self._functions[-1].name.value == "__init__"
        )

    def lines(self, node: cst.CSTNode) -> tuple[int, int]:
        place = self._places.get(node)
        return (place.start.line, place.end.line) if place is not None else (0, 0)

    def head(self, statement: cst.CSTNode) -> tuple[int, int]:
        """The lines of a statement; of a compound one those before its body."""
        first, last = self.lines(statement)
        body = getattr(statement, "body", None)
        if isinstance(statement, cst.BaseCompoundStatement) and isinstance(body, cst.CSTNode):
            last = max(first, self.lines(body)[0] - 1)
        if isinstance(statement, cst.Match):
            last = first
        return first, last

    def shown(self, statement: cst.CSTNode, node: cst.CSTNode, changed: cst.CSTNode) -> tuple[str, str]:
        """The first line of the statement before and after, from where they differ if it is long."""
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
