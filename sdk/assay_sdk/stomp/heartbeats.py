"""Heart-beats: their negotiation, and the times at which one is due or missing (STOMP 1.2, Heart-beating).

All times are milliseconds of one clock that never goes back.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from assay_sdk.stomp.errors import RemoteError

_FORM = re.compile(r" *([0-9]{1,9}) *, *([0-9]{1,9}) *")
_PATIENCE = 2
"""How many intervals of silence a reader allows: network and timers may delay a beat (Artemis and stompjs use 2)."""


class HeartBeat(NamedTuple):
    """The heart-beats that one end offers and wants, in milliseconds.

    Args:
        sends: The shortest time between heart-beats that the end can guarantee; 0 if it sends none.
        wants: The time between heart-beats that the end wants to receive; 0 if it wants none.
    """

    sends: int
    wants: int

    def __str__(self) -> str:
        return f"{self.sends},{self.wants}"


NO_HEART_BEAT = HeartBeat(0, 0)
"""The meaning of an absent header heart-beat: no heart-beats in either direction."""


def parse_heart_beat(value: str | None) -> HeartBeat:
    """Parse the header heart-beat; without the header (None), the result is no heart-beats.

    Blanks around the numbers are ignored, because some clients write them.

    Raises:
        RemoteError: The value is not two numbers of milliseconds, separated by a comma.
    """
    if value is None:
        return NO_HEART_BEAT
    found = _FORM.fullmatch(value)
    if found is None:
        raise RemoteError(f"The header heart-beat is {value[:40]!r}: write two times in ms, as in 1000,1000")
    return HeartBeat(int(found[1]), int(found[2]))


def agreed(sender: HeartBeat, receiver: HeartBeat) -> int:
    """Return the time between heart-beats from the sender to the receiver, in milliseconds; 0 for no heart-beats."""
    return max(sender.sends, receiver.wants) if sender.sends and receiver.wants else 0


class Pulse:
    """The heart-beats of one end of an open connection, in both directions.

    Args:
        beats_ms: The time between heart-beats that this end sends, in milliseconds; 0 for none.
        hears_ms: The time between heart-beats that the peer sends, in milliseconds; 0 for none.
        now_ms: The time at which the connection was opened, in milliseconds of the caller's clock.
    """

    def __init__(self, beats_ms: int, hears_ms: int, now_ms: int) -> None:
        self.beats_ms = beats_ms
        self.hears_ms = hears_ms
        self.written_ms = now_ms
        """The time of the last output; any output is a sign of life."""
        self.heard_ms = now_ms
        """The time of the last input; any octet is a sign of life."""

    def beat_is_due(self, now_ms: int) -> bool:
        """Return whether this end must write an end of line now; the caller then sets `written_ms`.

        A beat is due when half of the interval has passed without output, so that it arrives in time even if a timer is
        late.
        """
        return bool(self.beats_ms) and now_ms >= self.written_ms + max(1, self.beats_ms // 2)

    def is_silent(self, now_ms: int) -> bool:
        """Return whether the peer has been silent for so long that this end must treat the connection as lost."""
        return bool(self.hears_ms) and now_ms >= self.heard_ms + _PATIENCE * self.hears_ms

    def next_ms(self) -> int | None:
        """Return when to call `beat_is_due` and `is_silent` next, in milliseconds; None without heart-beats."""
        times: list[int] = []
        if self.beats_ms:
            times.append(self.written_ms + max(1, self.beats_ms // 2))
        if self.hears_ms:
            times.append(self.heard_ms + _PATIENCE * self.hears_ms)
        return min(times, default=None)
