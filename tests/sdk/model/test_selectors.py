"""Message selectors: syntax, three-valued logic, values, limits and faults (Jakarta Messaging 3.1, 3.8)."""

from __future__ import annotations

import math
import time
from itertools import product

import pytest

from assay_sdk.model.message import Message, Property
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.selectors import Limits, Selector, SelectorError
from assay_sdk.model.selectors._literals import LiteralError, number

TRUTHS: dict[bool | None, str] = {True: "TRUE", False: "FALSE", None: "absent"}


def message(**properties: Property) -> Message:
    return Message(properties=properties)


def said(text: str, **properties: Property) -> bool | None:
    return Selector.parse(text).evaluate(message(**properties))


def conjunction(one: bool | None, other: bool | None) -> bool | None:
    return False if False in (one, other) else None if None in (one, other) else True


def disjunction(one: bool | None, other: bool | None) -> bool | None:
    return True if True in (one, other) else None if None in (one, other) else False


@pytest.mark.parametrize(("one", "other"), list(product(TRUTHS, TRUTHS)))
def test_and_and_or_follow_the_truth_tables_in_full(one: bool | None, other: bool | None) -> None:
    for left, right in ((TRUTHS[one], TRUTHS[other]), ("a", "b")):
        assert said(f"{left} AND {right}", a=one, b=other) is conjunction(one, other)
        assert said(f"{left} OR {right}", a=one, b=other) is disjunction(one, other)


@pytest.mark.parametrize("one", TRUTHS)
def test_not_follows_the_truth_table_in_full(one: bool | None) -> None:
    assert said("NOT a", a=one) is (None if one is None else not one)


def test_unknown_does_not_match() -> None:
    for text in ("a", "NOT a", "a = 1", "a <> 1", "NOT a = 1"):
        selector = Selector.parse(text)
        assert not selector.matches(message())
        assert selector.evaluate(message()) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("57", 57),
        ("-957", -957),
        ("+62", 62),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("57L", 57),
        ("1_000_000", 1_000_000),
        ("0x10", 16),
        ("0XfL", 15),
        ("0xFFFFFFFF", 2**32 - 1),
        ("0xFFFFFFFFFFFFFFFF", -1),
        ("-0x8000000000000000", -(2**63)),
        ("017", 15),
        ("0", 0),
        ("00", 0),
        ("0b101", 5),
        ("7E3", 7000.0),
        ("-57.9E2", -5790.0),
        ("7.", 7.0),
        ("-95.7", -95.7),
        (".5", 0.5),
        ("6.2d", 6.2),
        ("7f", 7.0),
        ("0.1f", 0.10000000149011612),
        ("08.5", 8.5),
        ("1e-3", 0.001),
        ("0x1.8p1", 3.0),
        ("0x.8P+2", 2.0),
        ("0e-999", 0.0),
    ],
)
def test_numbers_are_written_as_in_java(text: str, value: float) -> None:
    assert said(f"n = {text}", n=value) is True
    assert said(f"{text} = n", n=value) is True


@pytest.mark.parametrize(
    "text",
    [
        "9223372036854775808",
        "-9223372036854775809",
        "x - 9223372036854775808",
        "0x1FFFFFFFFFFFFFFFF",
        "09",
        "0b2",
        "0x",
        "1__",
        "1_.5",
        "1_e5",
        "0x_1",
        "1e999",
        "1e-999",
        "1e39f",
        "1e-60f",
        "0x1p99999",
        "0x.p1",
        "0x1p-9999",
        "1.5.5",
        "9" * 8000,
    ],
)
def test_numbers_that_java_would_not_take_are_refused(text: str) -> None:
    with pytest.raises(SelectorError):
        Selector.parse(f"x = {text}")


def test_a_hexadecimal_number_without_digits_is_refused() -> None:
    with pytest.raises(LiteralError, match="no hexadecimal digit"):
        number("0x.p1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TRUE OR FALSE AND FALSE", True),
        ("(TRUE OR FALSE) AND FALSE", False),
        ("NOT FALSE AND FALSE", False),
        ("NOT (FALSE AND FALSE)", True),
        ("NOT 1 = 2", True),
        ("2 + 3 * 4 = 14", True),
        ("(2 + 3) * 4 = 20", True),
        ("10 - 2 - 3 = 5", True),
        ("100 / 10 / 5 = 2", True),
        ("2 * 3 / 4 = 1", True),
        ("-2 * -3 = 6", True),
        ("- - 2 = 2", True),
        ("-(2 + 1) = -3", True),
        ("+n = 5", True),
        ("1 + 1 BETWEEN 1 + 1 AND 3 - 1", True),
        ("(1 = 1) = TRUE", True),
        ("not n = 1 aNd n In ('x') oR n iS nOt NuLl", True),
    ],
)
def test_precedence_and_case_of_reserved_words(text: str, expected: bool) -> None:
    assert said(text, n=5) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7 / 2 = 3", True),
        ("-7 / 2 = -3", True),
        ("7 / 2.0 = 3.5", True),
        ("9223372036854775807 + 1 = -9223372036854775808", True),
        ("-9223372036854775808 / -1 = -9223372036854775808", True),
        ("-(-9223372036854775808) = -9223372036854775808", True),
        ("9007199254740993 = 9007199254740992.0", True),
        ("1 / 0 = 1", None),
        ("1 / 0.0 > 1", True),
        ("-1 / 0.0 < 1", True),
        ("1 / -0.0 < 1", True),
        ("0 / 0.0 = 0 / 0.0", False),
        ("0 / 0.0 <> 0 / 0.0", True),
        ("1e308 * 10 = 1e308 * 100", True),
        ("gone + 1 = 1", None),
        ("word + 1 = 1", None),
        ("-word = 1", None),
        ("+flag = 1", None),
        ("huge > 1.5", True),
        ("1.5 > -huge", True),
    ],
)
def test_arithmetic_is_javas(text: str, expected: bool | None) -> None:
    assert said(text, word="1", flag=True, huge=10**400) is expected


@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">="])
@pytest.mark.parametrize(("left", "right"), [("1", 1), (True, 1), (True, "TRUE"), (b"x", "x"), (b"x", b"x")])
def test_values_of_unlike_types_compare_as_false(operator: str, left: Property, right: Property) -> None:
    assert said(f"a {operator} b", a=left, b=right) is False
    assert said(f"b {operator} a", a=left, b=right) is False
    assert said(f"NOT a {operator} b", a=left, b=right) is True


def test_a_string_is_not_converted_to_a_number_nor_back() -> None:
    assert said("NumberOfOrders > 1", NumberOfOrders="2") is False
    assert said("a = '1'", a=1) is False
    assert said("a = 1", a=True) is False


def test_strings_and_truth_values_know_only_equal_and_unequal() -> None:
    assert said("a = b", a="x", b="x") is True
    assert said("a <> b", a="x", b="X") is True
    assert said("a = TRUE", a=True) is True
    assert said("a <> FALSE", a=True) is True
    for operator in ("<", "<=", ">", ">="):
        assert said(f"a {operator} b", a="a", b="b") is False
        assert said(f"a {operator} b", a=False, b=True) is False
        with pytest.raises(SelectorError):
            Selector.parse(f"a {operator} 'b'")


def test_a_value_that_is_no_truth_value_counts_as_false() -> None:
    assert said("a", a="TRUE") is False
    assert said("a AND TRUE", a=1) is False


@pytest.mark.parametrize(
    ("value", "within", "without"),
    [
        (15, True, False),
        (19, True, False),
        (14, False, True),
        (19.5, False, True),
        (None, None, None),
        ("17", False, False),
    ],
)
def test_between_includes_both_ends(value: Property, within: bool | None, without: bool | None) -> None:
    assert said("age BETWEEN 15 AND 19", age=value) is within
    assert said("age NOT BETWEEN 15 AND 19", age=value) is without


def test_between_is_decided_by_one_end_if_that_is_enough() -> None:
    assert said("5 BETWEEN gone AND 3") is False
    assert said("5 NOT BETWEEN gone AND 3") is True
    assert said("5 BETWEEN gone AND 7") is None
    assert said("5 NOT BETWEEN 3 AND gone") is None
    assert said("5 BETWEEN 6 AND gone") is False
    assert said("5 NOT BETWEEN 6 AND gone") is True


@pytest.mark.parametrize(("value", "within"), [("UK", True), ("Peru", False), (None, None), (5, False)])
def test_in_looks_for_a_string(value: Property, within: bool | None) -> None:
    assert said("Country IN ('UK', 'US', 'O''Land')", Country=value) is within
    assert said("Country NOT IN ('UK', 'US')", Country=value) is (None if within is None else not within)


@pytest.mark.parametrize(
    ("pattern", "value", "like"),
    [
        ("'12%3'", "123", True),
        ("'12%3'", "12993", True),
        ("'12%3'", "1234", False),
        ("'l_se'", "lose", True),
        ("'l_se'", "loose", False),
        ("'\\_%' ESCAPE '\\'", "_foo", True),
        ("'\\_%' ESCAPE '\\'", "bar", False),
        ("'%'", "", True),
        ("''", "", True),
        ("''", "x", False),
        ("'a%%b'", "ab", True),
        ("'%a%a%'", "a", False),
        ("'%ab%ab'", "ab", False),
        ("'%ab%ab'", "xabab", True),
        ("'_%_'", "x", False),
        ("'a.c'", "abc", False),
        ("'x%'", "x\ny", True),
        ("'a!!%' ESCAPE '!'", "a!b", True),
        ("'%%' ESCAPE '%'", "%", True),
        ("'100!%' ESCAPE '!'", "100%", True),
        ("'it''s'", "it's", True),
    ],
)
def test_like_compares_with_a_pattern(pattern: str, value: str, like: bool) -> None:
    assert said(f"a LIKE {pattern}", a=value) is like
    assert said(f"a NOT LIKE {pattern}", a=value) is not like


def test_like_of_no_value_is_unknown_and_of_no_string_is_false() -> None:
    assert said("a LIKE 'x'") is None
    assert said("a NOT LIKE 'x'") is None
    assert said("a LIKE '5'", a=5) is False


def test_like_with_many_wildcards_stays_fast() -> None:
    selector = Selector.parse(f"a LIKE '{'%a' * 40}%b'")
    begun = time.process_time()
    assert not selector.matches(message(a="a" * 20_000))
    assert time.process_time() - begun < 1


def test_is_null_turns_unknown_into_an_answer() -> None:
    assert said("a IS NULL") is True
    assert said("a IS NOT NULL") is False
    assert said("a IS NULL", a=None) is True
    assert said("a IS NULL", a=0) is False
    assert said("a IS NOT NULL", a="") is True


HEADS = Message(
    message_id="ID:1",
    correlation_id="c",
    subject="t",
    durable=False,
    priority=7,
    creation_ms=123,
    group_id="g",
    group_sequence=2,
)


@pytest.mark.parametrize(
    ("text", "of", "expected"),
    [
        ("JMSDeliveryMode = 'NON_PERSISTENT'", HEADS, True),
        ("JMSDeliveryMode = 'PERSISTENT'", Message(durable=True), True),
        ("JMSDeliveryMode = 'PERSISTENT'", Message(), None),
        ("JMSPriority = 7", HEADS, True),
        ("JMSPriority = 4", Message(), True),
        ("JMSMessageID = 'ID:1'", HEADS, True),
        ("JMSMessageID IS NULL", Message(), True),
        ("JMSTimestamp = 123", HEADS, True),
        ("JMSTimestamp = 0", Message(), True),
        ("JMSCorrelationID = 'c'", HEADS, True),
        ("JMSType = 't'", HEADS, True),
        ("JMSXGroupID = 'g'", HEADS, True),
        ("JMSXGroupSeq = 2", HEADS, True),
        ("JMSXGroupSeq IS NULL", Message(), True),
        ("JMSXAppID = 'a'", message(JMSXAppID="a"), True),
        ("JMS_Vendor = 'a'", message(JMS_Vendor="a"), True),
        ("jmspriority IS NULL", HEADS, True),
    ],
)
def test_header_fields_are_seen_by_their_jms_names(text: str, of: Message, expected: bool | None) -> None:
    assert Selector.parse(text).evaluate(of) is expected


@pytest.mark.parametrize("name", ["JMSExpiration", "JMSDestination", "JMSReplyTo", "JMSRedelivered", "JMSAnything"])
def test_other_header_fields_are_refused(name: str) -> None:
    with pytest.raises(SelectorError, match=name):
        Selector.parse(f"{name} IS NOT NULL")


@pytest.mark.parametrize("name", ["_a", "$a", "a$1", "ORDERS", "INN", "nulls", "größe", "名前", "€", "a\u0301", "Ⅷ"])
def test_names_are_javas_identifiers(name: str) -> None:
    assert said(f"{name} = 1", **{name: 1}) is True


@pytest.mark.parametrize("name", ["NULL", "true", "Not", "AND", "or", "BETWEEN", "like", "IN", "IS", "escape", "FALSE"])
def test_reserved_words_name_nothing(name: str) -> None:
    with pytest.raises(SelectorError):
        Selector.parse(f"x = 1 AND {name} IS NULL")


FAULTS: list[tuple[str, int, str, tuple[str, ...]]] = [
    ("", 0, "empty", ("a value", "a condition")),
    ("  \t", 3, "empty", ("a value", "a condition")),
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
    ("'a' IN ('x')", 0, "asks about a name", ("a name",)),
    ("a + 1 IS NULL", 0, "asks about a name", ("a name",)),
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
    selector.matches(message(a=1))
    assert Selector.parse(selector.to_text(), Limits(length=20_000)) == selector


@pytest.mark.parametrize(
    "text", ["{}a{}".format("(" * 4000, ")" * 4000), "NOT " * 2000 + "a", "-" * 8000 + "a = 1", "(" * 8192]
)
def test_what_is_too_deep_is_refused(text: str) -> None:
    with pytest.raises(SelectorError):
        Selector.parse(text)


def test_the_deepest_selector_allowed_needs_no_deep_stack() -> None:
    level = "(a OR TRUE AND a = "
    selector = Selector.parse(level * 128 + "a" + ")" * 128, Limits(depth=128))
    assert selector.evaluate(message(a=False)) is not None


def test_limits_are_kept_to_the_character_and_level() -> None:
    limits = Limits(length=6, depth=1)
    assert Selector.parse("a  = 1", limits).to_text() == "a = 1"
    assert Selector.parse("(a)", limits).to_text() == "a"
    with pytest.raises(SelectorError, match="7 characters and 6 are allowed"):
        Selector.parse("a   = 1", limits)
    with pytest.raises(SelectorError, match="nested 2 deep and 1 is allowed") as caught:
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
    assert selector.to_text() == str(selector) == spelled == again.to_text()
    assert selector == again
    assert hash(selector) == hash(again)
    assert selector.text == text
    assert selector != Selector.parse("other")
    assert selector != spelled
    assert repr(selector) == f"Selector({text!r})"


def test_a_doubles_not_a_number_is_no_value_of_its_own() -> None:
    assert said("a = a", a=math.nan) is False
    assert said("a <> 1", a=math.nan) is True
