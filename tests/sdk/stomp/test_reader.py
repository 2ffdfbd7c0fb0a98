"""Tests of the reading of frames, by version."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from assay_sdk.stomp import CLIENT_COMMANDS, SERVER_COMMANDS, Frame, FrameLimits, FrameReader, RemoteError, Version

OLD, MIDDLE, NEW = Version.V1_0, Version.V1_1, Version.V1_2


def reader(version: Version | None = NEW, **limits: int) -> FrameReader:
    made = FrameReader(CLIENT_COMMANDS | SERVER_COMMANDS, FrameLimits(**limits))
    made.version = version
    return made


def frames(octets: bytes, version: Version | None = NEW, **limits: int) -> list[Frame]:
    made = reader(version, **limits)
    made.feed(octets)
    return list(iter(made.next, None))


def fault(octets: bytes, version: Version | None = NEW, **limits: int) -> RemoteError:
    with pytest.raises(RemoteError) as caught:
        frames(octets, version, **limits)
    assert "\n" not in caught.value.text
    return caught.value


def test_a_frame_has_a_command_headers_and_a_body() -> None:
    (frame,) = frames(b"SEND\ndestination:/queue/a\ncontent-type:text/plain\n\nhello\0")
    assert frame == Frame("SEND", {"destination": "/queue/a", "content-type": "text/plain"}, b"hello")


def test_a_body_with_a_content_length_may_contain_nul() -> None:
    (frame,) = frames(b"SEND\ndestination:a\ncontent-length:5\n\na\0b\0c\0")
    assert frame.body == b"a\0b\0c"


def test_ends_of_line_between_frames_are_heart_beats() -> None:
    octets = b"\n\r\n\nBEGIN\ntransaction:1\n\n\0\n\n\r\nABORT\ntransaction:1\n\n\0\n"
    assert [frame.command for frame in frames(octets)] == ["BEGIN", "ABORT"]


def test_lines_may_end_in_cr_lf_in_1_2() -> None:
    octets = b"SEND\r\ndestination:a\r\ncontent-length:3\r\n\r\nb\r\n\0BEGIN\ntransaction:1\r\n\n\0"
    assert frames(octets) == [
        Frame("SEND", {"destination": "a", "content-length": "3"}, b"b\r\n"),
        Frame("BEGIN", {"transaction": "1"}),
    ]


def test_a_carriage_return_is_data_in_1_1() -> None:
    (frame,) = frames(b"SEND\ndestination:a\nnote:b\r\n\n\0", MIDDLE)
    assert frame.headers["note"] == "b\r"


def test_cr_lf_in_1_1_is_an_error_and_no_endless_wait() -> None:
    assert "carriage return" in fault(b"SEND\r\ndestination:a\r\n\r\nb\0", MIDDLE).text


def test_the_first_of_repeated_headers_counts() -> None:
    for version in Version:
        (frame,) = frames(b"MESSAGE\nfoo:World\nfoo:Hello\n\n\0", version)
        assert frame.headers == {"foo": "World"}


@pytest.mark.parametrize(
    ("version", "written", "meant"),
    [
        (NEW, rb"a\n\c\\\rb", "a\n:\\\rb"),
        (NEW, rb"\\n", r"\n"),
        (NEW, rb"\\c\\\c", r"\c\:"),
        (MIDDLE, rb"a\n\c\\b", "a\n:\\b"),
        (OLD, rb"a\n\c\\\tb", r"a\n\c\\\tb"),
        (NEW, b"a:b:c", "a:b:c"),
        (NEW, b"", ""),
        (NEW, b" a ", " a "),
        (MIDDLE, b" a ", " a "),
        (OLD, b" a ", "a"),
        (NEW, "grün".encode(), "grün"),
    ],
)
def test_values_are_decoded_by_the_rules_of_their_version(version: Version, written: bytes, meant: str) -> None:
    (frame,) = frames(b"SEND\ndestination:q\nx:" + written + b"\n\n\0", version)
    assert frame.headers["x"] == meant


def test_names_have_escapes_too() -> None:
    (frame,) = frames(b"SEND\ndestination:q\nx\\cy:z\n\n\0")
    assert frame.headers["x:y"] == "z"


@pytest.mark.parametrize("command", ["CONNECT", "STOMP", "CONNECTED"])
@pytest.mark.parametrize("version", [None, NEW])
def test_headers_of_connect_and_connected_are_never_escaped(command: str, version: Version | None) -> None:
    (frame,) = frames(command.encode() + b"\naccept-version:1.2\npasscode:a\\c\\tb:c\n\n\0", version)
    assert frame.headers["passcode"] == "a\\c\\tb:c"


def test_blanks_of_a_1_0_connect_have_no_meaning() -> None:
    (frame,) = frames(b"CONNECT\nlogin: a\npasscode: b \n\n\0", None)
    assert frame.headers == {"login": "a", "passcode": "b"}


def test_blanks_of_a_1_2_connect_are_kept() -> None:
    (frame,) = frames(b"CONNECT\naccept-version:1.2\npasscode: b \n\n\0", None)
    assert frame.headers["passcode"] == " b "


def test_connect_may_have_cr_lf_before_the_version_is_known() -> None:
    (frame,) = frames(b"CONNECT\r\naccept-version:1.0,1.1\r\nhost:h\r\n\r\n\0", None)
    assert frame.headers == {"accept-version": "1.0,1.1", "host": "h"}


def test_content_length_on_a_frame_without_a_body_is_ignored() -> None:
    assert frames(b"ACK\nid:1\ncontent-length:9\n\n\0BEGIN\ntransaction:1\n\n\0")[1].command == "BEGIN"


def test_old_versions_ignore_a_body_that_the_command_must_not_have() -> None:
    (frame,) = frames(b"ACK\nmessage-id:1\n\nbody\0", MIDDLE)
    assert not frame.body


@pytest.mark.parametrize(
    ("octets", "words"),
    [
        (b"SEND\ndestination\n\n\0", "without a colon"),
        (b"SEND\n:q\n\n\0", "without a name"),
        (b"SEND\ndestination:q\nx:\\t\n\n\0", r"undefined escape '\t': the defined escapes are \n, \c, \\, \r"),
        (b"SEND\ndestination:q\nx:a\\\n\n\0", "undefined escape '\\':"),
        (b"SEND\ndestination:q\nx:\\\x1b\n\n\0", r"undefined escape '\\x1b':"),
        (b"SEND\ndestination:q\nx:a\rb\n\n\0", "carriage return"),
        (b"SEND\ndestination:q\nx:\xff\n\n\0", "not UTF-8"),
        (b"SENT\ndestination:q\n\n\0", "no command 'SENT'"),
        (b"send\ndestination:q\n\n\0", "no command 'send'"),
        (b" SEND\ndestination:q\n\n\0", "no command ' SEND'"),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "no command"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 50, "too long for a command"),
        (b"SEND\ndestination:q\ncontent-length:-1\n\n\0", "content-length '-1'"),
        (b"SEND\ndestination:q\ncontent-length:x\n\n\0", "content-length 'x'"),
        (b"SEND\ndestination:q\ncontent-length:\xd9\xa3\n\nabc\0", "content-length '٣'"),
        (b"SEND\ndestination:q\ncontent-length:\n\n\0", "content-length ''"),
        (b"SEND\ndestination:q\ncontent-length:3\n\nabcd\0", "no NUL behind the 3 octets"),
        (b"SEND\ndestination:q\ncontent-length:5\n\nabcd\0SEND\n", "no NUL behind the 5 octets"),
        (b"SEND\ndestination:q\0", "NUL before the empty line"),
        (b"SEND\ndestination:q\0\n\n\0", "NUL before the empty line"),
        (b"ACK\nid:1\n\nbody\0", "only SEND, MESSAGE and ERROR"),
    ],
)
def test_a_faulty_frame_is_named_in_one_sentence(octets: bytes, words: str) -> None:
    assert words in fault(octets).text


@pytest.mark.parametrize("octets", [b"SEND\nreceipt:r 1\nx\n\n\0", b"SEND\nreceipt:r 1\ncontent-length:-1\n\n\0"])
def test_a_fault_has_the_receipt_of_its_frame(octets: bytes) -> None:
    assert fault(octets).receipt == "r 1"


@pytest.mark.parametrize(
    ("octets", "limits"),
    [
        (b"SEND\n" + b"a:b\n" * 11 + b"\n\0", {"max_headers": 10}),
        (b"SEND\n" + b"a:b\n" * 11, {"max_headers": 10}),
        (b"SEND\na:" + b"b" * 100 + b"\n\n\0", {"max_line": 90}),
        (b"SEND\na:" + b"b" * 100, {"max_line": 90}),
        (b"SEND\n" + (b"a:" + b"b" * 80 + b"\n") * 9 + b"\n\0", {"max_head": 500, "max_line": 90}),
        (b"SEND\n" + (b"a:" + b"b" * 80 + b"\n") * 9, {"max_head": 500, "max_line": 90}),
        (b"SEND\ncontent-length:11\n\n", {"max_body": 10}),
        (b"SEND\ncontent-length:" + b"9" * 5000 + b"\n\n", {"max_body": 10}),
        (b"SEND\ndestination:a\n\n" + b"x" * 11, {"max_body": 10}),
        (b"SEND\ndestination:a\n\n" + b"x" * 11 + b"\0", {"max_body": 10}),
    ],
)
def test_a_limit_ends_the_input_as_soon_as_it_is_exceeded(octets: bytes, limits: dict[str, int]) -> None:
    assert fault(octets, NEW, **limits).is_limit


def test_limits_are_inclusive() -> None:
    octets = b"SEND\n" + b"".join(b"%04d:b\n" % one for one in range(1000)) + b"\n" + b"x" * 10 + b"\0"
    (frame,) = frames(octets, max_headers=1000, max_body=10)
    assert len(frame.headers) == 1000


def test_an_announced_body_takes_no_memory_before_it_arrives() -> None:
    tracemalloc.start()
    made = reader()
    made.feed(b"SEND\ndestination:a\ncontent-length:100000000\n\n")
    assert made.next() is None
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("octets", [b"content-length:4000000\n\n", b"\n"])
def test_a_long_body_in_small_portions_takes_linear_time(octets: bytes) -> None:
    times: list[float] = []
    for size in (1_000_000, 4_000_000):
        made = reader()
        made.feed(b"SEND\ndestination:a\n" + octets.replace(b"4000000", str(size).encode()))
        began = time.process_time()
        for _ in range(size // 250):
            made.feed(b"x" * 250)
            assert made.next() is None
        times.append(time.process_time() - began)
        made.feed(b"\0")
        found = made.next()
        assert found is not None
        assert len(found.body) == size
        assert made.kept == 0
    assert times[1] < 40 * times[0] + 0.5


def test_a_long_head_one_octet_at_a_time_takes_linear_time() -> None:
    made = reader()
    began = time.process_time()
    for octet in b"SEND\ndestination:a\nx:" + b"y" * 60_000:
        made.feed(bytes((octet,)))
        assert made.next() is None
    made.feed(b"\n\n\0")
    assert made.next() is not None
    assert time.process_time() - began < 5


def test_many_frames_with_cr_lf_in_one_portion_take_linear_time() -> None:
    began = time.process_time()
    assert len(frames(b"BEGIN\r\ntransaction:1\r\n\r\n\0" * 30_000)) == 30_000
    assert time.process_time() - began < 10
