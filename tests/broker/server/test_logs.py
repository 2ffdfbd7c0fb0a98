"""Tests of a server's log: one line for each event, no forged lines, and no secrets."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_broker.server.files import LogForm
from assay_broker.server.logs import LONGEST, SECRET, get_logger, printable, set_up, take_down


@contextmanager
def written(form: LogForm | None = "json") -> Generator[io.StringIO]:
    stream = io.StringIO()
    handler = set_up(form, stream)
    try:
        yield stream
    finally:
        take_down(handler)


def only(stream: io.StringIO) -> dict[str, Any]:
    (line,) = stream.getvalue().splitlines()
    event: dict[str, Any] = json.loads(line)
    return event


def test_an_event_is_one_line_of_json_with_its_time_and_place() -> None:
    with written() as stream:
        get_logger("assay_broker.amqp").info("connected", peer="127.0.0.1", links=2)
    event = only(stream)
    assert event.pop("timestamp").endswith("Z")
    assert event == {
        "message": "connected",
        "level": "info",
        "logger": "assay_broker.amqp",
        "peer": "127.0.0.1",
        "links": 2,
    }


def test_what_modules_say_through_the_standard_library_is_written_alike() -> None:
    with written() as stream:
        logging.getLogger("assay_broker.local").warning("a client at %s was refused: %s", "/tmp/x", 7)  # noqa: S108  a text of the log, no file
    event = only(stream)
    assert (event["message"], event["level"]) == ("a client at /tmp/x was refused: 7", "warning")


def test_people_get_a_plain_line() -> None:
    with written("console") as stream:
        get_logger("assay_broker.amqp").info("connected", peer="127.0.0.1")
    (line,) = stream.getvalue().splitlines()
    assert "connected" in line
    assert "peer=127.0.0.1" in line
    assert "\x1b" not in line


def test_off_a_terminal_machines_are_meant() -> None:
    with written(None) as stream:
        get_logger("assay_broker.amqp").info("connected")
    assert only(stream)["message"] == "connected"


def test_only_complaints_of_libraries_are_written_and_an_exception_with_them() -> None:
    with written() as stream:
        logging.getLogger("uvicorn.error").info("Started server process")
        logging.getLogger("asyncio").error("a job has failed", exc_info=ValueError("broken"))
    assert "ValueError: broken" in only(stream)["exception"]


def test_nothing_is_written_any_more_once_it_is_taken_down() -> None:
    with written() as stream:
        pass
    get_logger("assay_broker.amqp").info("late")
    assert stream.getvalue() == ""
    assert logging.getLogger("assay_broker").propagate


@pytest.mark.parametrize("name", sorted(SECRET))
@pytest.mark.parametrize("form", ["json", "console"])
def test_a_secret_is_kept_out_whoever_tries(name: str, form: LogForm) -> None:
    with written(form) as stream:
        get_logger("assay_broker.amqp").info("login", **{name: "hunter2", name.title(): b"hunter2"})
    assert "hunter2" not in stream.getvalue()
    assert "(kept out)" in stream.getvalue()


def test_octets_are_counted_and_not_shown() -> None:
    with written() as stream:
        get_logger("assay_broker.amqp").info("frame", what=b"the message's body")
    assert only(stream)["what"] == "(18 octets)"


@pytest.mark.parametrize("form", ["json", "console"])
@given(text=st.text(max_size=2 * LONGEST))
def test_a_clients_name_cannot_make_lines_of_its_own(form: LogForm, text: str) -> None:
    for say in (_bound, _plain):
        with written(form) as stream:
            say(text)
        said = stream.getvalue()
        assert said.count("\n") == 1
        assert said[:-1].isprintable()
        assert len(said) < 12 * LONGEST


def _bound(text: str) -> None:
    get_logger("assay_broker.amqp").info("connected", container=text)


def _plain(text: str) -> None:
    logging.getLogger("assay_broker.amqp").info("%s is connected", text)


@pytest.mark.parametrize(("value", "shown"), [(None, None), (1, 1), (True, True), (2.5, 2.5), ("é\n", "é\\n")])
def test_numbers_are_left_alone_and_texts_made_printable(value: object, shown: object) -> None:
    assert printable(value) == shown
