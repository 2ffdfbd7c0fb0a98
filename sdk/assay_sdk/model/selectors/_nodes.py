"""The nodes of a selector's tree, with a class for each construct (Jakarta Messaging 3.1, 3.8.1.1).

Parentheses have no node.  All operands of a sequence of ANDs, ORs, sums or products are in one node.  The height of a
tree therefore depends on the parser's limit on depth, and not on the length of the text.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar, assert_never

from msgspec import Struct

R = TypeVar("R")


class Relation(StrEnum):
    """Comparison operator."""

    EQUAL = "="
    UNEQUAL = "<>"
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="


class Operation(StrEnum):
    """Arithmetic operator."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"


class Literal(Struct, frozen=True, tag=True):
    """A literal: a number within the range of a long or double, a string, or a boolean."""

    value: bool | int | float | str


class Identifier(Struct, frozen=True, tag=True):
    """The name of a header field or property; capital and small letters differ."""

    name: str


class Minus(Struct, frozen=True, tag=True):
    """A negated number."""

    of: Node


class Plus(Struct, frozen=True, tag=True):
    """A unary plus, which requires a number and changes nothing."""

    of: Node


class Chain(Struct, frozen=True, tag=True):
    """A sum or a product, evaluated from the left.

    Args:
        first: The first operand.
        rest: Each further operand with its operator; all operators have one precedence.
    """

    first: Node
    rest: tuple[tuple[Operation, Node], ...]


class Comparison(Struct, frozen=True, tag=True):
    """A comparison of two values."""

    relation: Relation
    left: Node
    right: Node


class Between(Struct, frozen=True, tag=True):
    """The test whether `of` is between `low` and `high`, both included: ``BETWEEN``, or ``NOT BETWEEN`` if negated."""

    of: Node
    low: Node
    high: Node
    negated: bool = False


class Within(Struct, frozen=True, tag=True):
    """The test ``name [NOT] IN (choices)``."""

    name: str
    choices: tuple[str, ...]
    negated: bool = False


class Like(Struct, frozen=True, tag=True):
    """The test ``name [NOT] LIKE pattern [ESCAPE escape]``."""

    name: str
    pattern: str
    escape: str | None = None
    negated: bool = False


class IsNull(Struct, frozen=True, tag=True):
    """The test ``name IS [NOT] NULL``."""

    name: str
    negated: bool = False


class Not(Struct, frozen=True, tag=True):
    """A negated condition; the negation of unknown is unknown."""

    of: Node


class AllOf(Struct, frozen=True, tag=True):
    """Conditions joined by AND."""

    conditions: tuple[Node, ...]


class AnyOf(Struct, frozen=True, tag=True):
    """Conditions joined by OR."""

    conditions: tuple[Node, ...]


Node = Literal | Identifier | Minus | Plus | Chain | Comparison | Between | Within | Like | IsNull | Not | AllOf | AnyOf


def operands(node: Node) -> tuple[Node, ...]:
    """Return the operands of a node, which are the nodes directly below it."""
    match node:
        case AnyOf() | AllOf():
            return node.conditions
        case Not() | Minus() | Plus():
            return (node.of,)
        case Comparison():
            return (node.left, node.right)
        case Between():
            return (node.of, node.low, node.high)
        case Chain():
            return (node.first, *(operand for _, operand in node.rest))
        case Literal() | Identifier() | Within() | Like() | IsNull():
            return ()
        case _:
            assert_never(node)


def fold(root: Node, make: Callable[[Node, tuple[R, ...]], R]) -> R:
    """Compute a value from a tree, leaves first; a list of nodes is used instead of recursion.

    Args:
        root: The tree.
        make: Returns the value of a node; called with the node and the values of its operands, in their order.

    Returns:
        The value of the root.
    """
    made: list[R] = []
    ahead: list[tuple[Node, bool]] = [(root, False)]
    while ahead:
        node, below_made = ahead.pop()
        below = operands(node)
        if below and not below_made:
            ahead.append((node, True))
            ahead.extend((operand, False) for operand in reversed(below))
            continue
        start = len(made) - len(below)
        made[start:] = [make(node, tuple(made[start:]))]
    return made[0]
