"""Programs written by hand, which together reach every transition of every state table."""

from __future__ import annotations

from typing import Any

from tests.broker.model.programs.acts import CHOICES, Act, Program
from tests.broker.model.programs.messaging_acts import TRAITS
from tests.broker.model.words import DEAD, REPLY, STAGING, TEMPORARY, UNIT_LIMIT

PLAIN = TRAITS[0]
PERSISTENT = (True, 4, 0, False, False)
REPORTED = (False, 4, 0, True, False)
REPORTED_PERSISTENT = (True, 4, 0, True, False)
DISCARDED = (True, 4, 0, False, True)


def act(what_happens: str, /, **given: Any) -> Act:
    """Return an act with the simplest values for all arguments that are not given."""
    return what_happens, {key: values[0] for key, values in CHOICES[what_happens].items()} | given


def _shut(queue: str, what: str = "PUT") -> Act:
    return act("alter", queue=queue, what=what, shut=True)


def _open(queue: str, what: str = "PUT") -> Act:
    return act("alter", queue=queue, what=what, shut=False)


def _in_unit(**more: Any) -> Act:
    return act("send_in_unit", traits=PERSISTENT, **more)


COMMIT, BACK_OUT = act("end", commit=True), act("end", commit=False)
AGAIN, DIES = act("begin_again", kill=True), act("meddle_with_staging", what="worker dies")
FULL, SLOW, FLUSH = act("disk", what="full"), act("disk", what="slow"), act("disk", what="flush", batches=6)
LOST = act("disconnect", connection=1, clean=False, again=True)

UNITS = (
    *(_in_unit(), COMMIT, _in_unit(), BACK_OUT, _in_unit(), FULL, COMMIT),
    *(_in_unit(), SLOW, COMMIT, LOST, FLUSH, AGAIN),
    *(_in_unit(), LOST, act("browse")),
)
LINKS = (
    *(act("send"), act("settle"), act("flow"), act("ask_anything", link=2, what="drain"), act("detach")),
    *(act("ask_anything", connection=3, link=1, what="detach"), LOST),
    *(FULL, act("subscribe", link=4, kind="durable", name="t")),
    *(
        act("receive", connection=1, link=4, queue=TEMPORARY),
        act("open_sender", connection=2, link=4, to=TEMPORARY),
        LOST,
    ),
)
PROCESSOR = (
    *(_open(STAGING), DIES, DIES, _open(STAGING), _shut(STAGING), _open(STAGING), _shut(STAGING), DIES),
    *(act("wait", elapsed=50), _open(STAGING), DIES, act("wait", elapsed=50), AGAIN),
    *(_shut(STAGING, "GET"), DIES, _shut(STAGING, "GET"), AGAIN, _open(STAGING, "GET"), DIES, _shut(STAGING, "GET")),
    *(_shut(STAGING), _open(STAGING, "GET"), _shut(STAGING, "GET"), _open(STAGING), _open(STAGING, "GET")),
    *(_shut(STAGING), AGAIN, DIES, _shut(STAGING), _open(STAGING), AGAIN),
)


def _released(*before: Act, traits: Any = PLAIN, to: str = "P", after: tuple[Act, ...] = ()) -> tuple[Act, ...]:
    """Return acts: send a delayed message, act during the delay, end the delay, and remove all obstacles."""
    mended = (_open("P"), _open(DEAD), _open(REPLY), act("wait", elapsed=50))
    sent = act("send_delayed", traits=traits, to=to, delay=3)
    return (sent, *before, act("wait", elapsed=4), *after, *mended, AGAIN)


NOWHERE = (_shut(DEAD), _shut(REPLY))
FULL_SUBSCRIPTION = tuple(act("publish", connection=2, to="T") for _ in range(4))
UNSUBSCRIBED = (act("detach", pick=2), act("unsubscribe", name="s"))

RELEASE = (
    *_released(),
    *_released(_shut("P")),
    *_released(_shut("P"), _shut(DEAD)),
    *_released(_shut("P"), traits=DISCARDED),
    *_released(_shut("P"), traits=REPORTED),
    *_released(_shut("P"), _shut(REPLY), traits=REPORTED),
    *_released(*UNSUBSCRIBED, *NOWHERE, traits=REPORTED_PERSISTENT, to="T"),
)
PUBLICATIONS = (
    *_released(*UNSUBSCRIBED, *NOWHERE, traits=REPORTED, to="T"),
    act("subscribe", link=4, kind="durable", name="t", credit=0),
    *_released(*FULL_SUBSCRIPTION, *NOWHERE, traits=REPORTED_PERSISTENT, to="T"),
)
EXPIRED = (
    act("send_delayed", delay=3, ttl=5),
    *(_shut("P"), _shut(DEAD), act("wait", elapsed=8)),
)

FAIL = act("disk", what="fail")
FULL_UNIT = (
    # A full unit of work that is ending takes no further message.
    *(SLOW, *(_in_unit(to=to) for to in ("T", "T", "Q", "Q", "P", "P")[:UNIT_LIMIT]), COMMIT, _in_unit(), FLUSH),
)
REFUSED_TOGETHER = (
    # A subscription with a settled receiver that must close; the store does not record the closing.
    *(SLOW, act("subscribe", connection=2, link=4, topic="T", kind="durable", settled=True, credit=3, timeout=5)),
    *(act("publish", to="T", traits=PERSISTENT), FAIL, act("begin_again", kill=False)),
    # A subscription whose receiver left and came back.
    *(SLOW, act("subscribe", connection=2, link=4, topic="T", kind="durable", name="t", timeout=5)),
    *(act("detach", pick=3), act("subscribe", connection=2, link=4, topic="T", kind="durable", name="t", timeout=12)),
    *(FAIL, act("begin_again", kill=False)),
)

TOURS = tuple(
    Program(platform, acts)
    for platform in ("distributed", "zos")
    for acts in (UNITS, LINKS, PROCESSOR, RELEASE, PUBLICATIONS, EXPIRED, REFUSED_TOGETHER, FULL_UNIT)
)
