"""The parser of selectors: the callbacks of the grammar, and the texts of its errors.

The parser is LALR with a stack of its own, so no text can exhaust Python's stack.  `parse` checks the depth of the tree
before other code recurses into the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import cache
from typing import NamedTuple, NoReturn, cast

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from assay_sdk.model.names import RESERVED, first_invalid
from assay_sdk.model.selectors import _literals as literals
from assay_sdk.model.selectors import _nodes as nodes
from assay_sdk.model.selectors._errors import SelectorError
from assay_sdk.model.selectors._values import HEADERS

_VALUE = frozenset({"NAME", "NUMBER", "STRING", "LPAR"})
_WORDS = {
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": "a string in single quotes",
    "LPAR": "'('",
    "RPAR": "')'",
    "COMMA": "','",
    "COMPARE": "a comparison such as '<'",
    "EQUAL": "'='",
    "PLUS": "'+'",
    "MINUS": "'-'",
    "TIMES": "'*'",
    "DIVIDE": "'/'",
    "$END": "the end",
}
"""The words that errors use for the grammar's terminals; errors show a reserved word unchanged."""


class _Kind(StrEnum):
    """The type of an expression, as far as it is known without a JMS message; texts of errors contain the values."""

    NUMBER = "a number"
    STRING = "a string"
    TRUTH = "a condition"
    OPEN = "a name"
    """The type depends on the message."""


class _Part(NamedTuple):
    """A subtree on the parser's stack.

    Args:
        node: Root of the subtree.
        kind: Type of the expression.
        start: Offset of the expression's first character in the selector.
        depth: Nesting depth of parentheses, signs and NOTs.
        deepest: Offset of the most deeply nested part in the selector.
    """

    node: nodes.Node
    kind: _Kind
    start: int
    depth: int
    deepest: int


class _FaultError(Exception):
    """The error of a callback for a fault in the selector; `parse` converts it to a `SelectorError`."""

    def __init__(self, problem: str, position: int, *expected: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.position = position
        self.expected = expected


def parse(text: str, *, length: int, depth: int) -> nodes.Node:
    """Parse a selector.

    Args:
        text: The selector.
        length: The largest valid number of characters.
        depth: The largest valid nesting depth of parentheses, signs and NOTs.

    Returns:
        The tree, whose height is at most a fixed multiple of `depth`.

    Raises:
        SelectorError: The text is not a selector, or exceeds a limit.
    """
    if len(text) > length:
        raise SelectorError(f"it has {len(text)} characters; the limit is {length}", text=text, position=length)
    try:
        part = _condition(_parser()(text))
        if part.depth > depth:
            _refuse(f"its nesting depth is {part.depth}; the limit is {depth}", part.deepest)
    except _FaultError as fault:
        raise SelectorError(fault.problem, text=text, position=fault.position, expected=fault.expected) from None
    except UnexpectedInput as unexpected:
        raise _explained(unexpected, text) from None
    return part.node


@cache
def _parser() -> Callable[[str], _Part]:
    """Return the parser; it is built at its first use, because building it takes longer than parsing most selectors."""
    lark = Lark.open_from_package(
        "assay_sdk.model.selectors",
        "grammar.lark",
        parser="lalr",
        lexer="basic",
        start="selector",
        transformer=_Builder(),
        lexer_callbacks={"NAME": _named},
    )
    return cast("Callable[[str], _Part]", lark.parse)  # with its transformer, parse returns a _Part


def _named(token: Token) -> Token:
    """Return the token of a name, checked by Java's rules; the token of a reserved word gets the word as its type."""
    if token.isascii():
        word = token.upper()
        return token.update(type=word) if word in RESERVED else token
    offset = first_invalid(token)
    if offset is not None:
        _refuse(f"the character U+{ord(token[offset]):04X} is not valid in a name", _at(token) + offset)
    return token


def _at(token: Token) -> int:
    return token.start_pos or 0


def _refuse(problem: str, position: int, *expected: str) -> NoReturn:
    raise _FaultError(problem, position, *expected)


def _condition(part: _Part) -> _Part:
    if part.kind not in (_Kind.TRUTH, _Kind.OPEN):
        _refuse(f"{part.kind} stands where a condition must stand", part.start, "a comparison", "a truth value")
    return part


def _numeric(part: _Part) -> _Part:
    if part.kind not in (_Kind.NUMBER, _Kind.OPEN):
        _refuse(f"{part.kind} stands where a number must stand", part.start, "a number", "a name")
    return part


def _name(part: _Part, operator: Token) -> str:
    if not isinstance(part.node, nodes.Identifier):
        _refuse(f"the left operand of {operator.upper()} is not a name", part.start, "a name")
    return part.node.name


def _over(parts: Sequence[_Part], node: nodes.Node, kind: _Kind) -> _Part:
    """Return the subtree of a node whose operands are these parts; its depth is the depth of the deepest part."""
    low = max(parts, key=lambda part: part.depth)
    return _Part(node, kind, parts[0].start, low.depth, low.deepest)


def _deeper(part: _Part, node: nodes.Node, kind: _Kind, start: int) -> _Part:
    return _Part(node, kind, start, part.depth + 1, part.deepest)


def _leaf(node: nodes.Node, kind: _Kind, token: Token) -> _Part:
    return _Part(node, kind, _at(token), 0, _at(token))


def _number(token: Token, *, negative: bool) -> nodes.Literal:
    try:
        return nodes.Literal(literals.number(token, negative=negative))
    except literals.LiteralError as error:
        _refuse(str(error), _at(token))


Children = list[_Part | Token | None]


class _Builder(Transformer[Token, _Part]):
    """The callbacks of the grammar's aliases; the parser calls them for inner constructs first."""

    def any_of(self, children: Children) -> _Part:
        """Make the subtree of ``a OR b OR ...``."""
        parts = [_condition(child) for child in children if isinstance(child, _Part)]
        return _over(parts, nodes.AnyOf(tuple(part.node for part in parts)), _Kind.TRUTH)

    def all_of(self, children: Children) -> _Part:
        """Make the subtree of ``a AND b AND ...``."""
        parts = [_condition(child) for child in children if isinstance(child, _Part)]
        return _over(parts, nodes.AllOf(tuple(part.node for part in parts)), _Kind.TRUTH)

    def negated(self, children: tuple[Token, _Part]) -> _Part:
        """Make the subtree of ``NOT a``."""
        word, part = children
        return _deeper(part, nodes.Not(_condition(part).node), _Kind.TRUTH, _at(word))

    def compared(self, children: tuple[_Part, Token, _Part]) -> _Part:
        """Make the subtree of ``a = b`` and other comparisons; strings and booleans are valid only with = and <>."""
        left, operator, right = children
        if operator.type == "COMPARE":
            _numeric(left)
            _numeric(right)
        node = nodes.Comparison(nodes.Relation(str(operator)), left.node, right.node)
        return _over((left, right), node, _Kind.TRUTH)

    def between(self, children: Children) -> _Part:
        """Make the subtree of ``a BETWEEN b AND c``."""
        return self._between(children, negated=False)

    def not_between(self, children: Children) -> _Part:
        """Make the subtree of ``a NOT BETWEEN b AND c``."""
        return self._between(children, negated=True)

    def _between(self, children: Children, *, negated: bool) -> _Part:
        parts = [_numeric(child) for child in children if isinstance(child, _Part)]
        of, low, high = (part.node for part in parts)
        return _over(parts, nodes.Between(of, low, high, negated), _Kind.TRUTH)

    def within(self, children: Children) -> _Part:
        """Make the subtree of ``name IN ('a', 'b')``."""
        return self._within(children, negated=False)

    def not_within(self, children: Children) -> _Part:
        """Make the subtree of ``name NOT IN ('a', 'b')``."""
        return self._within(children, negated=True)

    def _within(self, children: Children, *, negated: bool) -> _Part:
        part, tokens = _split(children)
        choices = tuple(literals.string(token) for token in tokens if token.type == "STRING")
        return _over((part,), nodes.Within(_name(part, _word(tokens, "IN")), choices, negated), _Kind.TRUTH)

    def like(self, children: Children) -> _Part:
        """Make the subtree of ``name LIKE 'pattern' [ESCAPE 'c']``."""
        return self._like(children, negated=False)

    def not_like(self, children: Children) -> _Part:
        """Make the subtree of ``name NOT LIKE 'pattern' [ESCAPE 'c']``."""
        return self._like(children, negated=True)

    def _like(self, children: Children, *, negated: bool) -> _Part:
        part, tokens = _split(children)
        name = _name(part, _word(tokens, "LIKE"))
        strings = [token for token in tokens if token.type == "STRING"]
        pattern = literals.string(strings[0])
        escape = literals.string(strings[1]) if len(strings) > 1 else None
        if escape is not None and len(escape) != 1:
            _refuse(f"the escape {strings[1]} is not one character", _at(strings[1]), "a string of one character")
        if escape is not None and pattern.replace(escape * 2, "").endswith(escape):
            _refuse(f"the pattern ends with its escape character {escape}, which then escapes nothing", _at(strings[0]))
        return _over((part,), nodes.Like(name, pattern, escape, negated), _Kind.TRUTH)

    def is_null(self, children: tuple[_Part, Token, Token]) -> _Part:
        """Make the subtree of ``name IS NULL``."""
        part, word, _ = children
        return _over((part,), nodes.IsNull(_name(part, word)), _Kind.TRUTH)

    def is_not_null(self, children: tuple[_Part, Token, Token, Token]) -> _Part:
        """Make the subtree of ``name IS NOT NULL``."""
        part, word, *_ = children
        return _over((part,), nodes.IsNull(_name(part, word), negated=True), _Kind.TRUTH)

    def chain(self, children: Children) -> _Part:
        """Make the subtree of a sum or a product."""
        parts = [_numeric(child) for child in children if isinstance(child, _Part)]
        operations = [nodes.Operation(str(child)) for child in children if isinstance(child, Token)]
        rest = tuple(zip(operations, (part.node for part in parts[1:]), strict=True))
        return _over(parts, nodes.Chain(parts[0].node, rest), _Kind.NUMBER)

    def minus(self, children: tuple[Token, _Part]) -> _Part:
        """Make the subtree of a minus sign; if the operand is a number, make the leaf of the negated number."""
        sign, part = children
        of = part.node.value if isinstance(part.node, nodes.Literal) else None
        if isinstance(of, int | float) and not isinstance(of, bool):
            turned = literals.wrapped(-of) if isinstance(of, int) else -of
            return _deeper(part, nodes.Literal(turned), _Kind.NUMBER, _at(sign))
        return _deeper(part, nodes.Minus(_numeric(part).node), _Kind.NUMBER, _at(sign))

    def plus(self, children: tuple[Token, _Part]) -> _Part:
        """Make the subtree of a plus sign."""
        sign, part = children
        return _deeper(part, nodes.Plus(_numeric(part).node), _Kind.NUMBER, _at(sign))

    def bracketed(self, children: tuple[_Part]) -> _Part:
        """Make the subtree of an expression in parentheses, which count for the depth but have no node."""
        (part,) = children
        return _deeper(part, part.node, part.kind, max(0, part.start - 1))

    def number(self, children: tuple[Token]) -> _Part:
        """Make the leaf of a numeric literal."""
        return _leaf(_number(children[0], negative=False), _Kind.NUMBER, children[0])

    def negative_number(self, children: tuple[Token, Token]) -> _Part:
        """Make the leaf of a numeric literal with a minus sign."""
        return _leaf(_number(children[1], negative=True), _Kind.NUMBER, children[0])

    def string(self, children: tuple[Token]) -> _Part:
        """Make the leaf of a string literal."""
        return _leaf(nodes.Literal(literals.string(children[0])), _Kind.STRING, children[0])

    def true(self, children: tuple[Token]) -> _Part:
        """Make the leaf of TRUE."""
        return _leaf(nodes.Literal(value=True), _Kind.TRUTH, children[0])

    def false(self, children: tuple[Token]) -> _Part:
        """Make the leaf of FALSE."""
        return _leaf(nodes.Literal(value=False), _Kind.TRUTH, children[0])

    def identifier(self, children: tuple[Token]) -> _Part:
        """Make the leaf of a name.

        Of the names that begin with JMS, only those of Jakarta Messaging 3.1, 3.8.1.1, are valid.
        """
        (token,) = children
        name = str(token)
        if name.startswith("JMS") and name not in HEADERS and not name.startswith(("JMSX", "JMS_")):
            known = ", ".join(sorted(header for header in HEADERS if not header.startswith("JMSX")))
            _refuse(f"a selector cannot refer to {name}; it can refer to the header fields {known}", _at(token))
        return _leaf(nodes.Identifier(name), _Kind.OPEN, token)


def _split(children: Children) -> tuple[_Part, list[Token]]:
    """Return the only operand of a construct, and the construct's tokens."""
    (part,) = (child for child in children if isinstance(child, _Part))
    return part, [child for child in children if isinstance(child, Token)]


def _word(tokens: list[Token], kind: str) -> Token:
    return next(token for token in tokens if token.type == kind)


def _explained(unexpected: UnexpectedInput, text: str) -> SelectorError:
    """Return the `SelectorError` for an error of the parser."""
    if isinstance(unexpected, UnexpectedToken):
        token = cast("Token", unexpected.token)
        expected = _expected(frozenset(unexpected.accepts or unexpected.expected))
        if token.type == "$END":
            if not text.strip():
                problem = "it has only blanks" if text else "it is empty"
                return SelectorError(problem, text=text, position=0, expected=expected)
            return SelectorError("it ends too early", text=text, position=len(text), expected=expected)
        shown = f"{token.upper()} is a reserved word" if token.type in RESERVED else f"{token[:32]} does not fit here"
        return SelectorError(shown, text=text, position=_at(token), expected=expected)
    position = cast("int", unexpected.pos_in_stream)  # None only in the base class, which is never raised
    if isinstance(unexpected, UnexpectedCharacters) and text[position] == "'":
        return SelectorError("the string that begins here has no closing quote", text=text, position=position)
    problem = f"the character {text[position]!r} has no meaning in a selector"
    return SelectorError(problem, text=text, position=position)


def _expected(terminals: frozenset[str]) -> tuple[str, ...]:
    """Return the words of an error for the valid terminals.

    Where a value may stand, the words are "a value" alone, or "a value" and "a condition" if a condition may stand
    there, too.
    """
    if terminals >= _VALUE:
        return ("a value", "a condition") if "NOT" in terminals else ("a value",)
    return tuple(_WORDS.get(terminal, terminal) for terminal in sorted(terminals))
