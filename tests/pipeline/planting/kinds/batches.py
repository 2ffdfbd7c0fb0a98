"""Plants for batches: BT-04, BT-07, BT-15."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise

from msgspec import Struct
from tests.pipeline.planting.edits import exchanged, later
from tests.pipeline.planting.plant import Plant, at_random
from tests.pipeline.planting.raw import Edit, Position, Raw
from tests.pipeline.planting.scene import Scene
from tests.pipeline.planting.views import MS, SECOND, Reception, Send


class Batch(Struct, frozen=True):
    """A batch of a link, with the end of its callback and the largest number of messages that it may have."""

    members: list[Reception]
    over: Position
    ended: Raw
    size: int
    ack: object
    following: Reception | None

    @property
    def name(self) -> str:
        return f"{self.members[0].link}/{self.members[0].batch}"


def batches(scene: Scene) -> list[Batch]:
    """Return the batches whose callbacks ended."""
    sizes: dict[tuple[str, str], list[tuple[Position, int]]] = {}
    for position, raw, _ in scene.calls:
        if raw["op"] == "listen-batch" and "size" in raw["args"]:
            sizes.setdefault((position[0], raw["actor"]), []).append((position, raw["args"]["size"]))
    links: dict[tuple[str, str], list[tuple[Position, Raw]]] = {}
    for position, raw in scene.of("seen", "callback"):
        if raw.get("batch") is not None:
            links.setdefault((position[0], raw["link"]), []).append((position, raw))
    by_position: Mapping[Position, Reception] = {one.position: one for one in scene.receptions}
    found: list[Batch] = []
    for lines in links.values():
        members: list[Reception] = []
        for number, (position, raw) in enumerate(lines):
            if raw["kind"] == "seen":
                members.append(by_position[position])
            elif members and all(one.batch == raw["batch"] for one in members):
                rest = (by_position[other] for other, line in lines[number:] if line["kind"] == "seen")
                visit = members[0].visit
                asked = [size for at, size in sizes.get((position[0], raw["actor"]), []) if at < members[0].position]
                size = asked[-1] if asked else 0
                found.append(Batch(members, position, raw, size, visit.ack if visit else None, next(rest, None)))
                members = []
            else:
                members = []
    return found


def sent_once(scene: Scene) -> dict[str, Send]:
    """Return the sends of messages that were sent once, by their keys."""
    return {send.key: send for send in scene.sends}


# sizes and order -----------------------------------------------------------------------------------------------------


def _too_large(scene: Scene, by: int) -> Iterator[partial[Edit]]:
    """Move the first messages of the next batch into a batch, so that it has more messages than its size."""
    own = batches(scene)
    for one, following in pairwise(own):
        same = one.members[0].link == following.members[0].link
        extra = one.size + by - len(one.members)
        if same and one.size and 0 < extra < len(following.members):
            yield partial(_joined, scene, one, following.members[:extra])


def _joined(scene: Scene, one: Batch, extra: list[Reception]) -> Edit:
    last = one.members[-1]
    added: list[tuple[Position, Raw]] = []
    for number, member in enumerate(extra, start=1):
        raw = scene.raw[member.position] | {"batch": last.batch}
        added.append((last.position, later(raw, last.at + number * 10 - member.at)))
    return Edit(one.name, removed=frozenset(member.position for member in extra), added=tuple(added))


def _empty(scene: Scene, where: str) -> Iterator[partial[Edit]]:
    """Add the end of a callback that got no message."""
    first: set[str] = set()
    for one in batches(scene):
        link = one.members[0].link
        number = int(one.ended["batch"])
        if where == "first" and link not in first:
            before = {"kind": "callback", **{k: v for k, v in one.ended.items() if k != "kind"}}
            start = scene.raw[one.members[0].position]["mono_ns"] - 10
            raw = later(before, start - before["mono_ns"])
            yield partial(_callback, one, (one.members[0].position[0], one.members[0].position[1] - 1), raw)
        elif where == "next" and (one.following is None or one.following.batch != number + 1):
            yield partial(_callback, one, one.over, later(one.ended | {"batch": number + 1}, 10))
        elif where == "same":
            yield partial(_callback, one, one.over, later(one.ended, 10))
        first.add(link)


def _callback(one: Batch, after: Position, raw: Raw) -> Edit:
    return Edit(one.name, added=((after, raw),))


def _out_of_order(scene: Scene, how: str) -> Iterator[partial[Edit]]:
    sends = sent_once(scene)
    kinds: dict[tuple[object, ...], list[tuple[Send, Reception, int]]] = {}
    for number, batch in enumerate(batches(scene)):
        for one in batch.members:
            send = sends.get(one.key)
            plain = (
                send and not send.delay and not send.ttl and send.unit is None and send.accepted and send.qos is None
            )
            if send is None or not plain or send.priority is None or len(scene.seen(send)) != 1 or one.marked:
                continue
            until = one.at + 2 * SECOND
            calm = not any(send.at - MS <= at <= until for at in scene.returns)
            ends = [w.end for w in scene.watches if w.destination == send.destination]
            if calm and not any(send.at - MS <= end <= until for end in ends):
                kind = (send.position[0], send.actor, send.priority, send.mode, one.link, one.position[0], one.holder)
                kinds.setdefault(kind, []).append((send, one, number))
    for found in kinds.values():
        ordered = sorted(found, key=lambda each: each[0].position)
        for (_, first, at), (_, second, then) in pairwise(ordered):
            near = second.at - first.at < SECOND and first.position < second.position
            fits = {"batch": at == then, "across": at != then, "any": True}[how]
            if near and fits:
                yield partial(exchanged, scene, first, second)


# times ---------------------------------------------------------------------------------------------------------------


def _early(scene: Scene, part: float) -> Iterator[partial[Edit]]:
    """Put a message into an earlier batch, before its delay is over."""
    sends = sent_once(scene)
    own = batches(scene)
    for batch in own:
        for one in batch.members:
            send = sends.get(one.key)
            if send is None or not send.accepted or send.delay < 300 * MS or len(scene.seen(send)) != 1:
                continue
            for other in own:
                first = other.members[0]
                room = len(other.members) < other.size
                when = send.at + int(send.delay * part)
                fits = first.link == one.link and (send.answered or 0) + MS < first.at - 10 < when
                if fits and room and len(batch.members) > 1 and first.position < one.position:
                    yield partial(_rejoined, scene, one, other)


def _rejoined(scene: Scene, one: Reception, batch: Batch) -> Edit:
    first = batch.members[0]
    position = (first.position[0], first.position[1] - 1)
    raw = scene.raw[one.position] | {"batch": first.batch}
    settled = scene.settled(one)
    theirs = scene.settled(first)
    edit = Edit(one.key, removed=frozenset((one.position,)), added=((position, later(raw, first.at - 10 - one.at)),))
    if settled is None or theirs is None:
        return edit
    after = (theirs[0], later(settled[1], theirs[1]["mono_ns"] + 10 - settled[1]["mono_ns"]))
    return Edit(one.key, removed=edit.removed | {settled[0]}, added=(*edit.added, after))


_ORDER = "the moved message came in another place among its sender's messages"
_EARLY = "the message came early, which the broker's rule forbids, too"
_SOON = "the acceptance before the end of the callback takes the message from the next delivery, too"
_SIZE = {"BT-07": _ORDER, "BT-08": _SOON, "BT-10": _SOON, "BT-15": _ORDER}

PLANTS = (
    Plant("a batch with one message too many", "BT-04", _SIZE, at_random(partial(_too_large, by=1), administered=True)),
    Plant("an empty batch after a batch", "BT-04", {}, at_random(partial(_empty, where="same"), administered=True)),
    Plant("an empty first batch", "BT-04", {}, at_random(partial(_empty, where="first"), administered=True)),
    Plant(
        "two messages of a batch exchanged",
        "BT-07",
        {},
        at_random(partial(_out_of_order, how="batch"), administered=True),
    ),
    Plant(
        "two messages of two batches exchanged",
        "BT-07",
        {},
        at_random(partial(_out_of_order, how="across"), administered=True),
    ),
    Plant(
        "two messages of a link exchanged", "BT-07", {}, at_random(partial(_out_of_order, how="any"), administered=True)
    ),
    Plant(
        "in a batch before its time",
        "BT-15",
        {"DD-02": _EARLY},
        at_random(partial(_early, part=0.95), administered=True),
    ),
    Plant(
        "in a batch in the first half of its delay",
        "BT-15",
        {"DD-02": _EARLY},
        at_random(partial(_early, part=0.5), administered=True),
    ),
    Plant(
        "in a batch soon after its send",
        "BT-15",
        {"DD-02": _EARLY},
        at_random(partial(_early, part=0.2), administered=True),
    ),
)
