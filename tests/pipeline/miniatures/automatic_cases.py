"""Miniature scenarios for the rules about batches in automatic mode (BT-08, BT-09, BT-16)."""

from __future__ import annotations

from typing import Literal

from tests.pipeline.case import BROKEN, KEPT, Case
from tests.pipeline.tales import Tale, Telling

Ended = Literal["returned", "raised"]


def _one_batch(
    ended: Ended | None = "returned",
    *,
    ack: str | None = "auto",
    early: str = "",
    after: str = "ab",
    back: str = "",
    again: str = "",
    marked: bool = True,
) -> Telling:
    """Return a scenario with one batch of the messages ``a`` and ``b``.

    Args:
        ended: The end of its callback.
        ack: The session's mode; None for no session in the journal.
        early: The messages that are accepted before the callback ends.
        after: The messages that are accepted after it.
        back: The messages that are given back after it.
        again: The messages that come again after that.
        marked: Whether the messages that come again are marked as redelivered.
    """

    def tell(tale: Tale) -> None:
        for key in "ab":
            tale.sends(key)
        if ack is not None:
            tale.opens(ack=ack)
        tale.consumes()
        watch = tale.listens(size=2)
        for key in "ab":
            tale.handed(key, batch=0)
        for key in early:
            tale.settles(key)
        if ended is not None:
            tale.returns(batch=0, ended=ended)
        for key in after:
            tale.settles(key)
        for key in back:
            tale.settles(key, outcome="modified")
        for key in again:
            tale.handed(key, batch=1, marked=marked)
        tale.at(5_000).stops(watch)

    return tell


def _two_batches(
    again: str = "b",
    *,
    settled: bool = True,
    fails: bool = True,
    second: bool = True,
    twice_sent: bool = False,
    after_ms: int = 2_000,
    closes: bool = False,
) -> Telling:
    """Return a scenario with a batch of the message ``a`` and another of ``b``, after which the broker is killed.

    Args:
        again: The messages that come after the kill.
        settled: Whether the client accepted ``a``.
        fails: Whether the broker is killed.
        second: Whether the second batch came before the kill.
        twice_sent: Whether ``a`` was sent twice.
        after_ms: When the broker is killed, or when the sender closes its connection; the batches come at 0.
        closes: Whether the sender closes its connection.
    """

    def tell(tale: Tale) -> None:
        for key in "aba" if twice_sent else "ab":
            tale.sends(key)
        tale.opens()
        tale.consumes()
        watch = tale.listens(size=1)
        tale.handed("a", batch=0)
        tale.returns(batch=0)
        if settled:
            tale.settles("a")
        if second:
            tale.handed("b", batch=1)
        tale.stops(watch)
        tale.at(after_ms)
        if fails:
            tale.suffers("kill")
        if closes:
            tale.asks_for("close-connection", "sender")
        tale.at(4_000).consumes()
        watch = tale.listens(size=1)
        for turn, key in enumerate(again):
            tale.handed(key, batch=turn, link=2, marked=True)
        tale.at(5_000).stops(watch)

    return tell


_FIRST = "a>queue://Q"
AUTOMATIC = (
    Case("BT-08", "accepted after the callback", _one_batch(), {"receiver-1/0/0": KEPT}),
    Case("BT-08", "one accepted in the callback", _one_batch(early="a", after="b"), {"receiver-1/0/0": BROKEN}),
    Case("BT-08", "one never accepted", _one_batch(after="a"), {}),
    Case("BT-08", "the callback failed, and all come again", _one_batch("raised", after="", back="ab", again="ab"), {
        "receiver-1/0/0": KEPT}),
    Case("BT-08", "the callback failed, and one is accepted", _one_batch("raised", after="a", back="b", again="b"), {
        "receiver-1/0/0": BROKEN}),
    Case("BT-08", "the callback failed, and nothing more is known", _one_batch("raised", after=""), {}),
    Case("BT-08", "the callback never ended", _one_batch(None, early="ab", after=""), {}),
    Case("BT-08", "another mode", _one_batch(ack="client", early="ab", after=""), {}),
    Case("BT-08", "an unknown mode", _one_batch(ack=None, early="ab", after=""), {}),
    Case("BT-09", "it comes again with a mark", _one_batch("raised", after="", back="ab", again="a"), {
        "a/receiver-1/0/0": KEPT}),
    Case("BT-09", "it comes again without a mark", _one_batch("raised", after="", again="a", marked=False), {
        "a/receiver-1/0/0": BROKEN}),
    Case("BT-09", "the callback did not fail", _one_batch(again="a", marked=False), {}),
    Case("BT-16", "only the last batch comes again", _two_batches(), {_FIRST: KEPT}),
    Case("BT-16", "the earlier batch comes again", _two_batches("ab"), {_FIRST: BROKEN}),
    Case("BT-16", "the earlier batch was not acknowledged", _two_batches("ab", settled=False), {}),
    Case("BT-16", "it was the last batch", _two_batches("ab", second=False), {}),
    Case("BT-16", "nothing failed", _two_batches("", fails=False), {}),
    Case("BT-16", "nothing came after the failure", _two_batches(""), {}),
    Case("BT-16", "a message sent twice says nothing", _two_batches("ab", twice_sent=True), {}),
)  # fmt: skip
"""The scenarios."""
CONTESTED = (
    Case("BT-16", "the kill may have lost the acceptance", _two_batches("ab", after_ms=500), {}),
    Case("BT-16", "a message of the last batch alone, after an early kill", _two_batches(after_ms=500), {}),
    Case("BT-16", "the sender's orderly end is no failure", _two_batches(fails=False, closes=True), {}),
)  # fmt: skip
"""Scenarios in which a vendor would contest a verdict of an earlier form of the invariants."""
