"""Property tests of STOMP's reader and writer, by version: any division of the input, and any frame."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from assay_sdk.stomp import (
    BODY_COMMANDS,
    CLIENT_COMMANDS,
    SERVER_COMMANDS,
    Frame,
    FrameReader,
    RemoteError,
    Version,
    encode_frame,
)

_COMMANDS = sorted(CLIENT_COMMANDS | SERVER_COMMANDS)
_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
_PLAIN = st.text(st.characters(exclude_characters="\0\r\n: \t", exclude_categories=["Cs"]), max_size=12)


@st.composite
def frames(draw: st.DrawFn, version: Version) -> Frame:
    """Return a frame that a version can express."""
    command = draw(st.sampled_from(_COMMANDS))
    texts = _PLAIN if version is Version.V1_0 or command in {"CONNECT", "STOMP", "CONNECTED"} else _TEXT
    names = texts.filter(lambda name: name and name != "content-length")
    headers = draw(st.dictionaries(names, texts, max_size=6))
    body = draw(st.binary(max_size=40)) if command in BODY_COMMANDS else b""
    if body:
        headers["content-length"] = str(len(body))
    return Frame(command, headers, body)


def read(portions: list[bytes], version: Version) -> list[Frame | str]:
    """Return the frames of an input in portions, and the text of its error."""
    reader = FrameReader(CLIENT_COMMANDS | SERVER_COMMANDS)
    reader.version = version
    found: list[Frame | str] = []
    try:
        for portion in portions:
            reader.feed(portion)
            found.extend(iter(reader.next, None))
    except RemoteError as error:
        found.append(error.text)
    return found


versions = st.sampled_from(list(Version))


@given(st.data(), versions)
def test_what_is_written_is_read_again(data: st.DataObject, version: Version) -> None:
    several = data.draw(st.lists(frames(version), max_size=4))
    octets = b"\n".join(encode_frame(frame, version) for frame in several)
    assert read([octets], version) == several


@given(st.data(), versions)
@settings(max_examples=50)
def test_a_division_at_every_octet_gives_the_same_frames(data: st.DataObject, version: Version) -> None:
    several = data.draw(st.lists(frames(version), min_size=1, max_size=3))
    octets = b"\n\n".join(encode_frame(frame, version) for frame in several)
    for at in range(len(octets) + 1):
        assert read([octets[:at], octets[at:]], version) == several
    assert read([bytes((octet,)) for octet in octets], version) == several


_PIECES = st.sampled_from(
    [b"SEND", b"ACK", b"\n", b"\n", b"\r\n", b"\r", b":", b"a", b"\\", b"\\c", b"\0", b"content-length:", b"3", b"\xff"]
)


@given(st.lists(_PIECES, max_size=30), versions)
@settings(max_examples=300)
def test_any_input_is_read_alike_in_any_division_until_its_first_fault(pieces: list[bytes], version: Version) -> None:
    octets = b"".join(pieces)
    whole = read([octets], version)
    for portions in (pieces, [bytes((octet,)) for octet in octets]):
        found = read(portions, version)
        # the fault may be seen at another octet, and then be named otherwise
        assert [one for one in found if isinstance(one, Frame)] == [one for one in whole if isinstance(one, Frame)]
        assert not (isinstance(whole[-1:], str) and not found)
