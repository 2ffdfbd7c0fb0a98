"""Plants for the acknowledgement of batches: BT-08 to BT-13, BT-16."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from tests.pipeline.planting.edits import LATE, Spot, is_unbroken, later, lost, received, silence, spot
from tests.pipeline.planting.kinds.batches import Batch, batches, sent_once
from tests.pipeline.planting.plant import Plant, also, at_random
from tests.pipeline.planting.raw import Edit, Position, Raw
from tests.pipeline.planting.scene import Scene
from tests.pipeline.planting.views import FATAL, MS, SECOND, Reception, Send

# acknowledgement -----------------------------------------------------------------------------------------------------


def _settled_early(scene: Scene, ack: str, when: str) -> Iterator[partial[Edit]]:
    """Accept a message of a batch before its callback has returned."""
    for batch in batches(scene):
        if batch.ack != ack or batch.ended["ended"] != "returned":
            continue
        for number, one in enumerate(batch.members):
            settled = scene.settled(one)
            if settled is None or settled[1]["outcome"] != "accepted" or settled[0] < batch.over:
                continue
            seen = [other for other in scene.of_key[one.key] if other.link == one.link]
            if len(seen) != 1:
                continue
            if when == "first" and number == 0:
                yield partial(_earlier, settled, one.position, one.at + 1)
            elif when == "end":
                yield partial(_earlier, settled, batch.members[-1].position, batch.members[-1].at + 5)
            elif when == "before":
                position = (one.position[0], one.position[1] - 1)
                yield partial(_earlier, settled, position, one.at - 1)


def _earlier(settled: tuple[Position, Raw], after: Position, at: int) -> Edit:
    position, raw = settled
    return Edit(raw["msg"]["kid"], removed=frozenset((position,)), added=((after, later(raw, at - raw["mono_ns"])),))


def _accepted_after_failure(scene: Scene) -> Iterator[partial[Edit]]:
    """Accept a message of a batch whose callback raised an exception."""
    for batch in batches(scene):
        if batch.ack != "auto" or batch.ended["ended"] != "raised":
            continue
        for one in batch.members:
            seen = [other for other in scene.of_key[one.key] if other.at > one.at]
            settled = scene.settled(one)
            if settled is not None and settled[1]["outcome"] != "accepted":
                fresh = settled[1] | {"outcome": "accepted"}
                yield partial(Edit, one.key, changed=((settled[0], fresh),))
            elif settled is None or (seen and settled == scene.settled(seen[0])):
                yield partial(_accepted, scene, batch, one)


def _accepted(scene: Scene, batch: Batch, one: Reception) -> Edit:
    msg = scene.raw[one.position]["msg"]
    ref = {name: msg[name] for name in ("kid", "sha256", "bytes")}
    head = {k: v for k, v in later(batch.ended, 20).items() if k not in ("kind", "ended", "batch")}
    raw: Raw = {"kind": "settle", **head, "msg": ref, "outcome": "accepted"}
    return Edit(one.key, added=((batch.over, raw),))


def _unmarked(scene: Scene, which: str) -> Iterator[partial[Edit]]:
    """Take the mark from a message that came again after a failed callback."""
    for batch in batches(scene):
        if batch.ack != "auto" or batch.ended["ended"] != "raised":
            continue
        for number, one in enumerate(batch.members):
            later_on = [
                other for other in scene.of_key[one.key] if other.link == one.link and other.position > batch.over
            ]
            sent = any(send.key == one.key for send in scene.sends)
            fits = {"first": number == 0, "last": number == len(batch.members) - 1, "again": one.marked}[which]
            if later_on and fits and sent:
                yield partial(_plain, scene, min(later_on, key=lambda other: other.position))


def _plain(scene: Scene, one: Reception) -> Edit:
    raw = scene.raw[one.position] | {"count": 1, "redelivered": False}
    return Edit(one.key, changed=((one.position, raw),))


def _ends(scene: Scene, ops: tuple[str, ...]) -> list[tuple[Position, Raw, Raw]]:
    return [(p, r, a) for p, r, a in scene.calls if r["op"] in ops and a is not None and a.get("refused") is None]


def _unacknowledged(scene: Scene, which: str) -> Iterator[partial[Edit]]:
    """Leave out one message's acceptance from an acknowledgement of a session's messages."""
    ends = _ends(scene, ("acknowledge",))
    every = [p for p, r, _ in scene.calls if r["op"] == "acknowledge"]
    sends = sent_once(scene)
    for batch in batches(scene):
        visit = batch.members[0].visit
        if batch.ack != "client" or visit is None or visit.session is None or batch.ended["ended"] == "raised":
            continue
        mine = [end for end in ends if end[1]["actor"] == visit.session and end[0][0] == batch.over[0]]
        for number, one in enumerate(batch.members):
            following = [end for end in mine if end[0][1] > one.position[1]]
            settled, send = scene.settled(one), sends.get(one.key)
            if not following or settled is None or send is None or send.ttl or settled[1]["outcome"] != "accepted":
                continue
            call, _, answer = min(following, key=lambda end: end[0][1])
            if any(one.position[1] < p[1] < call[1] and p[0] == call[0] for p in every):
                continue
            fits = {"first": number == 0, "last": number == len(batch.members) - 1, "within": True}[which]
            until = answer["mono_ns"] + SECOND + MS
            calm = not any(e.begin <= until and e.end >= one.at - MS for e in (*scene.faults, *scene.aborts))
            given = any(one.at - MS <= at <= answer["mono_ns"] + MS for at in scene.returns)
            alone = len(scene.settles[one.actor, one.link, one.key]) == 1
            others = any(actor == one.actor and key != one.key for actor, _, key in scene.settles)
            if fits and calm and not given and alone and others and settled[0] > call:
                yield partial(Edit, one.key, removed=frozenset((settled[0],)))


Ops = Mapping[str, tuple[str, ...]]
_COMMITS: Ops = {"transacted": ("commit",), "xa": ("xa-commit",)}
_ROLLBACKS: Ops = {"transacted": ("rollback",), "xa": ("xa-rollback",)}


def _ended(scene: Scene, ack: str, ops: Ops) -> Iterator[tuple[Batch, Reception, Send, Raw]]:
    """Return the messages of batches of units of work that ended, each with the answer to the end."""
    sends = sent_once(scene)
    every = [*_COMMITS[ack], *_ROLLBACKS[ack]]
    ends = [(p, r, a) for p, r, a in scene.calls if r["op"] in every]
    for batch in batches(scene):
        visit = batch.members[0].visit
        if batch.ack != ack or visit is None or visit.session is None or batch.ended["ended"] == "raised":
            continue
        if ack == "xa":
            branches = _branches(scene, visit.session, batch)
            mine = [end for end in ends if len(branches) == 1 and end[1].get("unit") in branches]
        else:
            mine = [end for end in ends if end[1]["actor"] == visit.session and end[0][0] == batch.over[0]]
        for one in batch.members:
            send = sends.get(one.key)
            following = [end for end in mine if end[0][1] > one.position[1] and end[0][0] == one.position[0]]
            if send is None or send.ttl or not following:
                continue
            call, raw, answer = min(following, key=lambda end: end[0][1])
            if answer is None or answer.get("refused") is not None or raw["op"] not in ops[ack]:
                continue
            calm = not any(
                e.begin <= answer["mono_ns"] + MS and e.end >= one.at - MS for e in (*scene.faults, *scene.aborts)
            )
            again = any(
                other.link == one.link and one.position < other.position < call for other in scene.of_key[one.key]
            )
            during = any(
                p < one.position and (a is None or a["seq"] > one.position[1])
                for p, _, a in mine
                if p[0] == one.position[0]
            )
            if calm and not again and not during:
                yield batch, one, send, answer


def _branches(scene: Scene, session: str, batch: Batch) -> set[str]:
    """Return the branches of an XA session; none if the session did not work in one when it received a batch."""
    begins, stops = ("xa-start", "xa-join", "xa-resume"), ("xa-end", "xa-suspend", "xa-fail")
    mine = [(p, r) for p, r, _ in scene.calls if r["actor"] == session and r["op"] in (*begins, *stops)]
    before = [raw["op"] for position, raw in mine if position < batch.members[0].position]
    return {raw["unit"] for _, raw in mine if raw["op"] in begins} if before and before[-1] in begins else set()


def _committed_and_again(scene: Scene, ack: str, where: str) -> Iterator[Callable[[], Edit | None]]:
    """Deliver a message again after the commit of its unit of work."""
    for _, one, send, answer in _ended(scene, ack, _COMMITS):
        if where == "same":
            at = _batch_spot(scene, one, answer["mono_ns"] + MS)
            if at is not None:
                yield partial(_rebatched, scene, at, send)
            continue
        for watch in scene.watches:
            fits = watch.destination == one.destination and watch.actor != one.actor
            when = max(answer["mono_ns"], watch.begin) + (20 * MS if where == "other" else 2 * SECOND)
            if fits and watch.begin < when < watch.end:
                at = _open_spot(scene, watch.begin_position[0], watch.actor, watch.destination, when)
                if at is not None:
                    yield partial(_rebatched, scene, at, send)


def _batch_spot(scene: Scene, like: Reception, after: int) -> tuple[Spot, int | None] | None:
    """Return a moment at the begin of a later batch of a link, which has room."""
    for batch in batches(scene):
        first = batch.members[0]
        if first.link == like.link and first.at > after and len(batch.members) < batch.size:
            position = (first.position[0], first.position[1] - 1)
            return Spot(first.actor, first.link, first.destination, first.at - 10, position), first.batch
    return None


def _open_spot(scene: Scene, writer: str, actor: str, destination: str, at: int) -> tuple[Spot, int | None] | None:
    """Return a moment of a consumer of batches at the begin of a batch with room, or of another consumer."""
    if actor in scene.batchers:
        for batch in batches(scene):
            first = batch.members[0]
            if (
                first.actor == actor
                and first.position[0] == writer
                and first.at > at
                and len(batch.members) < batch.size
            ):
                position = (first.position[0], first.position[1] - 1)
                return Spot(actor, first.link, destination, first.at - 10, position), first.batch
        return None
    for watch in scene.watches:
        when = max(at, watch.begin + 20 * MS)
        if watch.actor == actor and watch.begin < when < watch.end:
            found = spot(scene, watch, when)
            return (found, None) if found else None
    return None


def _rebatched(scene: Scene, where: tuple[Spot, int | None], send: Send) -> Edit:
    """Add a marked reception, as a member of a batch if the consumer gets batches."""
    at, batch = where
    edit = received(scene, at, send, marked=True, settles=False)
    if batch is None:
        return edit
    (after, raw), *_ = edit.added
    return Edit(edit.subject, added=((after, raw | {"batch": batch}),))


def _rolled_back_and_lost(scene: Scene, ack: str) -> Iterator[partial[Edit]]:
    """Lose a message whose unit of work was rolled back, after its consumer has gone."""
    for _, one, send, answer in _ended(scene, ack, _ROLLBACKS):
        seen = scene.seen(send)
        crowd = {v.actor for v in scene.visits if v.destination == one.destination}
        left = [e for e in scene.leaves if e.actor == one.actor and e.begin > answer["mono_ns"]]
        created = [v.at for v in scene.visits if v.actor == one.actor]
        if seen[0] is not one or len(crowd) != 2 or not left or max(created) > max(e.end for e in left):
            continue
        last = max(e.end for e in left)
        waits = [
            w for w in scene.watches if w.destination == one.destination and w.actor != one.actor and w.begin > last
        ]
        waited = any(is_unbroken(scene, w) and silence(scene, w, last) >= LATE for w in waits)
        killed = any(f.what in FATAL and f.end > one.at for f in scene.faults)
        if waited and not killed and len(seen) > 1:
            yield partial(lost, scene, send.key, seen[1:])


def _acknowledged_and_again(scene: Scene, where: str) -> Iterator[Callable[[], Edit | None]]:
    """Deliver a message of an acknowledged batch again after a later batch had begun."""
    sends = sent_once(scene)
    for batch in batches(scene):
        following = batch.following
        if batch.ack != "auto" or batch.ended["ended"] != "returned" or following is None:
            continue
        for one in batch.members:
            settled, send = scene.settled(one), sends.get(one.key)
            if (
                send is None
                or settled is None
                or settled[1]["outcome"] != "accepted"
                or settled[0] >= following.position
            ):
                continue
            until = settled[1]["mono_ns"] + SECOND + MS
            if any(e.begin <= until and e.end >= one.at - MS for e in (*scene.faults, *scene.aborts)):
                continue
            after = [e.end for e in scene.faults if e.begin > until] if where == "fault" else [following.at + MS]
            found = _place_again(scene, one, min(after), where) if after else None
            if found is not None:
                yield partial(_rebatched, scene, found, send)


def _place_again(scene: Scene, one: Reception, start: int, where: str) -> tuple[Spot, int | None] | None:
    """Return where a message can come again after a time: on the same link, or at another consumer."""
    if where == "same":
        return _batch_spot(scene, one, start)
    actors = {(w.begin_position[0], w.actor) for w in scene.watches if w.destination == one.destination}
    positions = (
        _open_spot(scene, writer, actor, one.destination, start)
        for writer, actor in sorted(actors)
        if actor != one.actor or where == "fault"
    )
    return next((position for position in positions if position is not None), None)


_AGAIN = "the client had acknowledged the message that comes again"
_REPEAT = also(_AGAIN, "QS-08", "PD-18", "PD-21", "BT-12", "BT-13", "BT-16", "BT-07")
_FAILED = {"QS-08": _AGAIN, "BT-16": _AGAIN}
_LOST = also("the message is lost after the rollback", "PD-18", "PD-20", "PD-21", "PD-24", "PD-11", "QS-09")

PLANTS = (
    Plant(
        "the first message accepted in the callback",
        "BT-08",
        {},
        at_random(partial(_settled_early, ack="auto", when="first"), administered=True),
    ),
    Plant(
        "a message accepted just before the callback's end",
        "BT-08",
        {},
        at_random(partial(_settled_early, ack="auto", when="end"), administered=True),
    ),
    Plant(
        "a message accepted after the callback failed",
        "BT-08",
        _FAILED,
        at_random(_accepted_after_failure, administered=True),
    ),
    Plant(
        "the first message again without a mark",
        "BT-09",
        {},
        at_random(partial(_unmarked, which="first"), administered=True),
    ),
    Plant(
        "the last message again without a mark",
        "BT-09",
        {},
        at_random(partial(_unmarked, which="last"), administered=True),
    ),
    Plant(
        "a message a third time without a mark",
        "BT-09",
        {},
        at_random(partial(_unmarked, which="again"), administered=True),
    ),
    Plant(
        "the first message accepted lazily in the callback",
        "BT-10",
        {},
        at_random(partial(_settled_early, ack="dups-ok", when="first"), administered=True),
    ),
    Plant(
        "a message accepted lazily just before the callback's end",
        "BT-10",
        {},
        at_random(partial(_settled_early, ack="dups-ok", when="end"), administered=True),
    ),
    Plant(
        "a message accepted lazily before the application has it",
        "BT-10",
        {},
        at_random(partial(_settled_early, ack="dups-ok", when="before"), administered=True),
    ),
    Plant(
        "a batch's first message is not acknowledged",
        "BT-11",
        {},
        at_random(partial(_unacknowledged, which="first"), administered=True),
    ),
    Plant(
        "a batch's last message is not acknowledged",
        "BT-11",
        {},
        at_random(partial(_unacknowledged, which="last"), administered=True),
    ),
    Plant(
        "a message is not acknowledged",
        "BT-11",
        {},
        at_random(partial(_unacknowledged, which="within"), administered=True),
    ),
    Plant(
        "committed, and again in a later batch",
        "BT-12",
        _REPEAT,
        at_random(partial(_committed_and_again, ack="transacted", where="same"), administered=True),
    ),
    Plant(
        "committed, and again at another consumer",
        "BT-12",
        _REPEAT,
        at_random(partial(_committed_and_again, ack="transacted", where="other"), administered=True),
    ),
    Plant("rolled back, and lost", "BT-12", _LOST, at_random(partial(_rolled_back_and_lost, ack="transacted"))),
    Plant(
        "a committed branch, and again at another consumer",
        "BT-13",
        _REPEAT,
        at_random(partial(_committed_and_again, ack="xa", where="other"), administered=True),
    ),
    Plant(
        "a committed branch, and again 2 s later",
        "BT-13",
        _REPEAT,
        at_random(partial(_committed_and_again, ack="xa", where="later"), administered=True),
    ),
    Plant(
        "a branch rolled back, and its message lost",
        "BT-13",
        _LOST,
        at_random(partial(_rolled_back_and_lost, ack="xa")),
    ),
    Plant(
        "acknowledged, and again in a later batch",
        "BT-16",
        _REPEAT,
        at_random(partial(_acknowledged_and_again, where="same"), administered=True),
    ),
    Plant(
        "acknowledged, and again at another consumer",
        "BT-16",
        _REPEAT,
        at_random(partial(_acknowledged_and_again, where="other"), administered=True),
    ),
    Plant(
        "acknowledged, and again after a fault",
        "BT-16",
        _REPEAT,
        at_random(partial(_acknowledged_and_again, where="fault"), administered=True),
    ),
)
