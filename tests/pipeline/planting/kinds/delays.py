"""Plants for delayed and expiring messages: DD-02, DD-03, DD-26, DD-27, DD-39, DD-51, DD-55, DD-56, DD-80."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tests.pipeline.planting.edits import (
    LATE,
    altered,
    fatal_after,
    is_drained,
    is_only_consumer,
    is_whole,
    joined,
    lost,
    moved,
    other_body,
    postponed,
    received,
    silence,
    spot,
)
from tests.pipeline.planting.plant import Plant, also, at_random
from tests.pipeline.planting.raw import Edit
from tests.pipeline.planting.scene import Scene
from tests.pipeline.planting.views import FATAL, MS, SECOND, Reception, Send, Watching

_LOST = "the message is lost, and the broker was killed after its send"
_COPY = "the missing copy is one of an open subscription"
_EXPIRED = "a message with a delay that comes after its expiry breaks both"
_ALTERED = "the altered message is a non-persistent one, which must come unaltered or not"


def _within(scene: Scene, destination: str, at: int) -> Iterator[Watching]:
    """Return the watches of a destination by listeners of single messages at a time."""
    for watch in scene.watches:
        if watch.destination == destination and watch.begin < at < watch.end and watch.actor not in scene.batchers:
            yield watch


def _first_alone(scene: Scene, kind: str) -> Iterator[tuple[Send, Reception]]:
    """Return the delayed messages of queues or topics that came once, unmarked, and not in a batch."""
    for send in scene.sends:
        seen = scene.seen(send)
        once = len(seen) == 1 and seen[0].batch is None and not seen[0].marked and send.key not in scene.browsed
        if send.destination.startswith(kind) and send.delay >= 400 * MS and send.accepted and once:
            yield send, seen[0]


def _early(scene: Scene, kind: str, part: float) -> Iterator[partial[Edit]]:
    for send, one in _first_alone(scene, kind):
        to = max(send.at + int(send.delay * part), (send.answered or 0) + 5 * MS)
        calm = all(trouble.end < to or trouble.begin > one.at for trouble in scene.faults)
        if calm and to < send.at + send.delay - 100 * MS and send.ttl == 0:
            for watch in _within(scene, send.destination, to):
                if watch.actor == one.actor and watch.end > one.at:
                    yield partial(moved, scene, one, to)


def _early_copies(scene: Scene) -> Iterator[partial[Edit]]:
    for send in scene.sends:
        if send.destination.startswith("topic://") and send.delay >= 400 * MS and send.accepted and send.ttl == 0:
            to = send.at + send.delay // 2
            for one in scene.seen(send):
                watches = [watch for watch in _within(scene, send.destination, to) if watch.actor == one.actor]
                if watches and watches[0].begin < send.at and watches[0].end > one.at and not one.marked:
                    yield partial(moved, scene, one, to)


def _undelivered(scene: Scene, which: str) -> Iterator[partial[Edit]]:
    for send in scene.sends:
        seen = scene.seen(send)
        if not send.destination.startswith("queue://") or not send.delay or send.ttl or send.qos is not None:
            continue
        if (
            send.confirmed is None
            or not seen
            or send.key in scene.browsed
            or any(one.batch is not None for one in seen)
        ):
            continue
        killed = fatal_after(scene, send)
        upon = any(one.end > send.at for one in scene.faults)
        fits = {
            "killed": send.persistent and killed,
            "calm": not upon and not send.persistent,
            "unit": send.persistent and send.unit is not None,
        }
        if fits[which] and is_drained(scene, send):
            yield partial(lost, scene, send.key, seen)


def _rolled_back(scene: Scene, which: str) -> Iterator[partial[Edit]]:
    for send in scene.sends:
        if not send.rolled_back or send.asked is not None or not send.delay or not send.accepted or scene.seen(send):
            continue
        if not send.destination.startswith("queue://") or send.unit_ended is None:
            continue
        kills = [one.end for one in scene.faults if one.what in FATAL and one.begin > send.unit_ended]
        due = send.at + send.delay
        if which == "killed" and not kills:
            continue
        at = {
            "due": due + 5 * MS,
            "counted": send.unit_ended + send.delay + 2 * MS,
            "killed": max(kills[0], due) + SECOND if kills else 0,
        }[which]
        for watch in _within(scene, send.destination, max(at, send.unit_ended + MS)):
            place = spot(scene, watch, max(at, send.unit_ended + MS))
            if place is not None:
                yield partial(received, scene, place, send)


def _from_the_commit(scene: Scene, by: int) -> Iterator[partial[Edit]]:
    """Let the client commit late, and the broker deliver a delay after the commit."""
    for send, one in _first_alone(scene, "queue://"):
        if send.confirmed is None or send.unit is None or not is_only_consumer(scene, send.destination):
            continue
        alone = sum(other.unit == send.unit for other in scene.sends) == 1
        commit = max(0, send.at + 4 * SECOND + 100 * MS - send.confirmed)
        to = send.confirmed + commit + send.delay + by
        if send.delay < 4 * SECOND + 100 * MS or (commit and not alone):
            continue
        others = [other for other in scene.receptions if other.actor == one.actor and other.key != send.key]
        idle = all(other.at < send.at or other.at > to for other in others)
        calm = all(trouble.end < send.at or trouble.begin > to for trouble in scene.faults)
        for watch in _within(scene, send.destination, to):
            if watch.actor == one.actor and watch.begin <= send.due and idle and calm:
                yield partial(_committed_late, scene, send.unit, one, commit, to)


def _committed_late(scene: Scene, unit: str, one: Reception, commit: int, to: int) -> Edit:
    return joined(moved(scene, one, to), postponed(scene, unit, commit))


def _changed(scene: Scene, what: str) -> Iterator[partial[Edit]]:
    for send in scene.sends:
        fields = (send.shown or {}).get("fields", {})
        chosen = send.mode in ("persistent", "non-persistent") and send.priority is not None
        if not send.delay or not send.accepted or send.shown is None or not chosen:
            continue
        for one in scene.seen(send):
            if one.destination != send.destination:
                continue
            if what == "body":
                yield partial(altered, scene, one, sha256=other_body(scene, one, "a bit"))
            elif what in fields and what in scene.raw[one.position]["msg"].get("fields", {}):
                fresh = (fields[what] + 1) % 10 if what == "JMSPriority" else f"{fields[what]}0"
                yield partial(altered, scene, one, **{what: fresh})


def _latecomers(scene: Scene, which: str) -> Iterator[partial[Edit]]:
    for send in scene.sends:
        confirmed = send.confirmed
        if not send.destination.startswith("topic://") or not send.delay or send.ttl or confirmed is None:
            continue
        wait = {"due": 5 * MS, "later": SECOND, "light": 5 * MS}[which]
        if (which == "light") == send.persistent:
            continue
        for watch in _within(scene, send.destination, send.due + wait):
            visit = watch.visit
            if visit is None or visit.durable or visit.shared or visit.name is not None or visit.choosy:
                continue
            comings = [one.at for one in scene.visits if one.actor == visit.actor]
            if not confirmed + scene.margin <= min(comings) < send.at + send.delay - MS:
                continue
            place = spot(scene, watch, send.due + wait)
            if place is not None:
                yield partial(received, scene, place, send)


def _expired(scene: Scene, by: int, *, delayed: bool) -> Iterator[partial[Edit]]:
    for send in scene.sends:
        seen = scene.seen(send)
        if not send.ttl or (send.delay > 0) is not delayed or send.delay > send.ttl or send.answered is None:
            continue
        if not send.accepted or len(seen) > 1 or not send.destination.startswith("queue://"):
            continue
        if seen and (seen[0].batch is not None or seen[0].marked):
            continue
        at = send.answered + send.ttl + min(by, send.delay or by)
        for watch in _within(scene, send.destination, at):
            place = spot(scene, watch, at)
            if place is None or (seen and seen[0].actor != watch.actor):
                continue
            if not seen:
                yield partial(received, scene, place, send)
            elif watch.end > at and seen[0].at > watch.begin:
                yield partial(moved, scene, seen[0], at)


def _expired_at_arrival(scene: Scene) -> Iterator[partial[Edit]]:
    for send in scene.sends:
        if send.ttl and not send.delay and send.accepted and send.answered is not None and not scene.seen(send):
            for watch in scene.watches:
                late = watch.begin - send.answered - send.ttl
                if watch.destination == send.destination and late > 400 * MS:
                    place = spot(scene, watch, watch.begin + MS)
                    if place is not None:
                        yield partial(received, scene, place, send)


def _missing_copies(scene: Scene, which: str) -> Iterator[partial[Edit]]:
    for send in scene.sends:
        if not send.destination.startswith("topic://") or not send.delay or send.ttl or send.confirmed is None:
            continue
        fits = {"persistent": send.persistent, "light": send.mode == "non-persistent", "last": send.delay > SECOND}
        if not fits[which]:
            continue
        for watch in scene.watches:
            visit = watch.visit
            if watch.destination != send.destination or visit is None or visit.shared:
                continue
            seen = [one for one in scene.seen(send) if one.actor == watch.actor]
            open_for = watch.begin < send.at and watch.end > send.due and is_whole(scene, watch)
            if seen and open_for and silence(scene, watch, send.due) >= LATE:
                yield partial(lost, scene, f"{send.key}>{watch.actor}", seen)


_DD_80 = also(_COPY, "PD-11", "PD-26", "PD-33", "PD-24", "PD-28", "PD-16")
_DD_39 = also(_ALTERED, "PD-22", "PD-29", "PD-30", "PD-32")
PLANTS = (
    Plant(
        "half of the delay early", "DD-02", {}, at_random(partial(_early, kind="queue://", part=0.5), administered=True)
    ),
    Plant(
        "at once after the send", "DD-02", {}, at_random(partial(_early, kind="queue://", part=0), administered=True)
    ),
    Plant("one topic copy early", "DD-02", {}, at_random(_early_copies, administered=True)),
    Plant(
        "lost in a kill", "DD-03", {"PD-20": _LOST, "PD-18": _LOST}, at_random(partial(_undelivered, which="killed"))
    ),
    Plant(
        "non-persistent, lost without a fault",
        "DD-03",
        {"PD-21": _LOST},
        at_random(partial(_undelivered, which="calm")),
    ),
    Plant(
        "of a unit of work, lost",
        "DD-03",
        {"PD-20": _LOST, "PD-18": _LOST},
        at_random(partial(_undelivered, which="unit")),
    ),
    Plant(
        "rolled back, and received when due",
        "DD-26",
        {},
        at_random(partial(_rolled_back, which="due"), administered=True),
    ),
    Plant(
        "rolled back, and received a delay later",
        "DD-26",
        {},
        at_random(partial(_rolled_back, which="counted"), administered=True),
    ),
    Plant(
        "rolled back, and received after a kill",
        "DD-26",
        {},
        at_random(partial(_rolled_back, which="killed"), administered=True),
    ),
    Plant("the delay counted from the commit", "DD-27", {}, at_random(partial(_from_the_commit, by=2 * MS))),
    Plant(
        "the delay counted from the commit, and 0.3 s", "DD-27", {}, at_random(partial(_from_the_commit, by=300 * MS))
    ),
    Plant(
        "the delay counted from the commit, and 0.9 s", "DD-27", {}, at_random(partial(_from_the_commit, by=900 * MS))
    ),
    Plant("delayed with another body", "DD-39", _DD_39, at_random(partial(_changed, what="body"), administered=True)),
    Plant("delayed with another id", "DD-39", {}, at_random(partial(_changed, what="JMSMessageID"), administered=True)),
    Plant(
        "delayed with another priority",
        "DD-39",
        {},
        at_random(partial(_changed, what="JMSPriority"), administered=True),
    ),
    Plant("a later subscriber, when due", "DD-51", {}, at_random(partial(_latecomers, which="due"), administered=True)),
    Plant(
        "a later subscriber, 1 s later", "DD-51", {}, at_random(partial(_latecomers, which="later"), administered=True)
    ),
    Plant(
        "a later subscriber, non-persistent",
        "DD-51",
        {},
        at_random(partial(_latecomers, which="light"), administered=True),
    ),
    Plant(
        "delayed, 0.3 s after its expiry",
        "DD-55",
        {"DD-56": _EXPIRED},
        at_random(partial(_expired, by=300 * MS, delayed=True), administered=True),
    ),
    Plant(
        "delayed, 0.6 s after its expiry",
        "DD-55",
        {"DD-56": _EXPIRED},
        at_random(partial(_expired, by=600 * MS, delayed=True), administered=True),
    ),
    Plant(
        "delayed, the delay after its expiry",
        "DD-55",
        {"DD-56": _EXPIRED},
        at_random(partial(_expired, by=60 * SECOND, delayed=True), administered=True),
    ),
    Plant(
        "received 4 s after its expiry",
        "DD-56",
        {},
        at_random(partial(_expired, by=4 * SECOND, delayed=False), administered=True),
    ),
    Plant(
        "received 2 s after its expiry",
        "DD-56",
        {},
        at_random(partial(_expired, by=2 * SECOND, delayed=False), administered=True),
    ),
    Plant("expired, received by the next consumer", "DD-56", {}, at_random(_expired_at_arrival, administered=True)),
    Plant("no delayed copy, persistent", "DD-80", _DD_80, at_random(partial(_missing_copies, which="persistent"))),
    Plant("no delayed copy, non-persistent", "DD-80", _DD_80, at_random(partial(_missing_copies, which="light"))),
    Plant("no delayed copy after a long delay", "DD-80", _DD_80, at_random(partial(_missing_copies, which="last"))),
)
