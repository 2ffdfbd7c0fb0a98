"""Miniature scenarios for DD-26, DD-27 and DD-55: delayed messages in units of work, or with a time to live."""

from __future__ import annotations

from typing import Literal

from tests.evidence.histories import QUEUE
from tests.pipeline.case import BROKEN, KEPT, UNDECIDED, Case
from tests.pipeline.tales import Tale, Telling


def _rolled_back(
    *,
    seen_ms: int | None = None,
    delay_ms: int = 500,
    op: Literal["commit", "rollback"] = "rollback",
    tried: bool = False,
    to_ms: int = 5_000,
    end_ms: int = 100,
    refused: bool = False,
    mode: str = "persistent",
    fault: str | None = None,
    admin: str | None = None,
) -> Telling:
    """Return a scenario of a message of a unit of work.

    Args:
        seen_ms: When a consumer receives it; None for never.
        delay_ms: Its delay.
        op: The end of the unit of work.
        tried: Whether a client had tried to commit the unit of work, without an answer.
        to_ms: The end of the consumer's watch.
        end_ms: When the unit of work ends.
        refused: Whether the broker refuses the send.
        mode: The message's mode.
        fault: A fault just after the unit of work.
        admin: An administrator's command.
    """

    def tell(tale: Tale) -> None:
        tale.consumes()
        watch = tale.listens()
        tale.sends(delay_ms=delay_ms, unit="u", refused=refused, mode=mode)
        if admin is not None:
            tale.commands(admin)
        if tried:
            tale.call("commit", "sender", unit="u")
        if end_ms > to_ms:
            tale.at(to_ms).stops(watch)
        tale.at(end_ms).ends_unit("u", op)
        if fault is not None:
            tale.stops(watch)
            tale.suffers(fault)
            tale.consumes()
            watch = tale.listens()
        if end_ms > to_ms:
            return
        if seen_ms is not None:
            tale.at(seen_ms).handed()
            tale.returns()
        tale.at(to_ms).stops(watch)

    return tell


def _committed(
    seen_ms: int,
    *,
    commit_ms: int = 1_000,
    delay_ms: int = 6_000,
    from_ms: int = 0,
    fault: bool = False,
    busy_ms: int | None = None,
    unc_ns: int = 0,
    marked: bool = False,
    other: bool = False,
    stopped: bool = False,
    admin: str | None = None,
    slow_ms: int | None = None,
) -> Telling:
    """Return a scenario of a delayed message of a unit of work that is committed later.

    Args:
        seen_ms: When a consumer receives it.
        commit_ms: When the unit of work is committed.
        delay_ms: The message's delay.
        from_ms: When the consumer's watch begins.
        fault: Whether the connections are cut in between.
        busy_ms: When the consumer receives another message; None for never.
        unc_ns: The uncertainty of the clocks.
        marked: Whether the message is marked as redelivered.
        other: Whether the queue has another consumer.
        stopped: Whether the process had stopped a connection.
        admin: An administrator's command.
        slow_ms: When another delayed message of the scenario, without a unit of work, comes; None for no such message.
    """

    def tell(tale: Tale) -> None:
        tale.unc_ns = unc_ns
        tale.sends(delay_ms=delay_ms, unit="u")
        if slow_ms is not None:
            tale.sends("slow", "queue://OTHER", delay_ms=5_000)
            tale.consumes("fellow", "queue://OTHER")
        if other:
            tale.consumes("other")
        if stopped:
            tale.asks_for("stop-connection")
        if admin is not None:
            tale.commands(admin)
        tale.consumes()
        tale.at(commit_ms).answer(tale.call("commit", "sender", unit="u"))
        tale.ends_unit("u")
        watch = tale.at(max(from_ms, commit_ms)).listens()
        if fault:
            tale.suffers("cut")
        if busy_ms is not None:
            tale.at(busy_ms).handed("other")
        if slow_ms is not None:
            tale.at(slow_ms).handed("slow", "fellow", of="queue://OTHER")
        tale.at(seen_ms).handed(marked=marked)
        tale.returns()
        tale.stops(watch)

    return tell


def _mortal(
    seen_ms: int | None, *, delay_ms: int = 2_000, from_ms: int = 4_000, to_ms: int = 9_000, of: str = QUEUE
) -> Telling:
    """Return a scenario of a message that lives for 3 s, and of a consumer that comes later."""

    def tell(tale: Tale) -> None:
        tale.sends(delay_ms=delay_ms, ttl_ms=3_000, to=of)
        tale.consumes(of=of)
        watch = tale.at(from_ms).listens(of=of)
        if seen_ms is not None:
            tale.at(seen_ms).handed(of=of)
            tale.returns()
        tale.at(to_ms).stops(watch, of=of)

    return tell


def _nearly_expired(tale: Tale) -> None:
    tale.unc_ns = 1_000
    tale.sends(delay_ms=2_000, ttl_ms=3_000)
    tale.at(3_250, 500).handed()


UNITS = (
    Case("DD-26", "it never comes", _rolled_back(), {"m": KEPT}),
    Case("DD-26", "it comes", _rolled_back(seen_ms=600), {"m": BROKEN}),
    Case("DD-26", "it was committed", _rolled_back(seen_ms=600, op="commit"), {}),
    Case("DD-26", "it has no delay", _rolled_back(seen_ms=600, delay_ms=0), {}),
    Case("DD-26", "an earlier commit may have succeeded", _rolled_back(seen_ms=600, tried=True), {}),
    Case("DD-26", "no one waited for it", _rolled_back(to_ms=1_400), {}),
    Case("DD-26", "no one waited for it after the rollback", _rolled_back(to_ms=5_000, end_ms=6_000), {}),
    Case("DD-26", "the broker had refused it", _rolled_back(refused=True), {}),
    Case("DD-26", "a kill loses a non-persistent one", _rolled_back(mode="non-persistent", fault="kill"), {}),
    Case("DD-26", "a kill loses no persistent one", _rolled_back(fault="kill"), {"m": KEPT}),
    Case("DD-26", "an administrator may have kept it back", _rolled_back(admin="ALTER QLOCAL(Q) GET(DISABLED)"), {}),
    Case("DD-27", "it comes when it is due", _committed(6_010), {"m": KEPT}),
    Case("DD-27", "it comes as if the delay counted from the commit", _committed(11_010, commit_ms=5_000), {
        "m": BROKEN}),
    Case("DD-27", "it is a little late", _committed(7_010), {}),
    Case("DD-27", "it is late for another reason", _committed(14_000, commit_ms=5_000), {}),
    Case("DD-27", "a cut excuses the delay", _committed(11_010, commit_ms=5_000, fault=True), {}),
    Case("DD-27", "its consumer came late", _committed(11_010, commit_ms=5_000, from_ms=8_000), {}),
    Case("DD-27", "its consumer was busy", _committed(11_010, commit_ms=5_000, busy_ms=9_000), {}),
    Case("DD-27", "it was given before", _committed(11_010, commit_ms=5_000, marked=True), {}),
    Case("DD-27", "another consumer may have held it", _committed(11_010, commit_ms=5_000, other=True), {}),
    Case("DD-27", "a stopped connection holds it", _committed(11_010, commit_ms=5_000, stopped=True), {}),
    Case("DD-27", "an administrator may have kept it back", _committed(
        11_010, commit_ms=5_000, admin="ALTER QLOCAL(Q) GET(DISABLED)"), {}),
    Case("DD-27", "the broker is as slow elsewhere", _committed(11_010, commit_ms=5_000, slow_ms=10_500), {}),
    Case("DD-27", "the broker is in time elsewhere", _committed(11_010, commit_ms=5_000, slow_ms=5_500), {"m": BROKEN}),
    Case("DD-27", "it comes before its delay is over", _committed(5_000), {}),
    Case("DD-27", "the clocks do not tell", _committed(6_999, unc_ns=2_000_000), {}),
    Case("DD-55", "it has expired with its delay", _mortal(None), {"m": KEPT}),
    Case("DD-55", "it lives on after its delay", _mortal(4_500), {"m": BROKEN}),
    Case("DD-55", "it lives even longer for another reason", _mortal(6_000), {}),
    Case("DD-55", "it comes in time", _mortal(2_500, from_ms=0), {}),
    Case("DD-55", "the consumer came too late to tell", _mortal(None, from_ms=6_000), {}),
    Case("DD-55", "it has no delay", _mortal(4_500, delay_ms=0), {}),
    Case("DD-55", "nobody knows whether it is in time", _nearly_expired, {"m": UNDECIDED}),
)  # fmt: skip
"""The scenarios."""
