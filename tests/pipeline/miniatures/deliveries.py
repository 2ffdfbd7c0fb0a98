"""Miniature scenarios for DD-03: delayed messages that are delivered in the end, or not."""

from __future__ import annotations

from functools import partial

from tests.evidence.histories import QUEUE
from tests.pipeline.case import BROKEN, KEPT, Case
from tests.pipeline.tales import TOPIC, Tale, Telling

from assay_evidence import events as ev


def _delayed(
    *,
    seen_ms: int | None = None,
    to_ms: int = 9_000,
    to: str = QUEUE,
    mode: str = "persistent",
    fault: str | None = None,
    admin: str | None = None,
    qos: str | None = None,
    member: str | None = None,
    unit: str | None = None,
    delay_ms: int = 500,
    before: str | None = None,
    stopped: bool = False,
) -> Telling:
    """Tell of a delayed message, and of a consumer that waits for it.

    `before` is a fault before the send; `stopped` tells whether the consumer's connection is stopped.
    """

    def tell(tale: Tale) -> None:
        if admin is not None:
            tale.tell(ev.Admin, call="c", command=admin)
        tale.answer(tale.call("connect", "sender", args={"client_id": None, "member": member}))
        tale.answer(tale.call("producer", "sender", args={"qos": qos}, destination=to))
        if before is not None:
            tale.suffers(before)
        tale.sends(to=to, delay_ms=delay_ms, mode=mode, unit=unit)
        if fault is not None:
            tale.suffers(fault)
        tale.consumes(of=to)
        watch = tale.listens(of=to)
        if stopped:
            tale.asks_for("stop-connection")
        if seen_ms is not None:
            tale.at(seen_ms).handed(of=to)
            tale.returns()
        tale.at(to_ms).stops(watch, of=to)

    return tell


def _as_the_broker_ends(mode: str) -> Telling:
    """Tell of a message that is sent after the begin of a kill, and before the broker's process has ended."""

    def tell(tale: Tale) -> None:
        fault = tale.begins()
        tale.at(5).sends(delay_ms=500, mode=mode)
        tale.at(100).recovers(fault)
        tale.consumes()
        watch = tale.listens()
        tale.at(9_000).stops(watch)

    return tell


def _with_another(*, leaves: str | None = "close-consumer", once: bool = False) -> Telling:
    """Tell of a second consumer that came before, and of whether it left."""

    def tell(tale: Tale) -> None:
        args: dict[str, ev.Scalar] = {"qos": "at-most-once" if once else None}
        tale.answer(tale.call("consumer", "other", args=args, destination=QUEUE))
        tale.sends(delay_ms=500)
        if leaves is not None:
            tale.at(1_000).answer(tale.call(leaves, "other"))
        tale.consumes()
        watch = tale.listens()
        tale.at(9_000).stops(watch)

    return tell


def _waited_and_left(*waits_ms: int) -> Telling:
    """Tell of consumers that wait for some time, and then leave in an orderly way."""

    def tell(tale: Tale) -> None:
        names = [f"receiver-{number}" for number, _ in enumerate(waits_ms)]
        for name in names:
            tale.consumes(name)
        tale.sends(delay_ms=500)
        watches = {name: tale.listens(name) for name in names}
        for wait_ms, name in sorted(zip(waits_ms, names, strict=True)):
            tale.at(500 + wait_ms).stops(watches[name], name)
            tale.asks_for("close-connection", name)

    return tell


_DD03 = partial(Case, "DD-03")
DELIVERIES = (
    _DD03("it comes when it is due", _delayed(seen_ms=500), {"m": KEPT}),
    _DD03("it comes late", _delayed(seen_ms=8_000), {"m": KEPT}),
    _DD03("it never comes", _delayed(), {"m": BROKEN}),
    _DD03("it never comes after a kill", _delayed(fault="kill"), {"m": BROKEN}),
    _DD03("a non-persistent message may be lost by a kill", _delayed(fault="kill", mode="non-persistent"), {}),
    _DD03("another fault may keep it back", _delayed(fault="storeerror"), {}),
    _DD03("it came early only", _delayed(seen_ms=100), {}),
    _DD03("the consumer waited too short", _delayed(to_ms=3_000), {}),
    _DD03("an administrator may have kept it back", _delayed(admin="ALTER QLOCAL(S) GET(DISABLED)"), {}),
    _DD03("its queue may be full", _delayed(admin="DEFINE QLOCAL(Q) MAXDEPTH(1)"), {}),
    _DD03("a definition keeps nothing back", _delayed(admin="DEFINE QLOCAL(Q)"), {"m": BROKEN}),
    _DD03("its sender sends at most once", _delayed(qos="at-most-once"), {}),
    _DD03("another queue manager may have it", _delayed(member="QM2"), {}),
    _DD03("its unit of work never ended", _delayed(unit="u"), {}),
    _DD03("a publication is no subject", _delayed(to=TOPIC), {}),
    _DD03("without a delay it is no subject", _delayed(delay_ms=0), {}),
    _DD03("another consumer left before", _with_another(), {"m": BROKEN}),
    _DD03("another consumer may hold it", _with_another(leaves=None), {}),
    _DD03("another consumer was lost with it", _with_another(leaves="abort"), {}),
    _DD03("another consumer may have received it at most once", _with_another(once=True), {}),
)
"""The scenarios of DD-03."""
CONTESTED = (
    _DD03("a worker that died before the send may keep it back", _delayed(before="workerdies"), {}),
    _DD03("a kill before the send keeps nothing back", _delayed(before="kill"), {"m": BROKEN}),
    _DD03("a kill that has begun may lose a non-persistent message", _as_the_broker_ends("non-persistent"), {}),
    _DD03("a kill that has begun loses no persistent message", _as_the_broker_ends("persistent"), {"m": BROKEN}),
    _DD03("a stopped connection delivers nothing", _delayed(stopped=True), {}),
)
"""Scenarios in which a vendor would contest a verdict of an earlier form of the invariants."""
DEPARTED = (
    _DD03("the consumer waited long enough, and then left", _waited_and_left(5_000), {"m": BROKEN}),
    _DD03("two consumers waited long enough, and then left", _waited_and_left(5_000, 6_000), {"m": BROKEN}),
    _DD03("another consumer left soon, and may have held it so long", _waited_and_left(2_000, 6_999), {}),
    _DD03("one waited long enough after the other had left", _waited_and_left(2_000, 7_000), {"m": BROKEN}),
)
"""Scenarios in which the consumers leave after their waits."""
