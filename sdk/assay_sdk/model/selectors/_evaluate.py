"""Evaluation: a selector's tree becomes nested functions of a message once, which then run for every message.

NULL and UNKNOWN are both None, so a condition returns True, False or None (Jakarta Messaging 3.1, 3.8.1.2).  Where the
specification leaves a choice, this module decides:

* Integers are longs and overflow as in Java; combined with an approximate number they become doubles first.
* An integer divided by zero is NULL.  A double divided by zero is infinite or not a number, as in Java.
* In arithmetic, a value that is not a number is NULL.
* Values of different types compare as false under every operator, ``<>`` included (3.8.1.1).  So do constructs that are
  defined by comparisons or apply to strings only: a string is neither BETWEEN nor NOT BETWEEN two numbers, a number
  neither IN nor NOT IN a list, and neither LIKE nor NOT LIKE a pattern.
* A value that is not a boolean is false where a condition is required.
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
    """Return a selector's function of a message; its calls nest as deep as the tree."""
    return _truth(tree, nodes.fold(tree, _read))


def _read(  # noqa: C901, PLR0911, PLR0912 - a table: one line for each construct
    node: nodes.Node, below: tuple[Read, ...]
) -> Read:
    """Return the function that computes a node's value from those of its operands; None is NULL and UNKNOWN."""
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
    """Return a node as a condition: names and literals are tested for a boolean, other nodes are conditions already."""
    if not isinstance(node, nodes.Identifier | nodes.Literal):
        return cast("Condition", read)  # the parser accepts only conditions here

    def holds(message: Message) -> Truth:
        found = read(message)
        return None if found is None else found is True

    return holds


def _joined(conditions: tuple[Condition, ...], *, decisive: bool) -> Condition:
    """AND and OR: one decisive operand decides; otherwise an unknown one makes the result unknown (3.8.1.2)."""

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
    """Comparison with a constant, whose type is tested once; values of other types take the general path.

    The parser accepts strings and booleans with = and <> only, so `related` is right for each of them.
    """
    kind = type(constant)
    related = _RELATIONS[relation]

    def holds(message: Message) -> Truth:
        found = left(message)
        if type(found) is kind:
            return related(found, constant)  # type: ignore[arg-type]  # both are of the type `kind`
        return _related(relation, found, constant)

    return holds


def _related(relation: Relation, left: Property, right: Property) -> Truth:
    """Compare two values: NULL makes the result unknown, different types make it false."""
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
    """BETWEEN as the two comparisons that the specification defines it by."""
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
    """IN and LIKE: true or false for strings, unknown for NULL, false for other values, negated or not (3.8.1.2)."""
    read = reader(name)

    def holds(message: Message) -> Truth:
        found = read(message)
        if found is None:
            return None
        return isinstance(found, str) and test(found) is not negated

    return holds


def _pattern(pattern: str, escape: str | None) -> Callable[[str], bool]:
    """Translate a LIKE pattern to a regular expression.

    Each part between two % matches at its first position only (an atomic group).  The time is then proportional to the
    text's length times the pattern's, and not exponential.
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
    """Return a number unchanged; None for NULL and for values that are not numbers (True is not one)."""
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
    """Divide towards zero, as Java does; None for a divisor of zero."""
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
"""Each arithmetic operation on longs and on doubles."""
