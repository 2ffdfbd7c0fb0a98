"""Evaluation of selectors: a tree is converted once to nested functions, which then run for every message.

NULL and UNKNOWN are both None, so a condition returns True, False or None (Jakarta Messaging 3.1, 3.8.1.2).  Where the
specification leaves a choice, this module decides:

* Integers are longs and overflow as in Java.  An integer that is combined with a double is first converted to a double.
* An integer divided by zero is NULL.  A double divided by zero is infinite or NaN, as in Java.
* In arithmetic, a string or a boolean counts as NULL.
* A comparison of values of different types (number, string, boolean) is false with every operator, even with ``<>``
  (Jakarta Messaging 3.1, 3.8.1.1).  BETWEEN and NOT BETWEEN, which are defined by comparisons, are then false, too.
* IN, NOT IN, LIKE and NOT LIKE, which apply to strings only, are false if the value is a number or a boolean.
* Where a condition is required, a number or a string is false.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import assert_never, cast

from assay_sdk.model.message import Message, Property
from assay_sdk.model.selectors import _nodes as nodes
from assay_sdk.model.selectors._literals import wrapped
from assay_sdk.model.selectors._nodes import Operation, Relation
from assay_sdk.model.selectors._values import Read, reader

Number = int | float
Truth = bool | None
Condition = Callable[[Message], Truth]

_RELATIONS: dict[Relation, Callable[[Number, Number], bool]] = {
    Relation.EQUAL: operator.eq,
    Relation.UNEQUAL: operator.ne,
    Relation.LESS: operator.lt,
    Relation.LESS_EQUAL: operator.le,
    Relation.GREATER: operator.gt,
    Relation.GREATER_EQUAL: operator.ge,
}


def condition(tree: nodes.Node) -> Condition:
    """Return the function that evaluates a selector for a message; its calls nest as deep as the tree."""
    return _truth(tree, nodes.fold(tree, _read))


def _read(  # noqa: C901, PLR0911, PLR0912 - a table: one line for each construct
    node: nodes.Node, below: tuple[Read, ...]
) -> Read:
    """Return the function that computes a node's value for a message; None stands for NULL and UNKNOWN.

    Args:
        node: The node.
        below: Functions of the node's operands.
    """
    match node:
        case nodes.AnyOf() | nodes.AllOf():
            parts = tuple(map(_truth, node.conditions, below))
            return _joined(parts, decisive=isinstance(node, nodes.AnyOf))
        case nodes.Not():
            return _opposite(_truth(node.of, *below))
        case nodes.Comparison():
            return _comparison(node, *below)
        case nodes.Between():
            return _between(*below, negated=node.negated)
        case nodes.Within():
            return _of_string(node.name, frozenset(node.choices).__contains__, negated=node.negated)
        case nodes.Like():
            return _of_string(node.name, _pattern(node.pattern, node.escape), negated=node.negated)
        case nodes.IsNull():
            return _is_null(node.name, negated=node.negated)
        case nodes.Literal():
            constant = node.value
            return lambda _message: constant
        case nodes.Identifier():
            return reader(node.name)
        case nodes.Minus():
            return _negative(*below)
        case nodes.Plus():
            return _positive(*below)
        case nodes.Chain():
            return _chain(node, *below)
        case _:
            assert_never(node)


def _truth(node: nodes.Node, read: Read) -> Condition:
    """Return the function that evaluates a node as a condition.

    If the node is a name or literal, the condition is true for the value TRUE, unknown for NULL, and otherwise false.

    Args:
        node: The node.
        read: Function of the node.
    """
    if not isinstance(node, nodes.Identifier | nodes.Literal):
        return cast("Condition", read)  # the parser accepts only conditions here

    def holds(message: Message) -> Truth:
        found = read(message)
        return None if found is None else found is True

    return holds


def _joined(conditions: tuple[Condition, ...], *, decisive: bool) -> Condition:
    """Return the condition of AND or OR (Jakarta Messaging 3.1, 3.8.1.2).

    Args:
        conditions: The operands.
        decisive: The value of an operand that decides the result: False for AND, True for OR.  Without such an operand,
            an unknown operand makes the result unknown.
    """

    def holds(message: Message) -> Truth:
        answer: Truth = not decisive
        for part in conditions:
            said = part(message)
            if said is decisive:
                return decisive
            if said is None:
                answer = None
        return answer

    return holds


def _opposite(of: Condition) -> Condition:
    def holds(message: Message) -> Truth:
        said = of(message)
        return None if said is None else not said

    return holds


def _comparison(node: nodes.Comparison, left: Read, right: Read) -> Condition:
    relation = node.relation
    if isinstance(node.right, nodes.Literal):
        return _with_constant(relation, left, node.right.value)
    return lambda message: _related(relation, left(message), right(message))


def _with_constant(relation: Relation, left: Read, constant: str | Number) -> Condition:
    """Return the condition that compares a value with a constant.

    The condition is faster than `_related`, because the type of the constant is tested only once (`bench/selector.py`).
    The parser accepts strings and booleans only with = and <>, for which the comparison functions for numbers give the
    right result, too.
    """
    kind = type(constant)
    related = _RELATIONS[relation]

    def holds(message: Message) -> Truth:
        found = left(message)
        if type(found) is kind:
            return related(found, constant)  # type: ignore[arg-type]  # both values have the type `kind`
        return _related(relation, found, constant)

    return holds


def _related(relation: Relation, left: Property, right: Property) -> Truth:
    """Compare two values; the result is unknown if one is NULL, and false if their types differ."""
    if left is None or right is None:
        return None
    one, other = _number(left), _number(right)
    if one is not None and other is not None:
        if type(one) is not type(other):
            one, other = _double(one), _double(other)
        return _RELATIONS[relation](one, other)
    for kind in (bool, str):
        if isinstance(left, kind) and isinstance(right, kind):
            if relation is Relation.EQUAL:
                return left == right
            return relation is Relation.UNEQUAL and left != right
    return False


def _between(of: Read, low: Read, high: Read, *, negated: bool) -> Condition:
    """Return the condition of BETWEEN, which the specification defines by two comparisons."""
    below, above = (Relation.LESS, Relation.GREATER) if negated else (Relation.GREATER_EQUAL, Relation.LESS_EQUAL)
    decisive = negated

    def holds(message: Message) -> Truth:
        found = of(message)
        first = _related(below, found, low(message))
        if first is decisive:
            return decisive
        second = _related(above, found, high(message))
        if second is decisive:
            return decisive
        return None if first is None or second is None else not decisive

    return holds


def _of_string(name: str, test: Callable[[str], bool], *, negated: bool) -> Condition:
    """Return the condition of IN or LIKE, which tests strings, is unknown for NULL, and is false for other values.

    Args:
        name: Name of the header field or property.
        test: Tests a string.
        negated: Whether the construct has NOT, which negates the test only.
    """
    read = reader(name)

    def holds(message: Message) -> Truth:
        found = read(message)
        if found is None:
            return None
        return isinstance(found, str) and test(found) is not negated

    return holds


def _pattern(pattern: str, escape: str | None) -> Callable[[str], bool]:
    """Return the function that tests whether a text matches a LIKE pattern, by a regular expression.

    Each part between two % matches only at its first position in the rest of the text (an atomic group).  The time is
    then at most proportional to the length of the text times the length of the pattern, and not exponential.

    Args:
        pattern: The pattern.
        escape: Escape character; None for a pattern without ESCAPE.
    """
    stretches = [""]
    letters = iter(pattern)
    for letter in letters:
        if letter == escape:
            stretches[-1] += re.escape(next(letters))
        elif letter == "%":
            stretches.append("")
        else:
            stretches[-1] += "." if letter == "_" else re.escape(letter)
    first, *rest = stretches
    if not rest:
        expression = first
    else:
        kept = "".join(f"(?>.*?{stretch})" for stretch in rest[:-1] if stretch)
        expression = f"{first}{kept}.*{rest[-1]}"
    matched = re.compile(expression, re.DOTALL).fullmatch
    return lambda text: matched(text) is not None


def _is_null(name: str, *, negated: bool) -> Condition:
    read = reader(name)
    return lambda message: (read(message) is None) is not negated


def _number(found: Property) -> Number | None:
    """Return a number unchanged; None for NULL, for booleans and for other values that are not numbers."""
    if isinstance(found, int | float) and not isinstance(found, bool):
        return found
    return None


def _double(number: Number) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _positive(of: Read) -> Read:
    return lambda message: _number(of(message))


def _negative(of: Read) -> Read:
    def read(message: Message) -> Number | None:
        number = _number(of(message))
        if number is None:
            return None
        return wrapped(-number) if isinstance(number, int) else -number

    return read


def _chain(node: nodes.Chain, first: Read, *operands: Read) -> Read:
    rest = tuple(
        (*_ARITHMETIC[operation], operand) for (operation, _), operand in zip(node.rest, operands, strict=True)
    )

    def read(message: Message) -> Number | None:
        total = _number(first(message))
        for exact, approximate, operand in rest:
            number = _number(operand(message))
            if total is None or number is None:
                return None
            if isinstance(total, int) and isinstance(number, int):
                total = exact(total, number)
            else:
                total = approximate(_double(total), _double(number))
        return total

    return read


def _quotient(dividend: int, divisor: int) -> int | None:
    """Divide two longs and round towards zero, as Java does; None for a divisor of zero."""
    if divisor == 0:
        return None
    size = abs(dividend) // abs(divisor)
    return wrapped(size if (dividend < 0) is (divisor < 0) else -size)


def _ratio(dividend: float, divisor: float) -> float:
    if divisor:
        return dividend / divisor
    if dividend == 0 or math.isnan(dividend):
        return math.nan
    return math.copysign(math.inf, dividend) * math.copysign(1.0, divisor)


_ARITHMETIC: dict[Operation, tuple[Callable[[int, int], int | None], Callable[[float, float], float]]] = {
    Operation.ADD: (lambda one, other: wrapped(one + other), operator.add),
    Operation.SUBTRACT: (lambda one, other: wrapped(one - other), operator.sub),
    Operation.MULTIPLY: (lambda one, other: wrapped(one * other), operator.mul),
    Operation.DIVIDE: (_quotient, _ratio),
}
"""The functions of each arithmetic operation, for longs and for doubles."""
