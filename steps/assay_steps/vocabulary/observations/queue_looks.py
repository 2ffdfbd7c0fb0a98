"""Looks of the administrator at a queue for claims, repeated until they show what is expected."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay_adapters.ports.administration import STRUC_ID, Scalar
from assay_steps.cast.looks import Found, Look
from assay_steps.cast.waiting import NS_PER_MS
from assay_steps.cast.world import World
from assay_steps.words.names import Place

LOOKS = 30
"""The number of looks within the time limit."""
MS_PER_TENTH = 100
"""MQMD's Expiry counts in tenths of a second."""
DELAY_UNITS_MS = (1, 100, 1000)
"""The units in which a header may show a delay, or the time of a delivery."""
ACCURACY_MS = 1_000
"""DELAY:62 says "approximately": a broker may count lives in whole seconds."""


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


def look_until_count(world: World, place: Place, count: int, counted: Callable[[Look], int]) -> Look:
    """Look at a queue until there are so many, and again after a time of silence; that look counts.

    On the staging queue messages come and go by time, so nothing is waited for there once there are as many.
    """
    seen = look_until(world, place, lambda seen: counted(seen) >= count)
    if place.role == "staging" or counted(seen) != count:
        return seen
    world.pass_time(world.limits.quiet_ms)
    return look(world, place)


def look_until_gone(world: World, place: Place, labels: tuple[str, ...]) -> Look:
    """Look at a queue until it holds none of these messages or the time limit is over; the last look counts."""
    keys = set(world.keys(labels))
    return look_until(world, place, lambda seen: not any(one.key in keys for one in seen.found))


def look_until_in_one(world: World, places: Sequence[Place], key: str) -> None:
    """Look at several queues in turn until one of them holds a message, or the time limit is over."""
    deadline = world.now_ms() + world.limits.expected_ms
    while not any(found_in(look(world, place), key) for place in places) and world.now_ms() < deadline:
        world.pass_time(max(1, world.limits.expected_ms // LOOKS))


def event_of(seen: Look, key: str) -> str:
    """The reference of a message's event in a look; if the look does not show the message, of the look itself."""
    return next((one.ref for one in seen.found if one.key == key), seen.ref)


def found_in(seen: Look, key: str) -> Found | None:
    """The message that a look shows; None if it does not."""
    return next((one for one in seen.found if one.key == key), None)


def header_fields(found: Found | None) -> list[tuple[str, Scalar]]:
    """The fields of a message's headers, by the names that they have in its event."""
    headers = () if found is None else found.message.headers
    return [
        (f"{header[STRUC_ID]}.{name}", value)
        for header in headers
        for name, value in header.items()
        if name != STRUC_ID
    ]


def delay_shown(fields: Sequence[tuple[str, Scalar]], delay_ms: int, due_ms: int | None) -> tuple[str, dict[str, int]]:
    """The header's field that shows a message's delay, in whichever form, with the bounds for its number.

    The document names no form: milliseconds, tenths or whole seconds, or the time of day of the delivery will do.

    Args:
        fields: The fields of the headers.
        delay_ms: The delay.
        due_ms: The time of the delivery, in milliseconds since the epoch, as the sender was shown it.
    """
    forms = [(span // unit, -(-span // unit)) for span in (delay_ms, due_ms or delay_ms) for unit in DELAY_UNITS_MS]
    for least, most in forms:
        for name, value in fields:
            if isinstance(value, int) and least <= value <= most:
                return name, {"least": least, "most": most}
    return "a delay", {"least": delay_ms, "most": delay_ms}


def look_for(world: World, place: Place, label: str) -> str:
    """Look for a message until it is there.

    Returns:
        The reference of its event; if it never came, of the last look.
    """
    key = world.key(label)
    return event_of(look_until(world, place, lambda seen: any(one.key == key for one in seen.found)), key)


def life_left(world: World, label: str, ttl_ms: int, at: str) -> dict[str, int]:
    """Bounds for the Expiry field of a message, or of a report that has the rest of its life.

    The life counts from a moment between the begin and the end of the send to the look that shows the field.

    Args:
        world: The scenario's world.
        label: The message.
        ttl_ms: Its time to live, in milliseconds.
        at: The reference of the event that shows the field.
    """
    shown_ms = _moment_ns(world, at) // NS_PER_MS
    begun_ms = world.sent_ns(label) // NS_PER_MS
    sent_ms = -(-_moment_ns(world, world.recorder.returned(world.messages[label].call)) // NS_PER_MS)
    least = max(0, ttl_ms - (shown_ms - begun_ms) - ACCURACY_MS)
    most = ttl_ms - (shown_ms - sent_ms) + ACCURACY_MS
    return {"least": least // MS_PER_TENTH, "most": -(-most // MS_PER_TENTH)}


def _moment_ns(world: World, ref: str) -> int:
    """The moment of an event, on the backend's monotonic clock, in nanoseconds."""
    return next(event.mono_ns for event in world.recorder.journal.events if event.ref == ref)
