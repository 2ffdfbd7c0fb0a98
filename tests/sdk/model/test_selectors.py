"""Tests of message selectors: three-valued logic, values, names and header fields (Jakarta Messaging 3.1, 3.8)."""

from __future__ import annotations

import math
import time
from itertools import product

import pytest
from tests.sdk.model.truths import truth_of

from assay_sdk.model.message import Message, Property
from assay_sdk.model.selectors import Selector, SelectorError
from assay_sdk.model.selectors._literals import LiteralError, number

TRUTHS: dict[bool | None, str] = {True: "TRUE", False: "FALSE", None: "absent"}


def message(**properties: Property) -> Message:
    return Message(properties=properties)


def said(text: str, **properties: Property) -> bool | None:
    return truth_of(text, message(**properties))


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
        assert not Selector.parse(text).matches(message())
        assert truth_of(text, message()) is None


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


@pytest.mark.parametrize(
    ("value", "within", "without"),
    [
        ("UK", True, False),
        ("Peru", False, True),
        (None, None, None),
        (5, False, False),
        (0.5, False, False),
        (True, False, False),
    ],
)
def test_in_looks_for_a_string(value: Property, within: bool | None, without: bool | None) -> None:
    assert said("Country IN ('UK', 'US', 'O''Land')", Country=value) is within
    assert said("Country NOT IN ('UK', 'US')", Country=value) is without


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
    for value in (5, 0.5, True):
        assert said("a LIKE '5'", a=value) is False
        assert said("a NOT LIKE 'x%'", a=value) is False


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
    assert truth_of(text, of) is expected


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


def test_a_doubles_not_a_number_is_no_value_of_its_own() -> None:
    assert said("a = a", a=math.nan) is False
    assert said("a <> 1", a=math.nan) is True
