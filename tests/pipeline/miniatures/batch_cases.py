"""Miniature scenarios for the rules about batches of acknowledged sessions and units of work (BT-11 to 13, BT-15)."""

from __future__ import annotations

from typing import Literal

from tests.evidence.histories import QUEUE
from tests.pipeline.case import BROKEN, KEPT, UNDECIDED, Case
from tests.pipeline.tales import Tale, Telling, preceded

End = Literal["commit", "rollback"]


def _acknowledged(
    *, settled: str = "ab", late: str = "", calls: bool = True, cut: bool = False, session: str | None = "s",
    ack: str = "client", during: bool = False, asks: str | None = None,
) -> Telling:  # fmt: skip
    """Return a scenario of a batch of ``a`` and ``b``, and of a call that acknowledges its session's messages.

    Args:
        settled: The messages that the client accepts during the call.
        late: Those that it accepts later.
        calls: Whether the call returns.
        cut: Whether the connections are cut before the call.
        session: The session that the consumer's creation names.
        ack: The session's mode.
        during: Whether the messages come during the call.
        asks: Another call of the session or the consumer before.
    """

    def tell(tale: Tale) -> None:
        for key in "ab":
            tale.sends(key)
        tale.opens(ack=ack)
        tale.consumes(session=session)
        tale.listens(size=2)
        call = tale.call("acknowledge", "s") if during else None
        for key in "ab":
            tale.handed(key, batch=0)
        tale.returns(batch=0)
        if cut:
            tale.suffers("cut")
        if asks is not None:
            tale.asks_for(asks, "s" if asks == "recover" else "receiver")
        call = call or tale.call("acknowledge", "s")
        for key in settled:
            tale.settles(key)
        if calls:
            tale.answer(call)
        for key in late:
            tale.settles(key)

    return tell


def _unit(
    end: End = "commit",
    *,
    again: bool = False,
    xa: bool = False,
    branches: int = 1,
    leaves: bool = True,
    waits: bool = True,
    answered: bool = True,
    raised: bool = False,
    cut: bool = False,
    third: bool = False,
    outside: Literal["before", "after"] | None = None,
    returns: bool = False,
    marked: bool = False,
) -> Telling:
    """Return a scenario of a batch of a unit of work, and of a consumer that comes afterwards.

    Args:
        end: The end of the unit of work.
        again: Whether the message comes again.
        xa: Whether it is a branch of a global unit of work.
        branches: The number of branches in which the session works.
        leaves: Whether the first consumer leaves.
        waits: Whether the later one waits for long.
        answered: Whether the call that ends it returns.
        raised: Whether the batch's callback fails.
        cut: Whether the connections are cut before the end.
        third: Whether a third consumer is there.
        outside: Whether the message comes before the work in the branch begins, or after it has ended.
        returns: Whether the first consumer comes back later.
        marked: Whether the message is marked as redelivered.
    """

    def tell(tale: Tale) -> None:
        tale.sends()
        tale.opens(ack="xa" if xa else "transacted")
        tale.consumes(session="s")
        watch = tale.listens(size=2)
        _receives(tale, branches if xa else 0, outside, marked=marked)
        tale.returns(batch=0, ended="raised" if raised else "returned")
        if cut:
            tale.suffers("cut")
        tale.at(2_000)
        call = tale.call(f"xa-{end}", "manager", unit="x0") if xa else tale.call(end, "s")
        if answered:
            tale.answer(call)
        tale.stops(watch)
        _changes(tale, leaves=leaves, returns=returns, third=third)
        tale.at(3_000).consumes("after")
        watch = tale.listens("after")
        if again:
            tale.handed(actor="after", marked=True)
            tale.returns("after")
        tale.at(9_000 if waits else 3_500).stops(watch, "after")

    return tell


def _receives(tale: Tale, branches: int, outside: str | None, *, marked: bool) -> None:
    if outside == "before":
        tale.handed(batch=0, marked=marked)
    for number in range(branches):
        tale.answer(tale.call("xa-start", "s", unit=f"x{number}"))
    if outside == "after":
        tale.answer(tale.call("xa-end", "s", unit="x0"))
    if outside != "before":
        tale.handed(batch=0, marked=marked)


def _changes(tale: Tale, *, leaves: bool, returns: bool, third: bool) -> None:
    if leaves:
        tale.asks_for("close-consumer")
    if returns:
        tale.consumes()
    if third:
        tale.consumes("third")


def _timed(
    seen_ms: int, *, delay_ms: int = 0, ttl_ms: int = 0, from_ms: int = 0, seen_ns: int = 0, unc_ns: int = 0,
    batch: int | None = 0, before_ms: int | None = None,
) -> Telling:  # fmt: skip
    """Return a scenario of a message with a delay or a time to live that comes in a batch.

    Args:
        seen_ms: When it comes.
        delay_ms: Its delay.
        ttl_ms: Its time to live.
        from_ms: When its consumer comes.
        seen_ns: Further nanoseconds.
        unc_ns: The uncertainty of the clocks.
        batch: The number of its batch.
        before_ms: When another consumer received it before; None for never.
    """

    def tell(tale: Tale) -> None:
        tale.unc_ns = unc_ns
        tale.sends(delay_ms=delay_ms, ttl_ms=ttl_ms)
        if before_ms is not None:
            tale.at(before_ms).handed(actor="other", of=QUEUE)
        tale.at(from_ms).consumes()
        tale.listens(size=2)
        tale.at(seen_ms, seen_ns).handed(batch=batch)
        tale.returns(batch=batch)

    return tell


_A, _B, _M = (f"{key}/receiver-1/0/0" for key in "abm")
BATCHES = (
    Case("BT-11", "the call covers both messages", _acknowledged(), {_A: KEPT, _B: KEPT}),
    Case("BT-11", "the call covers one message only", _acknowledged(settled="a"), {_A: KEPT, _B: BROKEN}),
    Case("BT-11", "one is accepted later", _acknowledged(settled="a", late="b"), {_A: KEPT}),
    Case("BT-11", "the call did not return", _acknowledged(settled="a", calls=False), {}),
    Case("BT-11", "a cut excuses it", _acknowledged(settled="a", cut=True), {}),
    Case("BT-11", "the session is unknown", _acknowledged(settled="a", session=None), {}),
    Case("BT-11", "another session's call", _acknowledged(settled="a", session="t"), {}),
    Case("BT-11", "another mode", _acknowledged(settled="a", ack="auto"), {}),
    Case("BT-11", "the client records no settlements", _acknowledged(settled=""), {}),
    Case("BT-11", "a recovery gives them back", _acknowledged(settled="a", asks="recover"), {}),
    Case("BT-11", "the consumer has left", _acknowledged(settled="a", asks="close-consumer"), {}),
    Case("BT-11", "the messages come during the call", _acknowledged(settled="a", during=True), {}),
    Case("BT-12", "it does not come again after a commit", _unit(), {_M: KEPT}),
    Case("BT-12", "it comes again after a commit", _unit(again=True), {_M: BROKEN}),
    Case("BT-12", "it comes again after a rollback", _unit("rollback", again=True), {_M: KEPT}),
    Case("BT-12", "it does not come again after a rollback", _unit("rollback"), {_M: BROKEN}),
    Case("BT-12", "the first consumer may hold it", _unit("rollback", leaves=False), {}),
    Case("BT-12", "a third consumer may hold it", _unit("rollback", third=True), {}),
    Case("BT-12", "the first consumer comes back", _unit("rollback", returns=True), {}),
    Case("BT-12", "it had come too often", _unit("rollback", marked=True), {}),
    Case("BT-12", "it may go to a queue for backed out messages", preceded(
        lambda tale: tale.commands("DEFINE QLOCAL(Q) BOTHRESH(1)"), _unit("rollback")), {}),
    Case("BT-12", "its queue may be full", preceded(
        lambda tale: tale.commands("DEFINE QLOCAL(Q) MAXDEPTH(1)"), _unit("rollback")), {}),
    Case("BT-12", "no one waited", _unit("rollback", waits=False), {}),
    Case("BT-12", "the rollback was not answered", _unit("rollback", answered=False), {}),
    Case("BT-12", "the callback failed", _unit(again=True, raised=True), {}),
    Case("BT-12", "a cut may have ended the unit of work", _unit(again=True, cut=True), {}),
    Case("BT-13", "it does not come again after a commit", _unit(xa=True), {_M: KEPT}),
    Case("BT-13", "it comes again after a commit", _unit(xa=True, again=True), {_M: BROKEN}),
    Case("BT-13", "it comes again after a rollback", _unit("rollback", xa=True, again=True), {_M: KEPT}),
    Case("BT-13", "it does not come again after a rollback", _unit("rollback", xa=True), {_M: BROKEN}),
    Case("BT-13", "the session worked in two branches", _unit(xa=True, again=True, branches=2), {}),
    Case("BT-13", "it came before the branch", _unit(xa=True, again=True, outside="before"), {}),
    Case("BT-13", "it came after the work in the branch", _unit(xa=True, again=True, outside="after"), {}),
    Case("BT-15", "it comes when it is due", _timed(600, delay_ms=500), {_M: KEPT}),
    Case("BT-15", "it comes early", _timed(400, delay_ms=500), {_M: BROKEN}),
    Case("BT-15", "the clocks do not tell", _timed(500, delay_ms=500, unc_ns=1_000), {_M: UNDECIDED}),
    Case("BT-15", "its consumer came when it was due", _timed(700, delay_ms=500, from_ms=600), {}),
    Case("BT-15", "it comes after its expiry", _timed(2_000, ttl_ms=1_000, from_ms=1_500), {_M: BROKEN}),
    Case("BT-15", "it may have waited for a full batch", _timed(2_000, ttl_ms=1_000), {}),
    Case("BT-15", "nobody knows whether its consumer came in time", _timed(
        2_000, ttl_ms=1_000, from_ms=1_250, unc_ns=1_000), {_M: UNDECIDED}),
    Case("DD-55", "it may have waited for a full batch", _timed(2_000, delay_ms=500, ttl_ms=1_000), {}),
    Case("DD-56", "it may have waited for a full batch", _timed(2_000, ttl_ms=1_000), {}),
    Case("BT-15", "it comes before its expiry", _timed(900, ttl_ms=1_000), {}),
    Case("BT-15", "it comes again after its expiry", _timed(
        2_000, ttl_ms=1_000, before_ms=500, from_ms=1_500), {}),
    Case("BT-15", "a single message", _timed(400, delay_ms=500, batch=None), {}),
)  # fmt: skip
"""The scenarios."""
