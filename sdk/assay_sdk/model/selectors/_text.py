"""From tree back to text: one spelling for each meaning, with the brackets that are needed and no others."""

from __future__ import annotations

from enum import IntEnum
from typing import assert_never

from assay_sdk.model.selectors import _nodes as nodes


class _Rank(IntEnum):
    """How tightly a construct binds, loosest first (Jakarta Messaging 3.1, 3.8.1.1)."""

    OR = 0
    AND = 1
    NOT = 2
    COMPARISON = 3
    SUM = 4
    PRODUCT = 5
    SIGN = 6
    ATOM = 7


_SUMS = frozenset({nodes.Operation.ADD, nodes.Operation.SUBTRACT})


def text(node: nodes.Node) -> str:
    """A selector that parses to this tree."""
    return _spelled(node)[1]


def _within(node: nodes.Node, rank: _Rank) -> str:
    """In brackets if it binds less tightly than its place asks for."""
    own, spelled = _spelled(node)
    return spelled if own >= rank else f"({spelled})"


def _spelled(node: nodes.Node) -> tuple[_Rank, str]:
    match node:
        case nodes.AnyOf():
            return _Rank.OR, " OR ".join(_within(part, _Rank.AND) for part in node.conditions)
        case nodes.AllOf():
            return _Rank.AND, " AND ".join(_within(part, _Rank.NOT) for part in node.conditions)
        case nodes.Not():
            return _Rank.NOT, f"NOT {_within(node.of, _Rank.NOT)}"
        case nodes.Comparison():
            left, right = _within(node.left, _Rank.SUM), _within(node.right, _Rank.SUM)
            return _Rank.COMPARISON, f"{left} {node.relation.value} {right}"
        case nodes.Between() | nodes.Within() | nodes.Like() | nodes.IsNull():
            return _Rank.COMPARISON, _test(node)
        case nodes.Chain():
            return _chain(node)
        case nodes.Minus():
            of = _within(node.of, _Rank.SIGN)
            return _Rank.SIGN, f"- {of}" if of.startswith("-") else f"-{of}"
        case nodes.Plus():
            return _Rank.SIGN, f"+{_within(node.of, _Rank.SIGN)}"
        case nodes.Identifier():
            return _Rank.ATOM, node.name
        case nodes.Literal():
            return _literal(node.value)
        case _:
            assert_never(node)


def _test(node: nodes.Between | nodes.Within | nodes.Like | nodes.IsNull) -> str:
    no = "NOT " if node.negated else ""
    match node:
        case nodes.Between():
            of, low, high = (_within(part, _Rank.SUM) for part in (node.of, node.low, node.high))
            return f"{of} {no}BETWEEN {low} AND {high}"
        case nodes.Within():
            return f"{node.name} {no}IN ({', '.join(_quoted(choice) for choice in node.choices)})"
        case nodes.Like():
            escape = "" if node.escape is None else f" ESCAPE {_quoted(node.escape)}"
            return f"{node.name} {no}LIKE {_quoted(node.pattern)}{escape}"
        case nodes.IsNull():
            return f"{node.name} IS {no}NULL"
        case _:
            assert_never(node)


def _chain(node: nodes.Chain) -> tuple[_Rank, str]:
    rank = _Rank.SUM if node.rest[0][0] in _SUMS else _Rank.PRODUCT
    inner = _Rank(rank + 1)
    rest = "".join(f" {operation.value} {_within(operand, inner)}" for operation, operand in node.rest)
    return rank, f"{_within(node.first, inner)}{rest}"


def _literal(value: bool | float | str) -> tuple[_Rank, str]:
    if isinstance(value, bool):
        return _Rank.ATOM, "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return _Rank.ATOM, _quoted(value)
    spelled = repr(value)
    return (_Rank.SIGN if spelled.startswith("-") else _Rank.ATOM), spelled


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
