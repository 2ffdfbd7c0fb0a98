"""Tests of selectors as text: errors, limits, and the normal form (Jakarta Messaging 3.1, 3.8)."""

from __future__ import annotations

import pytest
from tests.sdk.model.truths import truth_of

from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.selectors import Limits, Selector, SelectorError

FAULTS: list[tuple[str, int, str, tuple[str, ...]]] = [
    ("", 0, "empty", ("a value", "a condition")),
    ("  \t", 0, "only blanks", ("a value", "a condition")),
    ("a = ", 4, "ends too early", ("a value",)),
    ("a = 'x", 4, "no closing quote", ()),
    ("a = 'x''", 4, "no closing quote", ()),
    ("a == 1", 3, "= does not fit", ("a value",)),
    ("a != 1", 2, "'!' has no meaning", ()),
    ('"a" = 1', 0, "has no meaning", ()),
    ("a = 1 b = 2", 6, "b does not fit", ("the end", "AND", "OR")),
    ("(a = 1", 6, "ends too early", ("')'",)),
    ("a = 1)", 5, "does not fit", ("the end",)),
    ("a IN ()", 6, "does not fit", ("a string in single quotes",)),
    ("a IN (1)", 6, "1 does not fit", ("a string in single quotes",)),
    ("a IN ('x',)", 10, "does not fit", ("a string in single quotes",)),
    ("'a' IN ('x')", 0, "operand of IN is not a name", ("a name",)),
    ("a + 1 IS NULL", 0, "operand of IS is not a name", ("a name",)),
    ("a LIKE b", 7, "b does not fit", ("a string in single quotes",)),
    ("a LIKE 'x' ESCAPE 'yz'", 18, "not one character", ("a string of one character",)),
    ("a LIKE 'x' ESCAPE ''", 18, "not one character", ("a string of one character",)),
    ("a LIKE 'x!' ESCAPE '!'", 7, "escapes nothing", ()),
    ("a = null", 4, "NULL is a reserved word", ("a value",)),
    ("a NOT 3", 6, "3 does not fit", ("BETWEEN", "IN", "LIKE")),
    ("a IS 3", 5, "3 does not fit", ("NOT", "NULL")),
    ("a = b = c", 6, "= does not fit", ("the end",)),
    ("1", 0, "a number stands where a condition", ("a comparison",)),
    ("a AND 'x'", 6, "a string stands where a condition", ("a comparison",)),
    ("NOT 1 + 1", 4, "a number stands where a condition", ()),
    ("a + TRUE = 2", 4, "a condition stands where a number", ("a number",)),
    ("a * 'x' = 2", 4, "a string stands where a number", ("a number",)),
    ("-'x' = 2", 1, "a string stands where a number", ()),
    ("+(a = 1) = 2", 1, "a condition stands where a number", ()),
    ("a BETWEEN 'a' AND 'b'", 10, "a string stands where a number", ()),
    ("a > TRUE", 4, "a condition stands where a number", ()),
    ("a.b = 1", 1, "'.' has no meaning", ()),
    ("a\u00a0= 1", 1, "U+00A0", ()),
    ("\u0301a = 1", 0, "U+0301", ()),
    ("a -- remark", 0, "a number stands where a condition", ()),
    ("a = \ud800", 4, "U+D800", ()),
    ("a = 1\x00", 5, "has no meaning", ()),
]


@pytest.mark.parametrize(("text", "position", "problem", "expected"), FAULTS)
def test_a_fault_says_what_and_where(text: str, position: int, problem: str, expected: tuple[str, ...]) -> None:
    with pytest.raises(SelectorError) as caught:
        Selector.parse(text)
    error = caught.value
    assert (error.text, error.position) == (text, position)
    assert problem in error.problem
    assert set(expected) <= set(error.expected)
    assert f"character {error.position + 1}: {error.problem}" in str(error)
    assert str(error).endswith(".")
    assert error.reason is Mqrc.SELECTOR_SYNTAX_ERROR


@pytest.mark.parametrize(
    "text",
    [
        "{} a {}".format("(" * 64, ")" * 64),
        "NOT " * 64 + "a",
        "-" * 64 + "a = 1",
        " OR ".join(["a"] * 1600),
        " AND ".join(["a = 1"] * 800),
        "+".join(["a"] * 4000) + " = 1",
        "*".join(["a"] * 4000) + " = 1",
        "a IN (" + ",".join(["'x'"] * 2000) + ")",
    ],
)
def test_what_is_long_or_just_deep_enough_is_taken(text: str) -> None:
    selector = Selector.parse(text)
    selector.matches(Message(properties={"a": 1}))
    assert Selector.parse(str(selector), Limits(length=20_000)) == selector


@pytest.mark.parametrize(
    "text", ["{}a{}".format("(" * 4000, ")" * 4000), "NOT " * 2000 + "a", "-" * 8000 + "a = 1", "(" * 8192]
)
def test_what_is_too_deep_is_refused(text: str) -> None:
    with pytest.raises(SelectorError):
        Selector.parse(text)


def test_the_deepest_selector_allowed_needs_no_deep_stack() -> None:
    level = "(a OR TRUE AND a = "
    text = level * 128 + "a" + ")" * 128
    assert truth_of(text, Message(properties={"a": False}), Limits(depth=128)) is not None


def test_limits_are_kept_to_the_character_and_level() -> None:
    limits = Limits(length=6, depth=1)
    assert str(Selector.parse("a  = 1", limits)) == "a = 1"
    assert str(Selector.parse("(a)", limits)) == "a"
    with pytest.raises(SelectorError, match="7 characters; the limit is 6"):
        Selector.parse("a   = 1", limits)
    with pytest.raises(SelectorError, match="nesting depth is 2; the limit is 1") as caught:
        Selector.parse("((a))", limits)
    assert caught.value.position == 2
    for length, depth in ((0, 1), (1, 0), (1, 129)):
        with pytest.raises(ValueError, match="limits"):
            Limits(length=length, depth=depth)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("a=1", "a = 1"),
        ("((a)) or not ( b and c )", "a OR NOT (b AND c)"),
        ("(a or b) or c", "(a OR b) OR c"),
        ("(a+1)*2<>-(b-1)", "(a + 1) * 2 <> -(b - 1)"),
        ("a-(b-c)=- -1", "a - (b - c) = 1"),
        ("a=-(5)", "a = -5"),
        ("a=-(0.0)", "a = -0.0"),
        ("a=-(-9223372036854775808)", "a = -9223372036854775808"),
        ("a=0x10", "a = 16"),
        ("a=1e22", "a = 1e+22"),
        ("a in('x','y''z')", "a IN ('x', 'y''z')"),
        ("a not like 'x' escape '!'", "a NOT LIKE 'x' ESCAPE '!'"),
        ("a not between 1 and 2", "a NOT BETWEEN 1 AND 2"),
        ("a is not null", "a IS NOT NULL"),
        ("+a=- -b", "+a = - -b"),
        ("(a=b)=true", "(a = b) = TRUE"),
    ],
)
def test_a_selector_has_one_spelling(text: str, spelled: str) -> None:
    selector = Selector.parse(text)
    again = Selector.parse(spelled)
    assert str(selector) == spelled == str(again)
    assert selector == again
    assert hash(selector) == hash(again)
    assert selector.text == text
    assert selector != Selector.parse("other")
    assert selector != spelled
    assert repr(selector) == f"Selector({text!r})"
