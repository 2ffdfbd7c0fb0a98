"""The record of one connection: which end sent octets or ended its stream, and when."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from assay.liveness.rules import Side

_FORM = re.compile(rb"\s*([0-9]{1,9})\s*,\s*([0-9]{1,9})\s*")
_OPENING = {Side.CLIENT: (b"CONNECT\n", b"CONNECT\r\n", b"STOMP\n", b"STOMP\r\n"), Side.SERVER: (b"CONNECTED",)}


class Event(Struct, frozen=True):
    """A piece of data, or the end of a stream.

    Args:
        at_ms: The time since the beginning of the connection, in milliseconds.
        side: The end that sent it.
        octets: The octets; empty for the end of the stream.
    """

    at_ms: float
    side: Side
    octets: bytes


class Mark(Struct, frozen=True):
    """The times of a phase, in milliseconds since the beginning of the connection.

    Args:
        begin_ms: The beginning of the phase.
        end_ms: The end of the phase.
    """

    begin_ms: float
    end_ms: float


class Record(Struct, frozen=True):
    """The record of one connection.

    Args:
        scenario: The scenario's id.
        events: The events, in the order of their times.
        phase: The times of the phase that is judged.
        late_ms: The longest time that the kit itself was late during the connection, in milliseconds.
    """

    scenario: str
    events: Sequence[Event]
    phase: Mark
    late_ms: float = 0.0

    def of(self, side: Side) -> Iterable[Event]:
        """Return one end's events."""
        return (event for event in self.events if event.side is side)

    def promise(self, side: Side) -> Promise:
        """Return what an end has written about heart-beats in its first frame; zeros if it has written nothing.

        Raises:
            FormError: The header has another form than two numbers.
            AbsentError: The end has sent no frame that opens a connection.
        """
        sent = b"".join(event.octets for event in self.of(side)).lstrip(b"\r\n")
        if not sent.startswith(_OPENING[side]):
            raise AbsentError
        head = sent.partition(b"\0")[0].replace(b"\r\n", b"\n").partition(b"\n\n")[0]
        for line in head.split(b"\n")[1:]:
            name, _, value = line.partition(b":")
            if name.strip() == b"heart-beat":
                found = _FORM.fullmatch(value)
                if found is None:
                    raise FormError(value.decode(errors="replace"))
                return Promise(int(found[1]), int(found[2]))
        return Promise(0, 0)

    def interval_ms(self, side: Side) -> int:
        """Return the interval at which an end has promised to send octets, in milliseconds; 0 for no promise.

        Raises:
            FormError: A header has another form than two numbers.
            AbsentError: An end has sent no frame that opens a connection.
        """
        mine, other = self.promise(side), self.promise(side.other)
        return max(mine.sends_ms, other.wants_ms) if mine.sends_ms and other.wants_ms else 0

    @property
    def ended(self) -> Event | None:
        """The first end of a stream; None if the connection stayed open."""
        return next((event for event in self.events if not event.octets), None)

    def write(self, path: Path) -> None:
        """Write the record as lines of JSON."""
        head = msgspec.json.encode({"scenario": self.scenario, "phase": self.phase, "late_ms": self.late_ms})
        lines = [msgspec.json.encode(_shown(event)) for event in self.events]
        path.write_bytes(b"\n".join((head, *lines)) + b"\n")


_PASSCODE = re.compile(rb"(?m)^(passcode:).*$")
"""The header of CONNECT with the client's password, which no record may show."""


def _shown(event: Event) -> dict[str, object]:
    octets = _PASSCODE.sub(rb"\1***", event.octets)
    what = octets.decode(errors="backslashreplace") if octets else None
    return {"at_ms": round(event.at_ms, 1), "from": event.side.value, "octets": what}


class Promise(Struct, frozen=True):
    """An end's header heart-beat, in milliseconds.

    Args:
        sends_ms: The shortest interval that the end can keep; 0 if it sends no heart-beats.
        wants_ms: The interval that it requests of the other end; 0 if it requests no heart-beats.
    """

    sends_ms: int
    wants_ms: int


class FormError(ValueError):
    """The error for a malformed header heart-beat; the error's text is the header's value."""


class AbsentError(ValueError):
    """The error for an end that has not opened the connection."""
