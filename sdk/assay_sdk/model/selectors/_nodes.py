"""What a selector says, as values: one struct for each construct (Jakarta Messaging 3.1, 3.8.1.1).

Brackets leave no trace.  Chains of AND, OR, sums and products are flat, so that the height of a tree is bounded by the
depth that the parser allows, not by the length of the text.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar, assert_never

from msgspec import Struct

R = TypeVar("R")


class Relation(StrEnum):
    """Comparison operators."""

    EQUAL = "="
    UNEQUAL = "<>"
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="


class Operation(StrEnum):
    """Arithmetic operators."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"


class Literal(Struct, frozen=True, tag=True):
    """A number within the range of a long or double, a string, or a truth value."""

    value: bool | int | float | str


class Identifier(Struct, frozen=True, tag=True):
    """A header field or property, by its name (case counts)."""

    name: str


class Minus(Struct, frozen=True, tag=True):
    """A changed sign."""

    of: Node


class Plus(Struct, frozen=True, tag=True):
    """A sign that changes nothing, but asks for a number."""

    of: Node


class Chain(Struct, frozen=True, tag=True):
    """A sum or a product, worked off from the left.

    Args:
        first: The first operand.
        rest: Each further operand behind its operator; all of one rank.
    """

    first: Node
    rest: tuple[tuple[Operation, Node], ...]


class Comparison(Struct, frozen=True, tag=True):
    """Two values in a relation."""

    relation: Relation
    left: Node
    right: Node


class Between(Struct, frozen=True, tag=True):
    """``of [NOT] BETWEEN low AND high``, both ends included."""

    of: Node
    low: Node
    high: Node
    negated: bool = False


class Within(Struct, frozen=True, tag=True):
    """``name [NOT] IN (choices)``."""

    name: str
    choices: tuple[str, ...]
    negated: bool = False


class Like(Struct, frozen=True, tag=True):
    """``name [NOT] LIKE pattern [ESCAPE escape]``."""

    name: str
    pattern: str
    escape: str | None = None
    negated: bool = False


class IsNull(Struct, frozen=True, tag=True):
    """``name IS [NOT] NULL``."""

    name: str
    negated: bool = False


class Not(Struct, frozen=True, tag=True):
    """The opposite; of unknown, unknown."""

    of: Node


class AllOf(Struct, frozen=True, tag=True):
    """Conditions joined by AND."""

    conditions: tuple[Node, ...]


class AnyOf(Struct, frozen=True, tag=True):
    """Conditions joined by OR."""

    conditions: tuple[Node, ...]


Node = Literal | Identifier | Minus | Plus | Chain | Comparison | Between | Within | Like | IsNull | Not | AllOf | AnyOf


def operands(node: Node) -> tuple[Node, ...]:
    """The nodes directly below one."""
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
    """Make something of a tree from its leaves up, on a list and not on Python's stack.

    Args:
        root: The tree.
        make: Given a node and what was made of its operands, in their order.
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
