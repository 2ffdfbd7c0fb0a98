"""Inspections of queues by the administrator, repeated until a queue is in the expected state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile

from assay_adapters.ports.administration import STRUC_ID, Scalar
from assay_evidence.events import Admin, Late, Return, Step
from assay_sdk.time import NS_PER_MS
from assay_steps.cast.queue_inspections import Found, Inspection
from assay_steps.cast.world import World
from assay_steps.words.names import Place

INSPECTIONS = 30
"""The pause between two inspections of a queue is the time limit divided by this number."""
MS_PER_TENTH = 100
"""The milliseconds in a unit of MQMD's Expiry field, which counts tenths of a second."""
DELAY_UNITS_MS = (1, 100, 1000)
"""The units, in milliseconds, in which a header may show a delay or a delivery time."""
ACCURACY_MS = 1_000
"""The allowed error, in milliseconds, of a message's remaining life.

DELAY:62 says "approximately", so a broker may count in whole seconds.
"""


def inspect(world: World, place: Place) -> Inspection:
    """Inspect a queue once, and count the copies of each of the scenario's messages."""
    return world.administrator.browse(place, (sent.key for sent in world.messages.values()))


def inspect_until(world: World, place: Place, done: Callable[[Inspection], bool]) -> Inspection:
    """Inspect a queue again and again until a condition is true or the time limit is over; return the last result."""
    deadline = world.now_ms() + world.limits.expected_ms
    while True:
        seen = inspect(world, place)
        if done(seen) or world.now_ms() >= deadline:
            return seen
        world.pass_time(max(1, world.limits.expected_ms // INSPECTIONS))


def inspect_until_count(world: World, place: Place, count: int, counted: Callable[[Inspection], int]) -> Inspection:
    """Inspect a queue until it holds ``count`` messages or the time limit is over; return the last result.

    If the queue then holds exactly ``count`` messages, wait for a time of silence, and inspect it once more, because
    further messages may come.  The staging queue is not inspected again: its messages leave when their delays are over.

    Args:
        world: The scenario's world.
        place: The queue.
        count: The expected number of messages.
        counted: Returns how many messages of an inspection count.
    """
    seen = inspect_until(world, place, lambda seen: counted(seen) >= count)
    if place.role == "staging" or counted(seen) != count:
        return seen
    world.pass_time(world.limits.quiet_ms)
    return inspect(world, place)


def inspect_until_gone(world: World, place: Place, labels: tuple[str, ...]) -> Inspection:
    """Inspect a queue until it has none of the messages or the time limit is over; return the last result."""
    keys = set(world.keys(labels))
    return inspect_until(world, place, lambda seen: not any(one.key in keys for one in seen.found))


def inspect_until_in_one(world: World, places: Sequence[Place], key: str) -> None:
    """Inspect several queues in turn until one of them has the message, or the time limit is over."""
    deadline = world.now_ms() + world.limits.expected_ms
    while not any(found_in(inspect(world, place), key) for place in places) and world.now_ms() < deadline:
        world.pass_time(max(1, world.limits.expected_ms // INSPECTIONS))


def event_of(seen: Inspection, key: str) -> str:
    """Return the reference of a found message's event, or else the reference of the inspection's event."""
    return next((one.ref for one in seen.found if one.key == key), seen.ref)


def found_in(seen: Inspection, key: str) -> Found | None:
    """Return the message with a key that an inspection found; None if the inspection did not find it."""
    return next((one for one in seen.found if one.key == key), None)


def header_fields(found: Found | None) -> list[tuple[str, Scalar]]:
    """Return the fields of a message's headers, by their names in the message's event."""
    headers = () if found is None else found.message.headers
    return [
        (f"{header[STRUC_ID]}.{name}", value)
        for header in headers
        for name, value in header.items()
        if name != STRUC_ID
    ]


def delay_shown(fields: Sequence[tuple[str, Scalar]], delay_ms: int, due_ms: int | None) -> tuple[str, dict[str, int]]:
    """Find the header field that shows a message's delay, with the bounds for its value.

    The document does not define the field, so it may show the delay or the delivery time, in milliseconds, tenths of
    seconds or seconds.

    Args:
        fields: The fields of the headers.
        delay_ms: The delay in milliseconds.
        due_ms: The delivery time that the send showed, in milliseconds since the epoch; None if it showed none.

    Returns:
        The field's name, and the bounds.  If no field shows the delay, the name is "a delay", which no field has.
    """
    forms = [(span // unit, -(-span // unit)) for span in (delay_ms, due_ms or delay_ms) for unit in DELAY_UNITS_MS]
    for least, most in forms:
        for name, value in fields:
            if isinstance(value, int) and least <= value <= most:
                return name, {"least": least, "most": most}
    return "a delay", {"least": delay_ms, "most": delay_ms}


def inspect_for(world: World, place: Place, label: str) -> str:
    """Inspect a queue until it holds a message or the time limit is over.

    Returns:
        The reference of the message's event; if the queue did not hold the message, the last inspection's reference.
    """
    key = world.key(label)
    return event_of(inspect_until(world, place, lambda seen: any(one.key == key for one in seen.found)), key)


def inspect_for_mortal(world: World, place: Place, label: str, ttl_ms: int) -> str:
    """Inspect a queue until it holds a message with a time to live, or the time limit is over.

    Returns:
        The reference of the message's event. If no inspection found the message: the reference of the last inspection
        at a time when the message should have been on the queue. If no inspection was at such a time: the reference
        of the last inspection.
    """
    key = world.key(label)
    before = next(event for event in reversed(world.recorder.journal.events) if not isinstance(event, Late | Step))
    missed: list[str] = []

    def done(seen: Inspection) -> bool:
        missed.append(seen.ref)
        return found_in(seen, key) is not None

    found = found_in(inspect_until(world, place, done), key)
    if found is not None:
        return found.ref
    # The message arrives at the end of its delay, or after the scenario's last event, such as the end of a fault.
    due_ns = world.sent_ns(label) + world.messages[label].delay_ms * NS_PER_MS
    arrives_ns = max(due_ns, before.mono_ns) + world.limits.late_ms * NS_PER_MS
    lasts_ns = world.sent_ns(label) + lasts_ms(ttl_ms) * NS_PER_MS
    certain = [ref for ref in missed if arrives_ns <= _moment_ns(world, ref) < lasts_ns]
    return (certain or missed)[-1]


def lasts_ms(ttl_ms: int) -> int:
    """Return the shortest life of a message with a time to live, in milliseconds after the start of its send."""
    return max(0, ttl_ms - ACCURACY_MS)


def life_left(world: World, label: str, ttl_ms: int, at: str) -> dict[str, int]:
    """Compute bounds for the Expiry field (MQMD), which shows the rest of a message's time to live.

    The time to live begins between the begin and the end of the send; the field shows the rest at a moment between the
    event before the inspection and the inspection's own event.  If these are far apart, for example because the harness
    was delayed, the bounds are wide and prove little, so they do not count as measured.

    Args:
        world: The scenario's world.
        label: The label of the message.
        ttl_ms: The message's time to live, in milliseconds.
        at: The reference of the event that shows the field.

    Returns:
        The bounds of a claim, in tenths of a second.
    """
    shown_ms = _moment_ns(world, at) // NS_PER_MS
    begun_ms = world.sent_ns(label) // NS_PER_MS
    sent_ms = -(-_moment_ns(world, world.recorder.returned(world.messages[label].call)) // NS_PER_MS)
    least = max(0, ttl_ms - (shown_ms - begun_ms) - ACCURACY_MS)
    asked_ms = _moment_before_ns(world, at) // NS_PER_MS
    most = max(0, ttl_ms - (asked_ms - sent_ms) + ACCURACY_MS)
    measured = shown_ms - asked_ms <= ACCURACY_MS
    return {"least": least // MS_PER_TENTH, "most": -(-most // MS_PER_TENTH), "measured": int(measured)}


def _moment_before_ns(world: World, ref: str) -> int:
    """Return the time of the last event before another event, among the events that steps and their calls write."""
    before = takewhile(lambda event: event.ref != ref, world.recorder.journal.events)
    return [event for event in before if isinstance(event, Admin | Return | Step)][-1].mono_ns


def _moment_ns(world: World, ref: str) -> int:
    """Return the time of an event, in nanoseconds of the backend's monotonic clock."""
    return next(event.mono_ns for event in world.recorder.journal.events if event.ref == ref)
