"""The hunt: changed frames for the reader, guided by the lines of the parsing code that they reach.

An input that reaches a new line, or a new pair of successive lines, joins the pool from which further inputs are made.
Each input is read whole and in portions.  It must give the same frames, no error but `RemoteError`, and each frame must
survive writing and reading.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from msgspec import Struct

import assay_sdk.stomp
from assay_sdk.stomp import (
    CLIENT_COMMANDS,
    SERVER_COMMANDS,
    Frame,
    FrameLimits,
    FrameReader,
    RemoteError,
    Version,
    encode_frame,
)

_PLACE = str(Path(assay_sdk.stomp.__file__).parent)
_COMMANDS = CLIENT_COMMANDS | SERVER_COMMANDS
_LIMITS = FrameLimits(max_line=200, max_headers=20, max_head=600, max_body=400)
_WORDS = (
    *(command.encode() for command in sorted(_COMMANDS)),
    *(b"\n", b"\r\n", b"\r", b"\0", b":", b"\\", b"\\n", b"\\c", b"\\\\", b"\\r", b"\\t", b"\xff", b"\xc3\xa9"),
    *(b"content-length:", b"0", b"5", b"-1", b"99999999999999", b"receipt:r", b"accept-version:1.2", b" ", b"x" * 300),
)
_SEEDS = (
    b"CONNECT\naccept-version:1.2\nhost:h\n\n\0",
    b"SEND\ndestination:/queue/a\ncontent-length:5\n\nhe\0lo\0\n",
    b"SEND\r\ndestination:a\\cb\r\n\r\nbody\0",
    b"ACK\nid:1\ncontent-length:3\n\n\0MESSAGE\nfoo:a\nfoo:b\n\nx\0",
)


class WrongError(Exception):
    """The reader broke a promise for an input."""


class Tally(Struct):
    """The result of a hunt: the inputs, the size of the pool, and the lines and pairs of lines reached."""

    cases: int = 0
    pool: int = 0
    reached: int = 0


class _Trace:
    """The lines of the parsing code that one input reaches."""

    def __init__(self) -> None:
        self.pairs: set[tuple[int, int]] = set()
        self._last = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if event == "call" and not frame.f_code.co_filename.startswith(_PLACE):
            return None
        line = hash((frame.f_code.co_filename, frame.f_lineno))
        self.pairs.add((self._last, line))
        self._last = line
        return self


def _read(portions: list[bytes], version: Version | None) -> tuple[list[Frame], str | None]:
    reader = FrameReader(_COMMANDS, _LIMITS)
    reader.version = version
    frames: list[Frame] = []
    try:
        for portion in portions:
            reader.feed(portion)
            frames.extend(iter(reader.next, None))
    except RemoteError as error:
        return frames, error.text
    return frames, None


def try_one(octets: bytes, version: Version | None, chance: random.Random) -> None:
    """Read an input whole and in portions.

    Raises:
        WrongError: The reader broke a promise.
    """
    frames, fault = _read([octets], version)
    at = sorted(chance.randrange(len(octets) + 1) for _ in range(chance.choice((1, 3, 12))))
    portions = [octets[begin:end] for begin, end in zip((0, *at), (*at, len(octets)), strict=True)]
    divided, other = _read(portions, version)
    # a limit may be seen later if more input arrives together
    limited = "more than" in f"{fault}{other}" or "too long" in f"{fault}{other}"
    if divided != frames or ((fault is None) is not (other is None) and not limited):
        raise WrongError(f"{portions!r} gives {divided}, {other}, and in one portion {frames}, {fault} ({version})")
    if version is not None and version is not Version.V1_0:
        for frame in frames:
            again, _ = _read([encode_frame(frame, version)], version)
            headers = dict(frame.headers)
            if frame.body:
                headers.setdefault("content-length", str(len(frame.body)))
            if again != [Frame(frame.command, headers, frame.body)]:
                raise WrongError(f"{frame} is read again as {again} ({version})")


def _changed(pool: list[bytes], chance: random.Random) -> bytes:
    octets = bytearray(chance.choice(pool))
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(octets) + 1)
        match chance.randrange(6):
            case 0:
                octets[at:at] = chance.choice(_WORDS)
            case 1:
                del octets[at : at + chance.choice((1, 2, 8))]
            case 2 if octets:
                octets[at % len(octets)] = chance.randrange(256)
            case 3:
                octets[at:at] = chance.choice(pool)[: chance.randrange(60)]
            case 4:
                octets[at : at + chance.randrange(8)] = chance.choice(_WORDS)
            case _:
                octets += chance.choice(pool)
    return bytes(octets[:1200])


def hunt(seed: int, more: Callable[[Tally], bool]) -> Tally:
    """Try inputs until `more` returns False.

    Raises:
        WrongError: The reader broke a promise; the text has the input.
    """
    chance, tally = random.Random(seed), Tally()  # noqa: S311  no secret
    pool: list[bytes] = [*_SEEDS]
    known: set[tuple[int, int]] = set()
    while more(tally):
        octets = _changed(pool, chance)
        version = chance.choice((None, *Version))
        trace = _Trace() if tally.cases % 4 == 0 else None  # tracing is slow, so three of four inputs go without
        before = sys.gettrace()
        if trace is not None:
            sys.settrace(trace)
        try:
            try_one(octets, version, chance)
        except WrongError:
            raise
        except Exception as error:  # any other exception is a bug of the parser
            raise WrongError(f"{octets!r} raises {error!r} ({version})") from error
        finally:
            sys.settrace(before)
        if trace is not None and not trace.pairs <= known:
            known |= trace.pairs
            pool.append(octets)
        tally.cases += 1
        tally.pool, tally.reached = len(pool), len(known)
    return tally
