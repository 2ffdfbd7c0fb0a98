"""Tolerated variants of the client: how full its batches are, and how late it acknowledges messages."""

from __future__ import annotations

from assay_adapters.ports.client import AckMode, ClientSession, Script
from assay_adapters.ports.outcome import Outcome
from assay_steps.defects.consumers import ConsumerFilter, consuming
from assay_steps.defects.ports import ConnectionFilter, connecting
from assay_steps.variants.model import Variant

_BATCHES = ("BT-04", "BT-06", "BT-08", "BT-10", "BT-11", "BT-12", "BT-16")


class _HalfSize(ConsumerFilter):
    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return super().listen_batch(script, size if size < 1 else max(1, size // 2), timeout_ms)


class _OneEach(ConsumerFilter):
    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return super().listen_batch(script, min(size, 1), timeout_ms)


class _WithoutWaiting(ConsumerFilter):
    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return super().listen_batch(script, size, min(timeout_ms, 0))


class _Eager(ConnectionFilter):
    """A connection that opens each dups-ok session as a session with automatic acknowledgement."""

    def session(self, ack: AckMode) -> Outcome[ClientSession]:
        return super().session(AckMode.AUTO if ack is AckMode.DUPS_OK else ack)


BATCH_VARIANTS = (
    Variant(
        name="batches-of-half-their-size",
        rules=_BATCHES,
        text="The client fills a batch with half as many messages as its size.",
        allowed_by="BATCH:33: the actual batch size may be smaller.",
        port=consuming(_HalfSize),
        parts=("client",),
    ),
    Variant(
        name="batches-of-one",
        rules=_BATCHES,
        text="The client passes each message to the application as a batch of its own.",
        allowed_by="BATCH:33: the actual batch size may be smaller.",
        port=consuming(_OneEach),
        parts=("client",),
    ),
    Variant(
        name="batches-without-waiting",
        rules=_BATCHES,
        text="The client delivers the messages that it has at once, and never waits for a full batch.",
        allowed_by="BATCH:34: the client may defer delivery, but need not.",
        port=consuming(_WithoutWaiting),
        parts=("client",),
    ),
    Variant(
        name="dups-ok-as-automatic",
        rules=("BT-10",),
        text="The client acknowledges a dups-ok session's messages as promptly as with automatic acknowledgement.",
        allowed_by="JMS 2.0, 6.2.10: lazy acknowledgement is likely to deliver duplicates, but need not.",
        port=connecting(_Eager),
        parts=("client",),
    ),
)
