"""Tests of the lines of a broker's log: their hidden secrets, the number of kept lines, and their times."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from assay_adapters.traces.lines import FIRST, LAST, LONGEST, few, safe, time_in


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("user=app password=hunter2 connected", "user=app password=*** connected"),
        ('{"user": "app", "password": "hunter2", "n": 1}', '{"user": "app", "password": "***", "n": 1}'),
        ("keyStorePassword: hunter2", "keyStorePassword: ***"),
        ("-Djavax.net.ssl.trustStorePassword=hunter2 -Xmx1g", "-Djavax.net.ssl.trustStorePassword=*** -Xmx1g"),
        ("Authorization: Basic aHVudGVyMg== accepted", "Authorization: Basic *** accepted"),
        ("authorization=Bearer ey.J0.x", "authorization=Bearer ***"),
        ("api_key='hunter2'", "api_key='***'"),
        ("bridge to amqp://app:hunter2@host:5672/q", "bridge to amqp://app:***@host:5672/q"),
        (
            "client 10.0.0.1:5672 connected over amqp://host:5672",
            "client 10.0.0.1:5672 connected over amqp://host:5672",
        ),
        ("AMQ601263: user app failed authentication", "AMQ601263: user app failed authentication"),
        ("the token was hunter2", "the token was hunter2"),
    ],
)
def test_passwords_are_hidden_and_other_texts_are_not(line: str, shown: str) -> None:
    assert safe(line) == shown.replace("Authorization: ***", "Authorization: Basic ***").replace(
        "authorization=Bearer ***", "authorization=Bearer ***"
    )


def test_a_given_password_is_hidden_wherever_it_stands() -> None:
    assert safe("the token was hunter2!", ["hunter2"]) == "the token was ***!"
    assert safe("a queue", ["a"]) == "a queue"


def test_colours_of_a_terminal_are_left_out() -> None:
    assert safe("\x1b[38;5;87m10:00 [info] closing\x1b[0m") == "10:00 [info] closing"


def test_a_long_line_is_cut_after_its_passwords_are_hidden() -> None:
    line = safe("x" * (LONGEST - 12) + " password=hunter2 and more")
    assert line.endswith("password=**…")
    assert len(line) == LONGEST + 1


def test_of_many_lines_the_first_and_the_last_are_kept_with_the_number_between() -> None:
    kept = few(range(FIRST + LAST + 5))
    assert len(kept) == FIRST + LAST
    assert kept[FIRST - 1 : FIRST + 2] == [(FIRST - 1, 0), (FIRST + 5, 5), (FIRST + 6, 0)]
    assert few(range(FIRST + LAST)) == [(number, 0) for number in range(FIRST + LAST)]


def test_a_time_is_read_with_its_zone_and_otherwise_as_this_machines() -> None:
    at_ns = 1_780_000_000_123_000_000
    utc = datetime.fromtimestamp(at_ns / 1e9, UTC)
    assert time_in(f"{utc:%Y-%m-%dT%H:%M:%S}.123456789Z INFO") == at_ns + 456_000
    assert time_in(f'{{"event": "x", "timestamp": "{utc:%Y-%m-%dT%H:%M:%S}.123+00:00"}}') == at_ns
    assert time_in(f"{utc.astimezone():%Y-%m-%d %H:%M:%S},123 INFO") == at_ns
    assert time_in("2026-13-45T00:00:00Z") is None
    assert time_in("no time") is None
