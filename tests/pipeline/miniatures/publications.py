"""Miniature scenarios for DD-51 and DD-80: delayed publications, and the subscribers before and after their sends."""

from __future__ import annotations

from functools import partial

from tests.pipeline.case import BROKEN, KEPT, Case
from tests.pipeline.tales import TOPIC, Tale, Telling


def _late(
    *,
    came_ms: int = 200,
    seen: bool = False,
    name: str | None = None,
    delay_ms: int = 500,
    to_ms: int = 3_000,
    ttl_ms: int = 0,
    retained: bool = False,
    before: bool = False,
    member: str | None = None,
    unit: str | None = None,
    mode: str = "persistent",
    killed: bool = False,
) -> Telling:
    """Tell of a subscriber that comes after the send of a delayed publication, perhaps after a kill of the broker."""

    def tell(tale: Tale) -> None:
        if member is not None:
            tale.answer(tale.call("connect", "far", args={"client_id": None, "member": member}))
        if before:
            tale.consumes(of=TOPIC)
        shown: dict[str, int] = {"JMS_IBM_Retain": 1} if retained else {}
        tale.sends(to=TOPIC, delay_ms=delay_ms, ttl_ms=ttl_ms, unit=unit, mode=mode, shown=shown)
        if killed:
            tale.at(50).suffers()
        tale.at(came_ms).consumes(of=TOPIC, name=name)
        watch = tale.listens(of=TOPIC)
        if seen:
            tale.at(max(600, came_ms)).handed(of=TOPIC)
            tale.returns()
        tale.at(to_ms).stops(watch, of=TOPIC)

    return tell


def _open(*, seen: bool = True, delay_ms: int = 500, to_ms: int = 9_000) -> Telling:
    """Tell of a subscriber that is there at the send."""

    def tell(tale: Tale) -> None:
        tale.consumes(of=TOPIC)
        watch = tale.listens(of=TOPIC)
        tale.at(10).sends(to=TOPIC, delay_ms=delay_ms)
        if seen:
            tale.at(600).handed(of=TOPIC)
            tale.returns()
        tale.at(to_ms).stops(watch, of=TOPIC)

    return tell


_DD51 = partial(Case, "DD-51")
_DD80 = partial(Case, "DD-80")
PUBLICATIONS = (
    _DD51("it does not reach a later subscriber", _late(), {"m>receiver": KEPT}),
    _DD51("it reaches a later subscriber", _late(seen=True), {"m>receiver": BROKEN}),
    _DD51("a named subscription may have existed", _late(seen=True, name="s"), {}),
    _DD51("the subscriber was there before", _late(seen=True, before=True), {}),
    _DD51("without a delay it is no subject", _late(seen=True, delay_ms=0), {}),
    _DD51("the subscriber came after the delay", _late(came_ms=700), {}),
    _DD51("the subscriber left early", _late(to_ms=800), {}),
    _DD51("it may have expired", _late(ttl_ms=400), {}),
    _DD51("it is retained", _late(seen=True, retained=True), {}),
    _DD51("another queue manager may deliver it", _late(seen=True, member="QM2"), {}),
    _DD51("its unit of work never ended", _late(unit="u"), {}),
    _DD80("an open subscription gets its copy", _open(), {"m>receiver": KEPT}),
    _DD80("an open subscription gets no copy", _open(seen=False), {"m>receiver": BROKEN}),
    _DD80("without a delay it is no subject", _open(seen=False, delay_ms=0), {}),
    _DD80("the subscriber left early", _open(seen=False, to_ms=800), {}),
)
"""The scenarios of the two rules."""
CONTESTED = (
    _DD80("it may still come", _open(seen=False, to_ms=3_000), {}),
    _DD51("a kill loses no persistent publication", _late(killed=True), {"m>receiver": KEPT}),
    _DD51("a kill may have lost the publication", _late(killed=True, mode="non-persistent"), {}),
    _DD51("it comes after a kill", _late(killed=True, mode="non-persistent", seen=True), {"m>receiver": BROKEN}),
)
"""Scenarios in which a vendor would contest a verdict of an earlier form of the invariants."""
