"""Defects that prove that each rule of stomp-liveness can fail; the relay simulates them, and the ends are correct."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from assay.liveness.relay import Breaker, Faithful, Line
from assay.liveness.rules import Side

_HEADER = re.compile(rb"(?m)^heart-beat:[^\r\n]*")


class Defect(Struct, frozen=True):
    """A named defect.

    Args:
        name: The defect's name.
        rule: The id of the rule that it breaks.
        text: The behaviour, in one sentence.
        breaker: Makes the breaker; its argument is the interval of the scenarios, in milliseconds.
    """

    name: str
    rule: str
    text: str
    breaker: Callable[[int], Breaker]


class _Garbled(Faithful):
    """A defect that records a malformed header of one end.

    The other end gets the correct header, because otherwise it would end the connection.
    """

    def __init__(self, side: Side, value: bytes) -> None:
        self._side = side
        self._value = value

    def passes(self, line: Line, side: Side, octets: bytes) -> tuple[bytes, bytes]:
        seen, sent = super().passes(line, side, octets)
        return (_HEADER.sub(b"heart-beat:" + self._value, seen) if side is self._side else seen), sent


class _Mute(Faithful):
    """A defect that leaves the heart-beats of one end out of the record, in some phases or on some connections.

    The other end gets the heart-beats, because otherwise it would end the connection.
    """

    def __init__(self, side: Side, phase: str | None = None, numbers: range | None = None) -> None:
        self._side = side
        self._phase = phase
        self._numbers = numbers

    def passes(self, line: Line, side: Side, octets: bytes) -> tuple[bytes, bytes]:
        seen, sent = super().passes(line, side, octets)
        wanted = self._phase in {None, line.phase} and (self._numbers is None or line.number in self._numbers)
        return (b"" if side is self._side and wanted and not octets.strip() else seen), sent


class _Ends(Faithful):
    """A defect with which one end ends the connection too early.

    Args:
        side: The end with the defect.
        counts: Returns whether this end counts octets of the other end as a sign of life.
        after_ms: The longest silence of the other end that this end permits, in milliseconds.
        phase: The phase in which the defect acts; None for all.
        wants: True to end only connections on which the other end has promised heart-beats; False to end only the
            others.
    """

    def __init__(
        self, side: Side, counts: Callable[[bytes], bool], after_ms: float, phase: str | None, *, wants: bool
    ) -> None:
        self._side = side
        self._counts = counts
        self._after_ms = after_ms
        self._phase = phase
        self._wants = wants

    def tick(self, line: Line) -> None:
        phase = line.phase  # another thread may end the phase meanwhile
        if not phase or self._phase not in {None, phase}:
            return
        begin, _ = line.marks[phase]
        heard = [event.at_ms for event in line.events if event.side is self._side.other and self._counts(event.octets)]
        promised = line.record("", phase).promise(self._side.other).sends_ms > 0
        last = heard[-1] if heard else begin
        if promised is self._wants and line.now_ms - last > self._after_ms:
            line.end(self._side)


class _Fed(Faithful):
    """A defect: the server does not notice a silent client, as the relay sends heart-beats in the client's name."""

    def __init__(self, every_ms: float) -> None:
        self._every_ms = every_ms
        self._fed: dict[int, float] = {}

    def tick(self, line: Line) -> None:
        if line.phase and line.now_ms - self._fed.get(line.number, 0.0) > self._every_ms:
            self._fed[line.number] = line.now_ms
            line.give(Side.SERVER, b"\n")


class _Trusting(Faithful):
    """A defect: the client does not notice a silent server, because it still gets the server's heart-beats."""

    def passes(self, line: Line, side: Side, octets: bytes) -> tuple[bytes, bytes]:
        seen, _ = super().passes(line, side, octets)
        return seen, octets


def _any(octets: bytes) -> bool:
    return bool(octets)


def _frames(octets: bytes) -> bool:
    return bool(octets.strip())


DEFECTS: tuple[Defect, ...] = (
    Defect("garbled-offer", "SL-01", "CONNECTED has one number only.", lambda _: _Garbled(Side.SERVER, b"1000")),
    Defect("mute-server", "SL-02", "The server sends no heart-beats.", lambda _: _Mute(Side.SERVER)),
    Defect(
        "frame-counting-server",
        "SL-03",
        "The server takes only frames, and no ends of lines, as signs of life.",
        lambda every: _Ends(Side.SERVER, _frames, 2.5 * every, "idle", wants=True),
    ),
    Defect(
        "hasty-server",
        "SL-04",
        "The server ends the connection after 0.4 intervals of silence.",
        lambda every: _Ends(Side.SERVER, _any, 0.4 * every, "mute", wants=True),
    ),
    Defect("patient-server", "SL-05", "The server never notices a silent client.", lambda every: _Fed(every / 3)),
    Defect(
        "expecting-server",
        "SL-06",
        "The server expects heart-beats from a client that promises none.",
        lambda every: _Ends(Side.SERVER, _any, 2 * every, "none", wants=False),
    ),
    Defect(
        "garbled-promise",
        "SL-07",
        "CONNECT has a word in place of a number.",
        lambda _: _Garbled(Side.CLIENT, b"often,1000"),
    ),
    Defect(
        "mute-client", "SL-08", "The client sends no heart-beats.", lambda _: _Mute(Side.CLIENT, "idle", range(1, 2))
    ),
    Defect(
        "starved-client",
        "SL-09",
        "The client sends no heart-beats while a listener is busy.",
        lambda _: _Mute(Side.CLIENT, "busy"),
    ),
    Defect(
        "frame-counting-client",
        "SL-10",
        "The client takes only frames, and no ends of lines, as signs of life.",
        lambda every: _Ends(Side.CLIENT, _frames, 2.5 * every, "idle", wants=True),
    ),
    Defect(
        "hasty-client",
        "SL-11",
        "The client ends the connection after 0.4 intervals of silence.",
        lambda every: _Ends(Side.CLIENT, _any, 0.4 * every, "silent", wants=True),
    ),
    Defect("trusting-client", "SL-12", "The client never notices a silent server.", lambda _: _Trusting()),
    Defect(
        "once-client",
        "SL-13",
        "The client sends heart-beats on its first connection only.",
        lambda _: _Mute(Side.CLIENT, "idle", range(2, 1_000)),
    ),
)
"""A defect for each rule."""

BY_NAME: Mapping[str, Defect] = {defect.name: defect for defect in DEFECTS}
