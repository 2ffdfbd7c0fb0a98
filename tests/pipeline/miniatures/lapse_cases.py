"""Miniature scenarios for the rules about subscriptions with a time to live (QS-20, QS-21, QS-22)."""

from __future__ import annotations

from typing import Literal

from tests.evidence.histories import refusal
from tests.pipeline.case import BROKEN, KEPT, Case
from tests.pipeline.tales import TOPIC, Tale, Telling

from assay_evidence import events as ev


def _away(
    seen: int = 0,
    *,
    ttl_ms: int = 5_000,
    present_ms: int = 1_000,
    back_ms: int = 3_000,
    leaves: Literal["close-connection", "close-consumer", "abort"] = "close-connection",
    refuses: bool = False,
    watched: bool = True,
    intruder: str | None = None,
    admin: str | None = None,
    fault: bool = False,
    confirms: bool = False,
    mode: str = "persistent",
    shared: bool = False,
    light: bool = False,
    to_ms: int = 5_000,
) -> Telling:
    """Return a scenario of a subscriber that leaves, and of a message that comes meanwhile.

    Args:
        seen: How often the subscriber receives it when it is back.
        ttl_ms: The subscription's time to live.
        present_ms: When the subscriber leaves.
        back_ms: How long it is away.
        leaves: How it leaves.
        refuses: Whether the client refuses the call with which it leaves.
        watched: Whether it watches until it leaves.
        intruder: A client that asks in vain for a consumer of the subscription meanwhile.
        admin: An administrator's command.
        fault: Whether the broker is restarted meanwhile.
        confirms: Whether the subscriber confirms messages before the application has them.
        mode: The message's mode.
        shared: Whether the subscription is shared.
        light: Whether the sender is an MQ Light client.
        to_ms: How long the subscriber then watches.
    """

    def tell(tale: Tale) -> None:
        def comes() -> None:
            tale.connects("sub", "c")
            tale.consumes(
                "sub", TOPIC, name="s", qos="at-least-once", auto_confirm=confirms, ttl_ms=ttl_ms, shared=shared
            )

        if light:
            tale.produces("at-least-once", to=TOPIC)
        comes()
        before = tale.listens("sub", TOPIC) if watched else None
        left = tale.at(present_ms).call(leaves, "sub")
        tale.answer(left, refusal() if refuses else None)
        if before is not None:
            tale.stops(before, "sub", TOPIC)
        if admin is not None:
            tale.tell(ev.Admin, call="c", command=admin)
        tale.at(present_ms + 10).sends(to=TOPIC, mode=mode)
        if intruder is not None:
            args: dict[str, ev.Scalar] = {"durability": "durable", "name": "s", "ttl_ms": ttl_ms}
            asked = tale.at(present_ms + back_ms - 500).call("consumer", intruder, args=args, destination=TOPIC)
            tale.answer(asked, refusal())
        if fault:
            tale.suffers("restart")
        tale.at(present_ms + back_ms)
        comes()
        watch = tale.listens("sub", TOPIC)
        for _ in range(seen):
            tale.handed(actor="sub", of=TOPIC, link=2)
            tale.returns("sub", link=2)
        tale.now_ns += to_ms * 1_000_000
        tale.stops(watch, "sub", TOPIC)

    return tell


_FIRST = "m>sub/1"
LAPSES = (
    Case("QS-20", "it counts from the disconnection", _away(1, present_ms=12_000), {_FIRST: KEPT}),
    Case("QS-20", "it counts from the subscription", _away(present_ms=12_000), {_FIRST: BROKEN}),
    Case("QS-20", "the subscription is young", _away(), {}),
    Case("QS-20", "zero ends it at once", _away(ttl_ms=0, back_ms=6_000), {_FIRST: KEPT}),
    Case("QS-20", "zero does not end it", _away(1, ttl_ms=0, back_ms=6_000), {_FIRST: BROKEN}),
    Case("QS-21", "back in time", _away(1), {_FIRST: KEPT}),
    Case("QS-21", "back in time, after a lost connection", _away(1, leaves="abort"), {_FIRST: KEPT}),
    Case("QS-21", "back in time, and the message is gone", _away(), {_FIRST: BROKEN}),
    Case("QS-21", "a non-persistent message may be lost", _away(mode="non-persistent"), {}),
    Case("QS-21", "the topic may choose non-persistent", _away(light=True), {}),
    Case("QS-21", "it may be lost on its way", _away(confirms=True), {}),
    Case("QS-21", "another sharer may have it", _away(shared=True), {}),
    Case("QS-21", "a restart in between", _away(fault=True), {}),
    Case("QS-21", "nobody waited", _away(to_ms=500), {}),
    Case("QS-21", "a dropped connection may hold it for a while", _away(leaves="abort", to_ms=2_000), {}),
    Case("QS-21", "it may have lost its connection before", _away(watched=False), {}),
    Case("QS-20", "an administrator may have cleared it", _away(ttl_ms=0, back_ms=6_000, admin="CLEAR QLOCAL(Q)"), {}),
    Case("QS-22", "back too late", _away(back_ms=10_000), {_FIRST: KEPT}),
    Case("QS-22", "back too late, and the message is there", _away(1, back_ms=10_000), {_FIRST: BROKEN}),
    Case("QS-22", "after a lost connection", _away(1, back_ms=10_000, leaves="abort"), {_FIRST: BROKEN}),
    Case("QS-22", "a broker may take a moment to end it", _away(1, back_ms=8_000), {}),
    Case("QS-22", "back in time", _away(1), {}),
    Case("QS-22", "its connection may have ended later", _away(1, back_ms=10_000, leaves="close-consumer"), {}),
    Case("QS-22", "it did not leave", _away(1, back_ms=10_000, refuses=True), {}),
    Case("QS-22", "the broker may have let it in before", _away(1, back_ms=10_000, intruder="sub"), {}),
    Case("QS-22", "another client may have come meanwhile", _away(1, back_ms=10_000, intruder="other"), {}),
    Case("QS-22", "an administrator may have cleared it", _away(back_ms=10_000, admin="CLEAR QLOCAL(Q)"), {}),
    Case("QS-22", "a send may return before the broker has it", _away(1, back_ms=10_000, mode="non-persistent"), {}),
)
"""The scenarios."""
