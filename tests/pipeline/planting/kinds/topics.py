"""Plants for topics: PD-11, PD-12, PD-14, PD-26, PD-27, PD-33, PD-34, QS-20, QS-21, QS-22, QS-31."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

from tests.pipeline.planting.edits import LATE, is_unbroken, is_whole, lost, received, settled_at, silence, spot
from tests.pipeline.planting.plant import Find, Plant, also, at_random
from tests.pipeline.planting.raw import Edit
from tests.pipeline.planting.scene import Scene
from tests.pipeline.planting.views import FATAL, LEAVING, MS, SECOND, Send, Visit

Late = Callable[[Scene, Send, Visit], bool]
"""Whether a publication must not reach a consumer that came after it."""


# missing copies ------------------------------------------------------------------------------------------------------


def _missing(which: Callable[[Send, Visit], bool], *, others: bool = False) -> Find:
    """Lose the copy of a subscriber that was open through the send.

    Args:
        which: Chooses the messages and subscribers.
        others: Whether another subscriber must have received its copy.
    """

    def candidates(scene: Scene) -> Iterator[partial[Edit]]:
        for send in scene.sends:
            if not send.destination.startswith("topic://") or send.ttl or send.confirmed is None:
                continue
            for watch in scene.watches:
                visit = watch.visit
                if watch.destination != send.destination or visit is None or visit.shared or not which(send, visit):
                    continue
                seen = [one for one in scene.seen(send) if one.actor == watch.actor]
                open_for = watch.begin <= send.at - scene.margin and watch.end > send.due and is_whole(scene, watch)
                alone = not others or len(scene.seen(send)) > len(seen)
                if seen and alone and open_for and silence(scene, watch, send.due) >= LATE:
                    yield partial(lost, scene, f"{send.key}>{watch.actor}", seen)

    return at_random(candidates)


def _is_plain(visit: Visit) -> bool:
    return not visit.durable and not visit.shared and not visit.choosy and visit.name is None and visit.qos is None


def _mode(mode: str, *, low: bool | None = None) -> Callable[[Send, Visit], bool]:
    def which(send: Send, visit: Visit) -> bool:
        fits = low is None or (send.priority is not None and (send.priority < 5) is low)
        return send.mode == mode and send.qos is None and fits and _is_plain(visit)

    return which


# publications for later subscribers ----------------------------------------------------------------------------------


def _too_late(late: Late, *, durable: bool = False, at_end: bool = False, marked: bool = False) -> Find:
    """Give a publication to a subscriber that came after it.

    Args:
        late: Chooses the publications and subscribers.
        durable: Whether the subscriber may be durable.
        at_end: Whether the subscriber receives the publication at its watch's end, and not at its begin.
        marked: Whether the publication is marked as redelivered.
    """

    def candidates(scene: Scene) -> Iterator[partial[Edit]]:
        for watch in scene.watches:
            visit = watch.visit
            if visit is None or visit.shared or visit.choosy or (visit.durable and not durable):
                continue
            for send in scene.sends:
                if not _is_sent_before(scene, send, visit) or not late(scene, send, visit):
                    continue
                at = spot(scene, watch, max(watch.begin, watch.end - 20 * MS) if at_end else watch.begin + MS)
                if at is not None:
                    yield partial(received, scene, at, send, marked=marked)

    return at_random(candidates, administered=True)


def _is_sent_before(scene: Scene, send: Send, visit: Visit) -> bool:
    here = send.destination == visit.destination and send.destination.startswith("topic://")
    arrived = send.qos == "at-least-once" if send.qos is not None else send.persistent or send.unit is not None
    retained = "JMS_IBM_Retain" in ((send.shown or {}).get("fields") or {})
    early = send.confirmed is not None and send.confirmed <= visit.at - scene.margin
    return here and arrived and not retained and early and not send.delay and not send.ttl


def _kills_between(scene: Scene, send: Send, visit: Visit) -> bool:
    return any(one.what in FATAL and (send.confirmed or 0) <= one.begin and one.end <= visit.at for one in scene.faults)


def _nobody_asked(scene: Scene, send: Send) -> bool:
    """Return whether no client had asked for a consumer of the topic when a publication was confirmed."""
    asked = [raw for _, raw, _ in scene.calls if raw["op"] == "consumer"]
    topics = [str(raw.get("destination") or "") for raw in asked if "topic://" in str(raw.get("destination"))]
    wide = any(set("#*+%") & set(topic) for topic in topics)
    here = [raw["mono_ns"] for raw in asked if raw.get("destination") == send.destination]
    return not wide and all(at >= (send.confirmed or 0) + scene.margin for at in here)


def _new(scene: Scene, send: Send, visit: Visit) -> bool:
    return _is_plain(visit) and not _kills_between(scene, send, visit) and not _between(scene, send, visit)


def _between(scene: Scene, send: Send, visit: Visit) -> bool:
    """Return whether a kill or restart may have come between a publication and a later subscriber."""
    return any(one.what in FATAL and one.end > send.at and one.begin < visit.at for one in scene.faults)


def _closed(scene: Scene, send: Send, visit: Visit) -> bool:
    """Return whether a client had closed a non-durable subscription of the topic before a publication."""
    return _new(scene, send, visit) and any(
        _is_plain(one)
        and one.destination == send.destination
        and one.opened <= left.begin
        and left.end <= send.at - scene.margin
        for one in scene.visits
        for left in scene.leaves
        if left.actor == one.actor
        and left.what in LEAVING
        and {other.destination for other in scene.visits if other.actor == one.actor} == {one.destination}
    )


def _closed_itself(scene: Scene, send: Send, visit: Visit) -> bool:
    mine = any(one.actor == visit.actor and one.opened < send.at for one in scene.visits)
    return mine and _closed(scene, send, visit)


def _last_before(scene: Scene, send: Send, visit: Visit) -> bool:
    later = any(one.destination == send.destination and send.at < one.at < visit.at for one in scene.sends)
    return not later and _new(scene, send, visit)


def _held(scene: Scene, send: Send, visit: Visit) -> bool:
    """Return whether a non-durable subscription existed at a publication, and a kill came before the consumer."""
    before = any(
        not one.durable
        and not one.shared
        and one.destination == send.destination
        and one.opened <= send.at - scene.margin
        for one in scene.visits
    )
    return before and not visit.durable and _kills_between(scene, send, visit)


def _held_plainly(scene: Scene, send: Send, visit: Visit) -> bool:
    return _held(scene, send, visit) and visit.qos is None and visit.name is None


def _held_by_itself(scene: Scene, send: Send, visit: Visit) -> bool:
    mine = any(one.actor == visit.actor and one.opened < send.at for one in scene.visits)
    return mine and _held_plainly(scene, send, visit)


def _held_unread(scene: Scene, send: Send, visit: Visit) -> bool:
    return _held_plainly(scene, send, visit) and not any(one.actor == visit.actor for one in scene.seen(send))


def _held_once(scene: Scene, send: Send, visit: Visit) -> bool:
    before = any(
        one.qos == "at-most-once" and one.destination == send.destination and one.opened <= send.at - scene.margin
        for one in scene.visits
        if not one.durable
    )
    return before and visit.qos == "at-most-once" and _held(scene, send, visit)


def _unclaimed(scene: Scene, send: Send, visit: Visit) -> bool:
    stored = send.persistent and send.qos is None
    return stored and _nobody_asked(scene, send) and visit.destination == send.destination


def _unclaimed_first(scene: Scene, send: Send, visit: Visit) -> bool:
    earlier = any(one.destination == send.destination and one.at < send.at for one in scene.sends)
    return not earlier and _unclaimed(scene, send, visit)


def _unclaimed_killed(scene: Scene, send: Send, visit: Visit) -> bool:
    return _unclaimed(scene, send, visit) and _kills_between(scene, send, visit)


# subscriptions with a time to live -----------------------------------------------------------------------------------


def _absences(scene: Scene) -> Iterator[tuple[Visit, Visit, Visit, int]]:
    """Return each absence of a subscriber: its first visit, the visits around the absence, and when it had left."""
    series: dict[tuple[str, str, str | None], list[Visit]] = {}
    for visit in scene.visits:
        if visit.ttl is not None and visit.name is not None and not visit.shared and not visit.choosy:
            series.setdefault((visit.actor, visit.destination, visit.name), []).append(visit)
    for visits in series.values():
        for one, back in pairwise(visits):
            ends = [
                e for e in (*scene.leaves, *scene.aborts) if e.actor == one.actor and one.opened <= e.begin <= back.at
            ]
            gone = [e for e in ends if e.end <= back.at and e.what in ("abort", "close-connection")]
            calm = all(e.end < visits[0].opened or e.begin > back.opened for e in scene.faults)
            if gone and calm and one.ttl == back.ttl:
                yield visits[0], one, back, max(e.end for e in gone)


def _missed(scene: Scene, one: Visit, back: Visit, gone: int) -> Iterator[Send]:
    for send in scene.sends:
        here = send.destination == back.destination and not send.delay and not send.ttl
        if (
            here
            and send.confirmed is not None
            and gone <= send.at
            and send.confirmed <= back.at
            and one.ttl is not None
        ):
            yield send


def _gone(scene: Scene, at_end: bool = False, marked: bool = False) -> Iterator[partial[Edit]]:
    """Give a message of an absence to the subscriber of a subscription that had ended."""
    for _, one, back, gone in _absences(scene):
        ttl = (one.ttl or 0) * MS
        if not ttl or back.at - gone < ttl + 4 * SECOND + 10 * MS:
            continue
        for send in _missed(scene, one, back, gone):
            arrived = send.qos == "at-least-once" if send.qos is not None else send.persistent
            for watch in scene.watches:
                if watch.actor == back.actor and watch.begin >= back.at and arrived:
                    at = spot(scene, watch, max(watch.begin + 1, watch.end - MS) if at_end else watch.begin + 1)
                    if at is not None:
                        yield partial(received, scene, at, send, marked=marked)


def _resumed(scene: Scene, which: str, place: str = "any") -> Iterator[partial[Edit]]:
    """Lose a message of an absence within the time to live.

    Args:
        scene: The scenario.
        which: ``old`` if the time to live would have been over, had it counted from the creation; or ``new``, ``any``.
        place: Whether the message is the ``first`` or ``last`` of the absence, or ``any``.
    """
    for first, one, back, gone in _absences(scene):
        ttl = (one.ttl or 0) * MS
        begun = max(e.begin for e in (*scene.leaves, *scene.aborts) if e.actor == one.actor and e.end <= gone)
        old = back.at - first.opened > ttl + 4 * SECOND + 10 * MS
        if back.opened - begun >= ttl or one.careless or (which != "any" and (which == "old") is not old):
            continue
        attached = any(w.actor == one.actor and one.opened <= w.begin <= gone and w.end >= begun for w in scene.watches)
        missed = list(_missed(scene, one, back, gone))
        for send in {"first": missed[:1], "last": missed[-1:], "any": missed}[place]:
            seen = [r for r in scene.seen(send) if r.actor == back.actor and r.at >= back.at]
            waits = [w for w in scene.watches if w.actor == back.actor and w.begin >= back.at and is_unbroken(scene, w)]
            quiet = any(silence(scene, w, settled_at(scene, send)) >= LATE for w in waits)
            if seen and attached and quiet and send.persistent and send.qos is None:
                yield partial(lost, scene, f"{send.key}>{back.actor}", seen)


_SAME = "the missing copy is one of this rule's subscriptions, too"
_LATER = "the subscriber came after the publication, and this rule forbids such a delivery, too"
_AGAIN = "the same consumer had the message before, and had acknowledged it or receives at most once"
_TTL = "the subscription has a time to live and is durable"
_LOST = also(_SAME, "PD-11", "PD-26", "PD-33", "PD-24", "PD-28", "PD-16", "DD-80", "QS-04")
_AFTER = also(_LATER, "PD-12", "PD-14", "PD-34") | {"QS-08": _AGAIN}
_OLD = also(_LATER, "PD-14", "PD-12", "PD-34", "PD-27", "QS-31") | {
    "QS-08": _AGAIN,
    "QS-06": _AGAIN,
    "QS-07": _AGAIN,
}
_LASTING = also(_TTL, "QS-20", "QS-21", "QS-22", "PD-13", "PD-25", "PD-23", "QS-32") | {"QS-08": _AGAIN}

PLANTS = (
    Plant("a subscriber misses a message", "PD-11", _LOST, _missing(lambda _, v: not v.durable)),
    Plant("a durable subscriber misses a message", "PD-11", _LOST, _missing(lambda _, v: v.durable)),
    Plant(
        "one of several subscribers misses a message", "PD-11", _LOST, _missing(lambda _, v: not v.choosy, others=True)
    ),
    Plant("a persistent message is missed", "PD-26", _LOST, _missing(_mode("persistent"))),
    Plant("a persistent message of low priority is missed", "PD-26", _LOST, _missing(_mode("persistent", low=True))),
    Plant(
        "a persistent message is missed by one of several", "PD-26", _LOST, _missing(_mode("persistent"), others=True)
    ),
    Plant("a non-persistent message is missed", "PD-33", _LOST, _missing(_mode("non-persistent"))),
    Plant(
        "a non-persistent message of high priority is missed",
        "PD-33",
        _LOST,
        _missing(_mode("non-persistent", low=False)),
    ),
    Plant(
        "a non-persistent message is missed by one of several",
        "PD-33",
        _LOST,
        _missing(_mode("non-persistent"), others=True),
    ),
    Plant("a closed subscription went on", "PD-12", _AFTER, _too_late(_closed)),
    Plant("a returning subscriber's closed subscription went on", "PD-12", _AFTER, _too_late(_closed_itself)),
    Plant(
        "a closed subscription returns a marked message", "PD-12", _AFTER, _too_late(_closed, at_end=True, marked=True)
    ),
    Plant("a new subscriber gets an old publication", "PD-14", _AFTER, _too_late(_new)),
    Plant("a new subscriber gets an old publication at its end", "PD-14", _AFTER, _too_late(_new, at_end=True)),
    Plant("a new subscriber gets the publication just before it", "PD-14", _AFTER, _too_late(_last_before)),
    Plant("a subscription survives a kill", "PD-27", _OLD, _too_late(_held_plainly)),
    Plant("a subscription survives a kill, and its client returns", "PD-27", _OLD, _too_late(_held_by_itself)),
    Plant("a subscription survives a kill with an unread message", "PD-27", _OLD, _too_late(_held_unread, at_end=True)),
    Plant("a topic keeps a publication", "PD-34", _AFTER, _too_late(_unclaimed, durable=True)),
    Plant("a topic keeps its first publication", "PD-34", _AFTER, _too_late(_unclaimed_first, durable=True)),
    Plant("a topic keeps a publication over a kill", "PD-34", _AFTER, _too_late(_unclaimed_killed, durable=True)),
    Plant("an at-most-once subscription survives a kill", "QS-31", _OLD, _too_late(_held_once)),
    Plant(
        "an at-most-once subscription survives a kill until the end", "QS-31", _OLD, _too_late(_held_once, at_end=True)
    ),
    Plant(
        "an at-most-once subscription returns an unread message",
        "QS-31",
        _OLD,
        _too_late(lambda s, m, v: _held_once(s, m, v) and not s.seen(m)),
    ),
    Plant("a time to live counts from the creation", "QS-20", _LASTING, at_random(partial(_resumed, which="old"))),
    Plant(
        "a time to live counts from the creation: the first is lost",
        "QS-20",
        _LASTING,
        at_random(partial(_resumed, which="old", place="first")),
    ),
    Plant(
        "a time to live counts from the creation: the last is lost",
        "QS-20",
        _LASTING,
        at_random(partial(_resumed, which="old", place="last")),
    ),
    Plant("a resumed subscription lost a message", "QS-21", _LASTING, at_random(partial(_resumed, which="any"))),
    Plant("a resumed subscription lost a message soon", "QS-21", _LASTING, at_random(partial(_resumed, which="new"))),
    Plant("an old resumed subscription lost a message", "QS-21", _LASTING, at_random(partial(_resumed, which="old"))),
    Plant("a subscription goes on after its time to live", "QS-22", _LASTING, at_random(_gone, administered=True)),
    Plant(
        "a subscription goes on, and returns a message late",
        "QS-22",
        _LASTING,
        at_random(partial(_gone, at_end=True), administered=True),
    ),
    Plant(
        "a subscription goes on, and returns a marked message",
        "QS-22",
        _LASTING,
        at_random(partial(_gone, marked=True), administered=True),
    ),
)
