"""Plants for durable subscriptions: PD-13, PD-15, PD-16, PD-23 to PD-25, PD-28 to PD-30, QS-04, QS-05, QS-32."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

from msgspec import Struct
from tests.pipeline.planting.edits import (
    LATE,
    altered,
    exchanged,
    fatal_after,
    is_awaited,
    is_whole,
    joined,
    lost,
    opened_between,
    other_body,
    received,
    shifted,
    silence,
    spot,
)
from tests.pipeline.planting.plant import Find, Plant, also, at_random
from tests.pipeline.planting.raw import Edit
from tests.pipeline.planting.scene import Scene
from tests.pipeline.planting.views import FATAL, LEAVING, MS, SECOND, Reception, Send, Visit, Watching


class Copy(Struct, frozen=True):
    """A message of a durable subscription, with its receptions, and the subscription's visits and watches."""

    send: Send
    holder: str
    seen: list[Reception]
    visits: list[Visit]
    watches: list[Watching]
    margin: int

    @property
    def name(self) -> str:
        return f"{self.send.key}>{self.holder}"

    @property
    def idle(self) -> bool:
        """Whether no consumer watched through the send, and one came later."""
        at, confirmed = self.send.at - self.margin, (self.send.confirmed or 0) + self.margin
        apart = all(one.end <= at or one.begin >= confirmed for one in self.watches)
        return apart and any(one.at >= confirmed for one in self.visits)

    @property
    def active(self) -> bool:
        return any(
            one.begin <= self.send.at - self.margin and one.end >= self.send.at + self.margin for one in self.watches
        )


Which = Callable[[Scene, Copy], bool]


def copies(scene: Scene) -> Iterator[Copy]:
    """Return the copies of confirmed messages for the unshared durable subscriptions that existed at their sends."""
    found: dict[tuple[str, str], list[Visit]] = {}
    for visit in scene.visits:
        if visit.durable and visit.name is not None:
            found.setdefault((visit.holder, visit.destination), []).append(visit)
    for (holder, destination), visits in found.items():
        namesakes = [one for one in scene.visits if one.name == visits[0].name]
        if any(one.destination != destination or not one.durable for one in namesakes):
            continue
        if any(one.shared or one.choosy or one.ttl is not None or one.careless or one.client is None for one in visits):
            continue
        watches = [one for one in scene.watches if one.destination == destination and one.holder == holder]
        for send in scene.sends:
            existed = send.destination == destination and any(one.opened <= send.at - scene.margin for one in visits)
            if existed and send.confirmed is not None and not send.ttl:
                seen = [one for one in scene.seen(send) if one.holder == holder]
                yield Copy(send, holder, seen, visits, watches, scene.margin)


def _lost(which: Which) -> Find:
    def candidates(scene: Scene) -> Iterator[partial[Edit]]:
        for copy in copies(scene):
            if copy.seen and which(scene, copy) and is_awaited(scene, copy.send, copy.holder):
                yield partial(lost, scene, copy.name, copy.seen)

    return at_random(candidates)


def _altered(which: Which, how: str) -> Find:
    def candidates(scene: Scene) -> Iterator[partial[Edit]]:
        for copy in copies(scene):
            light = copy.send.mode == "non-persistent" and copy.send.qos is None
            if light and copy.idle and copy.seen and which(scene, copy):
                one = copy.seen[-1]
                yield partial(altered, scene, one, sha256=other_body(scene, one, how))

    return at_random(candidates, administered=True)


def _stored(copy: Copy) -> bool:
    return copy.send.persistent and copy.send.qos is None


def _missed(scene: Scene, copy: Copy) -> bool:
    return _stored(copy) and copy.idle and not fatal_after(scene, copy.send)


def _last_missed(scene: Scene, copy: Copy) -> bool:
    """Return whether a message is the last one before its subscriber came back."""
    back = min((one.at for one in copy.visits if one.at > copy.send.at), default=0)
    later = (one for one in scene.sends if one.destination == copy.send.destination and copy.send.at < one.at < back)
    return _missed(scene, copy) and not any(later)


def _namesakes(scene: Scene, copy: Copy) -> bool:
    """Return whether another client has a subscription of the same name."""
    name = copy.visits[0].name
    return any(one.name == name and one.client != copy.visits[0].client and one.durable for one in scene.visits)


def _killed(scene: Scene, copy: Copy) -> bool:
    return _stored(copy) and fatal_after(scene, copy.send)


def _killed_soon(scene: Scene, copy: Copy) -> bool:
    begun = [one.begin for one in scene.faults if one.what in FATAL and one.begin > (copy.send.confirmed or 0)]
    return _killed(scene, copy) and bool(begun) and min(begun) - copy.send.at < 4 * SECOND


def _inherited(scene: Scene, copy: Copy) -> bool:
    """Return whether the subscription is older than a kill that preceded the send, and was not opened since."""
    if not _stored(copy):
        return False
    for fault in scene.faults:
        if fault.what in FATAL and fault.end < copy.send.at - MS:
            older = any(one.opened < fault.begin for one in copy.visits)
            if older and not opened_between(copy.visits, fault.begin - MS, copy.send.at + MS):
                return True
    return False


def _quiet_through(scene: Scene, copy: Copy) -> bool:
    return any(
        one.begin < copy.send.at - MS and is_whole(scene, one) and silence(scene, one, copy.send.due) >= LATE
        for one in copy.watches
        if one.end > copy.send.at
    )


def _to_the_namesake(scene: Scene) -> Iterator[partial[Edit | None]]:
    for copy in copies(scene):
        if _stored(copy) and copy.seen and _namesakes(scene, copy) and is_awaited(scene, copy.send, copy.holder):
            name = copy.visits[0].name
            for watch in scene.watches:
                visit = watch.visit
                if visit and visit.name == name and visit.holder != copy.holder and watch.begin < copy.seen[0].at:
                    yield partial(_taken, scene, copy, watch)


def _taken(scene: Scene, copy: Copy, watch: Watching) -> Edit | None:
    at = spot(scene, watch, copy.seen[0].at + 3 * MS)
    if at is None:
        return None
    return joined(lost(scene, copy.name, copy.seen), received(scene, at, copy.send, marked=True))


def _out_of_order(scene: Scene, how: str) -> Iterator[partial[Edit]]:
    links: dict[tuple[object, ...], list[tuple[Copy, Reception]]] = {}
    for copy in copies(scene):
        send = copy.send
        plain = not send.delay and send.unit is None and send.qos is None and send.priority is not None
        if not plain or len(copy.seen) != 1 or copy.seen[0].marked or not copy.idle:
            continue
        one = copy.seen[0]
        left = [e.end for e in scene.leaves if e.actor == one.actor and e.end < send.at and e.what in LEAVING]
        earlier = [visit for visit in copy.visits if visit.at < send.at]
        lone = len(opened_between(copy.visits, send.at, one.at)) == 1 and {v.actor for v in copy.visits} == {one.actor}
        disturbed = any(send.at - MS < e.end and e.begin < one.at + MS for e in (*scene.faults, *scene.aborts))
        given = [
            raw
            for _, raw in scene.of("callback", "unit")
            if raw.get("ended") == "raised" or raw.get("op") in ("rollback", "recover")
        ]
        if not left or max(left) < max(visit.at for visit in earlier) or not lone or disturbed or given:
            continue
        kind = (send.position[0], send.actor, send.priority, send.mode, one.link, copy.holder, one.position[0])
        links.setdefault(kind, []).append((copy, one))
    for found in links.values():
        ordered = sorted(found, key=lambda pair: pair[0].send.position)
        beside = [pair for pair in pairwise(ordered) if pair[0][1].position[1] < pair[1][1].position[1]]
        pairs = {
            "neighbours": beside,
            "ends": [(ordered[0], ordered[-1])],
            "light": [pair for pair in beside if pair[0][0].send.mode == "non-persistent"],
        }[how]
        for (_, first), (_, second) in pairs:
            if first is not second:
                yield partial(exchanged, scene, first, second)


def _answered(scene: Scene, copy: Copy) -> bool:
    return copy.send.qos == "at-least-once" and copy.idle and not fatal_after(scene, copy.send)


def _shaken(scene: Scene, copy: Copy) -> bool:
    """Return whether a connection was lost after the send of an MQ Light client, and the broker stayed."""
    losses = (*scene.aborts, *(one for one in scene.faults if one.what not in FATAL))
    later = any(one.begin > copy.send.at for one in losses)
    return copy.send.qos == "at-least-once" and later and not fatal_after(scene, copy.send)


def _torn(scene: Scene, which: str) -> Iterator[partial[Edit]]:
    """Let a fault tear a send, which the broker answers after the fault, and lose all copies of the message."""
    faults = {"cut": ("cut",), "kill": FATAL, "late": ("cut", *FATAL)}[which]
    sends: dict[str, list[Send]] = {}
    for send in scene.sends:
        sends.setdefault(send.actor, []).append(send)
    holders = {(copy.send.key, copy.holder) for copy in copies(scene) if copy.send.qos == "at-least-once"}
    for send, following in (pair for own in sends.values() for pair in pairwise(own)):
        if not send.accepted or send.answered is None:
            continue
        for fault in scene.faults:
            if (
                fault.what not in faults
                or not send.at + scene.margin < fault.begin <= fault.end < following.at - 10 * MS
            ):
                continue
            killed = any(one.what in FATAL and one.end > fault.end for one in scene.faults)
            awaited = any(key == send.key and is_awaited(scene, send, holder) for key, holder in holders)
            answer = max(send.answered, following.at - 2 * MS if which == "late" else fault.end + 5 * MS)
            if awaited and not killed and answer < following.at:
                yield partial(_unrepeated, scene, send, answer)


def _unrepeated(scene: Scene, send: Send, answered: int) -> Edit:
    """Lose a message, and move the answer to its send."""
    call = scene.raw[send.position]["id"]
    positions = [
        position for position, raw in scene.of("return") if raw["call"] == call and position[0] == send.position[0]
    ]
    answer = shifted(scene, send.key, positions, answered - (send.answered or 0))
    return joined(lost(scene, send.key, scene.seen(send)), answer)


def _mixed(scene: Scene, copy: Copy) -> bool:
    to_light = any(one.qos is not None for one in copy.visits)
    return _killed(scene, copy) and to_light


_SAME = "the lost copy is one that this rule's durable subscription must have, too"
_REPEATED = "the namesake receives the message again after it had accepted its own copy"
_LOST = also(
    _SAME,
    "PD-11",
    "PD-13",
    "PD-16",
    "PD-23",
    "PD-24",
    "PD-25",
    "PD-28",
    "PD-30",
    "QS-04",
    "QS-05",
    "QS-21",
    "QS-32",
    "DD-80",
)
_TAKEN = _LOST | {"QS-08": _REPEATED}
_BATCHED = {"BT-07": "the subscriber takes the missed messages in batches"}
_CHANGED = {"DD-39": "the altered message has a delay"}


def _light(copy: Copy) -> bool:
    return copy.send.mode == "non-persistent" and copy.send.qos is None


def _no_kill(scene: Scene, copy: Copy) -> bool:
    return not fatal_after(scene, copy.send)


PLANTS = (
    Plant("a missed message is lost", "PD-13", _LOST, _lost(_missed)),
    Plant(
        "a missed message of high priority is lost",
        "PD-13",
        _LOST,
        _lost(lambda s, c: _missed(s, c) and c.send.priority is not None and c.send.priority > 4),
    ),
    Plant("the last missed message is lost", "PD-13", _LOST, _lost(_last_missed)),
    Plant(
        "a missed message comes before an older one",
        "PD-15",
        _BATCHED,
        at_random(partial(_out_of_order, how="neighbours"), administered=True),
    ),
    Plant(
        "the last missed message comes first",
        "PD-15",
        _BATCHED,
        at_random(partial(_out_of_order, how="ends"), administered=True),
    ),
    Plant(
        "a non-persistent missed message comes before an older one",
        "PD-15",
        _BATCHED,
        at_random(partial(_out_of_order, how="light"), administered=True),
    ),
    Plant(
        "one of two namesakes misses a message",
        "PD-16",
        _LOST,
        _lost(lambda s, c: _stored(c) and _namesakes(s, c) and c.idle),
    ),
    Plant(
        "one of two active namesakes misses a message",
        "PD-16",
        _LOST,
        _lost(lambda s, c: _stored(c) and _namesakes(s, c) and c.active),
    ),
    Plant("a namesake gets the message of the other one", "PD-16", _TAKEN, at_random(_to_the_namesake)),
    Plant("lost in a kill", "PD-23", _LOST, _lost(_killed)),
    Plant("lost in a kill soon after the send", "PD-23", _LOST, _lost(_killed_soon)),
    Plant("lost in a kill, of an inactive subscription", "PD-23", _LOST, _lost(lambda s, c: _killed(s, c) and c.idle)),
    Plant("an active subscriber misses a message", "PD-24", _LOST, _lost(lambda _, c: _stored(c) and c.active)),
    Plant(
        "an active subscriber misses a message, no kill",
        "PD-24",
        _LOST,
        _lost(lambda s, c: _stored(c) and c.active and _no_kill(s, c)),
    ),
    Plant(
        "an active subscriber misses a message before a kill",
        "PD-24",
        _LOST,
        _lost(lambda s, c: _killed(s, c) and c.active),
    ),
    Plant("an inactive subscriber misses a message", "PD-25", _LOST, _lost(lambda _, c: _stored(c) and c.idle)),
    Plant(
        "an inactive subscriber misses a message before a kill",
        "PD-25",
        _LOST,
        _lost(lambda s, c: _killed(s, c) and c.idle),
    ),
    Plant(
        "an inactive subscriber misses one of high priority",
        "PD-25",
        _LOST,
        _lost(lambda _, c: _stored(c) and c.idle and c.send.priority is not None and c.send.priority > 4),
    ),
    Plant(
        "an active subscriber misses a non-persistent message",
        "PD-28",
        _LOST,
        _lost(lambda s, c: _light(c) and _quiet_through(s, c)),
    ),
    Plant(
        "an active subscriber misses one, and others have it",
        "PD-28",
        _LOST,
        _lost(lambda s, c: _light(c) and _quiet_through(s, c) and len({one.holder for one in s.seen(c.send)}) > 1),
    ),
    Plant(
        "an active subscriber misses one of low priority",
        "PD-28",
        _LOST,
        _lost(lambda s, c: _light(c) and _quiet_through(s, c) and c.send.priority is not None and c.send.priority < 5),
    ),
    Plant("a parked copy with a changed body", "PD-29", _CHANGED, _altered(_no_kill, "a bit")),
    Plant("a parked copy with an empty body", "PD-29", _CHANGED, _altered(_no_kill, "emptied")),
    Plant("a parked copy with another message's body", "PD-29", _CHANGED, _altered(_no_kill, "mixed up")),
    Plant("a subscription stops at a kill", "PD-30", _LOST, _lost(_inherited)),
    Plant(
        "a copy comes back from a kill with a changed body",
        "PD-30",
        _CHANGED,
        _altered(lambda s, c: fatal_after(s, c.send), "a bit"),
    ),
    Plant(
        "a copy comes back from a kill with another body",
        "PD-30",
        _CHANGED,
        _altered(lambda s, c: fatal_after(s, c.send), "mixed up"),
    ),
    Plant("an answered message is lost", "QS-04", _LOST, _lost(_answered)),
    Plant("an answered message is lost with a connection", "QS-04", _LOST, _lost(_shaken)),
    Plant(
        "an answered message is lost for an active subscriber",
        "QS-04",
        _LOST,
        _lost(lambda s, c: _shaken(s, c) and c.active),
    ),
    Plant("a torn send is answered late and not repeated", "QS-05", _LOST, at_random(partial(_torn, which="late"))),
    Plant("a torn send is not repeated after a cut", "QS-05", _LOST, at_random(partial(_torn, which="cut"))),
    Plant("a torn send is not repeated after a kill", "QS-05", _LOST, at_random(partial(_torn, which="kill"))),
    Plant("lost to an MQ Light subscriber in a kill", "QS-32", _LOST, _lost(_mixed)),
    Plant(
        "lost to an MQ Light subscriber in a kill soon after",
        "QS-32",
        _LOST,
        _lost(lambda s, c: _mixed(s, c) and _killed_soon(s, c)),
    ),
    Plant(
        "lost to an inactive MQ Light subscriber in a kill", "QS-32", _LOST, _lost(lambda s, c: _mixed(s, c) and c.idle)
    ),
)
