"""Tests of the writing of frames, by version."""

from __future__ import annotations

import pytest

from assay_sdk.stomp import Frame, LocalError, Version, encode_frame, encode_headers

OLD, MIDDLE, NEW = Version.V1_0, Version.V1_1, Version.V1_2


def test_a_body_gets_its_length() -> None:
    assert encode_frame(Frame("SEND", {"destination": "a"}, b"\0"), NEW) == (
        b"SEND\ndestination:a\ncontent-length:1\n\n\0\0"
    )


def test_a_frame_without_a_body_gets_none() -> None:
    assert encode_frame(Frame("BEGIN", {"transaction": "1"}), NEW) == b"BEGIN\ntransaction:1\n\n\0"


@pytest.mark.parametrize(
    ("version", "written"),
    [(NEW, rb"a\n\c\\\rb"), (MIDDLE, b"a\\n\\c\\\\\rb")],
)
def test_values_are_escaped_by_the_rules_of_their_version(version: Version, written: bytes) -> None:
    assert encode_headers("SEND", {"x": "a\n:\\\rb"}, version) == b"SEND\nx:" + written + b"\n"


def test_connect_is_never_escaped() -> None:
    assert encode_headers("CONNECT", {"passcode": "a:\\b"}, None) == b"CONNECT\npasscode:a:\\b\n"


@pytest.mark.parametrize(
    ("command", "headers", "version"),
    [
        ("CONNECT", {"passcode": "a\nb"}, None),
        ("CONNECT", {"passcode": "a\rb"}, None),
        ("CONNECT", {"a:b": "c"}, None),
        ("SEND", {"a": "b\nc"}, OLD),
        ("SEND", {"a:b": "c"}, OLD),
        ("SEND", {"": "c"}, NEW),
        ("SEND", {"a": "b\0c"}, NEW),
        ("SEND", {"a": "\ud800"}, NEW),
    ],
)
def test_a_header_that_a_version_cannot_express_is_refused(
    command: str, headers: dict[str, str], version: Version | None
) -> None:
    with pytest.raises(LocalError):
        encode_headers(command, headers, version)


@pytest.mark.parametrize(
    "frame", [Frame("ACK", {"id": "1"}, b"x"), Frame("SEND", {"content-length": "2"}, b"x")], ids=["ack", "length"]
)
def test_a_body_that_is_not_allowed_or_not_as_long_as_announced_is_refused(frame: Frame) -> None:
    with pytest.raises(LocalError):
        encode_frame(frame, NEW)
