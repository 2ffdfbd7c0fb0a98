"""Conversion of a selector's tree to text, in canonical form with only the necessary parentheses."""

from __future__ import annotations

from enum import IntEnum
from typing import assert_never

from assay_sdk.model.selectors import _nodes as nodes


class _Rank(IntEnum):
    """Precedence of a construct, lowest first (Jakarta Messaging 3.1, 3.8.1.1)."""

    OR = 0
    AND = 1
    NOT = 2
    COMPARISON = 3
    SUM = 4
    PRODUCT = 5
    SIGN = 6
    ATOM = 7


_SUMS = frozenset({nodes.Operation.ADD, nodes.Operation.SUBTRACT})


_Spelled = tuple[_Rank, str]


def text(tree: nodes.Node) -> str:
    """Return the text of a selector that has this tree."""
    return nodes.fold(tree, _spelled)[1]


def _at_least(rank: _Rank, part: _Spelled) -> str:
    """Return the text of an operand, in parentheses if its precedence is lower than `rank`."""
    own, spelled = part
    return spelled if own >= rank else f"({spelled})"


def _spelled(node: nodes.Node, below: tuple[_Spelled, ...]) -> _Spelled:  # noqa: PLR0911 - a table: one line for each construct
    match node:
        case nodes.AnyOf():
            return _Rank.OR, " OR ".join(_at_least(_Rank.AND, part) for part in below)
        case nodes.AllOf():
            return _Rank.AND, " AND ".join(_at_least(_Rank.NOT, part) for part in below)
        case nodes.Not():
            return _Rank.NOT, f"NOT {_at_least(_Rank.NOT, below[0])}"
        case nodes.Comparison() | nodes.Between() | nodes.Within() | nodes.Like() | nodes.IsNull():
            return _Rank.COMPARISON, _test(node, [_at_least(_Rank.SUM, part) for part in below])
        case nodes.Chain():
            return _chain(node, below)
        case nodes.Minus():
            of = _at_least(_Rank.SIGN, below[0])
            return _Rank.SIGN, f"- {of}" if of.startswith("-") else f"-{of}"
        case nodes.Plus():
            return _Rank.SIGN, f"+{_at_least(_Rank.SIGN, below[0])}"
        case nodes.Identifier():
            return _Rank.ATOM, node.name
        case nodes.Literal():
            return _literal(node.value)
        case _:
            assert_never(node)


def _test(
    node: nodes.Comparison | nodes.Between | nodes.Within | nodes.Like | nodes.IsNull, operands: list[str]
) -> str:
    if isinstance(node, nodes.Comparison):
        return f" {node.relation.value} ".join(operands)
    no = "NOT " if node.negated else ""
    match node:
        case nodes.Between():
            return "{} {}BETWEEN {} AND {}".format(operands[0], no, *operands[1:])
        case nodes.Within():
            return f"{node.name} {no}IN ({', '.join(_quoted(choice) for choice in node.choices)})"
        case nodes.Like():
            escape = "" if node.escape is None else f" ESCAPE {_quoted(node.escape)}"
            return f"{node.name} {no}LIKE {_quoted(node.pattern)}{escape}"
        case nodes.IsNull():
            return f"{node.name} IS {no}NULL"
        case _:
            assert_never(node)


def _chain(node: nodes.Chain, below: tuple[_Spelled, ...]) -> _Spelled:
    rank = _Rank.SUM if node.rest[0][0] in _SUMS else _Rank.PRODUCT
    first, *operands = (_at_least(_Rank(rank + 1), part) for part in below)
    operations = (operation.value for operation, _ in node.rest)
    return rank, first + "".join(f" {sign} {operand}" for sign, operand in zip(operations, operands, strict=True))


def _literal(value: bool | float | str) -> tuple[_Rank, str]:
    if isinstance(value, bool):
        return _Rank.ATOM, "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return _Rank.ATOM, _quoted(value)
    spelled = repr(value)
    return (_Rank.SIGN if spelled.startswith("-") else _Rank.ATOM), spelled


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
