"""The lines of a journal: one event each, with a checksum.

A line is the event's JSON object with one more field at its end, ``"sum"``: eight lower-case hexadecimal digits, the
CRC-32 (ISO 3309, as in zlib) of the line's bytes before ``,"sum":``.  The checksum reveals an altered line.  It also
reveals two objects in one line, because the last checksum then covers only the second object.
"""

from __future__ import annotations

from typing import Literal
from zlib import crc32

import msgspec
from msgspec import Struct

from assay_evidence.errors import LineError
from assay_evidence.events import AnyEvent, Event

DamageKind = Literal[
    "checksum",
    "undecodable",
    "gap",
    "duplicate",
    "foreign",
    "no-begin",
    "no-end",
    "count",
    "digest",
    "missing-writer",
]
NEWLINE = b"\n"
_MARK = b',"sum":"'
_CLOSE = b'"}'
_SUM_DIGITS = 8
_TAIL = len(_MARK) + _SUM_DIGITS + len(_CLOSE)


class JournalDamage(Struct, frozen=True):
    """Damage to a journal; verdicts depend on it, and reports show it.

    Args:
        kind: The kind of damage:

            - ``checksum``: a line was altered.
            - ``undecodable``: a line is blank or incomplete, or is not an event of the schema.
            - ``gap``: lines are missing or out of order.
            - ``duplicate``: a line, or a writer's name, occurs twice.
            - ``foreign``: a line belongs to another run or another writer.
            - ``no-begin``, ``no-end``: the first or the last record is missing.
            - ``count``, ``digest``: the last record disagrees with the lines before it.
            - ``missing-writer``: a writer of the run has no file.
        writer: The journal's writer; if no line names the writer, the file's name without its suffix.
        file: The file's name; empty for a missing file.
        line: The line in the file, from 1; 0 for the whole file.
        text: The damage, in one sentence.
    """

    kind: DamageKind
    writer: str
    file: str
    line: int
    text: str


_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def encode_line(event: Event) -> bytes:
    """Encode an event as a line of a journal, with its newline.

    Raises:
        TypeError: The event has a value that JSON cannot represent.
        UnicodeEncodeError: A text has half of a surrogate pair.
    """
    body = _encoder.encode(event)[:-1]
    return b'%b,"sum":"%08x"}\n' % (body, crc32(body))


def read_line(line: bytes) -> AnyEvent:
    """Check a line of a file, and decode its event.

    Args:
        line: The line's bytes with the newline; a line without a newline is torn.

    Raises:
        LineError: The line is torn or blank, has no checksum or a wrong one, or is not an event of the schema.
    """
    if not line.endswith(NEWLINE):
        raise LineError("undecodable", "The last line is incomplete: it does not end with a newline.")
    return decode_line(line[: -len(NEWLINE)])


def decode_line(line: bytes) -> AnyEvent:
    """Check a line's checksum and decode its event.

    Args:
        line: The line's bytes without the newline.

    Raises:
        LineError: The line is blank, has no checksum or a wrong one, or is not an event of the schema.
    """
    if not line.strip():
        raise LineError("undecodable", "The line is blank.")
    body, tail = line[:-_TAIL], line[-_TAIL:]
    if not (body and tail.startswith(_MARK) and tail.endswith(_CLOSE)):
        raise LineError("undecodable", "The line does not end with a checksum: it is incomplete or not a journal's.")
    expected = b"%08x" % crc32(body)
    found = tail[len(_MARK) : -len(_CLOSE)]
    if found != expected:
        raise LineError(
            "checksum", f"The line's checksum should be {expected.decode()}, but is {found.decode(errors='replace')}."
        )
    try:
        return _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise LineError("undecodable", f"The line is no event of this schema: {error}.") from error
