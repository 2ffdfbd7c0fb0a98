"""The changes that several plants need: messages that are lost, moved, altered, exchanged or received again."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from msgspec import Struct
from tests.pipeline.planting.raw import Edit, Position, Raw
from tests.pipeline.planting.scene import Scene
from tests.pipeline.planting.views import FATAL, FOREVER, LOSING, MS, SECOND, Reception, Send, Visit, Watching

QUIET = SECOND + 20 * MS
"""How long a consumer must wait in vain for a message that is not late, with a margin."""
LATE = 4 * SECOND + 20 * MS
"""How long a consumer must wait in vain for a message that may be late, with a margin."""
STEP = 1_000
"""The time between the lines of an added reception, in nanoseconds."""


class Spot(Struct, frozen=True):
    """A moment at which a consumer can receive a message."""

    actor: str
    link: str
    destination: str
    at: int
    after: Position


# lost ----------------------------------------------------------------------------------------------------------------


def group(scene: Scene, one: Reception) -> list[Position]:
    """Return the lines of a reception: the message, the end of its callback, and the settlement."""
    positions = [one.position]
    callback, settled = scene.callback(one), scene.settled(one)
    if callback is not None and one.batch is None and one.actor in scene.listeners:
        positions.append(callback[0])
    if settled is not None:
        positions.append(settled[0])
    return positions


def lost(scene: Scene, subject: str, receptions: Sequence[Reception]) -> Edit:
    """Leave out receptions with all that followed from them."""
    return Edit(subject, removed=frozenset(position for one in receptions for position in group(scene, one)))


def silence(scene: Scene, watch: Watching, start: int) -> int:
    """Return how long a consumer waited in vain at the end of a watch, in nanoseconds."""
    tail = max(watch.begin, watch.last, start)
    choosy = watch.visit is None or watch.visit.choosy or watch.actor in scene.batchers
    if choosy or not watch.idle or any(one.begin < watch.end and one.end > tail for one in scene.faults):
        return 0
    return max(watch.end - tail, 0)


def is_whole(scene: Scene, watch: Watching) -> bool:
    """Return whether no fault touches a watch."""
    return all(one.end < watch.begin or one.begin > watch.end for one in scene.faults)


def is_unbroken(scene: Scene, watch: Watching) -> bool:
    """Return whether no fault that ends connections touches a watch."""
    return all(one.end < watch.begin or one.begin > watch.end for one in scene.faults if one.what in LOSING)


def fatal_after(scene: Scene, send: Send) -> bool:
    """Return whether a kill or restart followed a send."""
    return any(one.what in FATAL and one.begin > send.at for one in scene.faults)


def settled_at(scene: Scene, send: Send) -> int:
    """Return when a message must be with its holder: it is due, and all kills and restarts are over."""
    return max([send.due, *(one.end for one in scene.faults if one.what in FATAL and one.begin > send.at)])


def is_awaited(scene: Scene, send: Send, holder: str, need: int = LATE) -> bool:
    """Return whether a consumer of a holder waited in vain after a message must have been there."""
    start = settled_at(scene, send)
    watches = (one for one in scene.watches if one.destination == send.destination and one.holder == holder)
    return any(is_unbroken(scene, one) and silence(scene, one, start) >= need for one in watches)


def is_drained(scene: Scene, send: Send, need: int = LATE) -> bool:
    """Return whether all consumers of a queue waited in vain for a message, or had left before in an orderly way."""
    came: dict[str, int] = {}
    for actor, at in [
        *((one.actor, one.begin) for one in scene.watches if one.destination == send.destination),
        *((one.actor, one.at) for one in scene.visits if one.destination == send.destination),
    ]:
        came[actor] = max(came.get(actor, at), at)
    left = {
        actor: max((one.end for one in scene.leaves if one.actor == actor and one.begin > at), default=0)
        for actor, at in came.items()
    }
    start = max([send.due, *(one.end for one in scene.faults if one.end > send.at)])

    def waited(since: int) -> set[str]:
        own = [one for one in scene.watches if one.destination == send.destination]
        return {one.actor for one in own if silence(scene, one, since) >= need}

    rest = [actor for actor in came if actor not in waited(start)]
    return start < FOREVER and all(map(left.get, rest)) and bool(waited(max([start, *(left[one] for one in rest)])))


def is_only_consumer(scene: Scene, destination: str) -> bool:
    """Return whether one consumer alone ever came to a destination."""
    here = [one for one in scene.visits if one.destination == destination]
    actors = {one.actor for one in here} | {one.actor for one in scene.watches if one.destination == destination}
    return len(actors) == 1 and all(one.qos is None for one in here)


# added ---------------------------------------------------------------------------------------------------------------


def spot(scene: Scene, watch: Watching, at: int) -> Spot | None:
    """Return a moment of a watch, between two messages and on the link of the nearest reception before or after."""
    if not watch.begin < at < watch.end or watch.actor in scene.batchers:
        return None
    own = [
        one
        for one in scene.receptions
        if one.position[0] == watch.begin_position[0]
        and one.actor == watch.actor
        and watch.begin <= one.at <= watch.end
    ]
    link = min(own, key=lambda one: abs(one.at - at)).link if own else f"{watch.actor}/planted"
    for one in own:
        last = max((scene.raw[position]["mono_ns"] for position in group(scene, one)), default=one.at)
        if one.at <= at <= last:
            at = last + STEP
    after = scene.position_at(watch.begin_position[0], at)
    return Spot(watch.actor, link, watch.destination, at, max(after, watch.begin_position)) if at < watch.end else None


def received(
    scene: Scene, at: Spot, send: Send, *, marked: bool = False, body: str | None = None, settles: bool = True
) -> Edit:
    """Add a reception of a message by a listener, with the end of its callback and the client's acceptance."""
    seen = scene.seen(send)
    shown = dict(scene.raw[seen[0].position]["msg"]) if seen else _as_sent(send)
    if body is not None:
        shown["sha256"] = body
    head = _head(scene, at)
    told: Raw = {"actor": at.actor, "link": at.link, "destination": at.destination, "msg": shown}
    lines: list[Raw] = [{"kind": "seen", **head, **told, "count": 2 if marked else 1, "redelivered": marked}]
    if at.actor in scene.listeners:
        lines.append({"kind": "callback", **head, "actor": at.actor, "link": at.link, "ended": "returned"})
    if settles and any(actor == at.actor for actor, _, _ in scene.settles):
        ref = {name: shown[name] for name in ("kid", "sha256", "bytes")}
        lines.append({"kind": "settle", **head, "actor": at.actor, "link": at.link, "msg": ref, "outcome": "accepted"})
    return Edit(send.key, added=tuple((at.after, later(raw, number * 10)) for number, raw in enumerate(lines)))


def _as_sent(send: Send) -> Raw:
    shown = dict(send.shown or {"kid": send.key, "bytes": 0})
    shown["sha256"] = send.body
    return shown


def _head(scene: Scene, at: Spot) -> Raw:
    nearest = scene.raw.get(at.after)
    if nearest is None:
        own = [raw for position, raw in scene.lines if position[0] == at.after[0]]
        nearest = min(own, key=lambda raw: abs(raw["mono_ns"] - at.at))
    head = {name: nearest[name] for name in ("v", "run", "writer", "seq", "boot", "mono_ns", "wall_ns", "unc_ns")}
    head["scenario"] = scene.name
    return later(head, at.at - head["mono_ns"])


def later(raw: Raw, by: int) -> Raw:
    """Return a line that is later by some nanoseconds."""
    return raw | {"mono_ns": raw["mono_ns"] + by, "wall_ns": raw["wall_ns"] + by}


def again(scene: Scene, one: Reception, after: int, *, marked: bool = False) -> Edit | None:
    """Add a second reception of a message by the same consumer, on the same link."""
    send = next((send for send in scene.sends if send.key == one.key), None)
    for watch in scene.watches:
        if send and watch.actor == one.actor and watch.begin <= one.at and one.at + after < watch.end:
            at = spot(scene, watch, one.at + after)
            return received(scene, at, send, marked=marked) if at else None
    return None


# moved, altered, exchanged -------------------------------------------------------------------------------------------


def moved(scene: Scene, one: Reception, to: int) -> Edit:
    """Move a reception, with the end of its callback and its settlement, to another time."""
    positions = group(scene, one)
    raws = [later(scene.raw[position], to - one.at) for position in positions]
    after = scene.position_at(one.position[0], to)
    return Edit(one.key, removed=frozenset(positions), added=tuple((after, raw) for raw in raws))


def other_body(scene: Scene, one: Reception, how: str) -> str:
    """Return the digest of a body that was altered on its way: in a bit, emptied, or taken for another message's."""
    if how == "emptied":
        return sha256(b"").hexdigest()
    if how == "mixed up":
        others = (other for key, found in scene.of_key.items() if key != one.key for other in found)
        digests = (str(scene.raw[other.position]["msg"]["sha256"]) for other in others)
        return next((digest for digest in digests if digest != scene.raw[one.position]["msg"]["sha256"]), "0" * 64)
    return sha256(str(scene.raw[one.position]["msg"]["sha256"]).encode()).hexdigest()


def altered(scene: Scene, one: Reception, **changes: object) -> Edit:
    """Change fields of a received message; names of JMS headers are the message's headers."""
    raw = scene.raw[one.position]
    msg = dict(raw["msg"])
    for name, value in changes.items():
        if name.startswith("JMS"):
            msg["fields"] = msg.get("fields", {}) | {name: value}
        else:
            msg[name] = value
    return Edit(one.key, changed=((one.position, raw | {"msg": msg}),))


def exchanged(scene: Scene, one: Reception, other: Reception) -> Edit:
    """Exchange two messages of a link: each is received and settled in the place of the other."""
    changed: list[tuple[Position, Raw]] = []
    for mine, yours in ((one, other), (other, one)):
        raw, swapped = scene.raw[mine.position], scene.raw[yours.position]
        changed.append((mine.position, raw | {"msg": swapped["msg"]}))
        settled, theirs = scene.settled(mine), scene.settled(yours)
        if settled is not None and theirs is not None:
            changed.append((settled[0], settled[1] | {"msg": theirs[1]["msg"]}))
    return Edit(one.key, changed=tuple(changed))


def opened_between(visits: Sequence[Visit], start: int, end: int) -> list[Visit]:
    """Return the consumers that were asked for between two times."""
    return [one for one in visits if start < one.at < end]


def postponed(scene: Scene, unit: str, by: int) -> Edit:
    """Move the commit of a unit of work to a later time."""
    ids = {raw["id"] for _, raw, _ in scene.calls if raw["op"] == "commit" and raw.get("unit") == unit}
    positions = [
        position
        for position, raw in scene.lines
        if raw.get("id") in ids
        or (raw["kind"] == "return" and raw["call"] in ids)
        or (raw["kind"] == "unit" and raw["unit"] == unit and raw["op"] == "commit")
    ]
    return shifted(scene, unit, positions, by)


def shifted(scene: Scene, subject: str, positions: Sequence[Position], by: int) -> Edit:
    """Move lines to a later time."""
    raws = [later(scene.raw[position], by) for position in positions]
    added = tuple(
        (scene.position_at(position[0], raw["mono_ns"]), raw) for position, raw in zip(positions, raws, strict=True)
    )
    return Edit(subject, removed=frozenset(positions), added=added)


def joined(first: Edit, second: Edit) -> Edit:
    """Join two changes of one subject."""
    return Edit(
        first.subject,
        first.removed | second.removed,
        (*first.changed, *second.changed),
        (*first.added, *second.added),
    )
