"""Random scenarios with a few messages, consumers and faults."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from tests.evidence.histories import QUEUE
from tests.pipeline.tales import PRIORITY, TOPIC, Tale, Telling

KIDS, ACTORS = ("k1", "k2", "k3"), ("a", "b")
Watches = list[tuple[str, str, str]]
Act = Callable[[Random, Tale, str, Watches], None]


def _send(dice: Random, tale: Tale, place: str, _watches: Watches) -> None:
    tale.sends(
        dice.choice(KIDS),
        place,
        mode=dice.choice(
            ("persistent", "persistent", "persistent", "non-persistent", "non-persistent", "as the destination defines")
        ),
        priority=dice.choice((4, 4, 4, "as the destination defines")),
        delay_ms=dice.choice((0, 0, 500)),
        ttl_ms=dice.choice((0, 0, 0, 800)),
        unit=dice.choice((None, None, None, "u")),
        refused=dice.random() < 0.1,
        answered=dice.random() < 0.9,
        shown=dice.choice((PRIORITY, PRIORITY, {}, None)),
    )


def _come(dice: Random, tale: Tale, place: str, watches: Watches) -> None:
    actor = dice.choice(ACTORS)
    name = dice.choice((None, None, "s"))
    selector = "x" if dice.random() < 0.1 else None
    tale.consumes(actor, place, selector=selector, name=name, shared=dice.random() < 0.2)
    watches.append((tale.listens(actor, place, size=dice.choice((None, None, None, 1, 2))), actor, place))


def _see(dice: Random, tale: Tale, place: str, _watches: Watches) -> None:
    actor, batch = dice.choice(ACTORS), dice.choice((None, None, 0, 1))
    for _ in range(dice.choice((0, 1, 1, 2)) if batch is not None else 1):
        tale.handed(
            dice.choice(KIDS),
            actor,
            batch,
            link=dice.choice((1, 1, 1, 2)),
            of=dice.choice((place, place, place, "queue://DLQ")),
            body=dice.choice((None, None, None, "altered")),
            shown=dice.choice((PRIORITY, PRIORITY, {}, {"JMSPriority": 5}, {"JMSPriority": None})),
        )
    if dice.random() < 0.7:
        tale.returns(actor, batch, "raised" if dice.random() < 0.2 else "returned")


def _stop(dice: Random, tale: Tale, _place: str, watches: Watches) -> None:
    if watches:
        tale.stops(*watches.pop(dice.randrange(len(watches))))


def _fault(dice: Random, tale: Tale, _place: str, _watches: Watches) -> None:
    tale.suffers(dice.choice(("kill", "restart", "cut")), took_ms=dice.choice((0, 10)))


def _browse(dice: Random, tale: Tale, place: str, _watches: Watches) -> None:
    tale.browses(*dice.sample(KIDS, dice.randrange(3)), of=place)


def _unit(dice: Random, tale: Tale, _place: str, _watches: Watches) -> None:
    tale.ends_unit("u", dice.choice(("begin", "prepare", "recover", "commit", "rollback")))


def _boot(_dice: Random, tale: Tale, _place: str, _watches: Watches) -> None:
    tale.boot += "'"


_ACTS: tuple[Act, ...] = (_send, _send, _send, _come, _come, _see, _see, _see, _stop, _fault, _browse, _unit, _boot)


def _tell(seed: int, tale: Tale) -> None:
    dice = Random(seed)  # noqa: S311 - a repeatable history, not a secret
    place = dice.choice((QUEUE, TOPIC))
    tale.unc_ns = dice.choice((0, 0, 2_000_000))
    watches: Watches = []
    for _ in range(dice.randint(3, 12)):
        tale.now_ns += dice.choice((0, 0, 1, 250, 500, 1_500)) * 1_000_000
        dice.choice(_ACTS)(dice, tale, place, watches)
    tale.now_ns += 1_500_000_000
    for watch in watches:
        tale.stops(*watch)


def telling(seed: int) -> Telling:
    """Make the random scenario of a seed, on one queue or topic."""
    return partial(_tell, seed)
