"""Plants for queues: PD-18, PD-20 to PD-22, PD-32."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tests.pipeline.planting.edits import (
    LATE,
    QUIET,
    altered,
    fatal_after,
    is_drained,
    is_only_consumer,
    is_whole,
    lost,
    other_body,
    received,
    silence,
    spot,
)
from tests.pipeline.planting.plant import Find, Plant, also, at_random
from tests.pipeline.planting.raw import Edit
from tests.pipeline.planting.scene import Scene
from tests.pipeline.planting.views import FATAL, FOREVER, MS, SECOND, Reception, Send

Which = Callable[[Scene, Send, Reception], bool]


def _on_queues(scene: Scene) -> Iterator[Send]:
    for send in scene.sends:
        chosen = send.mode in ("persistent", "non-persistent") and send.qos is None
        if send.destination.startswith("queue://") and send.confirmed is not None and not send.ttl and chosen:
            yield send


def _awaiting(scene: Scene, send: Send) -> set[str]:
    """Return the consumers that watched a queue through a send."""
    return {
        one.actor
        for one in scene.watches
        if one.destination == send.destination
        and one.begin <= send.at - scene.margin
        and one.end >= send.at + scene.margin
    }


def _is_parked(scene: Scene, send: Send) -> bool:
    """Return whether no consumer watched a queue through a send, and one came later."""
    at, confirmed = send.at - scene.margin, (send.confirmed or 0) + scene.margin
    watches = [one for one in scene.watches if one.destination == send.destination]
    came = any(one.destination == send.destination and one.at >= confirmed for one in scene.visits)
    return came and all(one.end <= at or one.begin >= confirmed for one in watches)


def _calm_between(scene: Scene, start: int, end: int) -> bool:
    """Return whether nothing happened between two times after which a broker may deliver again."""
    return not any(start - MS <= at <= end + MS for at in scene.returns)


def _twice(which: Which, where: str, after: int = 10 * MS) -> Find:
    """Deliver a message a second time, unmarked.

    Args:
        which: Chooses the messages.
        where: ``other`` for another consumer, ``same`` for the same link.
        after: How long after the first reception.
    """

    def candidates(scene: Scene) -> Iterator[Callable[[], Edit | None]]:
        for send in _on_queues(scene):
            seen = scene.seen(send)
            if len(seen) != 1 or seen[0].batch is not None or seen[0].marked or send.key in scene.browsed:
                continue
            one = seen[0]
            if not which(scene, send, one) or not _calm_between(scene, send.at, one.at + after):
                continue
            for watch in scene.watches:
                fits = (watch.actor == one.actor) is (where == "same")
                if watch.destination == send.destination and fits and watch.begin < one.at + after < watch.end:
                    at = spot(scene, watch, one.at + after)
                    if at is not None and (where == "other" or at.link == one.link) and at.at < one.at + after + 9 * MS:
                        yield partial(received, scene, at, send)

    return at_random(candidates, administered=True)


def _parked_and_lost(scene: Scene, *, persistent: bool) -> Iterator[partial[Edit]]:
    """Lose a message of a queue's only consumer."""
    for send in _on_queues(scene):
        seen = scene.seen(send)
        alone = is_only_consumer(scene, send.destination) and not fatal_after(scene, send)
        if not seen or not alone or send.persistent is not persistent or send.key in scene.browsed:
            continue
        watches = [one for one in scene.watches if one.destination == send.destination]
        if persistent and _is_parked(scene, send):
            waited = [one for one in watches if silence(scene, one, send.due) >= LATE]
        elif not persistent:
            through = [one for one in watches if one.begin <= send.at - scene.margin and is_whole(scene, one)]
            waited = [one for one in through if silence(scene, one, send.due) >= (LATE if send.delay else QUIET)]
        else:
            waited = []
        if waited:
            yield partial(lost, scene, send.key, seen)


def _crowd(scene: Scene, send: Send, _one: Reception) -> bool:
    return len(_awaiting(scene, send)) > 1


def _awaited_light(scene: Scene, send: Send, _one: Reception) -> bool:
    return not send.persistent and bool(_awaiting(scene, send)) and not fatal_after(scene, send)


def _light_before_a_kill(scene: Scene, send: Send, one: Reception) -> bool:
    after = all(fault.begin > one.at + SECOND for fault in scene.faults if fault.what in FATAL and fault.end > send.at)
    return not send.persistent and fatal_after(scene, send) and after


def _parked_light(scene: Scene, send: Send, _one: Reception) -> bool:
    return not send.persistent and _is_parked(scene, send) and not fatal_after(scene, send)


def _changed(which: Which, how: str) -> Find:
    def candidates(scene: Scene) -> Iterator[partial[Edit]]:
        for send in _on_queues(scene):
            for one in scene.seen(send):
                if one.destination == send.destination and one.visit is not None and which(scene, send, one):
                    yield partial(altered, scene, one, sha256=other_body(scene, one, how))

    return at_random(candidates, administered=True)


def _back_and_changed(scene: Scene) -> Iterator[partial[Edit]]:
    """Let a non-persistent message come back from a kill with another body."""
    for send in _on_queues(scene):
        ends = [one.end for one in scene.faults if one.what in FATAL and one.begin > (send.confirmed or 0)]
        if send.persistent or not ends or ends[0] == FOREVER:
            continue
        for watch in scene.watches:
            if watch.destination == send.destination and watch.begin > ends[0]:
                at = spot(scene, watch, watch.begin + MS)
                if at is not None:
                    yield partial(received, scene, at, send, marked=True, body="ab" * 32)


def _killed_and_lost(which: Callable[[Scene, Send], bool]) -> Find:
    def candidates(scene: Scene) -> Iterator[partial[Edit]]:
        for send in _on_queues(scene):
            seen = scene.seen(send)
            if not send.persistent or not fatal_after(scene, send) or not seen or send.key in scene.browsed:
                continue
            if all(one.batch is None for one in seen) and which(scene, send) and is_drained(scene, send):
                yield partial(lost, scene, send.key, seen)

    return at_random(candidates)


def _kill_soon(scene: Scene, send: Send) -> bool:
    begun = [one.begin for one in scene.faults if one.what in FATAL and one.begin > (send.confirmed or 0)]
    return bool(begun) and min(begun) - (send.confirmed or 0) < 3 * SECOND


_QUEUE = "a message of a queue that comes twice unmarked breaks the rules about one consumer, too"
_ACKNOWLEDGED = "the client had acknowledged the message that comes again"
_GONE = "the lost message is one that this rule protects, too"
_TWICE = also(_QUEUE, "PD-18", "PD-21", "PD-22", "PD-32") | {"QS-08": _ACKNOWLEDGED}
_VANISHED = also(_GONE, "PD-18", "PD-20", "PD-21", "DD-03")
_ALTERED = {"PD-22": _GONE, "PD-32": _GONE, "DD-39": "the altered message has a delay", "QS-08": _ACKNOWLEDGED}

PLANTS = (
    Plant("two consumers get a message", "PD-18", _TWICE, _twice(_crowd, "other")),
    Plant("a consumer gets a message twice", "PD-18", _TWICE, _twice(_crowd, "same")),
    Plant("a parked message is lost", "PD-18", _VANISHED, at_random(partial(_parked_and_lost, persistent=True))),
    Plant("lost in a kill", "PD-20", _VANISHED, _killed_and_lost(_is_parked)),
    Plant("a delayed message is lost in a kill", "PD-20", _VANISHED, _killed_and_lost(lambda _, m: m.delay > 0)),
    Plant("lost in a kill soon after the send", "PD-20", _VANISHED, _killed_and_lost(_kill_soon)),
    Plant("two consumers get a non-persistent message", "PD-21", _TWICE, _twice(_awaited_light, "other")),
    Plant("a consumer gets a non-persistent message twice", "PD-21", _TWICE, _twice(_awaited_light, "same")),
    Plant(
        "the only consumer misses a non-persistent message",
        "PD-21",
        _VANISHED,
        at_random(partial(_parked_and_lost, persistent=False)),
    ),
    Plant("a non-persistent message with another body", "PD-22", _ALTERED, _changed(_light_before_a_kill, "mixed up")),
    Plant(
        "a non-persistent message comes back changed",
        "PD-22",
        _ALTERED,
        at_random(_back_and_changed, administered=True),
    ),
    Plant("a non-persistent message comes twice before a kill", "PD-22", _TWICE, _twice(_light_before_a_kill, "other")),
    Plant("a parked message with a changed body", "PD-32", _ALTERED, _changed(_parked_light, "a bit")),
    Plant("a parked message with another body", "PD-32", _ALTERED, _changed(_parked_light, "mixed up")),
    Plant("a parked message comes empty", "PD-32", _ALTERED, _changed(_parked_light, "emptied")),
)
