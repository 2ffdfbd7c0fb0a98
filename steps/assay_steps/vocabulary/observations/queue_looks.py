"""Looks of the administrator at a queue for claims, repeated until they show what is expected."""

from __future__ import annotations

from collections.abc import Callable

from assay_steps.cast.administration import Look
from assay_steps.cast.waiting import NS_PER_MS
from assay_steps.cast.world import World
from assay_steps.words.names import Place

LOOKS = 30
"""The number of looks within the time limit."""
MS_PER_TENTH = 100
"""MQMD's Expiry counts in tenths of a second."""


def look(world: World, place: Place) -> Look:
    """Look at a queue once."""
    return world.administrator.look(place, (sent.key for sent in world.messages.values()))


def look_until(world: World, place: Place, done: Callable[[Look], bool]) -> Look:
    """Look at a queue until the condition holds or the time limit is over; the last look counts."""
    deadline = world.now_ms() + world.limits.expected_ms
    while True:
        seen = look(world, place)
        if done(seen) or world.now_ms() >= deadline:
            return seen
        world.pass_time(max(1, world.limits.expected_ms // LOOKS))


def event_of(seen: Look, key: str) -> str:
    """The reference of a message's event in a look; if the look does not show the message, of the look itself."""
    return next((one.ref for one in seen.found if one.key == key), seen.ref)


def look_for(world: World, place: Place, label: str) -> str:
    """Look for a message until it is there.

    Returns:
        The reference of its event; if it never came, of the last look.
    """
    key = world.key(label)
    return event_of(look_until(world, place, lambda seen: any(one.key == key for one in seen.found)), key)


def life_left(world: World, label: str, left_ms: int) -> dict[str, int]:
    """Bounds for the Expiry field of a message, or of a report on it.

    Steps count from the begin of the send and the broker from the put, so more may be left by the duration of the send,
    and less by the time that the backend may be late.

    Args:
        world: The scenario's world.
        label: The message.
        left_ms: The rest of its life, counted from the begin of the send, in milliseconds.
    """
    most = left_ms + _sending_ms(world, label)
    least = max(0, left_ms - world.limits.late_ms)
    return {"least": least // MS_PER_TENTH, "most": -(-most // MS_PER_TENTH)}


def _sending_ms(world: World, label: str) -> int:
    """The duration of a message's send in milliseconds, rounded up."""
    answered = world.recorder.returned(world.messages[label].call)
    end_ns = next(event.mono_ns for event in world.recorder.journal.events if event.ref == answered)
    return -((world.sent_ns(label) - end_ns) // NS_PER_MS)
