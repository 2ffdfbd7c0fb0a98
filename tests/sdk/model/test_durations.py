"""Tests of durations: values of the public API and texts of features."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_sdk.model.durations import LONGEST_MS, DurationError, format_duration, milliseconds, parse_duration


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0),
        (1, 1),
        (LONGEST_MS, LONGEST_MS),
        (timedelta(0), 0),
        (timedelta(milliseconds=1), 1),
        (timedelta(seconds=1.5), 1500),
        (timedelta(days=999_999_999), 86_399_999_913_600_000),
    ],
)
def test_whole_milliseconds_are_taken(value: timedelta | int, expected: int) -> None:
    assert milliseconds(value, "time_to_live") == expected


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (-1, "-1 ms; a duration cannot be negative"),
        (timedelta(milliseconds=-1), "-1 ms; a duration cannot be negative"),
        (True, "True; give a timedelta or an int"),
        (1.0, "1.0; give"),
        (math.nan, "nan; give"),
        (math.inf, "inf; give"),
        ("5 s", "'5 s'; give"),
        (None, "None; give"),
        (timedelta(microseconds=1500), "no whole number of milliseconds"),
        (timedelta(microseconds=-1), "no whole number of milliseconds"),
        (2**63, "the longest duration is 9223372036854775807 ms"),
    ],
)
def test_anything_else_is_refused_in_one_sentence(value: Any, said: str) -> None:
    with pytest.raises(DurationError) as caught:
        milliseconds(value, "delivery_delay")
    assert str(caught.value).startswith("delivery_delay is ")
    assert said in str(caught.value)


def test_a_number_too_long_to_show_is_refused_as_well() -> None:
    with pytest.raises(DurationError, match="about 2\\*\\*20001 ms; the longest"):
        milliseconds(2**20_000, "ttl")
    with pytest.raises(DurationError, match="about -2\\*\\*20001 ms; a duration cannot be negative"):
        milliseconds(-(2**20_000), "ttl")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("500 ms", 500),
        ("2 s", 2000),
        ("1.5 s", 1500),
        ("5ms", 5),
        ("5 minutes", 300_000),
        ("1 minute", 60_000),
        ("1 h", 3_600_000),
        ("2 hours", 7_200_000),
        ("1 day", 86_400_000),
        ("0 s", 0),
        ("9223372036854775807 ms", LONGEST_MS),
    ],
)
def test_texts_of_features_are_read(text: str, expected: int) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "s",
        "-1 s",
        "+1 s",
        "1e3 s",
        "5 weeks",
        "1 S",
        "1  s",
        " 1 s",
        "1 s\n",
        "\u0661 s",
        "1.s",
        "0.5 ms",
        "1.0001 s",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(DurationError):
        parse_duration(text)


def test_a_text_beyond_the_longest_duration_is_refused() -> None:
    for text in ("9223372036854775808 ms", "9999999999999999999 days"):
        with pytest.raises(DurationError, match="too long"):
            parse_duration(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 ms"),
        (1, "1 ms"),
        (1500, "1500 ms"),
        (2000, "2 s"),
        (90_000, "90 s"),
        (60_000, "1 minute"),
        (300_000, "5 minutes"),
        (3_600_000, "1 h"),
        (86_400_000, "1 day"),
        (172_800_000, "2 days"),
    ],
)
def test_a_duration_is_shown_in_the_longest_unit_that_divides_it(value: int, text: str) -> None:
    assert format_duration(value) == text


@given(st.integers(0, LONGEST_MS) | st.integers(0, 10_000).map(lambda seconds: seconds * 1000))
def test_what_is_shown_reads_back(value: int) -> None:
    assert parse_duration(format_duration(value)) == value
