"""Plants for acknowledgements: QS-03, QS-06 to QS-10, QS-14."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tests.pipeline.planting.edits import (
    LATE,
    Spot,
    is_only_consumer,
    is_unbroken,
    lost,
    received,
    silence,
    spot,
)
from tests.pipeline.planting.plant import Find, Plant, also, at_random
from tests.pipeline.planting.raw import Edit
from tests.pipeline.planting.scene import Scene
from tests.pipeline.planting.views import FATAL, LOSING, MS, SECOND, Reception, Send, Trouble, Watching

# final messages that come again --------------------------------------------------------------------------------------


def _losses(scene: Scene, start: int, end: int) -> bool:
    return any(one.begin <= end + MS and one.end >= start - MS for one in (*scene.faults, *scene.aborts))


def _is_sent_surely(scene: Scene, send: Send) -> bool:
    """Return whether the client cannot have sent a message again."""
    until = (send.answered or 0) + SECOND + MS
    retained = "JMS_IBM_Retain" in ((send.shown or {}).get("fields") or {})
    torn = any(one.begin <= until and one.end >= send.at - MS for one in scene.faults)
    return send.accepted and not retained and (send.qos == "at-most-once" or not torn)


def _acknowledged(scene: Scene, one: Reception) -> int | None:
    """Return when a client had certainly acknowledged a reception by itself."""
    settled = scene.settled(one)
    if settled is None or settled[1]["outcome"] != "accepted" or settled[1].get("unit") is not None:
        return None
    at = int(settled[1]["mono_ns"])
    return None if _losses(scene, one.at, at + SECOND + MS) else at


def _dropped(scene: Scene, one: Reception) -> int | None:
    """Return when a consumer that receives at most once received a message, if no kill can have undone this."""
    fatal = any(e.what in FATAL and e.begin <= one.at + SECOND + MS and e.end >= one.at - MS for e in scene.faults)
    visits = [visit.qos for visit in scene.visits if visit.actor == one.actor]
    return one.at if visits and set(visits) == {"at-most-once"} and not fatal else None


def _single(scene: Scene, actor: str) -> bool:
    mine = [one for one in scene.visits if one.actor == actor]
    return len({one.name for one in mine}) == 1 and len({one.client for one in mine}) == 1


Final = Callable[[Scene, Reception], int | None]


def _again(
    final: Final,
    where: str,
    *,
    kind: str = "",
    sender: str | None = None,
    broken: tuple[str, ...] = (),
    marked: bool = True,
) -> Find:
    """Deliver a final message again.

    Args:
        final: Returns when a reception made the message final; None if it did not.
        where: ``soon`` for the same watch, ``return`` for a later watch of the same consumer, ``other`` for another
            consumer of the queue.
        kind: The begin of the destination.
        sender: The sender's quality of service, if it matters.
        broken: The kinds of losses of which one must lie between.
        marked: Whether the message is marked as redelivered.
    """

    def candidates(scene: Scene) -> Iterator[Callable[[], Edit | None]]:
        for send in scene.sends:
            if not send.destination.startswith(kind) or not _is_sent_surely(scene, send):
                continue
            if sender is not None and send.qos != sender:
                continue
            for one in scene.seen(send):
                at = final(scene, one) if one.destination == send.destination and one.batch is None else None
                if at is None or (send.destination.startswith("topic://") and not _single(scene, one.actor)):
                    continue
                for place in _places(scene, one, at, where, broken):
                    yield partial(received, scene, place, send, marked=marked)

    return at_random(candidates, administered=True)


def _places(scene: Scene, one: Reception, final: int, where: str, broken: tuple[str, ...]) -> Iterator[Spot]:
    for watch in scene.watches:
        if watch.destination != one.destination or (watch.actor == one.actor) is (where == "other"):
            continue
        here = watch.begin <= one.at <= watch.end
        if where != "other" and here is not (where == "soon"):
            continue
        at = final + 30 * MS if where == "soon" else max(watch.begin, final) + 30 * MS
        own = [e for e in (*scene.faults, *scene.aborts) if e.what in broken and e.actor in ("", one.actor)]
        if broken and not any(final + MS < e.begin < at - MS for e in own):
            continue
        found = spot(scene, watch, at) if watch.begin < at < watch.end and at > final + MS else None
        if found is not None:
            yield found


# unacknowledged messages ---------------------------------------------------------------------------------------------


def _unacknowledged(
    loss: tuple[str, ...], *, shared: bool = False, neighbour: str = "", kind: str = "", last: bool = False
) -> Find:
    """Lose a message that its consumer had received and not acknowledged when its connection was lost."""

    def candidates(scene: Scene) -> Iterator[partial[Edit]]:
        for send in scene.sends:
            seen = scene.seen(send)
            lasting = send.confirmed is not None and not send.ttl and send.destination.startswith(kind)
            if len(seen) < 2 or not lasting or send.key in scene.browsed:
                continue
            first = seen[0]
            own = [one for one in seen if _shares(first, one)]
            after = _first_loss(scene, first)
            if own[0] is not first or after is None or after.what not in loss or len(own) < 2:
                continue
            if _is_unsettled(scene, first, after) and _is_missed(scene, send, first, after, shared=shared):
                beside = not neighbour or _has_neighbour(scene, first, after, neighbour)
                if beside and (not last or _is_last(scene, first)):
                    yield partial(lost, scene, send.key, own[1:])

    return at_random(candidates)


def _shares(first: Reception, one: Reception) -> bool:
    if first.visit and one.visit and first.visit.shared and first.visit.qos is not None:
        return one.visit.shared and first.visit.name == one.visit.name
    return one.holder == first.holder


def _first_loss(scene: Scene, first: Reception) -> Trouble | None:
    mine = [one for one in scene.faults if one.what in LOSING]
    mine += [one for one in scene.aborts if one.actor == first.actor]
    return min((one for one in mine if one.begin > first.at + scene.margin), key=lambda one: one.begin, default=None)


def _is_unsettled(scene: Scene, first: Reception, loss: Trouble) -> bool:
    asked = any(
        raw["op"] in ("acknowledge", "commit", "xa-commit")
        and position[0] == first.position[0]
        and first.at <= raw["mono_ns"] <= loss.end + scene.margin
        for position, raw, _ in scene.calls
    )
    tells = any(actor == first.actor and key != first.key for actor, _, key in scene.settles)
    return not asked and tells and (first.actor, first.link, first.key) not in scene.settles


def _is_missed(scene: Scene, send: Send, first: Reception, loss: Trouble, *, shared: bool) -> bool:
    visit = first.visit
    if visit is None or visit.shared is not shared or visit.choosy or visit.careless:
        return False
    if not (visit.durable or visit.destination.startswith("queue://")):
        return False
    stored = (send.persistent and send.qos is None) or not any(
        one.what in FATAL and one.end > send.at for one in scene.faults
    )
    mine = [one for one in scene.visits if one.actor == first.actor]
    start = max(send.due, loss.end)
    waits = [one for one in scene.watches if one.destination == send.destination and is_unbroken(scene, one)]
    if shared:
        others = {one.actor for one in scene.visits if one.name == visit.name} - {first.actor}
        away = all(one.at < loss.begin for one in mine)
        waited = any(one.actor != first.actor and silence(scene, one, start) >= LATE for one in waits)
        return stored and len(others) == 1 and away and waited
    alone = visit.durable or is_only_consumer(scene, send.destination)
    back = [one for one in waits if one.holder == first.holder and one.visit and one.visit.at > loss.end]
    return stored and alone and any(one.at > loss.end for one in mine) and _waited(scene, back, start)


def _waited(scene: Scene, watches: list[Watching], start: int) -> bool:
    return any(silence(scene, one, start) >= LATE for one in watches)


def _is_last(scene: Scene, first: Reception) -> bool:
    """Return whether a message is the last one of its link."""
    same = (one for one in scene.receptions if (one.actor, one.link) == (first.actor, first.link))
    return all(one.at <= first.at for one in same)


def _has_neighbour(scene: Scene, first: Reception, loss: Trouble, which: str) -> bool:
    """Return whether the client accepted another message of the link between a reception and the loss.

    Args:
        scene: The scenario.
        first: The reception.
        loss: The loss.
        which: Where the reception is on its link: ``first``, ``within``, or at ``any`` place.
    """
    before = any((one.actor, one.link) == (first.actor, first.link) and one.at < first.at for one in scene.receptions)
    return any(
        (which == "any" or before is (which == "within")) and
        actor == first.actor and link == first.link and key != first.key and raw.get("unit") is None
        and raw["outcome"] == "accepted" and first.at + scene.margin <= raw["mono_ns"] <= loss.begin - scene.margin
        for (actor, link, key), found in scene.settles.items()
        for _, raw in found
    )  # fmt: skip


_BOTH = "the message was sent, received or acknowledged once, and this rule forbids that it comes again, too"
_FINAL = also(
    _BOTH, "QS-03", "QS-06", "QS-07", "QS-08", "PD-18", "PD-21", "PD-22", "PD-32", "BT-12", "PD-12", "PD-14", "PD-27"
)
_MISSED = also("the unacknowledged message is lost beside an acknowledged one", "QS-09", "QS-14")

PLANTS = (
    Plant("sent at most once, received again soon", "QS-03", _FINAL, _again(_dropped, "soon", sender="at-most-once")),
    Plant(
        "sent at most once, received again later", "QS-03", _FINAL, _again(_dropped, "return", sender="at-most-once")
    ),
    Plant(
        "sent at most once, received again unmarked",
        "QS-03",
        _FINAL,
        _again(_dropped, "return", sender="at-most-once", marked=False),
    ),
    Plant("received at most once, and again soon", "QS-06", _FINAL, _again(_dropped, "soon")),
    Plant("received at most once, and again later", "QS-06", _FINAL, _again(_dropped, "return")),
    Plant("received at most once, and again unmarked", "QS-06", _FINAL, _again(_dropped, "soon", marked=False)),
    Plant("received at most once, and again after a kill", "QS-07", _FINAL, _again(_dropped, "return", broken=FATAL)),
    Plant("received at most once, and again after a cut", "QS-07", _FINAL, _again(_dropped, "return", broken=("cut",))),
    Plant(
        "received at most once, and again after a loss",
        "QS-07",
        _FINAL,
        _again(_dropped, "return", broken=(*LOSING, "abort", "pause"), marked=False),
    ),
    Plant(
        "acknowledged on a queue, and again elsewhere", "QS-08", _FINAL, _again(_acknowledged, "other", kind="queue://")
    ),
    Plant(
        "acknowledged by a subscriber, and again on its return",
        "QS-08",
        _FINAL,
        _again(_acknowledged, "return", kind="topic://"),
    ),
    Plant(
        "acknowledged by an MQ Light client, and again",
        "QS-08",
        _FINAL,
        _again(_acknowledged, "return", kind="topic://", sender="at-least-once", broken=LOSING),
    ),
    Plant("unacknowledged, and lost with the connection", "QS-09", _MISSED, _unacknowledged(("abort",))),
    Plant("unacknowledged, and lost in a fault", "QS-09", _MISSED, _unacknowledged(LOSING)),
    Plant("unacknowledged, received last, and lost", "QS-09", _MISSED, _unacknowledged((*LOSING, "abort"), last=True)),
    Plant("unacknowledged by a sharer, and lost", "QS-10", {}, _unacknowledged((*LOSING, "abort"), shared=True)),
    Plant(
        "unacknowledged by a sharer, and lost with its connection",
        "QS-10",
        {},
        _unacknowledged(("abort",), shared=True),
    ),
    Plant(
        "unacknowledged by a sharer, received last, and lost",
        "QS-10",
        {},
        _unacknowledged((*LOSING, "abort"), shared=True, last=True),
    ),
    Plant(
        "unacknowledged beside an acknowledged one, and lost",
        "QS-14",
        _MISSED,
        _unacknowledged((*LOSING, "abort"), neighbour="any"),
    ),
    Plant(
        "unacknowledged, the first of its link, and lost",
        "QS-14",
        _MISSED,
        _unacknowledged((*LOSING, "abort"), neighbour="first"),
    ),
    Plant(
        "unacknowledged, not the first of its link, and lost",
        "QS-14",
        _MISSED,
        _unacknowledged((*LOSING, "abort"), neighbour="within"),
    ),
)
